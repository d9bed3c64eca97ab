/**
 * The Terraform provider `hosting`, over plugin protocol 6: a protocol sandwich. `wire/` speaks gRPC and knows nothing of the
 * provider; `calls/` decodes a request, calls the core, encodes its answer, one file per group of calls; the core
 * (`resource/`, `data/`, `provider/`) deals in the values of `model` and goes through `lifecycle` and `kinds`, so that a
 * declaration means the same as in YAML. Must not: import the engine (graph, order and state are Terraform's own), or let
 * wire types into the core.
 * This file has the contracts between its parts, without wire types: only `calls/` translates.
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
  SecretDestination,
  SecretName,
  ValueObject,
} from "../../core/model/index.ts";
import type { Schema, SchemaType } from "../../core/model/schema.ts";
import type { Entries } from "./entries.ts";
import type { Holdings } from "./resource/holdings.ts";

/** One provider configuration, opened: its account and settings. */
export interface ProviderSession {
  /** False while a part of the configuration is unknown: then the account cannot be used. */
  readonly isOpen: boolean;
  readonly client: HostingClient;
  readonly account: Account;
  readonly settings: ReadSettings;
  /** Absent: no service can be ordered (the Idempotency-Key is derived from it). */
  readonly project: string | undefined;
  /** Digits after the decimal point of money amounts; undefined: amounts are in the API's own unit. */
  readonly moneyScale: number | undefined;
  /** A digest of the host's address, as the private mark of an object has it. */
  readonly host: string;
  /** The user has said that the account has moved (HOSTFORM_ACCOUNT_MOVED=1). */
  readonly hasMoved?: boolean;
  /** A digest of folder, workspace and backend: an entry is used where it was written. */
  readonly place: string;
  /** This process and its parent, and whether another process of this machine is still running. */
  readonly self: { readonly mark: string; readonly parent: string; isRunning(mark: string): boolean };
  readonly clock: Clock;
  /** Aborted when Terraform is stopped (Ctrl-C): running requests finish, no new one is sent. */
  readonly stop: AbortSignal;
  readonly entries: Entries;
  /** The objects that the state holds, as far as this machine knows them. */
  readonly holdings: Holdings;
  readonly secretOutputs: SecretOutputs;
  /** Returns the destination of a secret. @throws HostformError `secret.output` for a forbidden place. */
  secretDestination(output: FileOutput, of: SecretName): Promise<SecretDestination>;
  close(): Promise<void>;
}

/** Parts of a session that data sources use. */
export interface DataSession extends Pick<ProviderSession, "client" | "account" | "moneyScale" | "clock" | "stop"> {
  /** The collections that concurrent readers share; default: those of the session. */
  readonly collections?: {
    isAlone(kind: Kind, parent: string | undefined): Promise<boolean>;
    upToDate(kind: Kind, parent: string | undefined): void;
  };
}

/** `data "hosting_…"`; or `ephemeral "hosting_…"`, read when Terraform opens it: its result is in no state and no plan. */
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
  /** Index of the argument, from 0. */
  readonly argument: number | undefined;
  constructor(message: string, argument?: number) {
    super(message);
    this.argument = argument;
  }
}
