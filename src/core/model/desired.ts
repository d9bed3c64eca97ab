// A declaration, in whatever language: resources, data, outputs, and the expressions of their values.
import type { SourceRange } from "./errors.ts";
import type { Origin, Origins } from "./origin.ts";
import type { AttributePath, Json, JsonObject, Value } from "./value.ts";

/** A declared resource or data source. Its expressions have the references and the values of its attributes. */
interface Declared extends Expressions {
  readonly address: string;
  readonly type: string;
  /** Alias of the provider; `default` when none is named. */
  readonly provider: string;
  /** The attributes as declared, for people: expressions are not evaluated in it (`${hosting_service.acme.id}`). */
  readonly config: JsonObject;
  /** Resources named by `depends_on`, beside those that templates refer to. */
  readonly dependsOn: readonly string[];
  /** The place of an attribute (or of the whole, for `[]`) in the declaration. */
  locate(path: AttributePath): SourceRange | undefined;
}

/** One declared resource. */
export interface DesiredResource extends Declared {
  /** Sources of write-only attributes, which are not in `config`. */
  readonly sources?: ReadonlyMap<string, SecretSource>;
  /** Adopt the existing object with this id (`import:`). */
  readonly importId?: string;
  readonly lifecycle?: Lifecycle;
  /** Client (`client:`): for reports, filters and targets. Never sent; the API does not know it. */
  readonly client?: string;
}

/** Terraform's meta-argument of the same name, as far as it applies here. */
export interface Lifecycle {
  /** Attributes that are declared for the creation alone: later the recorded value counts as declared. */
  readonly ignoreChanges?: readonly string[] | "all";
  /** A replacement creates the new object before it removes the old one. Default: the kind's own order. */
  readonly createBeforeDestroy?: boolean;
}

/** One declared data source (`data "hosting_plan" "start"`, at `data.hosting_plan.start`): read, never changed. */
export type DesiredData = Declared;

/** One declared output. */
export interface DesiredOutput {
  readonly name: string;
  readonly description?: string;
  /** Declared as one whose value is not shown. */
  readonly sensitive: boolean;
  /** The value as declared in YAML, templates not evaluated. */
  readonly config?: Json;
  readonly references: readonly PlacedReference[];
  /** @throws ExpressionError */
  evaluate(scope: EvalScope): OutputValue;
  readonly range?: SourceRange;
}

/** The value of an output. */
export interface OutputValue {
  readonly value: Value;
  /** Terraform's type of it, as its state file writes it (`"string"`, `["list", "string"]`); absent: what the value itself shows. */
  readonly type?: Json;
  /** The sources of a secret that went into it. */
  readonly origin?: Origin | undefined;
}

/** `moved`: the state records a resource under another address from now on. Without a key: all instances. */
export interface MovedBlock {
  readonly from: string;
  readonly to: string;
  readonly range?: SourceRange;
}

/** `removed`: a resource that is no longer declared (without a key: all instances), and whether it is destroyed or only forgotten. */
export interface RemovedBlock {
  readonly from: string;
  readonly destroy: boolean;
  readonly range?: SourceRange;
}

/** Source of a secret value: an environment variable, a file (its text without the last line break), a command's output. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly [string, ...string[]] };

/** The limits of one run; an absent one does not limit. */
export interface Guards {
  /** Most orders (services and domains) of one run. */
  readonly maxOrders?: number;
  /** Most that one run may order for, by currency, in the API's own unit. */
  readonly maxSpend?: Readonly<Record<string, number>>;
  /** Most resources that one run may remove. */
  readonly maxRemovals?: number;
  /** The same, in percent of what is recorded. */
  readonly maxRemovalsPercent?: number;
  /** Places of the declared limits. */
  readonly ranges?: Readonly<Partial<Record<Exclude<keyof Guards, "ranges">, SourceRange>>>;
}

/** Place of the state, if not a file: the settings of Terraform's backend of the same name. */
export interface Backend {
  readonly type: "http" | "pg" | "local";
  /** Terraform's own names (`address`, `lock_address`, `schema_name` …), evaluated; never a password. */
  readonly settings: JsonObject;
  readonly range?: SourceRange;
}

/** One account: an API address with a token, and how to read its answers. */
export interface ProviderConfig {
  readonly alias: string;
  /** Falls back to HOSTING_BASE_URL. */
  readonly baseUrl?: string;
  /** Environment variable that holds the token; falls back to HOSTING_TOKEN for the default provider. */
  readonly tokenEnv?: string;
  /** File that holds the token, relative to the declaration. */
  readonly tokenFile?: string;
  /** Requests per minute, at most 60 (§8). */
  readonly requestsPerMinute?: number;
  /** Status words of this host -> phase, for words that hostform does not know. */
  readonly statusWords?: Readonly<Record<string, Phase>>;
  /** Retention of an Idempotency-Key, in milliseconds (§8: not specified). Default: some seconds. */
  readonly keyLifetimeMs?: number;
  /** Longest time that a list lacks a new object, in milliseconds (not specified). Default: a minute. */
  readonly listLagMs?: number;
  /** Digits after the decimal point of money amounts, when the user knows the scale. */
  readonly moneyScale?: number;
  readonly range?: SourceRange;
}

/** Meaning of a status word. hostform never acts on `unknown`. */
export type Phase = "pending" | "live" | "suspended" | "gone" | "unknown";

/** A variable with its value in this run. */
export interface VariableValue {
  readonly name: string;
  /** Null if it is sensitive. */
  readonly value: Json;
  readonly sensitive: boolean;
  /** The declaration has conditions for its value, which the value meets. */
  readonly isChecked: boolean;
}

/** A whole declaration, merged from all its files. */
export interface Desired {
  readonly project: string;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly resources: readonly DesiredResource[];
  readonly guards?: Guards;
  readonly backend?: Backend;
  readonly data?: readonly DesiredData[];
  readonly outputs?: readonly DesiredOutput[];
  /** Variables with a known value. */
  readonly variables?: readonly VariableValue[];
  readonly moved?: readonly MovedBlock[];
  readonly removed?: readonly RemovedBlock[];
  /** Resources, without key, none of whose instances may be removed or replaced, even those that are no longer declared. */
  readonly preventDestroy?: readonly { readonly resource: string; readonly range?: SourceRange }[];
  /** The name of an order without `reference`: its address, or, as in Terraform, its domain. Default: `address`. */
  readonly ordersNamedBy?: "address" | "domain";
  /** The files it was read from. */
  readonly files: readonly string[];
}

/** A reference of YAML: `${hosting_service.acme.id}` or `${env.NAME}`. `offset` is where its `${` stands in the string. */
export type Reference =
  | {
      readonly to: "resource";
      readonly address: string;
      readonly path: AttributePath;
      readonly text: string;
      readonly offset: number;
    }
  | { readonly to: "env"; readonly name: string; readonly text: string; readonly offset: number };

/** A reference with the path of the string that it stands in. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: AttributePath;
}

/** Declared values that have to be evaluated, in whatever language they are written. */
export interface Expressions {
  /** Everything that the values refer to. A reference without a key may mean all instances, one without a path the whole. */
  readonly references: readonly PlacedReference[];
  /** No value has an expression: each is what is declared, in every scope. */
  readonly isConstant?: boolean;
  /** The value of one declared attribute. @throws ExpressionError */
  evaluate(attribute: string, scope: EvalScope): Value;
  /** The sources of what is sensitive in a declared attribute. Absent: no value is. */
  originOf?(attribute: string, scope: EvalScope): Origin | undefined;
}

/** The values of the names in expressions. */
export interface EvalScope {
  /** The attributes of a resource, possibly unknown; undefined when there is no such resource. */
  resource(address: string): Value | undefined;
  env(name: string): string | undefined;
  /** The sensitive attributes of a resource, by its schema or because something sensitive went into them. */
  origins?(address: string): Origins;
}

/** An expression that cannot be read or evaluated; `offset` is the place in the string, `path` that of the string in its attribute. */
export class ExpressionError extends Error {
  readonly offset: number;
  readonly path: AttributePath;

  constructor(message: string, offset = 0, path: AttributePath = []) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}
