/** Diagnostics of the provider that need more than the parameters of a message. */
import { type Kind, matches, type Remote } from "../../../core/kinds/kind.ts";
import {
  type Applied,
  fileOutputIn,
  isPendingCreate,
  isSimilarName,
  lookalike,
  oneTimeSecretName,
  unchangedFor,
  unreadable,
} from "../../../core/lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  effectOf,
  formatMoney,
  HostformError,
  type JsonObject,
  PENDING_CREATE,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import type { ProviderSession } from "../index.ts";
import { problem } from "../messages.ts";
import { describeDefect, logError } from "../wire/log.ts";
import { labelOf, type Mark, named, shownValue } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** Name of a resource in messages. Terraform adds the address. */
export const THIS = "This resource";

/** Returns the diagnostics of a successful change. */
export function notices(
  { noun }: Kind,
  { diagnostics, awaiting, invoice }: Applied,
  moneyScale?: number,
): Diagnostic[] {
  const reported = [...diagnostics];
  if (awaiting === "job") reported.push(problem("apply.waiting/job", { noun }));
  if (awaiting === "payment") {
    const { number, id, total, currency } = invoice ?? {};
    const amount = total == null ? "" : ` of ${formatMoney(total, currency ?? null, moneyScale)}`;
    const invoiced = number ?? id;
    const raised = `${invoiced == null ? "An invoice" : `Invoice ${invoiced}`}${amount} was raised.`;
    const detail = invoiced == null && amount === "" ? "The answer names no invoice." : raised;
    reported.push(problem("apply.waiting/payment", { noun, detail }));
  }
  return reported;
}

/** Returns the diagnostics of a failure. A defect is reported without values; the log contains its stack. */
export function failureOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof HostformError) return error.diagnostics;
  logError(error);
  return [problem("internal/defect", { summary: describeDefect(error).summary })];
}

/** Reports a lost one-time secret. @param isTainted true if Terraform taints the object, because its create failed. */
export function secretLost(lost: Diagnostic, isTainted: boolean): Diagnostic {
  const again = isTainted
    ? "Apply again: Terraform has marked it as tainted, and replaces it."
    : "`terraform apply -replace=ADDRESS` replaces it with one that has a secret.";
  const untaint = isTainted ? "`terraform untaint ADDRESS`, and " : "";
  return {
    ...lost,
    remedies: [`${again} If the dashboard can show or rotate its secret: ${untaint}give that secret to the receiver.`],
  };
}

/**
 * Reports an object with an unknown status word. The object may never become live, so it is not reported as waiting. After an
 * update, the report is an error, so that the run fails.
 */
export function notUnderstood(
  kind: Kind,
  attributes: JsonObject,
  { waiting = [], job }: Mark,
  operation: "create" | "update",
): Diagnostic[] {
  if (waiting.length === 0) return [];
  const subject = { kind, address: labelOf(kind, attributes), provider: "default", attributes, job };
  return [unchangedFor(subject, waiting, operation === "create" ? "warning" : "error")];
}

/** Warns about queued jobs, and about deferred attributes whose values Terraform's state must contain. */
export function waits({ noun }: Kind, { waiting = [], job }: Mark, isLive: boolean): Diagnostic[] {
  const names = waiting.filter((name) => job === undefined || name !== "suspended").join(", ");
  return names === "" ? [] : [problem(isLive ? "apply.waiting/not_done" : "apply.waiting/applied", { noun, names })];
}

/** Returns the error about an id of another host, because the id means a different object at each host. */
export const otherHost = (kind: Kind, prior: JsonObject, operation: "changed" | "refreshed" | "removed"): Diagnostic =>
  prior.id === null
    ? problem("state.stranger/create", { what: labelOf(kind, prior) })
    : problem("state.stranger/host", { noun: kind.noun, id: String(prior.id), operation });

/** Warns about a create or replacement in the plan that completes an interrupted run. */
export function willSettle({ noun }: Kind, entry: Entry): Diagnostic {
  const { address, inState = false, attributes } = entry;
  return isPendingCreate(entry)
    ? problem("apply.replayed/settles", { address, inState })
    : problem("apply.replayed/adopts", { address, noun, id: String(attributes.id) });
}

/** Rejects an order whose name belongs to another resource: the API would return the service of that resource. */
export function heldByOther(kind: Kind, name: string, { replacing }: Mark, scope: ProviderScope): Diagnostic[] {
  if (kind.creation === "listable") return [];
  const isBlind = kind.creation === "blind";
  const own = isBlind && replacing?.name === name ? replacing.id : undefined;
  const id = scope.recordedId(kind, name) ?? own;
  // A replacement cannot register a registered domain again.
  if (id === undefined || (!isBlind && (id === replacing?.id || scope.isReleased(kind, { id })))) return [];
  const attribute = isBlind ? undefined : ["reference"];
  return [problem("config.duplicate/order", { name, noun: kind.noun, id, isBlind, attribute })];
}

/** Explains the effect: Terraform reports "Destruction complete" for each removal from its state, and counts a suspension as an update. */
export function effectNotices(kind: Kind, prior: JsonObject, change: Change): Diagnostic[] {
  const { noun } = kind;
  const what = named(kind, prior);
  const effect = effectOf(change);
  if (effect === "suspend") return [problem("plan.offline", { what, noun, leaves: change.actions[0] === "forget" })];
  if (effect !== "forget" || change.reasons.some(({ why }) => why === "gone")) return [];
  return [problem("plan.stays", { what, noun, isBilled: kind.quote !== undefined })];
}

/** Reports a reference to a pending create: the change waits for that create. @param kind Kind of the planned resource; absent: no resource is planned. */
export function refersToPending(config: ValueObject, kind?: Kind): Diagnostic[] {
  const names = Object.keys(config).filter((name) => JSON.stringify(config[name])?.includes(PENDING_CREATE));
  return names.map((name) => problem("plan.pending/reference", { name, noun: kind?.noun, attribute: [name] }));
}

/** Warns about lookalikes of the declared server. The object may be lost only if the state contains no object of the kind. */
export function lookalikes(
  kind: Kind,
  declared: ValueObject,
  { alike = [] }: { readonly alike?: readonly Remote[] },
  scope: ProviderScope,
): Diagnostic[] {
  const isNamed = kind.naturalKey(declared) !== undefined;
  // An unnamed lookalike may belong to another resource of this state.
  const isFree = ({ id, attributes }: Remote) => scope.ownerOf(kind, { ...attributes, id }) === undefined;
  const isSimilar = (one: Remote) =>
    isSimilarName(kind, declared, one.attributes) && isFree(one) && !matches(kind, declared, one.attributes);
  const live = alike.filter((one) => one.phase !== "gone" && (!isNamed || isSimilar(one)));
  if (live.length === 0 || (!isNamed && scope.hasRecorded(kind))) return [];
  const found = lookalike({ kind, address: labelOf(kind, declared) }, live, declared, "warning");
  const [adopt = ""] = found.remedies ?? [];
  const otherwise = `If it is not, the apply ${kind.quote === undefined ? "creates" : "orders"} another one.`;
  return [{ ...found, remedies: [adopt, otherwise] }];
}

/** Reports objects that may match the declaration but lack readable fields. Other resources of the state may manage them. */
export function unreadableOnes(
  kind: Kind,
  declared: ValueObject,
  objects: readonly Remote[],
  scope: ProviderScope,
): Diagnostic[] {
  const others = objects.filter(({ id, attributes }) => scope.ownerOf(kind, { ...attributes, id }) === undefined);
  if (others.length === 0) return [];
  const detail = `If another resource of this state has it, ignore this. If none has it, the apply creates a second ${kind.noun}.`;
  return [{ ...unreadable({ kind, address: labelOf(kind, declared) }, declared, others, "warning"), detail }];
}

/** Reports changes in place that need a live service. */
export function deferred({ noun }: Kind, names: readonly string[]): Diagnostic[] {
  const [first] = names;
  if (first === undefined) return [];
  return [problem("apply.waiting/planned", { noun, names: names.join(", "), attribute: [first] })];
}

/** Returns the error about a changed attribute of a pending create: the next apply completes the create first. */
export function stillPending(kind: Kind, prior: JsonObject, name: string): Diagnostic {
  const value = shownValue(kind, name, prior[name] ?? null);
  return problem("plan.pending/attribute", { noun: kind.noun, name, value, attribute: [name] });
}

/** Warns about a returned value that differs from the sent value. After an error, Terraform would recreate the object. */
export const drifted = (kind: Kind, name: string, attributes: JsonObject): Diagnostic =>
  problem("apply.drifted", {
    noun: kind.noun,
    name,
    value: shownValue(kind, name, attributes[name] ?? null),
    attribute: [name],
  });

const MOVED = { do: "move", when: "another address of this plan is the same thing: it was renamed" } as const;

/** Adds `moved` as the first remedy to a rejected removal, because another address declares the same object. */
export const renamedFirst = ({ diagnostics: [first, ...others] }: HostformError) =>
  new HostformError(first === undefined ? [] : [{ ...first, remedies: [MOVED, ...(first.remedies ?? [])] }, ...others]);

/** Returns the diagnostics about the place of a one-time secret: it is forbidden, or, for a new object, outside of the project or missing. */
export async function secretPlaceNotices(
  kind: Kind,
  config: ValueObject,
  isNew: boolean,
  { secretDestination }: Pick<ProviderSession, "secretDestination">,
  attribute = oneTimeSecretName(kind),
): Promise<readonly Diagnostic[]> {
  const output = fileOutputIn(config);
  if (output === undefined || attribute === undefined) return [];
  const address = labelOf(kind, config);
  try {
    const { real, inside, missing } = await secretDestination(output, { address, attribute });
    if (!isNew) return [];
    const about = { address, name: attribute, real, attribute: ["secret_output"] };
    return [
      ...(inside ? [] : [problem("secret.output/outside", about)]),
      ...(missing === undefined ? [] : [problem("secret.output/folder", { ...about, missing })]),
    ];
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  }
}
