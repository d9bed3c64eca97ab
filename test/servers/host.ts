/**
 * A host that fills the gaps of the specification in ways that were drawn, and a user's machine beside it: a folder, a clock
 * that only sleeps move, the command line in process. Needs no test runner.
 */

import { subscribe } from "node:diagnostics_channel";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Io } from "../../src/cli/terminal.ts";
import type { State } from "../../src/core/model/index.ts";
import { createFileStore } from "../../src/core/record/index.ts";
import { type Exchange, type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { type RecordKind, recordId } from "../../src/sandbox/shape/items.ts";
import { START, type TestClock, testClock } from "../support/clock.ts";
import { quickFolder } from "../support/folder.ts";
import { runCli } from "../support/program.ts";
import { Draw } from "./draw.ts";
import { type Deviation, serverOptions } from "./drawn.ts";

/** What a command did. */
export interface Ran {
  readonly command: string;
  readonly code: number;
  readonly text: string;
  /** Requests that it sent and that could change something. */
  readonly writes: readonly string[];
}

/** What the account holds that is the user's own, by natural key: how many of it were ever made. */
export type Made = ReadonlyMap<string, number>;

const STATE = "hosting.tfstate";

/** The delay by which the fault is known that a process dies of. */
const DEATH_MS = 7;

/** Real time after which a sleep is no watchdog's: the sandbox has long answered. */
const PATIENCE_MS = 10_000;

/** The requests that undici has begun and that have not ended, in this thread. */
const onTheWay = new Set<unknown>();
subscribe("undici:request:create", (message) => onTheWay.add(requestOf(message)));
for (const end of ["undici:request:trailers", "undici:request:error"])
  subscribe(end, (message) => onTheWay.delete(requestOf(message)));

const requestOf = (message: unknown): unknown => Object(message).request;

/** Real time after which a request is one that the host leaves without an answer. */
const TRANSIT_MS = 1_000;

/**
 * Resolves when no request is on its way. If the sleep of one change moved the clock while a request of another is sent, that
 * request would take minutes to arrive: no promise about keys and lists holds for such a network.
 */
async function arrived(): Promise<void> {
  const latest = performance.now() + TRANSIT_MS;
  do await new Promise((resolve) => setImmediate(resolve));
  while (onTheWay.size > 0 && performance.now() < latest);
}

/** The clock of tests takes sleeps of some lengths for watchdogs, which never end. A wait for a host may be as long: it ends. */
function patientClock(): TestClock {
  const clock = testClock(START, arrived);
  const { sleep } = clock;
  clock.sleep = async (ms, signal) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        clock.advance(ms);
        resolve();
      }, PATIENCE_MS);
    });
    try {
      await Promise.race([sleep(ms, signal), late]);
    } finally {
      clearTimeout(timer);
    }
  };
  return clock;
}

export class Host implements AsyncDisposable {
  readonly clock: TestClock;
  readonly ran: Ran[] = [];
  /** Answers to requests for a password, as they went over the wire. */
  readonly passwords: string[] = [];
  readonly #dir: string;
  /** Its runs count their requests together; otherwise the limit is kept by each of them alone. */
  readonly sharesLedger: boolean;
  readonly #sandbox: Sandbox;
  readonly #options: SandboxOptions;
  readonly #made = new Map<string, Set<number>>();
  readonly #writes: string[] = [];
  #onDelay: () => void = () => undefined;

  /** The sandbox is about to wait, as a fault makes it. */
  delayed(ms: number): void {
    // Background faults delay requests too.
    if (ms === DEATH_MS) this.#onDelay();
  }

  private constructor(sandbox: Sandbox, clock: TestClock, dir: string, sharesLedger: boolean, options: SandboxOptions) {
    this.#options = options;
    this.sharesLedger = sharesLedger;
    this.#sandbox = sandbox;
    this.clock = clock;
    this.#dir = dir;
  }

  static async start(deviations: readonly Deviation[], seed: string): Promise<Host> {
    const { sandbox: drawn, hostAheadSeconds } = serverOptions(deviations);
    const clock = patientClock();
    let host: Host | undefined;
    const sandbox = await startSandbox({
      ...(drawn as SandboxOptions),
      seed,
      clock: { now: () => clock.now() + hostAheadSeconds * 1000 },
      sleep: async (ms) => host?.delayed(ms),
      deliverTo: [],
      observe: (exchange) => host?.see(exchange),
    });
    host = new Host(
      sandbox,
      clock,
      mkdtempSync(quickFolder("server")),
      new Draw(`ledger:${seed}`).once(0.25),
      drawn as SandboxOptions,
    );
    return host;
  }

  get control(): Sandbox["control"] {
    return this.#sandbox.control;
  }

  get made(): Made {
    return new Map([...this.#made].map(([key, ids]) => [key, ids.size]));
  }

  /** How the host writes an id that the control counts. */
  idOf(kind: RecordKind, id: number | undefined): string | undefined {
    if (id === undefined) return undefined;
    const written = String(recordId(kind, id, completeProfile(this.#options.profile)));
    const prefixed = this.#options.rendering?.kinds?.[kind]?.ids === "prefixed" && /^\d+$/.test(written);
    return prefixed ? `${kind.slice(0, 2)}_${written}` : written;
  }

  declare(document: object): void {
    writeFileSync(path.join(this.#dir, "hosting.yaml"), JSON.stringify(document, null, 2));
  }

  async run(...args: string[]): Promise<Ran> {
    const text: string[] = [];
    const before = this.#writes.length;
    const code = await runCli([...args, "--no-color"], this.#io(text));
    const ran = { command: args.join(" "), code, text: text.join(""), writes: this.#writes.slice(before) };
    this.ran.push(ran);
    return ran;
  }

  /** Runs a command whose process dies when the request has been carried out, before its answer comes. */
  async die(method: string, endpoint: string, nth: number, ...args: string[]): Promise<Ran> {
    let files: ReadonlyMap<string, string> | undefined;
    this.#onDelay = () => {
      if (files !== undefined) return;
      files = this.#files();
      // Nothing leaves a process that is dead; what it sent before may still arrive.
      this.control.addFault({ path: "/*", phase: "before", drop: true, times: 10_000 });
    };
    this.control.addFault({ method, path: endpoint, nth, phase: "after", drop: true, delayMs: DEATH_MS });
    const ran = await this.run(...args);
    this.#onDelay = () => undefined;
    this.control.clearFaults();
    if (files !== undefined) {
      for (const name of this.#files().keys()) rmSync(path.join(this.#dir, name));
      for (const [name, contents] of files) writeFileSync(path.join(this.#dir, name), contents);
    }
    return ran;
  }

  async state(): Promise<State> {
    const store = createFileStore({ path: path.join(this.#dir, STATE), clock: this.clock });
    const open = await store.open({ write: false, command: "read", timeoutMs: 0 });
    await open.close();
    return open.state;
  }

  /** Takes note of what a request made. */
  see({ method, url, status, body }: Exchange): void {
    if (method === "GET") return;
    this.#writes.push(`${method} ${url.replace("/api/v1", "")} ${status ?? "cut"}`);
    if (url.endsWith("/password") && body !== undefined) this.passwords.push(body);
    const note = (key: string, id: number) => {
      const ids = this.#made.get(key) ?? new Set();
      this.#made.set(key, ids.add(id));
    };
    const { control } = this.#sandbox;
    for (const { id, domain, plan_id, customer_id } of control.list("services")) {
      if (customer_id === 1) note(`service ${domain ?? `of plan ${plan_id}`}`, id);
    }
    for (const { id, domain } of control.list("domains")) note(`domain ${domain}`, id);
    for (const { id, url: at, events } of control.list("webhooks")) note(`webhook ${at} ${events.join()}`, id);
    for (const { id, name } of control.list("accounts")) note(`client account ${name}`, id);
    for (const { id, domain } of control.list("migration_requests")) note(`migration request ${domain}`, id);
    for (const { id, service_id, email, permission, expires_at } of control.list("grants")) {
      note(`grant ${email} ${permission} ${expires_at} of ${service_id}`, id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #files(): ReadonlyMap<string, string> {
    const names = readdirSync(this.#dir).filter((name) => name.startsWith(STATE));
    return new Map(names.map((name) => [name, readFileSync(path.join(this.#dir, name), "utf8")]));
  }

  #io(text: string[]): Io {
    const never = (what: string) => async () => {
      throw new Error(`a life must not ${what}`);
    };
    return {
      env: {
        HOSTING_BASE_URL: this.#sandbox.url,
        HOSTING_TOKEN: this.#sandbox.tokens.agency,
        // As on a user's machine: the runs count their requests together. It takes time, so not in every life.
        ...(this.sharesLedger && { HOSTFORM_STATE_HOME: path.join(this.#dir, "home") }),
      },
      cwd: this.#dir,
      clock: this.clock,
      out: (part) => void text.push(part),
      err: (part) => void text.push(part),
      outIsTerminal: false,
      errIsTerminal: false,
      errIsRunner: false,
      columns: undefined,
      ask: async () => undefined,
      readInput: async () => "",
      readInputBytes: async () => new Uint8Array(),
      onInterrupt: () => () => undefined,
      onReload: () => () => undefined,
      run: never("start a command"),
      capture: never("start a command"),
      shell: never("start a shell"),
      browse: never("open a browser"),
      exit: never("end its process"),
    };
  }
}
