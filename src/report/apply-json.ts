// Messages of an apply in the format of Terraform's machine-readable UI, one on each line.
import {
  type ApplyEvent,
  type ApplyResult,
  type Change,
  type ChangeOutcome,
  conditionWarning,
  type Diagnostic,
  effectOf,
  isFulfilled,
  isNoOp,
  isReplacement,
  type OutputState,
  type Plan,
  type ProgressVerb,
  parseAddress,
  type Receipt,
  type RemedyText,
} from "../core/model/index.ts";
import { diagnosticJson } from "./diagnostics.ts";
import { formatElapsed } from "./numbers.ts";
import { countDone, diagnosticsOf, doneChanges, doneEffects, withHalves } from "./outcome-text.ts";
import { actionReason } from "./plan-json.ts";
import { type Counts, countChanges, leftOutTexts, plannedEffects } from "./plan-text.ts";
import { progressLine } from "./progress.ts";

/** Version of Terraform's machine-readable UI. */
const UI_VERSION = "1.2";

/**
 * One message of Terraform's machine-readable UI: a line of `apply --json`. Readers of Terraform's messages use `type` and ignore
 * unknown fields. hostform's own fields are under `hostform`.
 */
export type UiMessage =
  | ReturnType<typeof versionMessage | typeof eventMessage | typeof diagnosticMessage | typeof outputsMessage>
  | ReturnType<typeof planMessages | typeof resultMessages>[number];

export interface UiHead<Type extends string> {
  readonly "@level": "info" | "warn" | "error";
  readonly "@message": string;
  readonly "@module": "hostform.ui";
  /** RFC 3339 with microseconds, as in Terraform's logger. */
  readonly "@timestamp": string;
  readonly type: Type;
}

/** Terraform's actions in messages. The plan representation has other words: "no-op", "forget". */
type UiAction = "noop" | "create" | "update" | "replace" | "delete" | "remove" | "import";

type Level = UiHead<string>["@level"];

/** Creates a message. @param now time in milliseconds since the epoch, as in all functions below. */
export function message<Type extends string, Fields extends object>(
  now: number,
  level: Level,
  text: string,
  type: Type,
  fields: Fields,
): UiHead<Type> & Fields {
  const timestamp = new Date(now).toISOString().replace("Z", "000Z");
  return { "@level": level, "@message": text, "@module": "hostform.ui", "@timestamp": timestamp, type, ...fields };
}

/** Returns the first message of a stream. @param version version of hostform. */
export function versionMessage(version: string, now: number) {
  return message(now, "info", `hostform ${version}`, "version", { hostform: version, ui: UI_VERSION });
}

/**
 * Returns the messages of a plan before its apply: drift, one `planned_change` for each change, diagnostics and conditions, the
 * summary, outputs.
 */
export function planMessages(plan: Plan, now: number, remedies: RemedyText) {
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const counts = countChanges(changes);
  return [
    ...plan.drift.map((drift) => {
      const action = drift.after === null ? "delete" : "update";
      const change = { resource: resourceJson(drift.address), action };
      return message(now, "info", `${drift.address}: Drift detected (${action})`, "resource_drift", { change });
    }),
    ...changes.map((change) => plannedChange(change, now)),
    ...[...plan.diagnostics, ...(plan.conditions ?? []).map(conditionWarning)].map((diagnostic) =>
      diagnosticMessage(diagnostic, now, remedies),
    ),
    summary("plan", counts, plannedEffects(counts), now, { cost: plan.cost, requests: plan.requests }),
    ...leftOutTexts(plan).map((text) => message(now, "info", text, "log", {})),
    ...plannedOutputs(plan, now),
  ];
}

function plannedChange(change: Change, now: number) {
  const action = uiAction(change);
  const reason = actionReason(change)?.replace("replace_because_", "");
  return message(now, "info", `${change.address}: Plan to ${action}`, "planned_change", {
    change: {
      resource: resourceJson(change.address),
      action,
      ...(reason !== undefined && { reason }),
      ...(change.importing !== undefined && { importing: { id: change.importing.id } }),
    },
    hostform: {
      provider: change.provider,
      effect: effectOf(change),
      reasons: change.reasons,
      ...(change.deferred.length > 0 && { deferred: change.deferred }),
      ...(change.quote !== undefined && { quote: change.quote }),
    },
  });
}

function uiAction(change: Change): UiAction {
  if (isReplacement(change)) return "replace";
  const [action] = change.actions;
  if (action === "no-op") return change.importing === undefined ? "noop" : "import";
  return action === "forget" ? "remove" : action;
}

const EVENT_ACTIONS: Readonly<Record<ProgressVerb, UiAction>> = {
  order: "create",
  create: "create",
  update: "update",
  delete: "delete",
  forget: "remove",
  import: "import",
  suspend: "update",
  unsuspend: "update",
  "suspend-and-forget": "remove",
};

/** Returns the message of an apply event. Terraform has no message about queued jobs, so their event is a `log` message. */
export function eventMessage(event: ApplyEvent, now: number) {
  const text = progressLine(event, { color: false });
  if (event.type === "waiting" || (event.type === "complete" && event.outcome.result === "waiting")) {
    const waiting = event.type === "waiting" ? event.addresses : [event.address];
    return message(now, "info", text, "log", { hostform: { waiting, elapsed_seconds: event.seconds } });
  }
  if (event.type === "busy") {
    const { address, status, seconds } = event;
    return message(now, "info", text, "log", { hostform: { busy: address, status, wait_seconds: seconds } });
  }
  const id = "id" in event ? event.id : undefined;
  const hook = {
    resource: resourceJson(event.address),
    action: EVENT_ACTIONS[event.action],
    ...(id !== undefined && { id_key: "id", id_value: id }),
    ...("seconds" in event && { elapsed_seconds: event.seconds }),
  };
  const isTerraforms = EVENT_ACTIONS[event.action] === event.action || event.action === "forget";
  // Invoice of the order, and the reason for the resource's wait (§3).
  const { invoice, awaiting } = event.type === "complete" ? event.outcome : {};
  const own = {
    ...(!isTerraforms && { effect: event.action }),
    ...(invoice !== undefined && { invoice }),
    ...(awaiting !== undefined && { awaiting }),
  };
  const extras = Object.keys(own).length > 0 ? { hostform: own } : {};
  return message(now, "info", text, `apply_${event.type}` as const, { hook, ...extras });
}

export function diagnosticMessage(diagnostic: Diagnostic, now: number, remedies: RemedyText) {
  const error = diagnostic.severity === "error";
  const text = `${error ? "Error" : "Warning"}: ${diagnostic.summary}`;
  const fields = { diagnostic: diagnosticJson(diagnostic, remedies) };
  return message(now, error ? "error" : "warn", text, "diagnostic", fields);
}

/** Returns the messages at the end of an apply: all diagnostics, then the summary. */
export function resultMessages(plan: Plan, result: ApplyResult, now: number, remedies: RemedyText) {
  const by = (kind: ChangeOutcome["result"]) =>
    result.outcomes.flatMap(({ address, result: was }) => (was === kind ? [address] : []));
  const { done, queued } = countDone(plan, result);
  return [
    ...diagnosticsOf(result).map((diagnostic) => diagnosticMessage(diagnostic, now, remedies)),
    summary(plan.mode, withHalves(countChanges(doneChanges(plan, result)), result), doneEffects(done, queued), now, {
      ...ownFields(done),
      queued,
      complete: isFulfilled(result),
      failed: by("failed"),
      waiting: by("waiting"),
      skipped: by("skipped"),
      not_started: by("not-started"),
      pending: result.pending,
      ...(result.unfulfilled?.length && { unfulfilled: result.unfulfilled }),
      ...(result.held?.length && { held_back: result.held }),
      ...(result.mandate && { mandate: mandateFields(result.mandate) }),
      unknown: result.outcomes.flatMap(({ address, unknown }) => (unknown ? [address] : [])),
      interrupted: result.interrupted,
      requests: result.requests,
      elapsed: formatElapsed(result.seconds),
    }),
  ];
}

const mandateFields = ({ mandate: id, use, left }: Receipt) => ({ id, use, left });

/** Returns the message of the outputs in the state, at the end of an apply. Sensitive outputs have no value. */
export function outputsMessage(outputs: ReadonlyMap<string, OutputState>, now: number) {
  const shown = [...outputs].map(([name, { sensitive, type, value }]): [string, OutputJson] => [
    name,
    { sensitive, type, ...(!sensitive && { value }) },
  ]);
  return outputsWith(shown, now);
}

/** Returns the message of the output changes, or none without outputs. */
function plannedOutputs({ outputs = [] }: Plan, now: number) {
  if (outputs.length === 0) return [];
  const shown = outputs.map(({ name, sensitive, action }): [string, OutputJson] => [
    name,
    { sensitive, action: action === "no-op" ? "noop" : action },
  ]);
  return [outputsWith(shown, now)];
}

interface OutputJson extends Pick<OutputState, "sensitive">, Partial<Pick<OutputState, "type" | "value">> {
  readonly action?: "noop" | "create" | "update" | "delete";
}

function outputsWith(shown: readonly [name: string, output: OutputJson][], now: number) {
  return message(now, "info", `Outputs: ${shown.length}`, "outputs", { outputs: Object.fromEntries(shown) });
}

const ownFields = ({ forget, suspend, unsuspend }: Counts) => ({ forget, suspend, unsuspend });

/**
 * Returns the summary with Terraform's exact sentence and counts, because tools read them. In these counts, a suspension is a change.
 * Counts without a Terraform equivalent follow in a separate sentence and under `hostform`.
 */
function summary<Extras extends { readonly complete?: boolean; readonly requests: unknown }>(
  operation: "plan" | "apply" | "destroy",
  counts: Counts,
  effects: readonly string[],
  now: number,
  extras: Extras,
) {
  const { add, updates, destroy } = counts;
  const imported = counts.import;
  const lead = extras.complete === false ? "incomplete!" : "complete!";
  const own = effects.length > 0 ? ` Effects: ${effects.join(", ")}.` : "";
  const text = {
    plan: `Plan: ${imported > 0 ? `${imported} to import, ` : ""}${add} to add, ${updates} to change, ${destroy} to destroy.${own}`,
    apply: `Apply ${lead} Resources: ${imported > 0 ? `${imported} imported, ` : ""}${add} added, ${updates} changed, ${destroy} destroyed.${own}`,
    destroy: `Destroy ${lead} Resources: ${destroy} destroyed.${own}`,
  }[operation];
  const changes = { add, change: updates, import: imported, remove: destroy, operation };
  return message(now, "info", text, "change_summary", { changes, hostform: { ...ownFields(counts), ...extras } });
}

/** Describes a resource in the format of Terraform's messages. */
function resourceJson(address: string) {
  const parsed = parseAddress(address);
  return {
    addr: address,
    module: "",
    resource: address,
    implied_provider: "hosting",
    resource_type: parsed?.type ?? "",
    resource_name: parsed?.name ?? "",
    resource_key: parsed?.key ?? null,
  };
}
