import { importIdOf, type Kind, kinds, type Remote } from "../../../core/kinds/index.ts";
import {
  asksForInvoices,
  attributesOf,
  duplicate,
  isPendingCreate,
  type Observation,
  type PlanInput,
  parentOf,
  planResource,
  read,
  thingKey,
  withoutRequests,
} from "../../../core/lifecycle/index.ts";
import {
  type AttributePath,
  type Condition,
  conditionWarning,
  type Diagnostic,
  hasUnknown,
  isError,
  type JsonObject,
  originsOf,
  type ResourceState,
  UNKNOWN,
  type ValueObject,
} from "../../../core/model/index.ts";
import { problem } from "../messages.ts";
import {
  conform,
  declaredIn,
  hiddenNames,
  labelOf,
  type Mark,
  named,
  nameOf,
  recordedAs,
  withProviderAttributes,
} from "./attribute-mapping.ts";
import { activeEntry } from "./entry-lookup.ts";
import { mayPassOn } from "./handover.ts";
import { type Holder, heldTwice, seconds, twoAddresses } from "./holdings.ts";
import { leftOvers } from "./left-over.ts";
import {
  deferred,
  effectNotices,
  heldByOther,
  lookalikes,
  refersToPending,
  secretPlaceNotices,
  stillPending,
  THIS,
  unreadableOnes,
  willSettle,
} from "./notices.ts";
import { entryKey, keepIntent, noteDeclared, othersOf, planSettlement, stillOpen } from "./pending.ts";
import type { ProviderScope } from "./provider-scope.ts";
import { asRecorded } from "./read.ts";
import {
  checkOrder,
  immutableSinceCreate,
  noteReplacing,
  planReplacement,
  prevented,
  replacedObject,
  replacesOf,
  staysBeside,
  unmarkReleased,
} from "./replacement.ts";

interface PlanAnswer {
  readonly planned: ValueObject;
  readonly mark: Mark;
  /** Attributes whose change recreates the object. */
  readonly requiresReplace: readonly AttributePath[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Input of a plan. */
interface PlanQuestion {
  /** Null: the state contains no object. */
  readonly prior: JsonObject | null;
  /** Declared attributes; null: undeclared. Parts may be unknown. */
  readonly config: ValueObject;
  readonly mark: Mark;
}

/**
 * Plans one declared resource with the function of hostform's own plan. Does not read a recorded resource, because Terraform has
 * just refreshed it, or forbids the read (`-refresh=false`).
 * @throws ApiError if the account cannot be read.
 */
export async function planDeclared(kind: Kind, question: PlanQuestion, scope: ProviderScope): Promise<PlanAnswer> {
  const { prior, config, mark } = question;
  const refused = refersToPending(declaredIn(kind, config), kind);
  if (refused.length > 0) return { planned: config, mark, requiresReplace: [], diagnostics: refused };
  const answer =
    prior === null
      ? await planCreate(kind, config, mark, scope)
      : await planRecorded(kind, { ...question, prior }, scope);
  const place = await secretPlaceNotices(kind, config, prior === null, scope.session);
  return {
    ...answer,
    planned: withProviderAttributes(kind, answer.planned, config),
    diagnostics: [...answer.diagnostics, ...place, ...(await leftOvers(scope))],
  };
}

type Own = Pick<
  PlanInput,
  "config" | "prior" | "observed" | "plans" | "adopting" | "ownerOf" | "siblings" | "severity" | "invoices"
>;

export function inputOf(kind: Kind, own: Own, scope: ProviderScope): PlanInput {
  const { account } = scope;
  return {
    kind,
    address: labelOf(kind, own.config),
    isStatePartial: true,
    ownerOf: (remote) => (scope.holdings.holderOf(kind, remote)?.isShown ? scope.labelOf(kind, remote) : undefined),
    provider: "default",
    declared: {},
    dependsOn: [],
    reorder: false,
    // A lookalike may belong to an unknown instance of this state, so only the name identifies an object.
    orderAnyway: true,
    origins: originsOf({ address: kind.type, sensitive: hiddenNames(kind) }),
    now: account.hostNow(),
    settings: account.settings,
    ...own,
  };
}

async function planCreate(kind: Kind, config: ValueObject, asked: Mark, scope: ProviderScope): Promise<PlanAnswer> {
  const declared = declaredIn(kind, config);
  const name = nameOf(kind, declared);
  // Terraform does not send the tainted object with the plan of its replacement.
  const lost = scope.lostId(kind, name);
  const mark = lost === undefined ? asked : { replacing: { id: lost }, ...asked };
  if (name !== undefined) scope.declare(entryKey(kind, declared));
  await noteDeclared(kind, name, scope);
  const { entry: first, elsewhere } = await activeEntry(kind, name, scope);
  // The apply completes the create of an earlier process under this name, and creates no second object.
  const known = first !== undefined || elsewhere !== undefined;
  const observed: Observation = known
    ? { status: "absent", matches: [] }
    : await observeNew(kind, declared, { mark, config }, scope);
  const plans = kind.creation === "keyed" && !known ? await scope.account.knownPlans() : [];
  // The apply of create_before_destroy plans the new object while the old object still exists.
  const replaces = config.replace_on_change === true;
  const knowsReplaced = mark.replacing !== undefined;
  const inTheWay = replaces && !knowsReplaced && observed.status === "absent" ? observed.matches : [];
  const free = inTheWay.length === 0 ? observed : { ...observed, matches: [] };
  const { others: judged, refused: held, unseen = [] } = await judgeHeld(kind, free, scope);
  // Terraform may have refreshed the pending create of this name concurrently, at another address.
  const isFound = !known && judged.status === "absent" && judged.matches.length > 0;
  const late = isFound ? (await activeEntry(kind, name, scope)).entry : undefined;
  const entry = first ?? late;
  const others: Observation = late === undefined ? judged : { status: "absent", matches: [] };
  if (mark.replacing !== undefined) scope.holdings.leaves(kind, { ...declared, id: mark.replacing.id });
  scope.holdings.planned();
  // The apply does not create an expired grant, but Terraform cannot omit it from the plan.
  const own = { config: declared, prior: undefined, observed: others, plans, severity: "error" } as const;
  const input = inputOf(kind, own, scope);
  const { result, diagnostics } = planResource(input);
  const moves = await scope.handovers.planCreate(kind, { ...config, ...result }, mark.replacing?.id);
  const settlement = elsewhere === undefined ? await planSettlement(kind, declared, entry, scope) : { diagnostics: [] };
  // Two new resources may declare one object: the apply would create one and fail at the other.
  const isNamed = name !== undefined && (kind.parent === undefined || parentOf(kind, declared) !== undefined);
  const twin = isNamed ? scope.claimPlanned({ label: labelOf(kind, declared) }, kind, name) : undefined;
  const isKnown = diagnostics.some(({ code }) => code === "plan.exists");
  const refused = [
    ...settlement.diagnostics,
    ...diagnostics,
    ...held,
    ...moves,
    ...(moves.length === 0 && !scope.holdings.isApply ? unseen : []),
    ...inTheWay.map(({ id }) => problem("plan.exists/in_the_way", { noun: kind.noun, id, object: id })),
    ...unsure(kind, declared, observed, scope),
    ...(elsewhere ? [elsewhere] : []),
    ...(entry?.handed && entry.owner !== scope.session.self.mark
      ? [problem("apply.replayed/takes_over", { what: named(kind, entry.attributes) })]
      : []),
    ...(entry && !entry.handed && settlement.diagnostics.length === 0 ? [willSettle(kind, entry)] : []),
    ...checkOrder(kind, declared, mark.replacing, scope.session),
    ...(replaces ? [] : staysBeside(kind, name, mark.replacing)),
    ...(mark.replacing?.prevented ? [prevented(kind, mark.replacing.id)] : []),
    ...(name === undefined || isKnown ? [] : heldByOther(kind, name, mark, scope)),
    ...(twin === undefined ? [] : [duplicate(kind, THIS, twin)]),
    ...(await scope.session.entries.refusals()),
  ];
  if (!refused.some(isError)) await noteReplacing(kind, name, mark, scope.session);
  const { values } = conform(kind, result, { config: declared, prior: null });
  const thing = thingKey("default", kind, declared);
  const planMark: Mark = {
    plan: scope.holdings.run,
    ...(thing !== undefined && { creates: { thing, parent: parentOf(kind, declared) } }),
    ...(settlement.settles && { settles: settlement.settles }),
  };
  const diagnosed = await scope.holdings.withHolders(kind, refused);
  return { planned: values, mark: planMark, requiresReplace: [], diagnostics: diagnosed };
}

/**
 * Evaluates the live objects that match a create. Another instance of the state may release one of them in this run, if the API can
 * delete the object. Terraform plans that instance before or after this instance.
 */
async function judgeHeld(
  kind: Kind,
  observed: Observation,
  scope: ProviderScope,
): Promise<{
  readonly others: Observation;
  readonly refused: readonly Diagnostic[];
  /** Warnings about objects of addresses that Terraform has not sent in this run. */
  readonly unseen?: readonly Diagnostic[];
}> {
  if (observed.status === "present" || observed.matches.length === 0) return { others: observed, refused: [] };
  const holders = await Promise.all(
    observed.matches.map(async (remote) => ({ remote, holder: await scope.holdings.findHolder(kind, remote) })),
  );
  if (!mayPassOn(kind)) return { others: observed, refused: [] };
  for (const { remote, holder } of holders) {
    if (holder === undefined || holder.plan !== undefined) continue;
    await scope.handovers.meet(kind, { ...remote.attributes, id: remote.id }, holder.isShown);
  }
  const kept = holders.filter(({ holder }) => holder?.plan === "stays");
  const unknown = holders.flatMap(({ remote, holder }) => (holder === undefined ? [remote] : []));
  const refused = kept.map(({ remote: { id, attributes } }) => declaredTwice(kind, { ...attributes, id }));
  const unseen = holders.flatMap(({ remote: { id, attributes }, holder }) =>
    holder === undefined || holder.isShown ? [] : [heldUnseen(kind, { ...attributes, id }, holder)],
  );
  return { others: { ...observed, matches: kept.length > 0 ? [] : unknown }, refused, unseen };
}

/** Returns objects that may be the declared object, without proof. */
function unsure(kind: Kind, declared: ValueObject, observed: Observation, scope: ProviderScope): Diagnostic[] {
  if (observed.status !== "absent") return [];
  return [
    ...(observed.matches.length === 0 ? lookalikes(kind, declared, observed, scope) : []),
    ...unreadableOnes(kind, declared, observed.unreadable ?? [], scope),
    ...(observed.waitsFor === undefined
      ? []
      : [problem("apply.waiting/unlisted", { noun: kind.noun, waitsFor: observed.waitsFor })]),
  ];
}

/** Finds live objects that may be the declared object, without the replaced object. */
async function observeNew(
  kind: Kind,
  declared: ValueObject,
  { mark: { replacing }, config }: { readonly mark: Mark; readonly config: ValueObject },
  scope: ProviderScope,
): Promise<Observation> {
  const parent = parentOf(kind, declared);
  if (kind.naturalKey(declared) === undefined && kind.mayMatch === undefined) return { status: "absent", matches: [] };
  if (hasUnknown(kind.parent === undefined ? null : (parent ?? UNKNOWN))) return { status: "absent", matches: [] };
  const parentKind = kinds.get(kind.nested?.in ?? "");
  const seen = await read(scope.account, { kind, prior: undefined, config: declared, parentKind });
  if (seen.status === "present") return seen;
  const replaces = await replacesOf(kind, nameOf(kind, declared), config, scope);
  const isOther = (remote: Remote) => remote.id !== replacing?.id && !replaces(remote);
  return { ...seen, matches: seen.matches.filter(isOther), alike: (seen.alike ?? []).filter(isOther) };
}

async function planRecorded(
  kind: Kind,
  { prior, config, mark }: PlanQuestion & { readonly prior: JsonObject },
  scope: ProviderScope,
): Promise<PlanAnswer> {
  const { session } = scope;
  const declared = declaredIn(kind, config);
  const recorded = recordedAs(kind, prior, mark);
  const pending = isPendingCreate(recorded);
  const observed = pending
    ? await read(scope.account, { kind, prior: undefined, config: recorded.attributes, isPending: true })
    : asRecorded(kind, recorded.attributes, session.settings);
  // The declared plan can be compared with an imported object only by the list of plans.
  const learns = kind.creation === "keyed" && prior.plan_id === null && declared.plan_id !== undefined;
  const plans = learns || (pending && kind.creation === "keyed") ? await scope.account.knownPlans() : [];
  const adopting = scope.isImported(kind, prior);
  if (isPendingCreate(recorded)) await keepIntent(kind, recorded, scope);
  const others = isPendingCreate(recorded)
    ? await othersOf(kind, nameOf(kind, recorded.attributes), recorded, scope)
    : {};
  const invoices = await invoicesFor(kind, declared, observed, scope);
  const own = { config: declared, prior: recorded, observed, plans, adopting, invoices, ...others };
  const planned = planResource(inputOf(kind, own, scope));
  const gone = observed.status === "gone";
  const double = scope.isDouble(kind, prior) ? [twoAddresses(kind, prior)] : [];
  const asMade = pending ? [] : immutableSinceCreate(kind, prior, { mark, declared, gone });
  const diagnostics = [
    ...planned.diagnostics,
    ...conditionWarnings(planned.conditions, scope),
    ...asMade,
    ...double,
    ...deferred(kind, planned.change.deferred),
    ...effectNotices(kind, prior, planned.change),
  ];
  // For a replacement, Terraform next plans the create, and sends this mark.
  const { id, ...attributes } = recorded.attributes;
  const replacing =
    typeof id === "string" ? replacedObject(kind, { ...attributes, id }, mark, session.settings) : undefined;
  const replacement = planReplacement(kind, { prior, config, replacing, diagnostics, session });
  // If a deleted object is not created again, its recorded attributes stay.
  const result = replacement.result ?? (planned.change.after === null ? recorded.attributes : planned.result);
  await unmarkReleased(kind, recorded.attributes, session.entries);
  const requiresReplace = [...replacement.requiresReplace, ...replacedBy(kind, planned.change.reasons)];
  const next = requiresReplace.length > 0 ? { ...config, ...result } : undefined;
  const shared = pending ? [] : await planHolding(kind, recorded, mark, next, scope);
  const open = pending && (result.id ?? null) === null ? stillOpen(kind, result) : result;
  const { values, overruled } = conform(kind, open, { config: declared, prior });
  const edited = pending ? overruled.filter((name) => !(kind.deferred?.("pending") ?? []).includes(name)) : [];
  return {
    planned: values,
    mark: { ...(pending ? mark : withoutRequests(mark)), ...(replacing && { replacing }) },
    requiresReplace,
    diagnostics: [...replacement.diagnostics, ...shared, ...edited.map((name) => stillPending(kind, prior, name))],
  };
}

/** Returns the invoices of the account, if the object gives a reason to read them. All resources of a run share one reading. */
export async function invoicesFor(kind: Kind, config: ValueObject, observed: Observation, { account }: ProviderScope) {
  if (observed.status !== "present") return undefined;
  const { attributes, phase } = observed;
  const isAsked = asksForInvoices({ kind, attributes, phase, config, now: account.hostNow() });
  return isAsked ? account.invoices.of([String(attributes.id)]) : undefined;
}

/** Returns conditions as warnings. One warning covers all unread invoices. */
function conditionWarnings(conditions: readonly Condition[] = [], scope: ProviderScope): Diagnostic[] {
  return conditions.flatMap((one) =>
    one.condition !== "unread" || scope.isFirst(`unread ${one.detail}`) ? [conditionWarning(one)] : [],
  );
}

/** Reports two addresses that declare one object, if neither address releases the object. */
function declaredTwice(kind: Kind, attributes: JsonObject): Diagnostic {
  const object = importIdOf(kind, String(attributes.id), attributes);
  return problem("plan.exists/declared_twice", { what: named(kind, attributes), noun: kind.noun, object });
}

/** Warns about a create that matches a recorded object. Terraform has not sent its address, which may be renamed or removed. */
function heldUnseen(kind: Kind, attributes: JsonObject, { lastSeen }: Holder): Diagnostic {
  const object = importIdOf(kind, String(attributes.id), attributes);
  return problem("plan.exists/unseen", { what: named(kind, attributes), seen: seconds(lastSeen), object });
}

/** Plans whether an instance keeps its object. @param next replacement. @returns conflicts with other instances. */
async function planHolding(
  kind: Kind,
  recorded: ResourceState,
  mark: Mark,
  next: ValueObject | undefined,
  { handovers, holdings }: ProviderScope,
): Promise<Diagnostic[]> {
  const { attributes } = recorded;
  holdings.plan(kind, attributes, mark, next ? "leaves" : "stays");
  await holdings.load();
  const { instances = 1, plan } = holdings.holderOf(kind, { id: String(attributes.id), attributes }) ?? {};
  const isShared = instances > 1 && !(await handovers.isTaken(kind, attributes));
  const shared = isShared ? [heldTwice(kind, attributes, instances, plan === "leaves" ? "error" : "warning")] : [];
  // Terraform drops the warnings of the create of a replacement, so the destroy reports the move.
  if (next !== undefined)
    return [
      ...shared,
      ...(await handovers.planLeaving(kind, recorded, mark)),
      ...(await handovers.planCreate(kind, next, String(attributes.id))),
    ];
  if (handovers.isWanted(kind, attributes)) return [...shared, declaredTwice(kind, attributes)];
  await handovers.stays(kind, attributes);
  return shared;
}

/** Returns the changed attributes that require a new object, because no request changes them in place. */
function replacedBy(kind: Kind, reasons: readonly { readonly attribute?: string }[]): AttributePath[] {
  const replaced = attributesOf(kind).filter(({ name, meta: { change } }) => {
    return change === "replace" && reasons.some(({ attribute }) => attribute === name);
  });
  return replaced.map(({ name }) => [name]);
}
