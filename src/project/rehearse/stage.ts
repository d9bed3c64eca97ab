/** The stage of a rehearsal: a sandbox for each account, a copy of the state in memory, and a clock whose waits cost no time. */
import { MemoryStore } from "../../core/local/index.ts";
import type { HistoryEntry, ResourceState, Unpaid } from "../../core/model/index.ts";
import { linesIn, type StateBackend } from "../../core/record/index.ts";
import type { Exchange, RequestEntry, Sandbox, SandboxOptions, Span } from "../../sandbox/index.ts";
import { hostOf } from "../programs.ts";
import type { Project } from "../project.ts";
import { learnEnvironment, Redaction } from "../redaction.ts";
import type { Log, Rehearsal } from "../source.ts";
import { type IdleClock, idleClock } from "./idle-clock.ts";
import type { ImportedReading } from "./imported.ts";

/** Options of the sandbox that replaces an account. */
export type Imported = SandboxOptions &
  Pick<ImportedReading, "account" | "unit" | "unpriced"> & {
    /** Host and port of the API, and the source of its token, as messages name them. */
    readonly host: string;
    readonly token: string;
  };

/** A request. `nth`: its number at the sandbox of the provider, from 1. */
export interface Sent extends Pick<RequestEntry, "method" | "path" | "ordered"> {
  readonly alias: string;
  readonly nth: number;
}

/** The beginning of each stage. */
export interface Setting {
  readonly project: Project;
  /** By provider alias. */
  readonly accounts: ReadonlyMap<string, Imported>;
  /** Text of the state, and its records. Undefined before the first apply. */
  readonly state: string | undefined;
  readonly records: ReadonlyMap<string, ResourceState>;
  readonly history: readonly HistoryEntry[] | undefined;
  /** Time of the reading, in milliseconds since the epoch. */
  readonly at: number;
  /** Ends the rehearsal. */
  readonly signal: AbortSignal;
}

const SILENT: Log = {
  say() {},
  warn() {},
  request() {},
  wait() {},
  connecting() {},
  reading() {},
  output() {},
  showsOutput: false,
};

/** Value of each secret that a person would provide. */
const PASSWORD = "Rehearsal-only-0";

/** Beginning of the variables with the tokens of the sandboxes. */
const TOKEN = "HOSTFORM_REHEARSAL_TOKEN_";

/** Variables that would lead a request out of the sandbox, or require a mandate for the sandbox. */
const OUTWARD = ["HOSTING_BASE_URL", "HOSTFORM_ALLOWED_ORIGINS", "HOSTING_TOKEN", "HOSTFORM_APPROVERS"];

export class Stage {
  readonly sandboxes: ReadonlyMap<string, Sandbox>;
  /** Last one-time secret that a run wrote to its destination, by address. */
  readonly secrets = new Map<string, string>();
  /** Body of the last response by alias and URL. Undefined if the host sent none. */
  readonly answers = new Map<string, string | undefined>();
  readonly #setting: Setting;
  readonly #clock: IdleClock;
  /** Invoices of the account at the beginning, by alias: their numbers and status. */
  readonly #billed = new Map<string, ReadonlyMap<number, string>>();
  readonly #kept: Partial<Record<"state" | "history", string>> = {};

  private constructor(setting: Setting, clock: IdleClock, sandboxes: Stage["sandboxes"]) {
    this.#setting = setting;
    this.#clock = clock;
    this.sandboxes = sandboxes;
    this.#kept.state = setting.state;
  }

  /** Starts the sandboxes. @param observe Receives each exchange. */
  static async open(setting: Setting, observe: (exchange: Exchange) => void = () => {}): Promise<Stage> {
    const { startSandbox } = await import("../../sandbox/index.ts");
    const clock = idleClock(setting.at);
    const sandboxes = new Map<string, Sandbox>();
    const stage = new Stage(setting, clock, sandboxes);
    try {
      for (const [alias, { unit: _, unpriced: __, host: ___, token: ____, ...options }] of setting.accounts) {
        const seen = (exchange: Exchange) => {
          stage.answers.set(`${alias} ${exchange.url}`, exchange.body);
          observe(exchange);
        };
        const sandbox = await startSandbox({ ...options, clock, observe: seen, deliverTo: "nowhere" });
        sandboxes.set(alias, sandbox);
        stage.#billed.set(alias, new Map(sandbox.control.list("invoices").map(({ id, status }) => [id, status])));
      }
      const { history = [] } = setting;
      await stage.runner().state.write("rehearse", async (open) => {
        for (const entry of history) await open.history?.append(entry);
      });
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  /** Time of the sandboxes, which may be ahead of the waits, in milliseconds since the epoch. */
  now(): number {
    const [first] = this.sandboxes.values();
    return first === undefined ? this.#clock.now() : Date.parse(first.control.clock().now);
  }

  /**
   * Returns the project as a new process without memory runs it: with the state of the stage and empty account stores.
   * @param death Ends the process: it then writes nothing.
   */
  runner(death?: AbortSignal): Project {
    const { project, signal } = this.#setting;
    const { source } = project;
    const env: Record<string, string | undefined> = { ...source.env };
    for (const name of OUTWARD) delete env[name];
    const accounts = [...this.sandboxes].map(([alias, { url, tokens }], at) => {
      const tokenEnv = `${TOKEN}${at}`;
      env[tokenEnv] = tokens.agency;
      return [alias, { baseUrl: url, tokenEnv }] as const;
    });
    const clock = { ...this.#clock, now: () => this.now() };
    const redaction = new Redaction();
    learnEnvironment(redaction, source.env);
    const end = () => AbortSignal.any([signal, ...(death ? [death] : [])]);
    const rehearsal: Rehearsal = {
      declaration: () => project.declaration.read(),
      ...{ accounts: new Map(accounts), backend: this.#backend(death), secrets: this.#secrets() },
    };
    const openStore = ({ account }: { readonly account: string }) => new MemoryStore({ account, clock });
    return project.on(
      { ...source, env, openStore, rehearsal },
      { host: hostOf(clock, end(), end()), log: SILENT, redaction },
    );
  }

  /** Returns a value with the hosts and tokens of the accounts in place of those of the sandboxes. */
  renamed<T>(value: T): T {
    let text = JSON.stringify(value);
    for (const [at, [alias, { url }]] of [...this.sandboxes].entries()) {
      const { host = "", token = "" } = this.#setting.accounts.get(alias) ?? {};
      const quoted = (word: string) => JSON.stringify(word).slice(1, -1);
      text = text.replaceAll(new URL(url).host, () => quoted(host));
      text = text.replaceAll(new RegExp(`${TOKEN}${at}(?!\\d)`, "g"), () => quoted(token));
    }
    return JSON.parse(text);
  }

  /** Moves the time of all accounts forward. */
  advance(span: Span): void {
    for (const { control } of this.sandboxes.values()) control.advanceClock(span);
  }

  /** Pays invoices under an assumption. */
  pay(unpaid: Unpaid): void {
    for (const [alias, { control }] of this.sandboxes)
      for (const { id, status } of control.list("invoices")) {
        const isAssumed = unpaid === "none" || (unpaid === "open" && this.#billed.get(alias)?.has(id) === false);
        if (status === "unpaid" && isAssumed) control.payInvoice(id);
      }
  }

  /** Returns the services that were suspended at the beginning, and still are. */
  suspended(): { readonly provider: string; readonly order: string; readonly domain: string | null }[] {
    return [...this.sandboxes].flatMap(([provider, { control }]) => {
      const before = this.#setting.accounts.get(provider)?.account.services ?? [];
      const away = new Set(before.flatMap(({ id, status }) => (status === "suspended" ? [id] : [])));
      return control.list("services").flatMap(({ id, status, domain }) => {
        return status === "suspended" && away.has(id) ? [{ provider, order: String(id), domain }] : [];
      });
    });
  }

  /** Returns the numbers of the invoices that were open at the beginning. */
  openBefore(alias: string): ReadonlySet<number> {
    return new Set([...(this.#billed.get(alias) ?? [])].flatMap(([id, status]) => (status === "unpaid" ? [id] : [])));
  }

  /** Returns the requests since the beginning. */
  sent(): Sent[] {
    return [...this.sandboxes].flatMap(([alias, { control }]) =>
      control.requests().map(({ method, path, ordered }, at) => ({ alias, nth: at + 1, method, path, ordered })),
    );
  }

  /** Number of orders since the beginning. */
  orders(): number {
    return this.sent().filter(({ ordered }) => ordered !== null).length;
  }

  /** Returns a sentence for each broken rule of the API. A new process does not know the requests of the last minute. */
  broken(): string[] {
    const found = [...this.sandboxes.values()].flatMap(({ control }) => control.invariants().broken);
    return found.flatMap(({ rule, message }) => (rule === "over_rate" ? [] : [message]));
  }

  async close(): Promise<void> {
    await Promise.all([...this.sandboxes.values()].map((sandbox) => sandbox.close()));
    this.#clock.close();
  }

  #backend(death: AbortSignal | undefined): StateBackend {
    const name = "the rehearsal";
    const kept = this.#kept;
    const reading = (part: keyof typeof kept) => async () => kept[part];
    const writing = (part: keyof typeof kept) => async (text: string) => {
      if (death?.aborted !== true) kept[part] = text;
    };
    return {
      text: { name, read: reading("state"), write: writing("state") },
      lock: {
        acquire: async () => ({ verify() {}, release() {} }),
        takeOver: async () => ({ holder: undefined, alive: undefined }),
      },
      ...(this.#setting.history && { history: linesIn(name, reading("history"), writing("history")) }),
    };
  }

  #secrets(): Rehearsal["secrets"] {
    return {
      secretOutputs: {
        check: async () => {},
        write: async (_, { address }, secret) => void this.secrets.set(address, secret),
      },
      readSource: async () => PASSWORD,
    };
  }
}
