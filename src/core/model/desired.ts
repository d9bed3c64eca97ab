// A declaration in any configuration language: resources, data sources, outputs, and their expressions.
import type { SourceRange } from "./errors.ts";
import type { Channel } from "./news.ts";
import type { Origin, Origins } from "./origin.ts";
import type { AttributePath, Json, JsonObject, Value } from "./value.ts";

/** A declared resource or data source. Its expressions contain the references and attribute values. */
interface Declared extends Expressions {
  readonly address: string;
  readonly type: string;
  /** Alias of the provider. `default` if the declaration names none. */
  readonly provider: string;
  /** Declared attributes for people. Expressions are not evaluated, for example `${hosting_service.acme.id}`. */
  readonly config: JsonObject;
  /** Resources in `depends_on`, in addition to those that templates refer to. */
  readonly dependsOn: readonly string[];
  /** Returns the location of an attribute in the declaration. `[]` means the whole block. */
  locate(path: AttributePath): SourceRange | undefined;
}

/** One declared resource. */
export interface DesiredResource extends Declared {
  /** Sources of write-only attributes, which are not part of `config`. */
  readonly sources?: ReadonlyMap<string, SecretSource>;
  /** Id of an existing object to adopt (`import:`). */
  readonly importId?: string;
  readonly lifecycle?: Lifecycle;
  /** Client (`client:`), for reports, filters and targets. The API never receives it. */
  readonly client?: string;
}

/** Supported parts of Terraform's `lifecycle` block. */
export interface Lifecycle {
  /** Attributes that count only at creation. Later the value in the state counts as declared. */
  readonly ignoreChanges?: readonly string[] | "all";
  /** True if a replacement creates the new object before it deletes the old one. Default: the kind's own order. */
  readonly createBeforeDestroy?: boolean;
}

/** One declared data source, which is only read. Example: `data "hosting_plan" "start"` at `data.hosting_plan.start`. */
export type DesiredData = Declared;

/** One declared output. */
export interface DesiredOutput {
  readonly name: string;
  readonly description?: string;
  /** True if reports must hide the value. */
  readonly sensitive: boolean;
  /** Value in YAML with unevaluated templates. */
  readonly config?: Json;
  readonly references: readonly PlacedReference[];
  evaluate(scope: EvalScope): OutputValue;
  readonly range?: SourceRange;
}

/** The value of an output. */
export interface OutputValue {
  readonly value: Value;
  /**
   * Terraform's type in state-file notation, for example `"string"` or `["list", "string"]`. If undefined, the type is inferred
   * from the value.
   */
  readonly type?: Json;
  /** Sources of a secret in the value. */
  readonly origin?: Origin | undefined;
}

/** `moved` block: the state entry gets a new address. Without a key: all instances. */
export interface MovedBlock {
  readonly from: string;
  readonly to: string;
  readonly range?: SourceRange;
}

/**
 * `removed` block for an undeclared resource: `destroy` decides whether it is destroyed or only removed from the state. Without
 * a key: all instances.
 */
export interface RemovedBlock {
  readonly from: string;
  readonly destroy: boolean;
  readonly range?: SourceRange;
}

/** Source of a secret value: an environment variable, a file (without its last line break), or the output of a command. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly [string, ...string[]] };

/** Limits of one run. Undefined fields set no limit. */
export interface Guards {
  /** Maximum number of orders (services and domains) of one run. */
  readonly maxOrders?: number;
  /** Maximum cost of one run's orders by currency, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Maximum cost of the orders of one calendar month (UTC), over all runs, by currency. */
  readonly maxSpendMonth?: Readonly<Record<string, number>>;
  /** Maximum number of orders of one day (UTC), over all runs. */
  readonly maxOrdersDay?: number;
  /** Maximum number of resources that one run may remove. */
  readonly maxRemovals?: number;
  /** Maximum share of the state's resources that one run may remove, in percent. */
  readonly maxRemovalsPercent?: number;
  /** Locations of the declared limits. */
  readonly ranges?: Readonly<Partial<Record<Exclude<keyof Guards, "ranges">, SourceRange>>>;
}

/** Location of a state that is not a file. The settings equal Terraform's backend of the same name. */
export interface Backend {
  readonly type: "http" | "pg" | "s3" | "local";
  /** Evaluated settings with Terraform's names (`address`, `lock_address`, `schema_name` …). Never contains a password. */
  readonly settings: JsonObject;
  readonly range?: SourceRange;
}

/** One account: an API URL with a token, and settings for reading its responses. */
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
  /** Phases of this host's status words that hostform does not know. */
  readonly statusWords?: Readonly<Record<string, Phase>>;
  /** Retention of an Idempotency-Key, in milliseconds (§8: not specified). Default: a few seconds. */
  readonly keyLifetimeMs?: number;
  /** Longest time before lists show a new object, in milliseconds (not specified). Default: one minute. */
  readonly listLagMs?: number;
  /** Decimal digits of money amounts, if the user knows the scale. */
  readonly moneyScale?: number;
  readonly range?: SourceRange;
}

/** Meaning of a status word. hostform never acts on `unknown`. */
export type Phase = "pending" | "live" | "suspended" | "gone" | "unknown";

export interface VariableValue {
  readonly name: string;
  /** Value of the variable. Null if sensitive. */
  readonly value: Json;
  readonly sensitive: boolean;
  /** True if the declaration restricts the value, and the value passes. */
  readonly isChecked: boolean;
}

/** A whole declaration, merged from all its files. */
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
  /** Resources whose instances must not be removed or replaced, even if no longer declared. Addresses have no key. */
  readonly preventDestroy?: readonly { readonly resource: string; readonly range?: SourceRange }[];
  /** Name of an order without `reference`: its address, or its domain (as in Terraform). Default: `address`. */
  readonly ordersNamedBy?: "address" | "domain";
  /** Files of the declaration. */
  readonly files: readonly string[];
}

/** A reference in YAML: `${hosting_service.acme.id}` or `${env.NAME}`. `offset` is the position of its `${` in the string. */
export type Reference =
  | {
      readonly to: "resource";
      readonly address: string;
      readonly path: AttributePath;
      readonly text: string;
      readonly offset: number;
    }
  | { readonly to: "env"; readonly name: string; readonly text: string; readonly offset: number };

/** A reference, and the path of the string that contains it. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: AttributePath;
}

/** Declared values that must be evaluated, in any configuration language (YAML, HCL). */
export interface Expressions {
  /** All references of the values. Without a key, a reference may mean all instances; without a path, the whole resource. */
  readonly references: readonly PlacedReference[];
  /** True if no value has an expression, so values are equal in every scope. */
  readonly isConstant?: boolean;
  /** Returns the value of one declared attribute. @throws ExpressionError */
  evaluate(attribute: string, scope: EvalScope): Value;
  /** Returns the sources of sensitive parts of an attribute. Undefined if no part is sensitive. */
  originOf?(attribute: string, scope: EvalScope): Origin | undefined;
}

/** Values of the names in expressions. */
export interface EvalScope {
  /** Returns the attributes of a resource, possibly unknown. Undefined if the resource does not exist. */
  resource(address: string): Value | undefined;
  env(name: string): string | undefined;
  /** Returns the attributes of a resource that are sensitive by schema or by the values that flow into them. */
  origins?(address: string): Origins;
}

/** An invalid expression. `offset` is the position in the string, `path` the path of the string in its attribute. */
export class ExpressionError extends Error {
  readonly offset: number;
  readonly path: AttributePath;

  constructor(message: string, offset = 0, path: AttributePath = []) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}
