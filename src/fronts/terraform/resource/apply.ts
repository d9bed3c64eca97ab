import { type Kind, type ReadSettings, wordsOf } from "../../../core/kinds/kind.ts";
import {
  applyChange,
  attributesOf,
  duplicate,
  explain,
  isPendingCreate,
  type PendingCreate,
  parentOf,
  returnsSecretOnce,
  withoutRequests,
} from "../../../core/lifecycle/index.ts";
import {
  type Change,
  type Diagnostic,
  equal,
  HostformError,
  hasUnknown,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  split,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import { problem } from "../messages.ts";
import { applyContext, type Latest } from "./apply-context.ts";
import {
  type Answer,
  declaredIn,
  labelOf,
  type Mark,
  nameOf,
  recordedAs,
  withProviderAttributes,
} from "./attribute-mapping.ts";
import { activeEntry, adoptEntry, refuseEdited } from "./entry-lookup.ts";
import { drifted, failureOf, notices, notUnderstood, otherHost, secretLost, THIS, waits } from "./notices.ts";
import { stepsAside } from "./pending.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";
import { checkOrder, dropReplacing, formsOfReplaced, generationOf } from "./replacement.ts";
import { accountOf, noteChanged } from "./same-account.ts";
import { takeOver } from "./take-over.ts";

/** Input of an apply. Only attributes that the API sets are unknown. */
interface ApplyQuestion {
  readonly prior: JsonObject | null;
  readonly planned: ValueObject;
  /** Configuration values, with the write-only values. */
  readonly config: ValueObject;
  readonly mark: Mark;
  /** Aborted when Terraform cancels the call. The provider then starts no new request. */
  readonly cancelled?: AbortSignal;
}

/**
 * Creates or changes one object. Terraform taints an object whose create fails, and the next apply recreates the object: a
 * second order. Therefore, each failure after a create is a warning, and the state receives the known attributes with a mark
 * for the missing steps. Exceptions: a webhook without its secret is tainted, and so is a create without a known outcome. The
 * next apply completes that create (pending.ts).
 */
export async function applyResource(kind: Kind, asked: ApplyQuestion, scope: ProviderScope): Promise<Answer> {
  const { replacing: _, plan: __, settles: ___, creates: ____, ...mark } = asked.mark;
  scope.applies(asked.mark);
  const question: ApplyQuestion = { ...asked, mark };
  const { prior, planned, config } = question;
  const refuse = (...diagnostics: readonly Diagnostic[]): Answer => ({ state: prior, mark, diagnostics });
  const declared = declaredIn(kind, config);
  const recorded = prior === null ? undefined : recordedAs(kind, prior, mark);
  const existing = isPendingCreate(recorded) ? undefined : recorded;
  // At another host, a pending request would create a second object.
  if (mark.host !== undefined && mark.host !== scope.session.host)
    return refuse(otherHost(kind, prior ?? {}, "changed"));
  const name = nameOf(kind, declaredIn(kind, planned));
  const owner: Owner = { label: labelOf(kind, planned) };
  if (recorded === undefined) {
    const refused = checkOrder(kind, declared, undefined, scope.session);
    if (refused.length > 0) return refuse(...refused);
  }
  // Two resources may become equal only now, because all values are known.
  const other = existing === undefined ? scope.claim(owner, kind, name, planned) : undefined;
  if (other !== undefined) return refuse(duplicate(kind, THIS, other));
  const { entry, elsewhere } = existing === undefined ? await activeEntry(kind, name, scope) : {};
  if (elsewhere !== undefined) return refuse(elsewhere);
  const create = { name, planned, noted: entry, owner, cancelled: asked.cancelled };
  const taken = recorded === undefined ? await takeOver(kind, create, scope) : undefined;
  if (taken?.adopted !== undefined) {
    const { attributes, private: kept } = taken.adopted;
    const made = {
      ...markOf(kind, question, attributes, withoutRequests(kept)),
      ...origin(kind, attributes, mark, name, scope),
    };
    return settled(kind, question, attributes, made, taken.diagnostics);
  }
  const noted = entry?.handed ? undefined : entry;
  if (isPendingCreate(noted)) refuseEdited(kind, noted, planned);
  if (noted !== undefined && !isPendingCreate(noted)) {
    const adopted = await adoptEntry(owner, kind, noted, planned, scope);
    if (adopted !== undefined) {
      const { attributes, diagnostics } = adopted;
      const kept = {
        ...markOf(kind, question, attributes, withoutRequests(adopted.private)),
        ...origin(kind, attributes, mark, name, scope),
      };
      return settled(kind, question, attributes, kept, diagnostics);
    }
    await scope.session.entries.remove(kind.type, name);
  }
  const before = isPendingCreate(noted) ? noted : recorded;
  const operation = prior === null ? "create" : "update";
  const isFirst = before === undefined;
  const pending = isPendingCreate(before) ? before : undefined;
  const { cancelled } = question;
  const options = { name, config, prior, operation, owner, scope, cancelled, isFirst, pending } as const;
  const { context, latest } = await applyContext(kind, options);
  const known = before?.private ?? {
    ...(await formsOfReplaced(kind, name, scope.session)),
    ...(await generationOf(kind, name, scope.session.entries)),
  };
  const change = changeOf(kind, { ...question, mark: known }, before, scope.session.settings);
  try {
    const applied = await applyChange(kind, change, declared, context);
    const attributes = applied.attributes ?? {};
    scope.collections.changed(kind, parentOf(kind, attributes));
    if (existing === undefined) scope.add(owner, kind, attributes);
    await dropReplacing(kind, name, scope.session.entries);
    const marked = markOf(kind, question, attributes, withoutRequests(latest.resource?.private ?? mark));
    const kept = { ...marked, ...origin(kind, attributes, mark, existing === undefined ? name : mark.made, scope) };
    // Report each failure once.
    const phase = kind.phase?.(attributes, scope.session.settings);
    const open =
      phase === "unknown" ? notUnderstood(kind, attributes, kept, operation) : waits(kind, kept, phase !== "pending");
    const failures = applied.unclear === undefined ? [] : [applied.unclear];
    const reported = [
      ...(taken?.diagnostics ?? []),
      ...notices(kind, applied, scope.session.settings.moneyScale),
      ...(applied.unclear === undefined ? open : []),
    ];
    return undoneBy(operation, failures, settled(kind, question, attributes, kept, reported));
  } catch (error) {
    const answer = failed(kind, question, error, { latest, existing, name, pending }, scope);
    const isOpen = prior === null && answer.mark.pending !== undefined;
    return isOpen && stepsAside(noted) ? { ...answer, state: null, mark: {} } : answer;
  }
}

/** Returns the origin of an object for its mark: host, account, and the name of its create. */
function origin(
  kind: Kind,
  attributes: JsonObject,
  mark: Mark,
  made: string | undefined,
  { session }: ProviderScope,
): Mark {
  noteChanged(kind, attributes, session.account);
  const account = accountOf(kind, attributes.id, mark, session);
  return { host: session.host, ...account, ...(made !== undefined && { made }) };
}

function changeOf(
  kind: Kind,
  { planned, mark }: ApplyQuestion,
  before: ResourceState | undefined,
  settings: ReadSettings,
): Change {
  const existing = isPendingCreate(before) ? undefined : before;
  // Deferred attributes keep their recorded value, even if the status is unknown. A create omits them.
  const phase = existing === undefined ? "pending" : (kind.phase?.(existing.attributes, settings) ?? "live");
  const value = (name: string, change: string | undefined): Value => {
    const wanted = planned[name] ?? null;
    const waits = phase === "unknown" ? change === "in-place" : kind.deferred?.(phase)?.includes(name);
    // An undeclared attribute has no value to wait for.
    return waits && wanted !== null ? (existing?.attributes[name] ?? null) : wanted;
  };
  const own: ValueObject = Object.fromEntries(
    attributesOf(kind).map(({ name, meta }): [string, Value] => [name, value(name, meta.change)]),
  );
  const { known, unknown } = split(own);
  return {
    address: labelOf(kind, planned),
    type: kind.type,
    words: wordsOf(kind),
    provider: "default",
    actions: [existing === undefined ? "create" : "update"],
    before: existing?.attributes ?? null,
    after: known as JsonObject,
    after_unknown: unknown,
    sensitive: [],
    config: {},
    reasons: [],
    deferred: [],
    private: mark,
    // Ignore lookalikes, as the plan does. Domains have no list for the plan.
    ...(kind.creation !== "blind" && { anyway: true }),
    dependsOn: [],
    requests: 1,
  };
}

/** Returns the answer for an existing object. Terraform requires that known planned values do not change. */
function settled(
  kind: Kind,
  { planned }: ApplyQuestion,
  attributes: JsonObject,
  mark: Mark,
  diagnostics: readonly Diagnostic[],
): Answer {
  const values: Record<string, Value> = { ...attributes };
  const odd: string[] = [];
  for (const { name, meta } of attributesOf(kind)) {
    const wanted = planned[name] ?? null;
    const got = values[name] ?? null;
    // Terraform requires null for write-only attributes.
    if (meta.writeOnly || hasUnknown(wanted)) continue;
    const isReported = mark.waiting?.includes(name) || Object.hasOwn(mark.shown ?? {}, name);
    if (!equal(wanted, got) && got !== null && !isReported) odd.push(name);
    values[name] = wanted;
  }
  return {
    state: withProviderAttributes(kind, values, planned) as JsonObject,
    mark,
    diagnostics: [...diagnostics, ...odd.map((name) => drifted(kind, name, attributes))],
  };
}

/** Returns the pending declared attributes: they wait until the object is live, or until the next apply. */
function undone(kind: Kind, { planned, config }: ApplyQuestion, attributes: JsonObject): string[] {
  const declared = declaredIn(kind, config);
  return attributesOf(kind).flatMap(({ name, meta }) => {
    const wanted: Value = planned[name] ?? null;
    const isOpen = meta.change === "in-place" && declared[name] !== undefined && !equal(attributes[name], wanted);
    return isOpen ? [name] : [];
  });
}

/** Returns the mark after a change. It names the pending attributes, because Terraform's state contains the declared values. */
function markOf(kind: Kind, question: ApplyQuestion, attributes: JsonObject, mark: PrivateMark): Mark {
  const { planned, prior } = question;
  const { waiting: earlier = [], ...rest } = mark;
  const now = undone(kind, question, attributes);
  // Remove the attributes of this change: they are complete, undeclared, or deferred again.
  const left = earlier.filter((name) => equal(prior?.[name], planned[name]));
  const waiting = [...new Set([...left, ...now])];
  return waiting.length > 0 ? { ...rest, waiting } : rest;
}

const isLost = ({ code, severity }: Diagnostic) => code === "secret.lost" && severity === "error";

/**
 * Returns the answer to a failure. If an object was created, the answer has only warnings, so that no paid object is tainted. If an
 * object may have been created, the answer is an error: Terraform taints the instance, and the next apply completes the create.
 * @param before the object before the change, and the pending create that the change completes.
 */
function failed(
  kind: Kind,
  question: ApplyQuestion,
  error: unknown,
  {
    latest,
    existing,
    name,
    pending,
  }: {
    latest: Latest;
    existing: ResourceState | undefined;
    name: string | undefined;
    pending: PendingCreate | undefined;
  },
  scope: ProviderScope,
): Answer {
  // The destroy leg removed the pending create from the state. Restore the pending create.
  const isReturned = question.prior === null && !latest.isDropped;
  const resource = latest.resource ?? (isReturned ? pending : undefined);
  if (!(error instanceof HostformError) && resource === undefined) throw error;
  const reported =
    error instanceof HostformError
      ? explain(kind, labelOf(kind, question.planned), declaredIn(kind, question.config) as JsonObject, error)
      : failureOf(error);
  if (existing !== undefined) {
    // After a failed update, Terraform keeps the state and taints no object.
    const { attributes, private: kept } = resource ?? existing;
    const state = withProviderAttributes(kind, attributes, question.prior ?? {}) as JsonObject;
    return { state, mark: withoutRequests(kept), diagnostics: reported };
  }
  if (resource === undefined) {
    scope.release(kind, name, question.planned);
    const left = { state: question.prior, mark: question.mark, diagnostics: reported };
    return question.prior === null || !latest.isDropped ? left : { ...left, ...forgotten(question) };
  }
  const isPending = isPendingCreate(resource);
  // Mark a pending create too: hostform may complete it, and treats unmarked attributes as applied.
  const recordedMark = isPending ? resource.private : withoutRequests(resource.private);
  const mark = markOf(kind, question, resource.attributes, recordedMark);
  const kept = { ...mark, ...origin(kind, resource.attributes, mark, name, scope) };
  const answer = settled(kind, question, resource.attributes, kept, []);
  // Terraform taints only after a failed create. A failure in a later completion is an error, so that CI fails.
  const isNew = question.prior === null;
  // A webhook without its secret is free and useless: Terraform taints it, and the next apply replaces it.
  if (returnsSecretOnce(kind, resource.attributes) && reported.some(isLost)) {
    const diagnostics = reported.map((each) => (isLost(each) ? secretLost(each, isNew) : each));
    return { ...answer, mark: { ...kept, ...(isNew && { lost: true }) }, diagnostics };
  }
  if (isPending) {
    // Terraform marks the instance as tainted.
    const unknown = problem("plan.pending/unknown", { noun: kind.noun, isBlind: kind.creation === "blind" });
    const isSaid = reported.some(({ code }) => code === "plan.pending");
    return { ...answer, diagnostics: isSaid ? reported : [...reported, unknown] };
  }
  const incomplete = problem("apply.skipped/step", { noun: kind.noun, id: String(resource.attributes.id) });
  return undoneBy(isNew ? "create" : "update", reported, { ...answer, diagnostics: [incomplete] });
}

/** Terraform accepts no null after a failed update. Without id and mark, the next refresh removes the instance. */
const forgotten = ({ prior, mark }: ApplyQuestion) => ({ state: { ...prior, id: null }, mark: withoutRequests(mark) });

/** Adds failures to an answer: as warnings after a create, so that Terraform taints no object; as errors after an update. */
const undoneBy = (operation: "create" | "update", failures: readonly Diagnostic[], answer: Answer): Answer =>
  operation === "create"
    ? { ...answer, waiting: failures }
    : { ...answer, diagnostics: [...failures, ...answer.diagnostics] };
