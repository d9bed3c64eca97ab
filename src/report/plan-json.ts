// A plan as JSON: Terraform's representation, with hostform's own fields under `hostform`.
import {
  type Change,
  type ChangeActions,
  type ChangeEffect,
  type Condition,
  changesRecord,
  type Drift,
  type Effect,
  effectOf,
  effectsOf,
  type HeldBack,
  isError,
  isNoOp,
  isObject,
  isReplacement,
  isUp,
  type Json,
  type JsonObject,
  type Mask,
  type MoneyTotal,
  moneyTotals,
  type NotRead,
  type Origins,
  type OutputChange,
  type OutputState,
  type Place,
  type Plan,
  type PolicyVerdict,
  parseAddress,
  type RemedyText,
  type ResourceState,
  resourceOf,
  shownText,
} from "../core/model/index.ts";
import { type DiagnosticJson, diagnosticJson } from "./diagnostics.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { billedNow, scaleOf } from "./money.ts";
import type { ReportStyle } from "./paint.ts";
import { hiddenIn } from "./plan-changes.ts";
import { checksJson, configurationJson, variablesJson } from "./plan-configuration.ts";

/** Registry address of hostform's Terraform provider. */
const PROVIDER_NAME = "registry.terraform.io/hostform/hosting";

/** Terraform version of the representation. Readers accept old versions. */
const TERRAFORM_VERSION = "1.5.0";

/** The supported part of Terraform's plan representation, with hostform's own fields under `hostform`. */
export interface PlanJson {
  readonly format_version: "1.2";
  readonly terraform_version: string;
  /** Variables by name. Sensitive values are null. */
  readonly variables?: ReturnType<typeof variablesJson>;
  readonly planned_values: ValuesJson;
  readonly resource_drift?: readonly ResourceChangeJson[];
  readonly resource_changes: readonly ResourceChangeJson[];
  /** Output changes by name. Absent without outputs. */
  readonly output_changes?: ReturnType<typeof outputChangesJson>;
  readonly prior_state: {
    readonly format_version: "1.0";
    readonly terraform_version: string;
    readonly values: ValuesJson;
  };
  readonly configuration: ReturnType<typeof configurationJson>;
  /** Conditions of variables. */
  readonly checks?: ReturnType<typeof checksJson>;
  /** Time of the plan, RFC 3339. */
  readonly timestamp: string;
  /** True if the plan has changes and an apply is allowed. */
  readonly applyable: boolean;
  /** False while a declared change waits, or a declared object is missing or offline. */
  readonly complete: boolean;
  readonly errored: boolean;
  readonly hostform: PlanExtrasJson;
}

type ValuesJson = ReturnType<typeof valuesJson>;
type ResourceJson = ReturnType<typeof resourceJson>[number];
type ResourceChangeJson = ReturnType<typeof identity> & {
  readonly previous_address?: string;
  readonly change: ReturnType<typeof changeJson> & {
    readonly importing?: { readonly id: string };
    readonly replace_paths?: readonly (readonly string[])[];
  };
  readonly action_reason?: ReturnType<typeof actionReason>;
};

/**
 * Returns the plan for machines (`plan --json`).
 *
 * Sensitive values are null on both sides, and marked in `before_sensitive` and `after_sensitive`. Terraform prints the values and
 * expects readers to hide them. hostform prints none, because a plan is an artifact of CI jobs.
 */
export function planJson(plan: Plan, style: Pick<ReportStyle, "remedies" | "moneyScale">): PlanJson {
  const values = (side: "before" | "after") =>
    valuesJson(
      plan.changes.flatMap((change) => resourceJson(change, side)),
      outputValuesJson(plan, side),
    );
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const errored = plan.diagnostics.some(isError);
  const { variables = [] } = plan;
  const checks = checksJson(variables);
  const declared = new Set(
    plan.changes.flatMap(({ address, config }) => (config === null ? [] : [resourceOf(address)])),
  );
  return {
    format_version: "1.2",
    terraform_version: TERRAFORM_VERSION,
    ...(variables.length > 0 && { variables: variablesJson(variables) }),
    planned_values: values("after"),
    ...(plan.drift.length > 0 && {
      resource_drift: plan.drift.map((drift) => driftJson(drift, changes.get(drift.address))),
    }),
    resource_changes: plan.changes.map((change) => resourceChangeJson(change, declared)),
    ...(plan.outputs !== undefined && plan.outputs.length > 0 && { output_changes: outputChangesJson(plan) }),
    prior_state: { format_version: "1.0", terraform_version: TERRAFORM_VERSION, values: values("before") },
    configuration: configurationJson(plan, PROVIDER_NAME),
    ...(checks.length > 0 && { checks }),
    timestamp: plan.timestamp,
    applyable: !errored && plan.forReading === undefined && (!plan.changes.every(isNoOp) || changesRecord(plan)),
    complete:
      !errored &&
      isUp(plan) &&
      plan.unread === undefined &&
      plan.held === undefined &&
      plan.changes.every((change) => change.deferred.length === 0),
    errored,
    hostform: extrasJson(plan, style),
  };
}

/** Returns the state in the format of `terraform show -json`. `hidden` attributes are null, as in a plan. */
export function stateJson(
  resources: readonly ResourceState[],
  outputs: ReadonlyMap<string, OutputState>,
  hidden: (resource: ResourceState) => ReadonlySet<string>,
): PlanJson["prior_state"] {
  const values = resources.flatMap((one) => {
    const type = parseAddress(one.address)?.type ?? "";
    return resourceJson({ address: one.address, type, before: one.attributes, sensitive: [...hidden(one)] }, "before");
  });
  const shown = [...outputs].map(([name, one]) => [name, { ...one, value: one.sensitive ? null : one.value }]);
  const all = valuesJson(values, Object.fromEntries(shown));
  return { format_version: "1.0", terraform_version: TERRAFORM_VERSION, values: all };
}

function valuesJson(resources: readonly ResourceJson[], outputs: Readonly<Record<string, OutputValueJson>>) {
  return {
    ...(Object.keys(outputs).length > 0 && { outputs }),
    root_module: resources.length === 0 ? {} : { resources },
  };
}

/** Returns the first fields of each entry about a resource. */
function identity(address: string, type: string) {
  const parsed = parseAddress(address);
  return {
    address,
    mode: "managed" as const,
    type,
    name: parsed?.name ?? address,
    ...(parsed?.key !== undefined && { index: parsed.key }),
    provider_name: PROVIDER_NAME,
  };
}

type Sides = Pick<Change, "address" | "type" | "before" | "sensitive"> &
  Partial<Pick<Change, "after" | "after_unknown">>;

function resourceJson(change: Sides, side: "before" | "after") {
  const { [side]: own = null, after_unknown: unknown = false } = change;
  const values = visibleValues(own, side === "after" ? unknown : false, change.sensitive);
  if (values === null) return [];
  return [
    {
      ...identity(change.address, change.type),
      schema_version: 0 as const,
      values,
      sensitive_values: maskOf(own, change.sensitive) || {},
    },
  ];
}

function resourceChangeJson(change: Change, declared: ReadonlySet<string>): ResourceChangeJson {
  const reason = actionReason(change, declared);
  const paths = isReplacement(change)
    ? change.reasons.flatMap(({ attribute }) => (attribute === undefined ? [] : [[attribute]]))
    : [];
  return {
    ...identity(change.address, change.type),
    ...(change.previousAddress !== undefined && { previous_address: change.previousAddress }),
    change: {
      ...changeJson(change, change.actions, change.after_unknown, change.sensitive),
      ...(change.importing !== undefined && { importing: { id: change.importing.id } }),
      ...(paths.length > 0 && { replace_paths: paths }),
    },
    ...(reason !== undefined && { action_reason: reason }),
  };
}

/** Returns both sides of a change. Unknown values are absent, as in Terraform, and sensitive values are null and marked. */
function changeJson(
  { before, after }: Pick<Drift, "before" | "after"> | Change,
  actions: ChangeActions,
  unknown: Mask,
  sensitive: readonly string[],
) {
  return {
    actions,
    before: visibleValues(before, false, sensitive),
    after: visibleValues(after, unknown, sensitive),
    // Terraform writes an empty object if no part of an object is unknown.
    after_unknown: after !== null && (unknown === false ? {} : (unknown as MaskJson)),
    before_sensitive: maskOf(before, sensitive),
    after_sensitive: maskOf(after, sensitive),
  };
}

/** Returns Terraform's reason for a replacement or a removal. @param declared resources with a block. */
export function actionReason(change: Change, declared: ReadonlySet<string> = new Set()) {
  if (change.reasons.some(({ why }) => why === "replace")) return "replace_by_request";
  if (isReplacement(change)) return "replace_because_cannot_update";
  const removed = change.reasons.some((reason) => reason.why === "removed");
  if (change.actions[0] !== "delete" || !removed) return undefined;
  if (!declared.has(resourceOf(change.address))) return "delete_because_no_resource_config";
  const { key } = parseAddress(change.address) ?? {};
  return typeof key === "number" ? "delete_because_count_index" : "delete_because_each_key";
}

function driftJson(drift: Drift, change: Change | undefined): ResourceChangeJson {
  const actions = [drift.after === null ? "delete" : "update"] as const;
  return {
    ...identity(drift.address, drift.type),
    change: changeJson(drift, actions, false, hiddenIn(drift, change)),
  };
}

/** Returns `output_changes` by name: each output in the declaration or in the state. */
function outputChangesJson({ outputs = [] }: Plan) {
  return byName(outputs, ({ action, before, after, after_unknown: unknown, sensitive }) => ({
    actions: [action] as const,
    before: sensitive ? null : before,
    ...(unknown !== true && { after: sensitive ? null : withoutUnknown(after, unknown) }),
    after_unknown: unknown as MaskJson,
    before_sensitive: sensitive,
    after_sensitive: sensitive,
  }));
}

/** An output value in the plan representation. An unknown value is absent, a sensitive value is null. */
type OutputValueJson = Pick<OutputState, "sensitive"> & Partial<Pick<OutputState, "type" | "value">>;

/** Returns the outputs of `planned_values` (`after`) or of `prior_state` (`before`). */
function outputValuesJson({ outputs = [] }: Plan, side: "before" | "after") {
  const there = outputs.filter(({ action }) => action !== (side === "before" ? "create" : "delete"));
  return byName(there, ({ before, after, after_unknown: unknown, sensitive, type }): OutputValueJson => {
    if (side === "before") return { sensitive, value: sensitive ? null : before };
    if (unknown !== false) return { sensitive };
    return { sensitive, ...(type !== undefined && { type }), value: sensitive ? null : after };
  });
}

function byName<T>(outputs: readonly OutputChange[], of: (output: OutputChange) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(outputs.map((output) => [output.name, of(output)]));
}

type OwnFields = "project" | "mode" | "lineage" | "serial" | "cost" | "requests" | "pending" | "unread" | "base";

/** Fields without a place in Terraform's representation. The exit code is 1 while `pending` has an address. */
interface PlanExtrasJson extends Pick<Plan, OwnFields> {
  /** Accounts of the plan. */
  readonly places: readonly Place[];
  /** Changes that an apply skips, each with the failed resource. */
  readonly held_back?: readonly HeldBack[];
  /** Hosts and domains new to the project, as A-labels. */
  readonly new_names?: NonNullable<Plan["newNames"]>;
  /** Policy of the run: files and verdicts. */
  readonly policy?: { readonly files: readonly string[]; readonly verdicts: readonly Omit<PolicyVerdict, "range">[] };
  /** Effects in words: one or more for each change, outages first. */
  readonly effects: readonly Omit<Effect, "parts">[];
  /** Amounts billed now and per month, by currency. */
  readonly totals: readonly MoneyTotal[];
  /** Amounts billed now, as text. Empty without orders. */
  readonly billed_now: string;
  /** Figures, as in the HTML page and in the text. */
  readonly figures: Figures;
  /** Unread objects, planned from the state. */
  readonly not_read?: readonly NotRead[];
  readonly conditions: readonly ConditionJson[];
  readonly diagnostics: readonly DiagnosticJson[];
  /** Further fields of resources by address. */
  readonly resources: Readonly<Record<string, ResourceExtrasJson>>;
}

/** A condition with its name, such as `own_form`, and its texts. */
export interface ConditionJson extends Omit<Condition, "detail" | "remedies"> {
  readonly detail: string;
  /** Text of the remedy. */
  readonly fix?: string;
}

/** Describes a condition in JSON, with the front's text of its fix. */
export function conditionJson({ remedies, detail = "", ...condition }: Condition, render: RemedyText): ConditionJson {
  const fix = render({ address: condition.address, ...(remedies && { remedies }) });
  return { ...condition, detail, ...(fix !== undefined && { fix }) };
}

/** Fields of one resource. `provider` is the alias of its account. */
interface ResourceExtrasJson
  extends Pick<Change, "provider" | "client" | "unfulfilled" | "unlisted" | "unchecked" | "removal" | "quote">,
    Partial<Pick<Change, "reasons" | "deferred">> {
  /** Effect on the account. Terraform's actions do not show a suspension. */
  readonly effect?: ChangeEffect;
  /** Object that hides this resource until the object is live, such as `service 1001`. */
  readonly waits_for?: string;
  /** Path of the secret's file after links: relative inside the project, absolute outside. */
  readonly secret_to?: string;
  /** Texts in place of sensitive values, by attribute: `(sensitive: env.HOOK_TOKEN)`. */
  readonly hidden?: Readonly<Record<string, string>>;
}

function extrasJson(plan: Plan, { remedies, moneyScale }: Parameters<typeof planJson>[1]): PlanExtrasJson {
  const effects = effectsOf(plan);
  const totals = moneyTotals(effects);
  return {
    project: plan.project,
    places: plan.places ?? [],
    mode: plan.mode,
    lineage: plan.lineage,
    serial: plan.serial,
    cost: plan.cost,
    effects: effects.map(({ parts: _, ...effect }) => effect),
    totals,
    billed_now: billedNow(totals, (currency) => scaleOf(plan.changes, currency, moneyScale)),
    figures: figuresOf(plan, effects),
    requests: plan.requests,
    pending: plan.pending,
    ...(plan.newNames && { new_names: plan.newNames }),
    ...(plan.policy && {
      policy: { ...plan.policy, verdicts: plan.policy.verdicts.map(({ range: _, ...verdict }) => verdict) },
    }),
    ...(plan.unread && { unread: plan.unread }),
    ...(plan.held && { held_back: plan.held }),
    ...(plan.base && { base: plan.base }),
    ...(plan.notRead && { not_read: plan.notRead }),
    conditions: (plan.conditions ?? []).map((one) => conditionJson(one, remedies)),
    diagnostics: plan.diagnostics.map((one) => diagnosticJson(one, remedies)),
    resources: Object.fromEntries(plan.changes.map((change) => [change.address, resourceExtras(change)])),
  };
}

const hiddenJson = (origins: Origins) =>
  Object.fromEntries(Object.entries(origins).map(([name, origin]) => [name, shownText(origin)]));

function resourceExtras(change: Change): ResourceExtrasJson {
  const effect = effectOf(change);
  return {
    provider: change.provider,
    ...(change.client !== undefined && { client: change.client }),
    ...(change.reasons.length > 0 && { reasons: change.reasons }),
    ...(change.deferred.length > 0 && { deferred: change.deferred }),
    ...(effect !== "none" && { effect }),
    ...(change.unfulfilled && { unfulfilled: true }),
    ...(change.unlisted !== undefined && { unlisted: change.unlisted }),
    ...(change.unchecked && { unchecked: true }),
    ...(change.waitsFor !== undefined && { waits_for: change.waitsFor }),
    ...(change.secretTo !== undefined && { secret_to: change.secretTo }),
    ...(change.origins !== undefined && { hidden: hiddenJson(change.origins) }),
    ...(change.removal !== undefined && { removal: change.removal }),
    ...(change.quote !== undefined && { quote: change.quote }),
  };
}

/** Marks of a value's parts in Terraform's form: `false` or `{}` for none, `true` for the whole value. */
type MaskJson = boolean | readonly MaskJson[] | MaskedObject;
type MaskedObject = { readonly [key: string]: MaskJson };

/** Returns the visible attributes: sensitive ones are null, unknown ones are absent. */
function visibleValues(values: JsonObject | null, unknown: Mask, sensitive: readonly string[]): JsonObject | null {
  if (values === null || unknown === true) return values === null ? null : {};
  const hidden = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, sensitive.includes(name) ? null : value]),
  );
  return withoutUnknown(hidden, unknown) as JsonObject;
}

/** Marks the sensitive attributes of one side. */
function maskOf(values: JsonObject | null, sensitive: readonly string[]): MaskedObject | false {
  if (values === null) return false;
  return Object.fromEntries(sensitive.filter((name) => Object.hasOwn(values, name)).map((name) => [name, true]));
}

/** Removes unknown attributes and map elements. Unknown list elements become null, so that the others keep their index. */
export function withoutUnknown(value: Json, unknown: Mask | undefined): Json {
  if (unknown === undefined || typeof unknown === "boolean") return value;
  if (Array.isArray(value) && Array.isArray(unknown)) {
    return value.map((item: Json, i) => (unknown[i] === true ? null : withoutUnknown(item, unknown[i])));
  }
  if (!isObject(value) || !isObject(unknown)) return value;
  const masks = unknown as { readonly [key: string]: Mask };
  const known = Object.entries(value as JsonObject).filter(([name]) => masks[name] !== true);
  return Object.fromEntries(known.map(([name, item]) => [name, withoutUnknown(item, masks[name])]));
}
