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
  /** Holds the write-only values. */
  readonly config: ValueObject;
  readonly mark: Mark;
  /** Aborted when Terraform gives up the call: nothing new is begun. */
  readonly cancelled?: AbortSignal;
}

/**
 * Creates or changes one object. Terraform taints an object whose create fails and recreates it with the next apply, which
 * would be a second order. So once an object was created, each failure is a warning, and the state gets what is known of the
 * object, with a mark for the rest. Only a webhook whose secret is lost is tainted, and a create without a known outcome, which
 * the next apply settles instead (pending.ts).
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
  // A pending request of another host would be sent a second time here.
  if (mark.host !== undefined && mark.host !== scope.session.host)
    return refuse(otherHost(kind, prior ?? {}, "changed"));
  const name = nameOf(kind, declaredIn(kind, planned));
  const owner: Owner = { label: labelOf(kind, planned) };
  if (recorded === undefined) {
    const refused = checkOrder(kind, declared, undefined, scope.session);
    if (refused.length > 0) return refuse(...refused);
  }
  // Two resources may become equal only now, when all values are known.
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
    // A failure is not reported as waiting as well.
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
    return isOpen && stepsAside(kind, noted, scope) ? { ...answer, state: null, mark: {} } : answer;
  }
}

/** Origin of an object, for its mark: the host, the account, and the name under which it was created here. */
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
  // Deferred attributes keep their recorded value, also at an unknown status. A create omits them.
  const phase = existing === undefined ? "pending" : (kind.phase?.(existing.attributes, settings) ?? "live");
  const value = (name: string, change: string | undefined): Value => {
    const wanted = planned[name] ?? null;
    const waits = phase === "unknown" ? change === "in-place" : kind.deferred?.(phase)?.includes(name);
    // An attribute that is no longer declared has nothing to wait for.
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
    // Ignore lookalikes, as the plan does. Domains have no list that the plan could have read.
    ...(kind.creation !== "blind" && { anyway: true }),
    dependsOn: [],
    requests: 1,
  };
}

/** The answer for an object that exists. Terraform requires known planned values to stay as they were planned. */
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
    // Write-only attributes are null, whatever was planned.
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

/** Declared attributes that are not done: they wait until the object is live, or until the next apply. */
function undone(kind: Kind, { planned, config }: ApplyQuestion, attributes: JsonObject): string[] {
  const declared = declaredIn(kind, config);
  return attributesOf(kind).flatMap(({ name, meta }) => {
    const wanted: Value = planned[name] ?? null;
    const isOpen = meta.change === "in-place" && declared[name] !== undefined && !equal(attributes[name], wanted);
    return isOpen ? [name] : [];
  });
}

/** The mark after a change: it names what is declared and not done, because Terraform's state has the declared values. */
function markOf(kind: Kind, question: ApplyQuestion, attributes: JsonObject, mark: PrivateMark): Mark {
  const { planned, prior } = question;
  const { waiting: earlier = [], ...rest } = mark;
  const now = undone(kind, question, attributes);
  // Drop the attributes of this change: they are done, no longer declared, or deferred again.
  const left = earlier.filter((name) => equal(prior?.[name], planned[name]));
  const waiting = [...new Set([...left, ...now])];
  return waiting.length > 0 ? { ...rest, waiting } : rest;
}

const isLost = ({ code, severity }: Diagnostic) => code === "secret.lost" && severity === "error";

/**
 * The answer to a failure. If an object was created, it has only warnings: no paid object is tainted. If an object may have been
 * created, it is an error: Terraform taints the instance, and the next apply settles it.
 * @param before the object before the change, and the create that the change settles.
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
  // The destroy leg took the pending create out of the state: it goes back.
  const isReturned = question.prior === null && !latest.isDropped;
  const resource = latest.resource ?? (isReturned ? pending : undefined);
  if (!(error instanceof HostformError) && resource === undefined) throw error;
  const reported =
    error instanceof HostformError
      ? explain(kind, labelOf(kind, question.planned), declaredIn(kind, question.config) as JsonObject, error)
      : failureOf(error);
  if (existing !== undefined) {
    // Terraform keeps the state of a failed update, and taints nothing.
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
  // Also of a pending create: hostform, which may finish it, would take everything in the state as done.
  const recordedMark = isPending ? resource.private : withoutRequests(resource.private);
  const mark = markOf(kind, question, resource.attributes, recordedMark);
  const kept = { ...mark, ...origin(kind, resource.attributes, mark, name, scope) };
  const answer = settled(kind, question, resource.attributes, kept, []);
  // Terraform taints only after a failed create: a failure when finishing one later is an error, so that CI fails.
  const isNew = question.prior === null;
  // A webhook without its secret is free and useless: as it is tainted, the next apply replaces it.
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

/** Terraform accepts no null after an update that failed: without id and mark, the next refresh drops the instance. */
const forgotten = ({ prior, mark }: ApplyQuestion) => ({ state: { ...prior, id: null }, mark: withoutRequests(mark) });

/** Adds failures to an answer: after a create the object waits; after an update they are errors, so that the run fails. */
const undoneBy = (operation: "create" | "update", failures: readonly Diagnostic[], answer: Answer): Answer =>
  operation === "create"
    ? { ...answer, waiting: failures }
    : { ...answer, diagnostics: [...failures, ...answer.diagnostics] };
