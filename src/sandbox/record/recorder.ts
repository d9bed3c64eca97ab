/**
 * Records a session, without the secrets that users sent: passwords, keys, tokens that the sandbox did not make.
 */
import { isDeepStrictEqual } from "node:util";
import type { Exchange } from "../options.ts";
import {
  answerOf,
  type ControlStep,
  content,
  type RequestStep,
  SESSION_FORMAT,
  SESSION_VERSION,
  type Session,
  type SessionStep,
} from "./session.ts";
import { readSnapshot, type Snapshot, snapshotText } from "./snapshot.ts";

/** Steps that are kept, so that a long-running sandbox does not grow indefinitely. */
const KEPT_STEPS = 10_000;

/** A step that has begun: one of the two functions ends it. */
export interface OpenStep {
  /** A request: with the sandbox's time when it was received, the name of its token, and the API's addresses. */
  request(at: string, token: string | undefined, exchange: Exchange, addresses: readonly string[]): void;
  /** A call of the control. */
  control(call: Omit<ControlStep, "kind" | "overlapped">): void;
}

type Entry = { step: SessionStep | undefined; overlapped: boolean };

export class Recorder {
  readonly #base: { now(): number };
  readonly #standIns = new StandIns();
  readonly #steps: Entry[] = [];
  readonly #open = new Set<Entry>();
  #held: number | undefined;
  #cutShort = false;
  #head: Pick<Session, "sandbox" | "started" | "snapshot"> | undefined;

  constructor(base: { now(): number }) {
    this.#base = base;
  }

  /**
   * The clock of a recorded sandbox. It is frozen during a step, so that the step can be replayed at one instant.
   */
  get clock(): { now(): number } {
    return { now: () => this.#held ?? this.#base.now() };
  }

  /** Does some work at one instant that is not a step. */
  hold<T>(work: () => T): T {
    this.#held = this.#base.now();
    try {
      return work();
    } finally {
      if (this.#open.size === 0) this.#held = undefined;
    }
  }

  /**
   * The text of a snapshot, with stand-ins for the secrets in migration requests and in URLs, and for token values that the user
   * chose. Any other text is not kept: restoring it is refused in any case.
   */
  masked(text: string): string {
    let snapshot: Snapshot;
    try {
      snapshot = readSnapshot(text);
    } catch {
      return "(a text that is no snapshot)";
    }
    const { collections } = snapshot;
    const tokens = (collections.tokens as { id: number; value?: string }[]).map((row) =>
      row.value?.startsWith(OWN_TOKEN) ? row : { ...row, value: `stand-in-for-token-${row.id}` },
    );
    const migration_requests = this.#standIns.replace(
      collections.migration_requests,
    ) as typeof collections.migration_requests;
    const inUrls = <T extends { url?: string }>(row: T): T =>
      row.url === undefined ? row : { ...row, url: this.#standIns.text(row.url) };
    const webhooks = (collections.webhooks as { id: number; url?: string }[]).map(inUrls);
    const deliveries = (collections.deliveries as { id: number; url?: string }[]).map(inUrls);
    // Their ids hold Idempotency-Keys, which are masked as in the requests that follow.
    const kept_answers = collections.kept_answers.map((row) => ({ ...row, id: this.#standIns.text(String(row.id)) }));
    return snapshotText({
      ...snapshot,
      collections: { ...collections, tokens, migration_requests, webhooks, deliveries, kept_answers },
    });
  }

  /** Called once, when the sandbox is ready. */
  start(head: Pick<Session, "sandbox" | "started" | "snapshot">): void {
    this.#head = head;
  }

  /** Begins a step; it is kept at this place when it is finished. */
  begin(): OpenStep {
    const entry: Entry = { step: undefined, overlapped: this.#open.size > 0 };
    for (const other of this.#open) other.overlapped = true;
    this.#open.add(entry);
    this.#held = this.#base.now();
    if (this.#steps.length < KEPT_STEPS) this.#steps.push(entry);
    else this.#cutShort = true;
    const end = (step: SessionStep): void => {
      entry.step = step;
      this.#open.delete(entry);
      if (this.#open.size === 0) this.#held = undefined;
    };
    return {
      request: (at, token = undefined, exchange, addresses) => end(this.#request(at, token, exchange, addresses)),
      control: (call) => end(this.#control(call)),
    };
  }

  #request(...[at, token, exchange, addresses]: Parameters<OpenStep["request"]>): RequestStep {
    const { "idempotency-key": key, authorization } = exchange.requestHeaders;
    this.#standIns.learnToken(authorization);
    // The request comes first: the answer may repeat it.
    const sent = this.#sent(exchange.requestBody ?? "");
    const answer = answerOf(exchange, addresses);
    if (answer.body !== undefined) answer.body = this.#standIns.replaceEchoes(answer.body);
    return {
      kind: "request",
      at,
      method: exchange.method,
      path: this.#standIns.text(exchange.url),
      token: token ?? null,
      ...(key !== undefined && { idempotency_key: this.#standIns.text(key) }),
      ...sent,
      answer: exchange.faulty ? { ...answer, faulty: true } : answer,
    };
  }

  #control(call: Parameters<OpenStep["control"]>[0]): ControlStep {
    const { name, args } = call;
    const kept = name === "restore" ? args.map((text) => this.masked(String(text))) : this.#standIns.replace(args);
    return { kind: "control", ...call, args: kept as unknown[] };
  }

  /** The body of a request. A text that is not JSON and may hold a secret is replaced by another text that is not JSON. */
  #sent(text: string): { body?: unknown; raw?: string } {
    const { body, raw } = content(text);
    if (raw !== undefined) return { raw: isSecretName(raw) ? "(a text that is no JSON)" : this.#standIns.text(raw) };
    if (body === undefined) return {};
    // A number that JSON cannot represent exactly is kept as its text.
    const again: unknown = JSON.parse(JSON.stringify(body));
    return isDeepStrictEqual(again, body) ? { body: this.#standIns.replace(body) } : { raw: text };
  }

  session(): Session {
    if (this.#head === undefined) throw new Error("The recording has not been started.");
    const steps = this.#steps.flatMap(({ step, overlapped }) =>
      step === undefined ? [] : [overlapped ? { ...step, overlapped: true as const } : step],
    );
    return structuredClone({
      format: SESSION_FORMAT,
      version: SESSION_VERSION,
      ...this.#head,
      ...(this.#cutShort && { cut_short: true }),
      steps,
    });
  }
}

/** Every token that the sandbox makes begins with it. */
const OWN_TOKEN = "sandbox-";

/** Names of fields that hold secrets, wherever the word stands in the name. The specification leaves many names open. */
const SECRET_NAME = /pass(?:word|phrase|wd|code)|secret|credential|token|bearer|cookie|(?:api|private|ssh)_?key/i;

/** Words that mark a secret only as a whole word of the name. */
const SECRET_WORD = /^(?:pass|ftppass|pwd|pw|pin|otp|login|auth|private|key|rsa|username)$/i;

function isSecretName(name: string): boolean {
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/);
  return SECRET_NAME.test(name) || words.some((word) => SECRET_WORD.test(word));
}

type Secret = string | number;

/**
 * Replaces secrets. The same secret gets the same stand-in of the same length, so that a replay validates it in the same way.
 */
export class StandIns {
  readonly #known = new Map<Secret, Secret>();
  /** Values of tokens that requests came with. */
  readonly #tokens = new Set<string>();

  /** A copy of the JSON value of a request, with stand-ins for what its fields and its URLs call secret. */
  replace(value: unknown): unknown {
    return walk(value, (given, secret) => (secret ? this.#standInFor(given) : this.#text(given)));
  }

  /** A copy of the JSON value of an answer, in which an echo of such a secret is replaced likewise. */
  replaceEchoes(value: unknown): unknown {
    return walk(value, (given, secret) => (secret ? this.#known.get(given) : undefined) ?? this.#text(given));
  }

  /** The text without the secrets in its URLs, and without the tokens of requests. */
  text(text: string): string {
    const withoutUser = text.replace(/(?<=:\/\/)[^\s/?#@]+(?=@)/g, (user) =>
      user
        .split(":")
        .map((part) => this.#standInFor(part))
        .join(":"),
    );
    let masked = withoutUser.replace(/([?&]([^=&#\s]+)=)([^&#\s]+)/g, (whole, head: string, name: string, value) =>
      isSecretName(name) ? `${head}${this.#standInFor(value)}` : whole,
    );
    for (const token of this.#tokens) masked = masked.replaceAll(token, "stand-in-for-token");
    return masked;
  }

  /** Remembers the token of a request, from its header. */
  learnToken(authorization: string | undefined): void {
    const value = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    // A shorter one would occur in too many other texts.
    if (value !== undefined && value.length >= 8) this.#tokens.add(value);
  }

  #text(value: Secret): Secret {
    return typeof value === "string" ? this.text(value) : value;
  }

  #standInFor(secret: Secret): Secret {
    const known = this.#known.get(secret) ?? this.#make(secret);
    this.#known.set(secret, known);
    return known;
  }

  #make(secret: Secret): Secret {
    if (typeof secret === "number") return this.#known.size + 1;
    // A blank is no secret, and is validated as a blank.
    if (secret.trim() === "") return secret;
    const length = [...secret].length;
    const text = `stand-in-${this.#known.size + 1}-`.padEnd(length, "x");
    return length < text.length ? "x".repeat(length) : text;
  }
}

function walk(value: unknown, change: (value: Secret, secret: boolean) => Secret, secret = false): unknown {
  if (typeof value === "string" || typeof value === "number") return change(value, secret);
  if (Array.isArray(value)) return value.map((inner) => walk(inner, change, secret));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, walk(inner, change, secret || isSecretName(name))]),
  );
}
