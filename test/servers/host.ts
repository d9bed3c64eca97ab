/**
 * A random host and the user's machine: a folder, a clock that only sleeps advance, and the command line in this
 * process. Needs no test runner.
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

/** Result of a command. */
export interface Ran {
  readonly command: string;
  readonly code: number;
  readonly text: string;
  /** Write requests of the command. */
  readonly writes: readonly string[];
}

/** Number of creates for each natural key of the user's own objects. */
export type Made = ReadonlyMap<string, number>;

const STATE = "hosting.tfstate";

/** Delay that marks the request at which a process dies, in milliseconds. */
const DEATH_MS = 7;

/** Real time after which a sleep is not a watchdog, because the sandbox has responded long before. In milliseconds. */
const PATIENCE_MS = 10_000;

/** Requests of undici in this thread that have begun and not ended. */
const onTheWay = new Set<unknown>();
subscribe("undici:request:create", (message) => onTheWay.add(requestOf(message)));
for (const end of ["undici:request:trailers", "undici:request:error"])
  subscribe(end, (message) => onTheWay.delete(requestOf(message)));

const requestOf = (message: unknown): unknown => Object(message).request;

/** Real time after which the host is assumed to leave a request without a response, in milliseconds. */
const TRANSIT_MS = 1_000;

/**
 * Resolves when no request is in transit. If the sleep of one change advanced the clock during a request of another
 * change, that request would take minutes to arrive. No guarantee about keys and lists holds for such a network.
 */
async function arrived(): Promise<void> {
  const latest = performance.now() + TRANSIT_MS;
  do await new Promise((resolve) => setImmediate(resolve));
  while (onTheWay.size > 0 && performance.now() < latest);
}

/**
 * Returns a clock that ends long waits for a host. The clock of tests treats sleeps of these lengths as watchdogs,
 * which never end.
 */
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
  /** Responses to password requests, as the host sent them. */
  readonly passwords: string[] = [];
  readonly #dir: string;
  /** True if the runs share one request budget. Otherwise each run has its own budget. */
  readonly sharesLedger: boolean;
  readonly #sandbox: Sandbox;
  readonly #options: SandboxOptions;
  readonly #made = new Map<string, Set<number>>();
  readonly #writes: string[] = [];
  #onDelay: () => void = () => undefined;

  /** Called before the sandbox waits because of a fault. */
  delayed(ms: number): void {
    // Other faults delay requests also.
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

  /** Returns an id of the control API in the form of the host. */
  idOf(kind: RecordKind, id: number | undefined): string | undefined {
    if (id === undefined) return undefined;
    const written = String(recordId(kind, { id }, completeProfile(this.#options.profile)));
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

  /** Runs a command whose process dies after the host handles the request and before the response arrives. */
  async die(method: string, endpoint: string, nth: number, ...args: string[]): Promise<Ran> {
    let files: ReadonlyMap<string, string> | undefined;
    this.#onDelay = () => {
      if (files !== undefined) return;
      files = this.#files();
      // A dead process sends no request. Earlier requests may still arrive.
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

  /** Counts the objects that a request created. */
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
        // Some lives share the request budget between runs, like a user's machine. The shared budget makes a life
        // slower.
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
