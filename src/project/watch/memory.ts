/** Remembers what a watch has reported, and counts repeated corrections. */
import type { Change, Diagnostic, Plan } from "../../core/model/index.ts";
import { type WatchNote, watchNotes } from "../../report/index.ts";

/** New facts in a check. */
export interface News {
  /** One line for each object with new facts. */
  readonly notes: readonly string[];
  /** Addresses without a difference, which had one before. */
  readonly settled: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/** Remembers reported facts, so that each check reports only new facts. */
export class Memory {
  /** Reported changes and moved objects, by address. */
  readonly #notes = new Map<string, WatchNote>();
  readonly #problems = new Map<string, Diagnostic>();
  /** Last failure of a check, and last result of an apply. */
  readonly #last = { failure: "", outcome: "" };

  /** Returns the new facts of a plan. @param targets Addresses of a partial check. Other addresses stay unchanged. */
  compare(plan: Plan, targets: readonly string[]): News {
    const notes = watchNotes(plan);
    const planned = plan.changes.map(({ address }) => address);
    const seen = new Set([...targets, ...planned, ...notes.keys()]);
    const isWhole = targets.length === 0;
    const isCovered = (address: string | undefined) => isWhole || (address !== undefined && seen.has(address));
    const settled = [...this.#notes].filter(
      ([address, note]) => isCovered(address) && !notes.has(address) && note.isChange,
    );
    const fresh = [...notes].filter(([address, note]) => this.#notes.get(address)?.text !== note.text);
    const problems = new Map(plan.diagnostics.map((diagnostic) => [keyOf(diagnostic), diagnostic]));
    const unsaid = [...problems].filter(([key]) => !this.#problems.has(key));
    for (const address of [...this.#notes.keys()]) if (isCovered(address)) this.#notes.delete(address);
    for (const [key, { address }] of [...this.#problems]) if (isCovered(address)) this.#problems.delete(key);
    for (const [address, note] of notes) this.#notes.set(address, note);
    for (const [key, problem] of problems) this.#problems.set(key, problem);
    this.#last.failure = "";
    return {
      notes: fresh.map(([, { text }]) => text),
      settled: settled.map(([address]) => address),
      problems: unsaid.map(([, problem]) => problem),
    };
  }

  /** Forgets applied changes. */
  made(addresses: readonly string[]): void {
    for (const address of addresses) this.#notes.delete(address);
  }

  /**
   * Returns true if a failure or result differs from the last one.
   * @param diagnostics Errors. Empty if the apply is complete.
   */
  isNew(what: "failure" | "outcome", diagnostics: readonly Diagnostic[]): boolean {
    const before = this.#last[what];
    this.#last[what] = JSON.stringify(diagnostics.map(keyOf));
    return this.#last[what] !== before;
  }
}

/** Returns a comparison key. Durations are removed, because they differ in each check. */
function keyOf({ code, summary, address, detail }: Diagnostic): string {
  const timeless = (text = "") => text.replaceAll(TIMES, "");
  return JSON.stringify([code, timeless(summary), address ?? null, timeless(detail)]);
}

const TIMES = /\b\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|days?)\b/g;

/** Time in which corrections are counted, in milliseconds. */
const WITHIN_MS = 3_600_000;
/** Number of corrections from which hostform reports a conflict. */
const OFTEN = 3;

/**
 * Objects that somebody repeatedly changes back, for example a host that suspends for non-payment, or another declaration.
 */
export interface Contended {
  readonly addresses: readonly string[];
  /** Highest number of corrections of one object in the last hour. */
  readonly times: number;
}

/** Counts corrections, so that two programs do not revert each other forever. */
export class Contention {
  readonly #made = new Map<string, readonly number[]>();

  /**
   * Adds corrections.
   * @param addresses Addresses of corrected objects.
   * @param now Monotonic time in milliseconds.
   * @returns undefined if there is no conflict.
   */
  note(addresses: readonly string[], now: number): Contended | undefined {
    const contended = addresses.flatMap((address) => {
      const recent = (this.#made.get(address) ?? []).filter((at) => now - at < WITHIN_MS);
      const times = [...recent, now];
      this.#made.set(address, times);
      return times.length >= OFTEN ? [{ address, times: times.length }] : [];
    });
    if (contended.length === 0) return undefined;
    return {
      addresses: contended.map(({ address }) => address),
      times: Math.max(...contended.map(({ times }) => times)),
    };
  }
}

/** Returns the likely cause of repeated corrections, as a clause. */
export function conclusion(changes: readonly Pick<Change, "reasons">[]): string {
  const isUndone = changes.every(({ reasons }) => reasons.some(({ why }) => why === "drift" || why === "gone"));
  return isUndone
    ? "so somebody changes it back"
    : "and it differs again: the host does not keep it as declared, or another declaration changes it";
}
