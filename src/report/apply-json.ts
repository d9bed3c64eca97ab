// An apply as Terraform's machine-readable messages, one a line.
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
  type RemedyText,
} from "../core/model/index.ts";
import { diagnosticJson } from "./diagnostics.ts";
import { formatElapsed } from "./numbers.ts";
import { countDone, diagnosticsOf, doneChanges, doneEffects, withHalves } from "./outcome-text.ts";
import { actionReason } from "./plan-json.ts";
import { type Counts, countChanges, leftOutTexts, plannedEffects } from "./plan-text.ts";
import { progressLine } from "./progress.ts";

/** The version of Terraform's machine-readable UI that the messages follow. */
const UI_VERSION = "1.2";

/**
 * One message of Terraform's machine-readable UI, a line of `apply --json`. Readers of Terraform's messages go by
 * `type` and pass over fields they do not know; ours stand under `hostform`.
 */
export interface UiMessage {
  readonly "@level": "info" | "warn" | "error";
  readonly "@message": string;
  readonly "@module": "hostform.ui";
  /** RFC 3339 with six digits of a second, as Terraform's logger writes it. */
  readonly "@timestamp": string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Terraform's words in messages: they differ from those of the plan representation ("noop", "remove" for forget). */
type UiAction = "noop" | "create" | "update" | "replace" | "delete" | "remove" | "import";

type Level = UiMessage["@level"];

/** @param now milliseconds since the epoch; of this and all other messages. */
export function message(now: number, level: Level, text: string, type: string, fields: object): UiMessage {
  const timestamp = new Date(now).toISOString().replace("Z", "000Z");
  return { "@level": level, "@message": text, "@module": "hostform.ui", "@timestamp": timestamp, type, ...fields };
}

/** The first message of a stream. @param version hostform's own. */
export function versionMessage(version: string, now: number): UiMessage {
  return message(now, "info", `hostform ${version}`, "version", { hostform: version, ui: UI_VERSION });
}

/** Messages of a plan before it is applied: drift, one `planned_change` for each change, diagnostics and conditions, the summary. */
export function planMessages(plan: Plan, now: number, remedies: RemedyText): UiMessage[] {
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

function plannedChange(change: Change, now: number): UiMessage {
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

/** The message of an event of an apply. Waiting for queued jobs, which Terraform does not know, is a `log` message. */
export function eventMessage(event: ApplyEvent, now: number): UiMessage {
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
  // The invoice that an order raised, and what the resource waits for (§3).
  const { invoice, awaiting } = event.type === "complete" ? event.outcome : {};
  const own = {
    ...(!isTerraforms && { effect: event.action }),
    ...(invoice !== undefined && { invoice }),
    ...(awaiting !== undefined && { awaiting }),
  };
  const extras = Object.keys(own).length > 0 ? { hostform: own } : {};
  return message(now, "info", text, `apply_${event.type}`, { hook, ...extras });
}

export function diagnosticMessage(diagnostic: Diagnostic, now: number, remedies: RemedyText): UiMessage {
  const error = diagnostic.severity === "error";
  const text = `${error ? "Error" : "Warning"}: ${diagnostic.summary}`;
  const fields = { diagnostic: diagnosticJson(diagnostic, remedies) };
  return message(now, error ? "error" : "warn", text, "diagnostic", fields);
}

/** The end of an apply: all diagnostics, then the summary of what was done. */
export function resultMessages(plan: Plan, result: ApplyResult, now: number, remedies: RemedyText): UiMessage[] {
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
      unknown: result.outcomes.flatMap(({ address, unknown }) => (unknown ? [address] : [])),
      interrupted: result.interrupted,
      requests: result.requests,
      elapsed: formatElapsed(result.seconds),
    }),
  ];
}

/** The recorded outputs, at the end of an apply that has any; sensitive ones without their value. */
export function outputsMessage(outputs: ReadonlyMap<string, OutputState>, now: number): UiMessage {
  const shown = [...outputs].map(([name, { sensitive, type, value }]): [string, object] => [
    name,
    { sensitive, type, ...(!sensitive && { value }) },
  ]);
  return outputsWith(shown, now);
}

/** The change of each output. Empty without outputs. */
function plannedOutputs({ outputs = [] }: Plan, now: number): UiMessage[] {
  if (outputs.length === 0) return [];
  const shown = outputs.map(({ name, sensitive, action }): [string, object] => [
    name,
    { sensitive, action: action === "no-op" ? "noop" : action },
  ]);
  return [outputsWith(shown, now)];
}

function outputsWith(shown: readonly [name: string, output: object][], now: number): UiMessage {
  return message(now, "info", `Outputs: ${shown.length}`, "outputs", { outputs: Object.fromEntries(shown) });
}

const ownFields = ({ forget, suspend, unsuspend }: Counts) => ({ forget, suspend, unsuspend });

/**
 * The sentence and the counts are Terraform's to the letter: tools read them, and count a suspension as a change. What
 * Terraform has no count for follows in a sentence of its own, and under `hostform`.
 */
function summary(
  operation: "plan" | "apply" | "destroy",
  counts: Counts,
  effects: readonly string[],
  now: number,
  extras: { readonly complete?: boolean; readonly [field: string]: unknown },
): UiMessage {
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

/** A resource as Terraform's messages name it. */
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
