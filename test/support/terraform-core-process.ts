/**
 * Provider processes of the modelled Terraform. Each process has its own session, and all share the store of the
 * machine. A command can be killed between any two of its effects (requests, store entries, secret files, state
 * entries), like with `kill -9`: its memory is lost, and no later effect occurs. Imports the sources, because the
 * built provider has no hook between two effects.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type Dispatcher } from "undici";
import { accountOrigin } from "../../src/core/api/address.ts";
import { HostingClient, MemoryLedger } from "../../src/core/api/index.ts";
import { systemSecretFiles } from "../../src/core/files/index.ts";
import { Account, type SecretOutputs } from "../../src/core/lifecycle/index.ts";
import {
  MemoryStore,
  MemoryTables,
  type Note,
  type NoteOptions,
  type Turn,
  type TurnRequest,
} from "../../src/core/local/index.ts";
import { type Diagnostic, parsedJson } from "../../src/core/model/index.ts";
import { type Connection, newConnection } from "../../src/fronts/terraform/calls/call.ts";
import { Entries, type Entry } from "../../src/fronts/terraform/entries.ts";
import { Holdings } from "../../src/fronts/terraform/resource/holdings.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import type { TestClock } from "./clock.ts";
import { quickFolder } from "./folder.ts";

/** Project of all orders. */
export const PROJECT = "core";

/** Error of a killed command. */
export class CommandKilled extends Error {}

/** One command of Terraform: its effects, and the effect before which it is killed, if any. */
export class Life {
  /** Id of the Terraform process, for the provider. */
  readonly mark = randomUUID();
  /** Descriptions of the effects so far. */
  readonly effects: string[] = [];
  /** Abort controllers of StopProvider (Ctrl-C), one for each process of the provider. */
  readonly stops = new Set<AbortController>();
  /** Cancels the calls in progress. */
  readonly cancelled = new AbortController();
  readonly #endsBefore: number | undefined;
  readonly #end = Promise.withResolvers<never>();
  #over = false;

  /** @param endsBefore Number of the effect before which the command is killed, from 1. */
  constructor(endsBefore?: number) {
    this.#endsBefore = endsBefore;
    this.#end.promise.catch(() => undefined);
  }

  get over(): boolean {
    return this.#over;
  }

  /**
   * Called before each effect.
   * @throws CommandKilled if the command is killed before this effect.
   */
  pass(effect: string): void {
    if (!this.#over) {
      this.effects.push(effect);
      if (this.effects.length !== this.#endsBefore) return;
      this.#over = true;
      this.#end.reject(new CommandKilled(`killed before: ${effect}`));
    }
    throw new CommandKilled(`killed, and yet: ${effect}`);
  }

  /** Resolves with the result of the work, unless the command is killed before. */
  readonly until = <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined);
    return Promise.race([this.#end.promise, work]);
  };
}

/** Data that survives processes: the account, the clock, and the folder of the user. */
export class Machine {
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
  readonly #token: string;
  readonly #agent = new Agent();
  #tables = new MemoryTables();
  #habits = new MemoryTables();
  /** Folder for secret files. */
  readonly outputs = newFolder();
  /** Request limit of the provider's client. */
  requestsPerMinute = 60;
  readonly #flying = new Set<Promise<void>>();
  /** Responses of the API to write requests, including responses that no process received. */
  readonly answers: { readonly path: string; readonly body: string }[] = [];

  constructor(sandbox: Sandbox, clock: TestClock, token = sandbox.tokens.agency) {
    this.sandbox = sandbox;
    this.clock = clock;
    this.#token = token;
  }

  /** Simulates another machine or a new runner. */
  loseStore(): void {
    this.#tables = new MemoryTables();
    this.#habits = new MemoryTables();
  }

  /** Runs `hostform resolve ADDRESS --absent` for the pending creates of a type. */
  async resolveAbsent(type: string): Promise<void> {
    const { session } = (await this.start(new Life())).connection;
    if (session === undefined) throw new Error("the provider is not configured");
    for (const [name, entry] of await session.entries.all(type))
      if (entry.private.pending !== undefined) await session.entries.put(type, name, { ...entry, resolved: "absent" });
    await session.close();
  }

  /** Resolves when all requests of killed commands have arrived. */
  async calm(): Promise<void> {
    while (this.#flying.size > 0) await Promise.all(this.#flying);
  }

  /**
   * Returns the entries of creates, by type and name. Omits the entries about released objects, which only
   * replacements need.
   */
  noted(): readonly string[] {
    const entries = [...this.#tables.notes.values()].map(entryOf);
    return entries.filter((entry) => !/^\w+ (?:released|replacing|passed|taken) /.test(entry)).sort();
  }

  /** Starts a new process of the provider, without its configuration. */
  unconfigured(): Connection {
    return newConnection({ env: {}, log: () => undefined });
  }

  /** Starts and configures a new process of the provider. */
  start(life: Life): ProviderProcess | Promise<ProviderProcess> {
    const { clock, sandbox } = this;
    const warnings: Diagnostic[] = [];
    const { stop, ...connection } = this.unconfigured();
    life.stops.add(stop);
    const store = new MortalStore(this.#tables, clock, life);
    const client = new HostingClient({
      baseUrl: sandbox.url,
      token: this.#token,
      clock,
      random: () => 0.5,
      dispatcher: this.#agent.compose((dispatch) => this.#watch(life, dispatch)),
      ledger: new MemoryLedger(),
      requestsPerMinute: this.requestsPerMinute,
      stop: stop.signal,
    });
    const settings = { statusWords: {} };
    const files = systemSecretFiles({ folder: this.outputs, own: [], env: {} });
    const session: Connection["session"] = {
      client,
      settings,
      clock,
      account: Object.assign(new Account(client, settings, stop.signal, new HabitStore(this.#habits, clock, life)), {
        origin: accountOrigin(sandbox.url),
      }),
      project: PROJECT,
      moneyScale: undefined,
      isOpen: true,
      access: `${sandbox.url}, token from HOSTING_TOKEN`,
      host: "sandbox",
      place: "here",
      self: { mark: randomUUID(), parent: life.mark, isRunning: () => false },
      stop: stop.signal,
      entries: new Entries({ store, project: PROJECT, onWarning: (warning) => void warnings.push(warning) }),
      holdings: new Holdings({
        store,
        place: { mark: "here", label: "the Terraform workspace default in /core" },
        run: randomUUID(),
        clock,
        onWarning: (warning) => void warnings.push(warning),
      }),
      browse: async () => "there is no browser",
      secretOutputs: mortalOutputs(files, life),
      secretDestination: (output, of) => files.destination(output, of),
      close: async () => store.close(),
    };
    return { connection: { ...connection, stop, session }, warnings };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    rmSync(this.outputs, { recursive: true, force: true });
  }

  #watch(life: Life, dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
    return (options, handler) => {
      const { method, path: url } = options;
      if (method === "GET") return dispatch(options, handler);
      life.pass(`${method} ${url.replace("/api/v1", "")}`);
      const chunks: Uint8Array[] = [];
      const { answers } = this;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#flying.add(promise);
      const landed = () => {
        this.#flying.delete(promise);
        resolve();
      };
      const watching: Dispatcher.DispatchHandler = {
        onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
        onResponseStart: (...args) => handler.onResponseStart?.(...args),
        onResponseData: (controller, chunk) => {
          chunks.push(chunk);
          handler.onResponseData?.(controller, chunk);
        },
        onResponseEnd: (controller, trailers) => {
          landed();
          answers.push({ path: url, body: Buffer.concat(chunks).toString() });
          handler.onResponseEnd?.(controller, trailers);
        },
        onResponseError: (controller, error) => {
          landed();
          // A complete response counts even if its connection was cut.
          const body = Buffer.concat(chunks).toString();
          if (parsedJson(body) !== undefined) answers.push({ path: url, body });
          handler.onResponseError?.(controller, error);
        },
      };
      return dispatch(options, watching);
    };
  }
}

export interface ProviderProcess {
  readonly connection: Connection;
  /** Warnings outside of the calls, for example about an unusable store. */
  readonly warnings: readonly Diagnostic[];
}

const newFolder = () => mkdtempSync(quickFolder("core"));

const entryOf = ({ list, name }: Pick<Note, "list" | "name">) => `${JSON.parse(list).at(-1)} ${name}`;

const whatIs = ({ private: { pending, attempt } }: Entry) =>
  pending !== undefined ? "intent" : attempt !== undefined ? "attempt" : "result";

/** Store of one process of a machine. After the death of the process, it writes nothing. */
class MortalStore extends MemoryStore {
  readonly #life: Life;

  constructor(tables: MemoryTables, clock: TestClock, life: Life) {
    super({ tables, clock });
    this.#life = life;
  }

  override async note(notes: readonly Note[], options?: NoteOptions): Promise<readonly Note[]> {
    const isAnswer = options?.when === "present";
    if (isAnswer && this.#life.over) return [];
    for (const note of isAnswer ? [] : notes)
      this.#life.pass(`store: ${whatIs(note.value as unknown as Entry)} of ${entryOf(note)}`);
    return super.note(notes, options);
  }

  override async forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void> {
    for (const note of notes) {
      const known = await this.notes(note.list, note.name);
      if (known.length > 0) this.#life.pass(`store: removal of ${entryOf(note)}`);
    }
    return super.forget(notes);
  }
}

/**
 * Store of the host's habits. One process sends all creates of the modelled machine, so no create lock is necessary.
 */
class HabitStore extends MemoryStore {
  readonly #life: Life;

  constructor(tables: MemoryTables, clock: TestClock, life: Life) {
    super({ tables, clock });
    this.#life = life;
  }

  override async note(notes: readonly Note[]): Promise<readonly Note[]> {
    return this.#life.over ? [] : super.note(notes);
  }

  override withTurn<T>(_: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T> {
    return work({ epoch: 1, isNewerThan: () => false });
  }

  override async leave(): Promise<void> {}

  override async answer(): Promise<void> {}

  override async unsent(): Promise<void> {}
}

function mortalOutputs(outputs: SecretOutputs, life: Life): SecretOutputs {
  return {
    check: (output, of) => outputs.check(output, of),
    async write(output, of, secret) {
      life.pass(`writes out the ${of.attribute}`);
      await outputs.write(output, of, secret);
    },
  };
}
