/**
 * Provider processes of a modelled Terraform: each has its own session, and all of them the machine's store. A
 * command can be ended between any two of its effects (what it sends, notes, writes out, records), as `kill -9` does it:
 * what was in memory is gone, and nothing more happens. The modules are the sources: the built provider has no door between two effects.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type Dispatcher } from "undici";
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

/** The project of all orders. */
export const PROJECT = "core";

/** A command that was ended. */
export class CommandKilled extends Error {}

/** One command of Terraform's: a number of effects, and perhaps an early end. */
export class Life {
  /** Terraform's process, as the provider knows its parent. */
  readonly mark = randomUUID();
  /** Each effect that it came to, in words. */
  readonly effects: string[] = [];
  /** Ctrl-C, for each process of the provider: StopProvider. */
  readonly stops = new Set<AbortController>();
  /** The calls under way are given up. */
  readonly cancelled = new AbortController();
  readonly #endsBefore: number | undefined;
  readonly #end = Promise.withResolvers<never>();
  #over = false;

  /** @param endsBefore the effect, counted from 1, that does not happen any more. */
  constructor(endsBefore?: number) {
    this.#endsBefore = endsBefore;
    this.#end.promise.catch(() => undefined);
  }

  get over(): boolean {
    return this.#over;
  }

  /** To be called before each effect. @throws CommandKilled when it is not to happen. */
  pass(effect: string): void {
    if (!this.#over) {
      this.effects.push(effect);
      if (this.effects.length !== this.#endsBefore) return;
      this.#over = true;
      this.#end.reject(new CommandKilled(`killed before: ${effect}`));
    }
    throw new CommandKilled(`killed, and yet: ${effect}`);
  }

  /** What the work comes to, unless the command is ended before that. */
  readonly until = <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined);
    return Promise.race([this.#end.promise, work]);
  };
}

/** What outlives processes: the account, the clock, and the folder of this machine's user. */
export class Machine {
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
  readonly #token: string;
  readonly #agent = new Agent();
  #tables = new MemoryTables();
  #habits = new MemoryTables();
  /** Where secrets are written out to. */
  readonly outputs = newFolder();
  /** The budget of the provider's client. */
  requestsPerMinute = 60;
  readonly #flying = new Set<Promise<void>>();
  /** What the API said to requests that change something, whether anybody heard it or not. */
  readonly answers: { readonly path: string; readonly body: string }[] = [];

  constructor(sandbox: Sandbox, clock: TestClock, token = sandbox.tokens.agency) {
    this.sandbox = sandbox;
    this.clock = clock;
    this.#token = token;
  }

  /** Another machine, or a fresh runner. */
  loseStore(): void {
    this.#tables = new MemoryTables();
    this.#habits = new MemoryTables();
  }

  /** `hostform resolve ADDRESS --absent` of the pending creates of a type. */
  async resolveAbsent(type: string): Promise<void> {
    const { session } = (await this.start(new Life())).connection;
    if (session === undefined) throw new Error("the provider is not configured");
    for (const [name, entry] of await session.entries.all(type))
      if (entry.private.pending !== undefined) await session.entries.put(type, name, { ...entry, resolved: "absent" });
    await session.close();
  }

  /** What left before a command was killed has arrived by then. */
  async calm(): Promise<void> {
    while (this.#flying.size > 0) await Promise.all(this.#flying);
  }

  /** The entries of creates, by type and name. (A replacement needs to know the objects that were released.) */
  noted(): readonly string[] {
    const entries = [...this.#tables.notes.values()].map(entryOf);
    return entries.filter((entry) => !/^\w+ (?:released|replacing|passed|taken) /.test(entry)).sort();
  }

  /** A new process of the provider, configured. */
  start(life: Life): ProviderProcess | Promise<ProviderProcess> {
    const { clock, sandbox } = this;
    const warnings: Diagnostic[] = [];
    const { stop, ...connection } = newConnection({ env: {}, log: () => undefined });
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
      account: new Account(client, settings, stop.signal, new HabitStore(this.#habits, clock, life)),
      project: PROJECT,
      moneyScale: undefined,
      isOpen: true,
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
          // A complete answer whose connection was cut counts.
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
  /** What was noticed beside the calls: a store that is unusable. */
  readonly warnings: readonly Diagnostic[];
}

const newFolder = () => mkdtempSync(quickFolder("core"));

const entryOf = ({ list, name }: Pick<Note, "list" | "name">) => `${JSON.parse(list).at(-1)} ${name}`;

const whatIs = ({ private: { pending, attempt } }: Entry) =>
  pending !== undefined ? "intent" : attempt !== undefined ? "attempt" : "result";

/** The store of one process of a machine. After the end of its life it writes nothing. */
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

/** Habits of the host. All creates of the modelled machine are of one process, which takes no turns. */
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
