/** Machines that apply with mandates: processes with a state, a store and a host in common, and with crashes. */
import { onTestFinished } from "vitest";
import { accountOrigin } from "../../src/core/api/address.ts";
import type { AccountStore } from "../../src/core/local/account-store.ts";
import { MemoryStore, MemoryTables } from "../../src/core/local/memory-store.ts";
import type { Clock, Mandate } from "../../src/core/model/index.ts";
import type { DeclarationValue, OwnState } from "../../src/project/library.ts";
import { MANDATE_KINDS } from "../../src/project/mandate/create.ts";
import { signMandate } from "../../src/project/mandate/document.ts";
import type { Exchange, Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { type TestClock, testClock } from "./clock.ts";
import { temporaryFolder } from "./folder.ts";
import { newKey } from "./mandates.ts";
import { startSandbox } from "./sandbox.ts";
import { shipped } from "./shipped.ts";

const { HostformError, loadProject } = await shipped("library.js");

/** Exact amounts: plan 11 costs the agency 450. */
const profile = { plan: "id", money: "minor" } as never;

/** A state in memory. A dead process writes nothing. */
export class SharedState {
  text: string | undefined;
  holder: object | undefined;

  of(process: Process): OwnState {
    return {
      text: {
        name: "the shared state",
        read: async () => this.text,
        write: async (next, verify) => {
          process.step();
          verify();
          this.text = next;
          process.step();
        },
      },
      lock: {
        acquire: async () => {
          if (this.holder !== undefined) throw new Error("the state is locked");
          this.holder = process;
          return {
            verify: () => process.step(false),
            release: () => {
              if (this.holder === process) this.holder = undefined;
            },
          };
        },
        takeOver: async () => ({ holder: undefined, alive: undefined }),
      },
    };
  }
}

export class Dead extends Error {}

/** A process that may crash at one of its steps: a write of the state or of the store, or a request at the host. */
export class Process {
  readonly stop = new AbortController();
  isDead = false;
  /** Called before the process takes a use. */
  onUse: () => Promise<void> = async () => undefined;
  #left: number;

  constructor(crashAt = Number.POSITIVE_INFINITY) {
    this.#left = crashAt;
  }

  step(counts = true): void {
    if (counts && --this.#left <= 0) {
      this.isDead = true;
      this.stop.abort();
    }
    if (this.isDead) throw new Dead("the process is dead");
  }
}

/** Lets processes take their uses at the same time, after all have compared their plans. @returns ends the wait for a process. */
export function meet(processes: readonly Process[]): (process: Process) => void {
  const waiting = new Set(processes);
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrive = (process: Process) => {
    waiting.delete(process);
    if (waiting.size === 0) resolve();
  };
  for (const process of processes)
    process.onUse = () => {
      arrive(process);
      return promise;
    };
  return arrive;
}

/** Store of a process. A dead process writes nothing. */
function storeOf(process: Process, store: AccountStore): AccountStore {
  const writing = ["note", "forget", "leave", "answer", "unsent", "see", "release", "endRun"];
  return new Proxy(store, {
    get(target, name) {
      const found = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      return (...given: unknown[]) => {
        if (!writing.includes(String(name))) return found.apply(target, given);
        const isLedger = /note|forget/.test(String(name)) && JSON.stringify(given[0]).includes("mandate");
        return (async () => {
          if (name === "note" && /"name":"use /.test(JSON.stringify(given[0]))) await process.onUse();
          process.step(isLedger);
          const done = await found.apply(target, given);
          process.step(isLedger);
          return done;
        })();
      };
    },
  });
}

export interface Host {
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
  readonly approver: ReturnType<typeof newKey>;
  readonly env: Readonly<Record<string, string>>;
  onExchange: (exchange: Exchange) => void;
}

export async function startHost(options: SandboxOptions = {}): Promise<Host> {
  const clock = testClock();
  const host: { onExchange: Host["onExchange"] } = { onExchange: () => undefined };
  const sandbox = await startSandbox({
    clock,
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    profile,
    ...options,
    observe: (exchange) => host.onExchange(exchange),
  });
  onTestFinished(() => sandbox.close());
  const approver = newKey();
  const env = {
    HOSTING_TOKEN: sandbox.tokens.agency,
    HOSTING_BASE_URL: sandbox.url,
    HOSTFORM_APPROVERS: `lead=${approver.trusted}`,
  };
  return Object.assign(host, { sandbox, clock, approver, env });
}

/** One project on several machines. */
export class Machines {
  readonly host: Host;
  readonly tables = new MemoryTables();
  readonly state = new SharedState();
  readonly directory = temporaryFolder();
  readonly #store: (() => AccountStore) | undefined;

  /** @param store Opens the shared store. Default: in memory. */
  constructor(host: Host, store?: () => AccountStore) {
    this.host = host;
    this.#store = store;
  }

  store(): AccountStore {
    const { tables, host } = this;
    return this.#store?.() ?? new MemoryStore({ tables, clock: host.clock, account: "agency", sharing: "machines" });
  }

  /** Loads the project in a process. @param state Default: the state of all machines. */
  async load(
    declaration: DeclarationValue,
    process = new Process(),
    env: Readonly<Record<string, string | undefined>> = {},
    state = this.state,
    clock: Clock = this.host.clock,
  ) {
    return loadProject({
      declaration,
      directory: this.directory,
      env: { ...this.host.env, ...env },
      clock,
      state: state.of(process),
      store: () => storeOf(process, this.store()),
      lockTimeoutMs: 3_600_000,
    });
  }

  /** Returns a mandate for the account of the host. */
  mandate(given: Partial<Mandate> = {}): Mandate {
    const now = this.host.clock.now();
    return {
      id: "m1",
      project: "acme",
      environment: null,
      accounts: { default: { origin: accountOrigin(this.host.sandbox.url), anchors: [] } },
      plan: null,
      kinds: MANDATE_KINDS,
      max_orders: 9,
      max_spend: { USD: 100_000 },
      max_removals: 9,
      targets: [],
      objects: null,
      no_offline: false,
      uses: 1,
      issued: new Date(now).toISOString(),
      expires: new Date(now + 7_200_000).toISOString(),
      ...given,
    };
  }

  sign(given: Partial<Mandate> = {}): string {
    return signMandate(this.mandate(given), this.host.approver.key);
  }

  /** Returns the orders at the host. */
  orders() {
    return this.host.sandbox.control
      .list("services")
      .filter(({ domain }) => String(domain).endsWith(".mandate.example"));
  }
}

/** Returns the codes of an error, or the result. */
export const codesOf = <T>(work: Promise<T>): Promise<T | readonly string[]> =>
  work.catch((error: unknown) => {
    if (error instanceof HostformError) return error.diagnostics.map(({ code }) => code);
    throw error;
  });

export const site = (name: string, more: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.mandate.example`,
  deletion_policy: "forget",
  ...more,
});
