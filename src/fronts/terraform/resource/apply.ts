import { kinds } from "../../../core/kinds/index.ts";
import type { Kind, ReadSettings } from "../../../core/kinds/kind.ts";
import {
  type ApplyContext,
  applyChange,
  attributesOf,
  explain,
  isPendingCreate,
  parentOf,
  refuseStopped,
  returnsSecretOnce,
  settledMark,
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
import { declaredIn, labelOf, type Mark, nameOf, recordedAs, withProviderAttributes } from "./attribute-mapping.ts";
import { activeEntry, adoptEntry, busy, settledByNow, shownOnce } from "./journal-lookup.ts";
import {
  defect,
  different,
  incomplete,
  notices,
  notKnown,
  notUnderstood,
  otherHost,
  secretLost,
  twice,
  waits,
} from "./notices.ts";
import { checkOrder, generationOf, noteRefused } from "./order-name.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";
import { dropReplacing, isToReplace, wasReleased } from "./replacement.ts";
import { stoppable, timeoutOf } from "./timeouts.ts";

export interface ApplyAnswer {
  /** Null: nothing was made. */
  readonly state: JsonObject | null;
  readonly mark: Mark;
  readonly diagnostics: readonly Diagnostic[];
}

/** What Terraform asks to have applied; everything is known by now that will be known before. */
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
 * Makes or changes one object. Terraform marks what fails in its creation as tainted and recreates it with the next
 * apply, which would be a second order: so, once something was or may have been made, whatever fails is a warning, and what
 * is known of the object goes into the state, with the mark of what is not. Only a webhook whose secret is lost is tainted.
 */
export async function applyResource(kind: Kind, asked: ApplyQuestion, scope: ProviderScope): Promise<ApplyAnswer> {
  const { replacing: _, ...mark } = asked.mark;
  const question: ApplyQuestion = { ...asked, mark };
  const { prior, planned, config } = question;
  const declared = declaredIn(kind, config);
  const recorded = prior === null ? undefined : recordedAs(kind, prior, mark);
  const existing = isPendingCreate(recorded) ? undefined : recorded;
  // A request of another host would be sent a second time here.
  if (mark.host !== undefined && mark.host !== scope.session.host) {
    return { state: prior, mark, diagnostics: [otherHost(kind, prior ?? {}, "changed")] };
  }
  const name = nameOf(kind, declaredIn(kind, planned));
  const owner: Owner = { label: labelOf(kind, planned) };
  if (recorded === undefined) {
    const refused = checkOrder(kind, declared, {}, scope.session);
    if (refused.length > 0) return { state: prior, mark, diagnostics: refused };
  }
  // Two declarations of one thing, whose sameness showed only now.
  const other = existing === undefined ? scope.claim(owner, kind, name, planned) : undefined;
  if (other !== undefined) return { state: prior, mark, diagnostics: [twice(kind, other)] };
  const { note, elsewhere } = recorded === undefined ? await activeEntry(kind, name, scope) : {};
  if (elsewhere !== undefined) return { state: prior, mark, diagnostics: [elsewhere] };
  const noted = isPendingCreate(note) ? await settledByNow(kind, note, scope) : note;
  if (isPendingCreate(noted) && kind.creation === "blind") {
    // Nothing shows what became of it, and it is never sent again automatically: Terraform is to hold what is known.
    const answer = settled(kind, question, noted.attributes, { ...noted.private, ...origin(name, scope) }, []);
    return { ...answer, diagnostics: [notKnown(kind)] };
  }
  if (noted !== undefined && !isPendingCreate(noted)) {
    const adopted = await adoptEntry(owner, kind, noted, planned, scope);
    if (adopted !== undefined) {
      const { attributes, diagnostics } = adopted;
      const kept = { ...markOf(kind, question, attributes, settledMark(adopted.private)), ...origin(name, scope) };
      return settled(kind, question, attributes, kept, diagnostics);
    }
    if (name !== undefined) scope.session.journal.remove(kind.type, name);
  }
  const before = isPendingCreate(noted) ? noted : recorded;
  const operation = prior === null ? "create" : "update";
  const { context, latest } = applyContext(kind, {
    name,
    config,
    prior,
    operation,
    owner,
    scope,
    cancelled: question.cancelled,
    isFirst: before === undefined,
  });
  const known = before?.private ?? generationOf(kind, name, scope.session);
  const change = changeOf(kind, { ...question, mark: known }, before, scope.session.settings);
  try {
    const applied = await applyChange(kind, change, declared, context);
    const attributes = applied.attributes ?? {};
    scope.collections.changed(kind, parentOf(kind, attributes));
    if (existing === undefined) scope.add(owner, kind, attributes);
    dropReplacing(kind, name, scope.session);
    const marked = markOf(kind, question, attributes, settledMark(latest.resource?.private ?? mark));
    const kept = { ...marked, ...origin(existing === undefined ? name : mark.made, scope) };
    // What failed for good is reported as that, and not as waiting as well.
    const phase = kind.phase?.(attributes, scope.session.settings);
    const open =
      phase === "unknown" ? notUnderstood(kind, attributes, kept, operation) : waits(kind, kept, phase !== "pending");
    const reported = [...notices(kind, applied, operation), ...(applied.unclear === undefined ? open : [])];
    return settled(kind, question, attributes, kept, reported);
  } catch (error) {
    return failed(kind, question, { error, latest, existing, name }, scope);
  }
}

/** Where an object comes from, for its mark: the host, and the name under which it was made here. */
const origin = (made: string | undefined, { session }: ProviderScope): Mark => ({
  host: session.host,
  ...(made !== undefined && { made }),
});

/** The change as the lifecycle takes it. */
function changeOf(
  kind: Kind,
  { planned, mark }: ApplyQuestion,
  before: ResourceState | undefined,
  settings: ReadSettings,
): Change {
  const existing = isPendingCreate(before) ? undefined : before;
  // What cannot be done yet, or on a status that is not understood, stays as it is; of what is created it is not there.
  const phase = existing === undefined ? "pending" : (kind.phase?.(existing.attributes, settings) ?? "live");
  const value = (name: string, change: string | undefined): Value => {
    const wanted = planned[name] ?? null;
    const waits = phase === "unknown" ? change === "in-place" : kind.deferred?.(phase)?.includes(name);
    // What is not declared any more has nothing to wait for.
    return waits && wanted !== null ? (existing?.attributes[name] ?? null) : wanted;
  };
  const own: ValueObject = Object.fromEntries(
    attributesOf(kind).map(([name, , meta]): [string, Value] => [name, value(name, meta.change)]),
  );
  const { known, unknown } = split(own);
  return {
    address: labelOf(kind, planned),
    type: kind.type,
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
    // As in the plan: likeness does not count.
    // What Terraform plans has been looked for by then; a domain cannot be.
    ...(kind.creation !== "blind" && { anyway: true }),
    dependsOn: [],
    requests: 1,
  };
}

/** The answer for an object that is there. Planned values that are known stand in it as they were planned. */
function settled(
  kind: Kind,
  { planned }: ApplyQuestion,
  attributes: JsonObject,
  mark: Mark,
  diagnostics: readonly Diagnostic[],
): ApplyAnswer {
  const values: Record<string, Value> = { ...attributes };
  const odd: string[] = [];
  for (const [name, , meta] of attributesOf(kind)) {
    const wanted = planned[name] ?? null;
    const got = values[name] ?? null;
    // What is write-only is null in the attributes, whatever was planned.
    if (meta.writeOnly || hasUnknown(wanted)) continue;
    if (!equal(wanted, got) && got !== null && !(mark.waiting ?? []).includes(name)) odd.push(name);
    values[name] = wanted;
  }
  return {
    state: withProviderAttributes(kind, values, planned) as JsonObject,
    mark,
    diagnostics: [...diagnostics, ...odd.map((name) => different(kind, name, attributes))],
  };
}

/** Attributes that are declared and not done: they wait until the object is live, or until the next apply. */
function undone(kind: Kind, { planned, config }: ApplyQuestion, attributes: JsonObject): string[] {
  const declared = declaredIn(kind, config);
  return attributesOf(kind).flatMap(([name, , meta]) => {
    const wanted: Value = planned[name] ?? null;
    const isOpen = meta.change === "in-place" && declared[name] !== undefined && !equal(attributes[name], wanted);
    return isOpen ? [name] : [];
  });
}

/** The mark after a change: what is declared and not done is noted, because Terraform has it recorded as declared. */
function markOf(kind: Kind, question: ApplyQuestion, attributes: JsonObject, mark: PrivateMark): Mark {
  const { planned, prior } = question;
  const { waiting: earlier = [], ...rest } = mark;
  const now = undone(kind, question, attributes);
  // What this change is about is done, is not declared any more, or waits again.
  const left = earlier.filter((name) => equal(prior?.[name], planned[name]));
  const waiting = [...new Set([...left, ...now])];
  return waiting.length > 0 ? { ...rest, waiting } : rest;
}

interface Failure {
  readonly error: unknown;
  readonly latest: Latest;
  /** What was there before the change. */
  readonly existing: ResourceState | undefined;
  readonly name: string | undefined;
}

const isLost = ({ code, severity }: Diagnostic) => code === "secret.lost" && severity === "error";

/** A failure. What was made, or may have been, is in the answer, and then there are only warnings: nothing paid is tainted. */
function failed(
  kind: Kind,
  question: ApplyQuestion,
  { error, latest, existing, name }: Failure,
  scope: ProviderScope,
): ApplyAnswer {
  if (!(error instanceof HostformError) && latest.resource === undefined) throw error;
  const reported =
    error instanceof HostformError
      ? explain(kind, labelOf(kind, question.planned), declaredIn(kind, question.config) as JsonObject, error)
      : [defect(error)];
  const { resource } = latest;
  if (existing !== undefined) {
    // Terraform keeps the state of a failed update, and recreates nothing.
    const { attributes, private: kept } = resource ?? existing;
    const state = withProviderAttributes(kind, attributes, question.prior ?? {}) as JsonObject;
    return { state, mark: settledMark(kept), diagnostics: reported };
  }
  if (resource === undefined) {
    scope.release(kind, name, question.planned);
    const left = { state: question.prior, mark: question.mark, diagnostics: reported };
    if (question.prior === null || !latest.isDropped) return left;
    // After an error Terraform takes no null for what it updates: without id and mark, the next refresh drops it.
    return { ...left, state: { ...question.prior, id: null }, mark: settledMark(question.mark) };
  }
  const unclear = isPendingCreate(resource);
  // Of a create without known outcome, too: hostform, which may settle it, takes what the state has for done otherwise.
  const recordedMark = unclear ? resource.private : settledMark(resource.private);
  const mark = markOf(kind, question, resource.attributes, recordedMark);
  const kept = { ...mark, ...origin(name, scope) };
  const answer = settled(kind, question, resource.attributes, kept, []);
  // Terraform taints what fails in its creation only: a later settling that fails may be red, and is to be in CI.
  const isNew = question.prior === null;
  // A webhook without its secret costs nothing and is of no use: tainted, the next apply replaces it.
  if (returnsSecretOnce(kind, resource.attributes) && reported.some(isLost)) {
    const diagnostics = reported.map((each) => (isLost(each) ? secretLost(each, isNew) : each));
    return { ...answer, mark: { ...kept, ...(isNew && { lost: true }) }, diagnostics };
  }
  const severity = isNew ? ("warning" as const) : ("error" as const);
  const warnings = reported.map((each) => ({ ...each, severity }));
  const said = reported.some(({ code }) => code === "plan.pending");
  const end = unclear ? (said ? [] : [notKnown(kind)]) : [incomplete(kind, resource)];
  return { ...answer, diagnostics: [...warnings, ...end] };
}

interface ApplyOptions {
  /** What the journal knows the object by. */
  readonly name: string | undefined;
  /** The attributes in which `timeouts` is looked up. */
  readonly config: ValueObject;
  /** The first note of it must find none: nothing is known of the object in the journal. */
  readonly isFirst?: boolean;
  /** What Terraform has recorded. */
  readonly prior: JsonObject | null;
  readonly operation: "create" | "update" | "delete";
  readonly owner: Owner;
  readonly scope: ProviderScope;
  /** Aborted when Terraform gives up the call. */
  readonly cancelled?: AbortSignal | undefined;
}

/** What was last recorded of the object while a change was applied. */
interface Latest {
  resource: ResourceState | undefined;
  /** Without a resource: what was begun came to nothing. Absent: nothing was begun. */
  isDropped?: boolean;
}

/**
 * What the lifecycle needs to apply one change. What it records goes into the journal at once, because Terraform writes its
 * state only after the answer; `latest` is what the answer is made from.
 */
export function applyContext(
  kind: Kind,
  { name, config, prior, operation, owner, scope, cancelled, isFirst }: ApplyOptions,
): { readonly context: ApplyContext; readonly latest: Latest } {
  const { session, account, jobs } = scope;
  const { client, clock, project, journal, place, secretOutputs, self } = session;
  const stop = cancelled === undefined ? session.stop : AbortSignal.any([session.stop, cancelled]);
  const base = shownOnce(kind, prior ?? {});
  const latest: Latest = { resource: undefined };
  const limit = timeoutOf(config, operation);
  let first = isFirst;
  const context: ApplyContext = {
    account,
    writer:
      limit === undefined
        ? stoppable(client, stop)
        : stoppable(client, stop, { until: clock.now() + limit, name: `timeouts.${operation}` }),
    // Without one nothing is ordered: that is refused before it comes to this.
    project: project ?? "",
    pause: (ms) => clock.sleep(ms, stop).catch(() => refuseStopped()),
    stop,
    parentKind: kinds.get(kind.nested?.in ?? ""),
    owner: () => place,
    isOthers: (ofKind, { id, attributes }) => scope.ownerOf(ofKind, { ...attributes, id }, owner) !== undefined,
    claimId: (ofKind, id, attributes) => scope.claimObject(owner, ofKind, { ...attributes, id }),
    replaces: (remote) => wasReleased(kind, config, remote, scope) || isToReplace(kind, name, remote, scope),
    // Without a note of ours it may be another configuration's: anyone who knows that it is not imports it.
    adoptsOrders: false,
    save: async (resource) => {
      const isNothing = resource.attributes.id == null && resource.private.pending === undefined;
      if (isNothing && name !== undefined) {
        noteRefused(kind, name, resource, session);
        return context.drop(resource.address);
      }
      if (name !== undefined && operation !== "delete") {
        const note = { ...resource, place, owner: self.mark, base };
        // Two processes may have looked at the same time, and found nothing.
        const other = first ? journal.insert(kind.type, name, note) : journal.put(kind.type, name, note);
        if (other) throw new HostformError([busy(other)]);
      }
      first = false;
      latest.resource = resource;
    },
    drop: async () => {
      latest.resource = undefined;
      latest.isDropped = true;
      if (name !== undefined) journal.remove(kind.type, name);
    },
    secretOutputs,
    wait: (ofKind, address, id, parent, done) =>
      jobs.wait(account, ofKind, "default", { address, id, done, timeoutMs: limit, stop }, parent),
  };
  return { context, latest };
}
