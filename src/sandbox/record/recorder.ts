/** Writes a session down while it happens. */
import { isDeepStrictEqual } from "node:util";
import { Refusal } from "../refusal.ts";
import { withoutForeignSecrets } from "./foreign.ts";
import { isSecretName, StandIns } from "./secrets.ts";
import {
  answerOf,
  type ControlStep,
  content,
  type OpenStep,
  type Recording,
  type RequestStep,
  SESSION_FORMAT,
  SESSION_VERSION,
  type Session,
  type SessionHead,
  type SessionStep,
} from "./session.ts";

/** The session so far. @throws Refusal (409) when it is not recorded. */
export function sessionOf({ recorder }: { recorder: Recording | undefined }): Session {
  if (recorder !== undefined) return recorder.session();
  throw new Refusal(409, "This sandbox is not recorded. Start it with --record FILE, or with the option record: true.");
}

/** Steps that are kept: a sandbox left running does not grow without end. */
const KEPT_STEPS = 10_000;

type Entry = { step: SessionStep | undefined; overlapped: boolean };

/** Writes a session down. */
export class Recorder implements Recording {
  readonly #base: { now(): number };
  readonly #standIns = new StandIns();
  readonly #steps: Entry[] = [];
  readonly #open = new Set<Entry>();
  #held: number | undefined;
  #cutShort = false;
  #head: SessionHead | undefined;

  constructor(base: { now(): number }) {
    this.#base = base;
  }

  /**
   * The clock beneath a sandbox that is recorded. It stands still while a step is done, so that the step can be done again
   * at one instant.
   */
  get clock(): { now(): number } {
    return { now: () => this.#held ?? this.#base.now() };
  }

  /** Does something at one instant that is no step. */
  hold<T>(work: () => T): T {
    this.#held = this.#base.now();
    try {
      return work();
    } finally {
      if (this.#open.size === 0) this.#held = undefined;
    }
  }

  /** The text of a snapshot as it may stand in a session. */
  masked(snapshot: string): string {
    return withoutForeignSecrets(snapshot, this.#standIns);
  }

  /** To be called once, when everything is ready. */
  start(head: SessionHead): void {
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
      control: (word) => end(this.#control(word)),
    };
  }

  #request(...[at, token, exchange, addresses]: Parameters<OpenStep["request"]>): RequestStep {
    const { "idempotency-key": key, authorization } = exchange.requestHeaders;
    this.#standIns.learnToken(authorization);
    // What was sent comes first: the answer may repeat it.
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

  #control(word: Parameters<OpenStep["control"]>[0]): ControlStep {
    const { name, args } = word;
    const kept = name === "restore" ? args.map((text) => this.masked(String(text))) : this.#standIns.replace(args);
    return { kind: "control", ...word, args: kept as unknown[] };
  }

  /** The body of a request. A text that is no JSON and may hold a secret is kept as another text that is no JSON. */
  #sent(text: string): { body?: unknown; raw?: string } {
    const { body, raw } = content(text);
    if (raw !== undefined) return { raw: isSecretName(raw) ? "(a text that is no JSON)" : this.#standIns.text(raw) };
    if (body === undefined) return {};
    // A number that JSON cannot write again is kept as it came.
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
