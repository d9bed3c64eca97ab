import {
  type Actions,
  type Change,
  changesRecord,
  type Drift,
  isError,
  isNoOp,
  isReplacement,
  type JsonObject,
  type Mask,
  type Plan,
  parseAddress,
  type RemedyText,
} from "../core/model/index.ts";
import { extrasJson, type PlanExtrasJson } from "./plan-extras-json.ts";
import { type OutputChangeJson, type OutputValueJson, outputChangesJson, outputValuesJson } from "./plan-outputs.ts";
import { type MaskedObject, type MaskJson, maskOf, visibleValues } from "./plan-values-json.ts";

/** The address under which the Terraform provider of hostform is known. */
export const PROVIDER_NAME = "registry.terraform.io/hostform/hosting";

/** Terraform's plan representation, as far as hostform has something to say, and our own additions under `hostform`. */
export interface PlanJson {
  readonly format_version: "1.2";
  readonly terraform_version: string;
  readonly planned_values: ValuesJson;
  readonly resource_drift?: readonly ResourceChangeJson[];
  readonly resource_changes: readonly ResourceChangeJson[];
  /** By name; absent where no outputs are. */
  readonly output_changes?: Readonly<Record<string, OutputChangeJson>>;
  readonly prior_state: {
    readonly format_version: "1.0";
    readonly terraform_version: string;
    readonly values: ValuesJson;
  };
  /** RFC 3339, when the plan was made. */
  readonly timestamp: string;
  /** Whether apply would do anything and may. */
  readonly applyable: boolean;
  /** Whether nothing remains to be planned afterwards: false while a declared change has to wait. */
  readonly complete: boolean;
  readonly errored: boolean;
  readonly hostform: PlanExtrasJson;
}

export interface ValuesJson {
  readonly outputs?: Readonly<Record<string, OutputValueJson>>;
  readonly root_module: { readonly resources?: readonly ResourceJson[] };
}

export interface ResourceJson {
  readonly address: string;
  readonly mode: "managed";
  readonly type: string;
  readonly name: string;
  readonly index?: string | number;
  readonly provider_name: string;
  readonly schema_version: number;
  readonly values: JsonObject;
  readonly sensitive_values: MaskedObject;
}

export interface ResourceChangeJson {
  readonly address: string;
  readonly previous_address?: string;
  readonly mode: "managed";
  readonly type: string;
  readonly name: string;
  readonly index?: string | number;
  readonly provider_name: string;
  readonly change: ChangeJson;
  readonly action_reason?: "replace_because_cannot_update" | "delete_because_no_resource_config";
}

export interface ChangeJson {
  readonly actions: Actions;
  readonly before: JsonObject | null;
  /** Without what is unknown, as Terraform leaves it out. */
  readonly after: JsonObject | null;
  readonly after_unknown: MaskJson;
  readonly before_sensitive: MaskJson;
  readonly after_sensitive: MaskJson;
  readonly importing?: { readonly id: string };
  readonly replace_paths?: readonly (readonly (string | number)[])[];
}

export interface PlanJsonOptions {
  /** What can be done about a diagnostic, in the language of the project. */
  readonly remedies: RemedyText;
  /** Which Terraform's representation this is read as; an old version is never too new for a reader. */
  readonly terraformVersion?: string;
  /** Schema version of each kind; 0 for those not named. */
  readonly schemaVersions?: Readonly<Record<string, number>>;
}

/**
 * The plan as a document for machines (`plan --json`).
 *
 * Sensitive values never appear: they are null on both sides and marked in `before_sensitive` and `after_sensitive`.
 * Terraform prints them there, and leaves it to the reader to hide them; a plan is an artifact of CI jobs, so we do not.
 */
export function planJson(plan: Plan, options: PlanJsonOptions): PlanJson {
  const version = options.terraformVersion ?? "1.5.0";
  const values = (side: "before" | "after") =>
    valuesJson(
      plan.changes.flatMap((change) => resourceJson(change, side, options.schemaVersions?.[change.type] ?? 0)),
      outputValuesJson(plan, side),
    );
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const errored = plan.diagnostics.some(isError);
  return {
    format_version: "1.2",
    terraform_version: version,
    planned_values: values("after"),
    ...(plan.drift.length > 0 && {
      resource_drift: plan.drift.map((drift) => driftJson(drift, changes.get(drift.address))),
    }),
    resource_changes: plan.changes.map(resourceChangeJson),
    ...(plan.outputs !== undefined && plan.outputs.length > 0 && { output_changes: outputChangesJson(plan) }),
    prior_state: { format_version: "1.0", terraform_version: version, values: values("before") },
    timestamp: plan.timestamp,
    applyable: !errored && plan.unread === undefined && (!plan.changes.every(isNoOp) || changesRecord(plan)),
    complete: !errored && plan.unread === undefined && plan.changes.every((change) => change.deferred.length === 0),
    errored,
    hostform: extrasJson(plan, options.remedies),
  };
}

function valuesJson(
  resources: readonly ResourceJson[],
  outputs: Readonly<Record<string, OutputValueJson>>,
): ValuesJson {
  return {
    ...(Object.keys(outputs).length > 0 && { outputs }),
    root_module: resources.length === 0 ? {} : { resources },
  };
}

/** What every record about a resource begins with. */
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

function resourceJson(change: Change, side: "before" | "after", schemaVersion: number): ResourceJson[] {
  const values = visibleValues(change[side], side === "after" ? change.after_unknown : false, change.sensitive);
  if (values === null) return [];
  const sensitive = maskOf(change[side], change.sensitive);
  return [
    {
      ...identity(change.address, change.type),
      schema_version: schemaVersion,
      values,
      sensitive_values: sensitive === false ? {} : sensitive,
    },
  ];
}

function resourceChangeJson(change: Change): ResourceChangeJson {
  const reason = actionReason(change);
  const paths = replacePaths(change);
  return {
    ...identity(change.address, change.type),
    ...(change.previousAddress !== undefined && { previous_address: change.previousAddress }),
    change: {
      actions: change.actions,
      before: visibleValues(change.before, false, change.sensitive),
      after: visibleValues(change.after, change.after_unknown, change.sensitive),
      after_unknown: change.after === null ? false : unknownJson(change.after_unknown),
      before_sensitive: maskOf(change.before, change.sensitive),
      after_sensitive: maskOf(change.after, change.sensitive),
      ...(change.importing !== undefined && { importing: { id: change.importing.id } }),
      ...(paths.length > 0 && { replace_paths: paths }),
    },
    ...(reason !== undefined && { action_reason: reason }),
  };
}

/** Terraform writes an empty object where nothing of an object is unknown. */
function unknownJson(mask: Mask): MaskJson {
  return mask === false ? {} : (mask as MaskJson);
}

function actionReason(change: Change): ResourceChangeJson["action_reason"] {
  if (isReplacement(change)) return "replace_because_cannot_update";
  const removed = change.reasons.some((reason) => reason.why === "removed");
  return change.actions[0] === "delete" && removed ? "delete_because_no_resource_config" : undefined;
}

function replacePaths(change: Change): (readonly string[])[] {
  if (!isReplacement(change)) return [];
  return change.reasons.flatMap(({ attribute }) => (attribute === undefined ? [] : [[attribute]]));
}

function driftJson(drift: Drift, change: Change | undefined): ResourceChangeJson {
  // Without the change nothing tells which attributes are secret: then all of them are treated as if they were.
  const sensitive = change?.sensitive ?? Object.keys({ ...drift.before, ...drift.after });
  return {
    ...identity(drift.address, drift.type),
    change: {
      actions: [drift.after === null ? "delete" : "update"],
      before: visibleValues(drift.before, false, sensitive),
      after: visibleValues(drift.after, false, sensitive),
      after_unknown: drift.after === null ? false : {},
      before_sensitive: maskOf(drift.before, sensitive),
      after_sensitive: maskOf(drift.after, sensitive),
    },
  };
}
