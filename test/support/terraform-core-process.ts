/**
 * Provider processes of a modelled Terraform: each has its own session, and all of them the machine's journal. A
 * command can be ended between any two of its effects (what it sends, notes, writes out, records), as `kill -9` does it:
 * what was in memory is gone, and nothing more happens. The modules are the sources: the built provider has no door between two effects.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type Dispatcher } from "undici";
import { HostingClient, MemoryLedger } from "../../src/core/api/index.ts";
import { Account, type SecretOutputs } from "../../src/core/lifecycle/index.ts";
import type { Diagnostic } from "../../src/core/model/index.ts";
import { systemSecretFiles } from "../../src/core/record/secret-output.ts";
import { type Connection, newConnection } from "../../src/fronts/terraform/calls/call.ts";
import type { Journal, Note } from "../../src/fronts/terraform/index.ts";
import { asynchronous, openJournal } from "../../src/fronts/terraform/journal.ts";
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
  #folder = newFolder();
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
  loseJournal(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = newFolder();
  }

  /** What left before a command was killed has arrived by then. */
  async calm(): Promise<void> {
    while (this.#flying.size > 0) await Promise.all(this.#flying);
  }

  /** What the journal holds of creates, by type and name. (What was released is remembered for a replacement.) */
  noted(): readonly string[] {
    const journal = this.#journal(() => undefined);
    const entries = journal.list();
    journal.close();
    return entries.flatMap(({ type, name }) => (/ (?:released|replacing)$/.test(type) ? [] : [`${type} ${name}`]));
  }

  #journal(onWarning: (warning: Diagnostic) => void) {
    const { clock, sandbox } = this;
    const account = { baseUrl: sandbox.url, token: this.#token, project: PROJECT };
    return openJournal({ ...account, folder: this.#folder, clock, onWarning });
  }

  /** A new process of the provider, configured. */
  start(life: Life): ProviderProcess | Promise<ProviderProcess> {
    const { clock, sandbox } = this;
    const warnings: Diagnostic[] = [];
    const { stop, ...connection } = newConnection({ env: {}, log: () => undefined });
    life.stops.add(stop);
    const journal = this.#journal((warning) => void warnings.push(warning));
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
      account: new Account(client, settings, stop.signal),
      project: PROJECT,
      moneyScale: undefined,
      isOpen: true,
      host: "sandbox",
      place: "here",
      self: { mark: randomUUID(), parent: life.mark, isRunning: () => false },
      stop: stop.signal,
      journal: mortalJournal(
        asynchronous(() => journal),
        life,
      ),
      secretOutputs: mortalOutputs(files, life),
      secretDestination: (output, of) => files.destination(output, of),
      close: async () => journal.close(),
    };
    return { connection: { ...connection, stop, session }, warnings };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    for (const folder of [this.#folder, this.outputs]) rmSync(folder, { recursive: true, force: true });
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
          handler.onResponseError?.(controller, error);
        },
      };
      return dispatch(options, watching);
    };
  }
}

export interface ProviderProcess {
  readonly connection: Connection;
  /** What was noticed beside the calls: a journal that cannot be kept. */
  readonly warnings: readonly Diagnostic[];
}

/** In memory where the system has such a place: the journal is synced, and how long that takes does not matter here. */
const newFolder = () => mkdtempSync(quickFolder("core"));

const whatIs = ({ private: { pending, attempt } }: Note) =>
  pending !== undefined ? "intent" : attempt !== undefined ? "attempt" : "result";

/** What is removed is removed when the process ends well: before that nothing happens to the file. */
function mortalJournal(journal: Journal, life: Life): Journal {
  return {
    get: (type, name) => journal.get(type, name),
    all: (type) => journal.all(type),
    async put(type, name, resource) {
      life.pass(`journal: ${whatIs(resource)} of ${type} ${name}`);
      await journal.put(type, name, resource);
    },
    async insert(type, name, resource) {
      life.pass(`journal: ${whatIs(resource)} of ${type} ${name}`);
      return journal.insert(type, name, resource);
    },
    remove: (type, name) => journal.remove(type, name),
    answered: () => journal.answered(),
    close: () => journal.close(),
  };
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
