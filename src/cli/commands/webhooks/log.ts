/**
 * What is said of deliveries: a line for each on standard output, with `--json` a document on a line. What they tell is
 * the sender's, and shown only once it is verified; of a refused one nothing is shown.
 */

import { escapeText, jsonText, paint } from "../../../report/index.ts";
import type { WebhookError, WebhookEvent } from "../../../webhooks/index.ts";
import type { Invocation } from "../../io.ts";
import { short, subjectOf, summaryJson } from "../../receiving/index.ts";
import { isDeep } from "./depth.ts";
import type { Forwarded } from "./forward.ts";

/**
 * What became of a verified delivery. `received`: shown, as there is nowhere to hand it to; `forwarded`: the application
 * took it; `failed`: it did not, so the sender is to try again; `duplicate`: it had been handled; `busy`: it is being
 * handled; `left out`: not one of the events that are wanted.
 */
export type Outcome = "received" | "forwarded" | "failed" | "duplicate" | "busy" | "left out";

/** A verified delivery. */
export interface Told {
  readonly event: WebhookEvent;
  readonly outcome: Outcome;
  /** It had been handled before, and was handed on all the same. */
  readonly again: boolean;
  /** What the sender was answered. */
  readonly answered: number;
  readonly forwarded: Forwarded | undefined;
  readonly body: Uint8Array;
  readonly identity: string;
}

/** Refusals of the same kind are told at most once in this time (milliseconds): anybody can send nonsense, quickly. */
const REFUSALS_MS = 1_000;

/** More of a body is not shown. */
const MOST_SHOWN = 4_000;

export class DeliveryLog {
  readonly #invocation: Invocation;
  readonly #refusals = new Map<string, { readonly at: number; untold: number }>();
  /** Deliveries that were taken, and requests that were refused. */
  readonly counts = { taken: 0, refused: 0 };

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  /** A document for programs, about the run itself. */
  note(document: { readonly type: string; readonly [field: string]: unknown }): void {
    if (this.#invocation.options.json) this.#document(document);
  }

  delivery(told: Told): void {
    const { io, options } = this.#invocation;
    const { event, outcome, again, answered, forwarded, body, identity } = told;
    if (outcome !== "busy") this.counts.taken += 1;
    if (options.json) {
      this.#document({
        type: "delivery",
        at: this.#now(),
        outcome,
        ...(again && { again }),
        answered,
        ...summaryJson(event),
        identity,
        ...(forwarded && { forward: forwardJson(forwarded) }),
        ...(options.verbose && { data: isDeep(Buffer.from(body).toString("utf8")) ? null : event.data }),
      });
      return;
    }
    if (outcome === "left out" && !options.verbose) return;
    const parts = [this.#now(), short(event.event), subjectOf(event), this.#words(told)];
    io.out(`${parts.filter((part) => part !== "").join("  ")}\n`);
    if (options.verbose) io.out(bodyLines(body));
  }

  refused({ code, status, message, diagnostics }: WebhookError): void {
    const { io, options } = this.#invocation;
    this.counts.refused += 1;
    const now = io.clock.now();
    const last = this.#refusals.get(code);
    if (last !== undefined && now - last.at < REFUSALS_MS) {
      last.untold += 1;
      return;
    }
    this.#refusals.set(code, { at: now, untold: 0 });
    const untold = last?.untold ?? 0;
    if (options.json) {
      this.#document({ type: "refused", at: this.#now(), answered: status, code, message, more: untold });
      return;
    }
    const more = untold === 0 ? "" : ` (and ${untold} more before)`;
    // What to do about it is worth saying once.
    const fix = last === undefined ? ` ${diagnostics[0]?.fix ?? ""}` : "";
    io.out(`${this.#now()}  ${this.#paint.removed(`refused (${status})`)}: ${message}${more}${fix}\n`);
  }

  /** Something on this side that stood in the way of a delivery. */
  broken(sentence: string): void {
    if (this.#invocation.options.json) this.#document({ type: "broken", at: this.#now(), message: sentence });
    else this.#invocation.io.out(`${this.#now()}  ${this.#paint.removed("failed (500)")}: ${short(sentence)}\n`);
  }

  get #paint() {
    return paint(this.#invocation.outLook.color);
  }

  #words({ outcome, again, answered, forwarded }: Told): string {
    const repeated = again ? " again" : "";
    if (forwarded === undefined) return outcome === "received" ? `received${repeated}` : this.#paint.dim(outcome);
    const { status, error, milliseconds } = forwarded;
    if (outcome === "forwarded") return `${this.#paint.good(`forwarded${repeated}`)}: ${status} in ${milliseconds} ms`;
    const redirect = status !== undefined && status >= 300 && status < 400 ? " (redirects are not followed)" : "";
    const what = error ?? `the application answered ${status}${redirect}`;
    return `${this.#paint.removed("failed")}: ${what}; the sender is answered ${answered}, to try again`;
  }

  #document(document: object): void {
    this.#invocation.io.out(`${jsonText(document)}\n`);
  }

  /** `2026-11-22T08:05:24Z` */
  #now(): string {
    return new Date(this.#invocation.io.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }
}

const forwardJson = ({ status, error, milliseconds }: Forwarded) => ({
  status: status ?? null,
  error: error ?? null,
  milliseconds,
});

function bodyLines(body: Uint8Array): string {
  const text = Buffer.from(body).toString("utf8");
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return `${escapeText(shown).replace(/^/gm, "    ")}\n`;
}
