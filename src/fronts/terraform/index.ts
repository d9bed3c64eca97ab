/**
 * The Terraform provider `hosting`, over plugin protocol 6. `wire/` implements gRPC and does not know the provider. `calls/` decodes a
 * request, calls the core and encodes the response, one file for each group of calls. The core (`resource/`, `data/`, `provider/`)
 * uses the values of `model` through `lifecycle` and `kinds`, so that a declaration means the same as in YAML. Must not: import the
 * engine (graph, order and state are Terraform's own), or use wire types in the core.
 * This file contains the contracts between its parts, without wire types: only `calls/` translates.
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

/** An open provider configuration: its account and settings. */
export interface ProviderSession {
  /** False while a part of the configuration is unknown: then the account cannot be used. */
  readonly isOpen: boolean;
  readonly client: HostingClient;
  readonly account: Account;
  readonly settings: ReadSettings;
  /** Name of the project. Without it, no service can be ordered, because the Idempotency-Key is derived from this name. */
  readonly project: string | undefined;
  /** Digits after the decimal point of money amounts; undefined: amounts are in the API's own unit. */
  readonly moneyScale: number | undefined;
  /** Base URL and source of the token, for messages. */
  readonly access: string;
  /** Digest of the host's URL, as in the private mark of an object. */
  readonly host: string;
  /** True if HOSTFORM_ACCOUNT_MOVED=1 confirms that the account has moved. */
  readonly hasMoved?: boolean;
  /** Digest of folder, workspace and backend, which identifies the state. An entry is valid only in its own state. */
  readonly place: string;
  /** Marks of this process and its parent. `isRunning`: returns true if the process of a mark runs on this machine. */
  readonly self: { readonly mark: string; readonly parent: string; isRunning(mark: string): boolean };
  readonly clock: Clock;
  /** Aborted when Terraform is stopped (Ctrl-C). Sent requests finish, and no further request is sent. */
  readonly stop: AbortSignal;
  readonly entries: Entries;
  /** Objects of the state that this machine knows. */
  readonly holdings: Holdings;
  readonly secretOutputs: SecretOutputs;
  /** Opens a URL in the user's browser. @returns the reason of a failure. */
  browse(url: string): Promise<string | undefined>;
  /** Returns the destination of a secret. @throws HostformError `secret.output` for a forbidden place. */
  secretDestination(output: FileOutput, of: SecretName): Promise<SecretDestination>;
  close(): Promise<void>;
}

/** Parts of a session that data sources use. */
export interface DataSession extends Pick<ProviderSession, "client" | "account" | "moneyScale" | "clock" | "stop"> {
  /** Collections that concurrent readers share. Default: the collections of the session. */
  readonly collections?: {
    isAlone(kind: Kind, parent: string | undefined): Promise<boolean>;
    upToDate(kind: Kind, parent: string | undefined): void;
  };
}

/** A data source, or an ephemeral resource. No state and no plan contains the result of an ephemeral resource. */
export interface DataSource {
  readonly name: string;
  readonly schema: Schema;
  /** Validates a configuration before it is read. Values may be unknown, and are null if they are not set. */
  check?(config: ValueObject): readonly Diagnostic[];
  /**
   * @param config without unknown values; null for values that are not set.
   * @returns every attribute of the schema.
   * @throws HostformError.
   */
  read(config: JsonObject, session: DataSession): Promise<JsonObject>;
}

/** A function, `provider::hosting::…`. Runs without a configuration. */
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

/** An argument of a function is invalid. */
export class FunctionError extends Error {
  /** Index of the argument, from 0. */
  readonly argument: number | undefined;
  constructor(message: string, argument?: number) {
    super(message);
    this.argument = argument;
  }
}
