/**
 * Runs `hostform watch --json` against a sandbox, on a clock that the test advances. Short waits within a run end
 * immediately. Long waits between checks end when the test advances the clock.
 */
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/core/model/index.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { START } from "./clock.ts";
import { quickFolder } from "./folder.ts";
import { type FakeIo, fakeIo } from "./io.ts";
import { runCli } from "./program.ts";
import { profileOfRun, startSandbox } from "./sandbox.ts";

/**
 * Maximum length of a wait within a run, in milliseconds: for a queued job, for a declaration that still changes, or
 * for simultaneous events.
 */
const SHORT_MS = 5_000;

export interface PatientClock extends Clock {
  /** Advances the time, and ends the long waits that have expired. */
  advance(ms: number): void;
  /** Changes the wall clock. */
  set(byMs: number): void;
}

export function patientClock(): PatientClock {
  let now = START;
  let ahead = 0;
  const waiting = new Set<{ readonly until: number; readonly end: () => void }>();
  return {
    now: () => now + ahead,
    monotonic: () => now,
    set: (ms) => {
      ahead += ms;
    },
    advance: (ms) => {
      now += ms;
      for (const one of [...waiting]) if (one.until <= now) one.end();
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const one = { until: now + ms, end: () => finish(resolve) };
        const stop = () => finish(() => reject(signal?.reason));
        const finish = (then: () => void) => {
          waiting.delete(one);
          signal?.removeEventListener("abort", stop);
          then();
        };
        signal?.addEventListener("abort", stop, { once: true });
        waiting.add(one);
        if (ms > SHORT_MS) return;
        setImmediate(() => {
          now = Math.max(now, one.until);
          one.end();
        });
      }),
  };
}

/** A message of `watch --json`. */
export interface Message {
  readonly type: string;
  readonly "@message": string;
  // The tests read fields of messages of every type. A wrong field fails the assertion.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly [field: string]: any;
}

/** A running `watch`. */
export class Watching {
  readonly messages: Message[] = [];
  readonly code: Promise<number>;
  /** Called with each written message. */
  onMessage: (message: Message) => void = () => undefined;
  readonly #io: FakeIo;
  readonly #waiting = new Set<() => void>();
  #ended = false;

  constructor(args: readonly string[], io: FakeIo) {
    this.#io = { ...io, out: (text) => this.#read(text) };
    this.code = runCli(["watch", "--json", ...args], this.#io).finally(() => {
      this.#ended = true;
      this.#notify();
    });
  }

  /** Returns the messages of one type. */
  of(type: string): Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  /**
   * Waits for the end of the check with this number.
   * @returns The result of the check.
   */
  async look(number: number): Promise<Message["hostform"]> {
    await this.until(() => this.of("watch_found").length >= number, `look ${number}`);
    return this.of("watch_found")[number - 1]?.hostform;
  }

  /** Waits until the condition holds. Checks the condition after each message. */
  async until(isSo: () => boolean, what = "it"): Promise<void> {
    while (!isSo()) {
      if (this.#ended)
        throw new Error(`watch ended before ${what}: ${JSON.stringify(this.messages)}${this.#io.stderr()}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  get url(): string {
    return this.of("watch_start")[0]?.hostform.listening;
  }

  get text(): string {
    return this.messages.map((message) => JSON.stringify(message)).join("\n") + this.#io.stderr();
  }

  /** Sends SIGHUP. */
  reload(): void {
    this.#io.hangUp();
  }

  /**
   * Sends Ctrl-C.
   * @returns The exit code.
   */
  stop(): Promise<number> {
    this.#io.interrupt();
    return this.code;
  }

  #read(text: string): void {
    for (const line of text.split("\n").filter((each) => each !== "")) {
      const message = JSON.parse(line) as Message;
      this.messages.push(message);
      this.onMessage(message);
    }
    this.#notify();
  }

  #notify(): void {
    for (const resolve of [...this.#waiting]) resolve();
    this.#waiting.clear();
  }
}

/** A project in its own folder, its sandbox, and their clock. */
export interface Watched {
  readonly dir: string;
  readonly sandbox: Sandbox;
  readonly clock: PatientClock;
  readonly env: Record<string, string>;
  /** Replaces parts of the environment of later commands. */
  readonly own: Partial<FakeIo>;
  declare(document: string | object): Promise<void>;
  /** Runs another command in the project. */
  run(...args: string[]): Promise<{ readonly code: number; readonly text: string }>;
  /** Starts a `watch`. The test stops it at its end. */
  watch(...args: string[]): Watching;
  /** Returns `GET /services` for each request since the last call. */
  sent(): string[];
}

/** Starts a project. Invoices are paid automatically, and orders and jobs are completed immediately. No rate limit. */
export async function watched(declaration: string | object, options: SandboxOptions = {}): Promise<Watched> {
  const clock = patientClock();
  const dir = await mkdtemp(quickFolder("watch"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const instant = { rateLimit: 0, autoPay: true, provisioningSeconds: 0, jobSeconds: 0 };
  const sandbox = await startSandbox({ clock, ...instant, ...profileOfRun(), ...options });
  onTestFinished(() => sandbox.close());
  const env: Record<string, string> = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency };
  // Writes synchronously, so that no test depends on the order of two writes.
  const declare = async (document: string | object) =>
    writeFileSync(
      path.join(dir, "hosting.yaml"),
      typeof document === "string" ? document : JSON.stringify(document, null, 2),
    );
  await declare(declaration);
  const own: Partial<FakeIo> = {};
  const io = () => ({ ...fakeIo({ cwd: dir, env, clock }), ...own });
  return {
    dir,
    sandbox,
    clock,
    env,
    own,
    declare,
    run: async (...args) => {
      const own = io();
      const code = await runCli(args, own);
      return { code, text: own.stdout() + own.stderr() };
    },
    watch: (...args) => {
      const watching = new Watching(args, io());
      onTestFinished(async () => void (await watching.stop()));
      return watching;
    },
    sent: () => {
      const entries = sandbox.control.requests();
      sandbox.control.clearRequests();
      return entries.map((entry) => `${entry.method} ${entry.path.replace(/^\/api\/v1/, "")}`);
    },
  };
}
