import type { PlanRecord } from "../api/index.ts";
import { type Kind, type ReadSettings, wordsOf } from "../kinds/kind.ts";
import {
  type AttributePath,
  type Change,
  type ChangeActions,
  type ChangeReason,
  type Condition,
  type Diagnostic,
  hasUnknown,
  type JsonObject,
  type Origins,
  openJson,
  type PrivateMark,
  type Quote,
  type ResourceState,
  type SourceRange,
  shorten,
  split,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { sensitiveNames, writeOnlyNames } from "./attributes.ts";
import type { InvoiceReading } from "./invoices.ts";
import type { PendingSettings } from "./pending-facts.ts";
import type { Observation, Others } from "./read.ts";

/** Input of the plan of one declared resource. */
export interface PlanInput extends Others {
  readonly kind: Kind;
  readonly address: string;
  readonly provider: string;
  /** Declared attributes with templates. */
  readonly declared: JsonObject;
  /** Declared attributes, evaluated and validated. Parts may be unknown. */
  readonly config: ValueObject;
  /** Returns the location of an attribute in the declaration. Undefined if the front end has no locations. */
  locate?(path: AttributePath): Pick<SourceRange, "file" | "line"> | undefined;
  readonly prior: ResourceState | undefined;
  readonly observed: Observation;
  readonly importId?: string;
  /** True if the import names the result of a pending creation. An object that would need a replacement is then rejected. */
  readonly isAnswer?: boolean;
  /** True if Terraform has just imported the object. The plan never creates another one. */
  readonly adopting?: boolean;
  readonly dependsOn: readonly string[];
  /** Origins of sensitive values, by attribute. */
  readonly origins?: Origins;
  /** Generation of the next order, if the earlier object moved to another address and kept its key. */
  readonly nextGeneration?: number;
  /** True if an existing object must be replaced. */
  readonly replace?: boolean;
  /** True if a deleted service must be ordered again. */
  readonly reorder: boolean;
  /** True if a similar object must not prevent the order. */
  readonly orderAnyway?: boolean;
  /** True if the caller has only some addresses of the state. */
  readonly isStatePartial?: boolean;
  /** Hosting plans, with the prices of orders. */
  readonly plans: readonly PlanRecord[];
  /** Current time by the host's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** Severity of the message that an expired object is not created. Default: warning. */
  readonly severity?: Diagnostic["severity"];
  readonly settings?: (PendingSettings & Pick<ReadSettings, "moneyScale">) | undefined;
  /** Invoices of the account. Undefined if no object needed them. */
  readonly invoices?: InvoiceReading | undefined;
}

export interface Planned {
  readonly change: Change;
  readonly diagnostics: readonly Diagnostic[];
  /** Conditions of the object. Undefined if the object has none. */
  readonly conditions?: readonly Condition[];
  /** Values that other resources refer to: attributes after the change, possibly unknown. */
  readonly result: ValueObject;
}

/** Parts of a change that the planning function decides. */
interface Finish {
  readonly actions: ChangeActions;
  readonly before: JsonObject | null;
  readonly after: ValueObject | null;
  readonly reasons: readonly ChangeReason[];
  readonly deferred: readonly string[];
  readonly mark: PrivateMark;
  readonly requests: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly conditions?: readonly Condition[];
  readonly importing?: boolean;
  readonly quote?: Quote | undefined;
  readonly anyway?: true;
  readonly unfulfilled?: true;
}

/** Returns the names of attributes that must be hidden: secret by their kind, by a sensitive source, or by the state. */
export function secretNames({
  kind,
  prior,
  origins = {},
}: Pick<PlanInput, "kind" | "prior" | "origins">): readonly string[] {
  const own = sensitiveNames(kind);
  const more = [...Object.keys(origins), ...(prior?.sensitive ?? [])].filter((name) => !own.includes(name));
  return more.length === 0 ? own : [...own, ...new Set(more)];
}

/** Builds a change from its parts. */
export function finish(input: PlanInput, end: Finish): Planned {
  const { known, unknown } = split(end.after);
  const change: Change = {
    address: input.address,
    type: input.kind.type,
    words: wordsOf(input.kind),
    provider: input.provider,
    actions: end.actions,
    before: end.before,
    after: known as JsonObject | null,
    after_unknown: unknown === false ? {} : unknown,
    sensitive: secretNames(input),
    ...(Object.keys(input.origins ?? {}).length > 0 && { origins: input.origins }),
    config: withoutSecrets(input),
    reasons: end.reasons,
    deferred: end.deferred,
    ...(end.importing && { importing: { id: String(end.before?.id) } }),
    private: end.mark,
    dependsOn: input.dependsOn,
    requests: end.requests,
    ...(end.quote && { quote: end.quote }),
    ...(end.anyway && { anyway: true }),
    ...(end.unfulfilled && { unfulfilled: true }),
  };
  const { diagnostics, conditions } = end;
  return { change, diagnostics, ...(conditions?.length && { conditions }), result: end.after ?? {} };
}

/** Plans no action. */
export function unchanged(
  input: PlanInput,
  attributes: JsonObject | null,
  diagnostics: readonly Diagnostic[],
): Planned {
  return finish(input, {
    actions: ["no-op"],
    before: attributes,
    after: attributes,
    reasons: [],
    deferred: [],
    mark: input.prior?.private ?? {},
    requests: 0,
    diagnostics,
  });
}

/** Replaces write-only values with `true`, because plans are displayed, saved and shared. */
function withoutSecrets({ kind, declared }: PlanInput): JsonObject {
  const secret = writeOnlyNames(kind).filter((name) => declared[name] != null);
  return secret.length === 0 ? declared : { ...declared, ...Object.fromEntries(secret.map((name) => [name, true])) };
}

/** Returns the reason for a change of an attribute: its cause, and its location in the declaration if known. */
export function reasonOf(
  input: PlanInput,
  name: string,
  { wanted, old, isSecret }: { readonly wanted: Value; readonly old: Value; readonly isSecret: boolean },
): ChangeReason {
  const { prior, config, locate } = input;
  const isDeclared = config[name] !== undefined;
  const { file = "the configuration", line } = (isDeclared ? locate?.([name]) : locate?.([])) ?? {};
  const value = isSecret || hasUnknown(wanted) ? "" : `: ${shorten(openJson(wanted), MAX_VALUE)}`;
  const at = line === undefined ? "" : ` (line ${line})`;
  const declares = `${file} declares ${isDeclared ? `${name}${value}` : `no ${name}`}${at}`;
  const recorded = prior?.attributes[name] ?? null;
  const drifted = prior !== undefined && JSON.stringify(recorded) !== JSON.stringify(old);
  return drifted
    ? { why: "drift", attribute: name, text: `${name} was changed outside of hostform; ${declares}` }
    : { why: "declared", attribute: name, text: declares };
}

/** Maximum length of a value in a reason, in characters. */
const MAX_VALUE = 60;
