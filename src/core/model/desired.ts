// A declaration, independent of its language: resources, data sources, outputs, and their expressions.
import type { SourceRange } from "./errors.ts";
import type { Channel } from "./news.ts";
import type { Origin, Origins } from "./origin.ts";
import type { AttributePath, Json, JsonObject, Value } from "./value.ts";

/** A declared resource or data source. {@link Expressions} contains its references and values. */
interface Declared extends Expressions {
  readonly address: string;
  readonly type: string;
  /** Alias of the provider. `default` if none is declared. */
  readonly provider: string;
  /** Declared attributes for people, with unevaluated expressions such as `${hosting_service.acme.id}`. */
  readonly config: JsonObject;
  /** Resources in `depends_on`, in addition to referenced resources. */
  readonly dependsOn: readonly string[];
  /** Returns the location of an attribute in the declaration. `[]`: location of the whole block. */
  locate(path: AttributePath): SourceRange | undefined;
}

/** One declared resource. */
export interface DesiredResource extends Declared {
  /** Secret sources of write-only attributes. `config` does not contain these attributes. */
  readonly sources?: ReadonlyMap<string, SecretSource>;
  /** Id of an existing object to adopt (`import:`). */
  readonly importId?: string;
  readonly lifecycle?: Lifecycle;
  /** Client (`client:`) for reports, filters and targets. Requests never contain it. */
  readonly client?: string;
}

/** Supported parts of Terraform's `lifecycle` block. */
export interface Lifecycle {
  /** Attributes whose declared value is used only at creation. Later, the live value counts as declared. */
  readonly ignoreChanges?: readonly string[] | "all";
  /** True if a replacement creates the new object first. Default: order of the kind. */
  readonly createBeforeDestroy?: boolean;
}

/** One declared data source, such as `data "hosting_plan" "start"`. Its address is `data.hosting_plan.start`. */
export type DesiredData = Declared;

/** One declared output. */
export interface DesiredOutput {
  readonly name: string;
  readonly description?: string;
  /** True if reports must hide the value. */
  readonly sensitive: boolean;
  /** Value in YAML, with unevaluated expressions. */
  readonly config?: Json;
  readonly references: readonly PlacedReference[];
  evaluate(scope: EvalScope): OutputValue;
  readonly range?: SourceRange;
}

/** The value of an output. */
export interface OutputValue {
  readonly value: Value;
  /**
   * Terraform type in the notation of state files, for example `"string"` or `["list", "string"]`. If undefined, it is
   * inferred from the value.
   */
  readonly type?: Json;
  /** Sources of a secret in the value. */
  readonly origin?: Origin | undefined;
}

/** `moved` block: a state entry gets a new address. An address without instance key means all instances. */
export interface MovedBlock {
  readonly from: string;
  readonly to: string;
  readonly range?: SourceRange;
}

/**
 * `removed` block of an undeclared resource. `destroy`: destroy the object, or only remove it from the state. An address
 * without instance key means all instances.
 */
export interface RemovedBlock {
  readonly from: string;
  readonly destroy: boolean;
  readonly range?: SourceRange;
}

/** Source of a secret value: environment variable, file (without its last line break), or output of a command. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly [string, ...string[]] };

/** Limits of one run. Undefined fields are unlimited. */
export interface Guards {
  /** Maximum number of orders (services and domains) of one run. */
  readonly maxOrders?: number;
  /** Maximum cost of one run's orders, by currency, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Maximum cost of all orders of a calendar month (UTC), by currency, in the API's own unit. */
  readonly maxSpendMonth?: Readonly<Record<string, number>>;
  /** Maximum number of orders of a day (UTC), over all runs. */
  readonly maxOrdersDay?: number;
  /** Maximum number of resources that one run may remove. */
  readonly maxRemovals?: number;
  /** Maximum percentage of the resources in the state that one run may remove. */
  readonly maxRemovalsPercent?: number;
  /** Locations of the declared limits. */
  readonly ranges?: Readonly<Partial<Record<Exclude<keyof Guards, "ranges">, SourceRange>>>;
}

/** Location of a state outside of a local file. Names and settings equal Terraform's backends. */
export interface Backend {
  readonly type: "http" | "pg" | "s3" | "local";
  /** Evaluated settings with Terraform's names (`address`, `lock_address`, `schema_name` …). Never contains a password. */
  readonly settings: JsonObject;
  readonly range?: SourceRange;
}

/** One account: URL and token of its API, and settings for its responses. */
export interface ProviderConfig {
  readonly alias: string;
  /** Base URL. Default: HOSTING_BASE_URL. */
  readonly baseUrl?: string;
  /** Environment variable with the token. Default for the default provider: HOSTING_TOKEN. */
  readonly tokenEnv?: string;
  /** File with the token, relative to the declaration. */
  readonly tokenFile?: string;
  /** Requests per minute, at most 60 (§8). */
  readonly requestsPerMinute?: number;
  /** Phases of status words that hostform does not know. */
  readonly statusWords?: Readonly<Record<string, Phase>>;
  /** Lifetime of an Idempotency-Key at the host, in milliseconds (§8: not specified). Default: a few seconds. */
  readonly keyLifetimeMs?: number;
  /** Longest time until lists contain a new object, in milliseconds (not specified). Default: one minute. */
  readonly listLagMs?: number;
  /** Decimal digits of amounts. Undefined if unknown. */
  readonly moneyScale?: number;
  readonly range?: SourceRange;
}

/** Phase of an object, derived from its status. hostform never acts on `unknown`. */
export type Phase = "pending" | "live" | "suspended" | "gone" | "unknown";

export interface VariableValue {
  readonly name: string;
  /** Value of the variable. Null if sensitive. */
  readonly value: Json;
  readonly sensitive: boolean;
  /** True if the declaration restricts the value. The value then meets the restriction. */
  readonly isChecked: boolean;
}

/** A complete declaration, merged from all its files. */
export interface Desired {
  readonly project: string;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly resources: readonly DesiredResource[];
  readonly guards?: Guards;
  /** Receivers of notifications. */
  readonly notify?: readonly Channel[];
  readonly backend?: Backend;
  readonly data?: readonly DesiredData[];
  readonly outputs?: readonly DesiredOutput[];
  /** Variables with a known value. */
  readonly variables?: readonly VariableValue[];
  readonly moved?: readonly MovedBlock[];
  readonly removed?: readonly RemovedBlock[];
  /**
   * Resources that hostform must not remove or replace, even after their declaration was removed. Addresses have no instance
   * key.
   */
  readonly preventDestroy?: readonly { readonly resource: string; readonly range?: SourceRange }[];
  /** Resources whose removal keeps the object (`destroy = false` in `lifecycle`). Addresses have no instance key. */
  readonly skipDestroy?: readonly string[];
  /** How an order without `reference` is named: by address, or by domain (as in Terraform). Default: `address`. */
  readonly ordersNamedBy?: "address" | "domain";
  /** Files of the declaration. */
  readonly files: readonly string[];
}

/** A reference in YAML: `${hosting_service.acme.id}` or `${env.NAME}`. `offset`: position of its `${` in the string. */
export type Reference =
  | {
      readonly to: "resource";
      readonly address: string;
      readonly path: AttributePath;
      readonly text: string;
      readonly offset: number;
    }
  | { readonly to: "env"; readonly name: string; readonly text: string; readonly offset: number };

/** A reference with the path of its string in the attribute. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: AttributePath;
}

/** Declared values with expressions, in any language (YAML, HCL). */
export interface Expressions {
  /**
   * All references of the values. A reference without instance key may mean all instances. A reference without path means the
   * whole resource.
   */
  readonly references: readonly PlacedReference[];
  /** True if no value has an expression. The values are then equal in every scope. */
  readonly isConstant?: boolean;
  /** Returns the value of one declared attribute. @throws ExpressionError */
  evaluate(attribute: string, scope: EvalScope): Value;
  /** Returns the origin of the sensitive parts of an attribute. Undefined if no part is sensitive. */
  originOf?(attribute: string, scope: EvalScope): Origin | undefined;
}

/** Values that expressions refer to. */
export interface EvalScope {
  /** Returns the attributes of a resource, possibly unknown. Undefined if the resource does not exist. */
  resource(address: string): Value | undefined;
  env(name: string): string | undefined;
  /** Returns the origins of a resource's sensitive attributes: sensitive by schema, or by a sensitive source. */
  origins?(address: string): Origins;
}

/** An invalid expression. `path`: path of its string in the attribute. `offset`: position in the string. */
export class ExpressionError extends Error {
  readonly offset: number;
  readonly path: AttributePath;

  constructor(message: string, offset = 0, path: AttributePath = []) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}
