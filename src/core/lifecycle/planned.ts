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
  /** The same, evaluated and validated; parts may be unknown. */
  readonly config: ValueObject;
  /** Finds an attribute in the declaration. Absent: the front knows no places. */
  locate?(path: AttributePath): Pick<SourceRange, "file" | "line"> | undefined;
  readonly prior: ResourceState | undefined;
  readonly observed: Observation;
  readonly importId?: string;
  /** The import answers what a pending create made: an object that another one would replace is not adopted. */
  readonly isAnswer?: boolean;
  /** Terraform has just adopted the record: nothing is created in its place. */
  readonly adopting?: boolean;
  readonly dependsOn: readonly string[];
  /** The sources of the attributes into which something sensitive is declared to go. */
  readonly origins?: Origins;
  /** The generation of an order at an address whose former object has moved: the key of that one is its own. */
  readonly nextGeneration?: number;
  /** Replace a present object on purpose. */
  readonly replace?: boolean;
  /** Order a gone service again on purpose. */
  readonly reorder: boolean;
  /** Order it although something like it exists. */
  readonly orderAnyway?: boolean;
  /** The caller does not see all addresses of the state. */
  readonly isStatePartial?: boolean;
  /** The API's plans, for the price of an order. */
  readonly plans: readonly PlanRecord[];
  /** Milliseconds since the epoch, by the host's clock. */
  readonly now: number;
  /** Severity of the reason why an expired object is not created. Default: a warning. */
  readonly severity?: Diagnostic["severity"];
  /** Settings of the provider. */
  readonly settings?: (PendingSettings & Pick<ReadSettings, "moneyScale">) | undefined;
  /** Invoices of the account that were read. Absent: no object gave reason to read them. */
  readonly invoices?: InvoiceReading | undefined;
}

export interface Planned {
  readonly change: Change;
  readonly diagnostics: readonly Diagnostic[];
  /** Conditions of the object. Absent: none. */
  readonly conditions?: readonly Condition[];
  /** The attributes that others may refer to: after the change, with unknown parts. */
  readonly result: ValueObject;
}

/** The parts of a change that its plan decides. */
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

/** The attributes whose values are never shown: secret by kind, by what flows into them, or by what was recorded. */
export function secretNames({
  kind,
  prior,
  origins = {},
}: Pick<PlanInput, "kind" | "prior" | "origins">): readonly string[] {
  const own = sensitiveNames(kind);
  const more = [...Object.keys(origins), ...(prior?.sensitive ?? [])].filter((name) => !own.includes(name));
  return more.length === 0 ? own : [...own, ...new Set(more)];
}

/** Puts a change together. */
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

/** Nothing is done; what is known of it stays as it is. */
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

/** A plan is shown, stored and handed on: a write-only value never stands in it, even when the declaration spells it out. */
function withoutSecrets({ kind, declared }: PlanInput): JsonObject {
  const secret = writeOnlyNames(kind).filter((name) => declared[name] != null);
  return secret.length === 0 ? declared : { ...declared, ...Object.fromEntries(secret.map((name) => [name, true])) };
}

/** The reason for a change of an attribute: who asked for it, and the place of the declaration where the front knows it. */
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

/** Longest value in a reason, in characters. */
const MAX_VALUE = 60;
