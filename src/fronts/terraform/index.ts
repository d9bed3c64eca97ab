/**
 * The Terraform provider `hosting`, over plugin protocol 6: a protocol sandwich. `wire/` speaks gRPC and knows no
 * provider; `calls/` decodes a request, calls the core, encodes its answer, one file per group of calls; the core
 * (`resource/`, `data/`, `provider/`) deals in the values of `model` and goes through `lifecycle` and `kinds`, so that a
 * declaration means the same as in YAML. Must not: import the engine (graph, order and state are Terraform's own), or let
 * wire types into the core.
 * Here stand the contracts between its parts. None of them knows wire types; `calls/` alone translates.
 */
import type { HostingClient } from "../../core/api/index.ts";
import type { Kind, ReadSettings } from "../../core/kinds/kind.ts";
import type { Account, SecretOutputs } from "../../core/lifecycle/index.ts";
import type {
  Clock,
  Diagnostic,
  FileOutput,
  Json,
  JsonObject,
  ResourceState,
  SecretDestination,
  SecretName,
  ValueObject,
} from "../../core/model/index.ts";
import type { Schema, SchemaType } from "../../core/model/schema.ts";

/** One provider configuration, opened: the account that it is about and how to deal with it. */
export interface ProviderSession {
  /** False while a part of the configuration is unknown: nothing of the account can be used then. */
  readonly isOpen: boolean;
  readonly client: HostingClient;
  readonly account: Account;
  readonly settings: ReadSettings;
  /** Absent: nothing can be ordered (the Idempotency-Key is made from it). */
  readonly project: string | undefined;
  /** Digits after the decimal point of money amounts; undefined: amounts are in the API's own unit. */
  readonly moneyScale: number | undefined;
  /** Which host it is, as the private mark of an object names it. No address can be read from it. */
  readonly host: string;
  /** Which folder and workspace Terraform runs in: a note of the journal is used where it was made. */
  readonly place: string;
  /** This process and its parent among those of the machine, and whether another one is still running. */
  readonly self: { readonly mark: string; readonly parent: string; isRunning(mark: string): boolean };
  readonly clock: Clock;
  /** Aborted when Terraform is stopped (Ctrl-C): what is under way is finished, nothing new is begun. */
  readonly stop: AbortSignal;
  readonly journal: Journal;
  readonly secretOutputs: SecretOutputs;
  /** Where a secret would be written. @throws HostformError `secret.output` for a place where none may be. */
  secretDestination(output: FileOutput, of: SecretName): Promise<SecretDestination>;
  close(): Promise<void>;
}

/**
 * What creates of this account and project have come to that Terraform may not have recorded yet: Terraform writes its
 * state after the provider has answered, and a process that is killed in between takes the answer with it. In the user's
 * state folder, mode 0600; nothing in it outlives the moment in which Terraform shows that it has recorded the object.
 */
export interface Note extends ResourceState {
  /** Where Terraform ran, as {@link ProviderSession.place} has it. */
  readonly place?: string;
  /** The process that wrote it, as {@link ProviderSession.self} has it. */
  readonly owner?: string;
  /** Terraform went on after the answer, to the ordered end of the process: its state has the object, or had it. */
  readonly answered?: true;
  /** Of a change: what Terraform had recorded, before it, of the values that are shown only once. */
  readonly base?: JsonObject;
}

/** The notes of this account and project. Each method is synchronous and atomic. */
export interface Journal {
  /** @param name what distinguishes the object from others of its type: a service's reference, else the natural key. */
  get(type: string, name: string): Note | undefined;
  /** Durable when it returns. */
  put(type: string, name: string, note: Note): void;
  /** The same, if there is none. @returns the one that is there; then nothing was put. */
  insert(type: string, name: string, note: Note): Note | undefined;
  remove(type: string, name: string): void;
  /** Everything that this process has put was answered, and Terraform has gone on. */
  answered(): void;
  close(): void;
}

/** What data sources need of a session. */
export interface DataSession extends Pick<ProviderSession, "client" | "account" | "moneyScale" | "clock" | "stop"> {
  /** The collections as their readers share them; default: those of the session. */
  readonly collections?: {
    isAlone(kind: Kind, parent: string | undefined): Promise<boolean>;
    upToDate(kind: Kind, parent: string | undefined): void;
  };
}

/** `data "hosting_…"`. */
export interface DataSource {
  readonly name: string;
  readonly schema: Schema;
  /** Refuses a configuration before it is read. Values may be unknown; null where nothing is given. */
  check?(config: ValueObject): readonly Diagnostic[];
  /**
   * @param config wholly known; null where nothing is given.
   * @returns every attribute of the schema.
   * @throws HostformError.
   */
  read(config: JsonObject, session: DataSession): Promise<JsonObject>;
}

/** `ephemeral "hosting_…"`, read when Terraform opens it: its result is in no state and no plan. */
export type EphemeralResource = DataSource;

/** `provider::hosting::…`. Runs without a configuration. */
export interface ProviderFunction {
  readonly name: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly type: SchemaType; readonly description: string }[];
  readonly returns: SchemaType;
  /** @throws FunctionError. */
  call(args: readonly Json[]): Json;
}

/** A function's argument is wrong. */
export class FunctionError extends Error {
  /** Which one, from 0. */
  readonly argument: number | undefined;
  constructor(message: string, argument?: number) {
    super(message);
    this.argument = argument;
  }
}
