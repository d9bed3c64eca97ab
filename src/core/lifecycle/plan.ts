import type { AttributeMeta } from "../kinds/attribute.ts";
import type { AttributeEntry, Kind, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type ChangeActions,
  type ChangeReason,
  type Condition,
  type Diagnostic,
  isError,
  type JsonObject,
  type OwnForm,
  type ResourceState,
  split,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import { billingConditions, goneCondition, isHeldByInvoice, suspensionMark } from "./attention.ts";
import { attributesOf, sameValue, unclearOf } from "./attributes.ts";
import { decide, foresee } from "./decide.ts";
import { formNotices, isOwnForm, isUnkept, reread, unkept, withForms } from "./own-forms.ts";
import { isPendingCreate, namesOutcome, type PendingCreate, withoutRequests } from "./pending-create.ts";
import { attemptsOf, decidePending } from "./pending-facts.ts";
import { finish, type PlanInput, type Planned, reasonOf, secretNames, unchanged } from "./planned.ts";
import { lookalikesOf, renamedFrom } from "./read.ts";
import {
  existing,
  immutable,
  lookalike,
  mismatch,
  notImportable,
  questionOf,
  unknownValues,
  unreadable,
} from "./refusals.ts";
import { planSecret } from "./secrets.ts";
import { isOtherPlan, otherPlan } from "./sold-plan.ts";
import { observedMark, switchedOff, unknownStatus, unseenNames } from "./status.ts";

/**
 * Plans one declared resource. Input: the declaration, the state entry and the observation. Output: a change as a plain
 * value.
 *
 * 1. A pending create request is settled first ({@link planPending}). An expired grant is not created, with a warning.
 * 2. If the object of the state no longer exists, it is created again if this costs nothing. A paid object needs `--reorder`.
 * 3. If the state has no object, but the account has an object with the same natural key, the plan fails and suggests
 * adoption. If there is no natural key, a similar object has the same effect. Otherwise the plan creates the object.
 * 4. An existing object is compared attribute by attribute: changed in place, replaced, or rejected.
 */
export function planResource(input: PlanInput): Planned {
  const { kind, prior, observed } = input;
  const leave = (why: Diagnostic) => unchanged(input, null, [why]);
  const expired = kind.expired?.(input.config, input.now);
  if (isPendingCreate(prior)) {
    const named = input.importId !== undefined && namesOutcome(kind, prior.private, input.importId);
    return named ? planAdopted({ ...input, isAnswer: true }, prior) : planPending(input, prior, expired);
  }
  if (observed.status === "present") {
    const planned = planPresent(input, observed, expired);
    const creates = planned.change.actions.some((action) => action === "create");
    if (creates && observed.twins !== undefined)
      return unchanged(input, observed.attributes, [...planned.diagnostics, existing(input, observed.twins)]);
    if (creates)
      return observed.unproven === undefined
        ? planned
        : unchanged(input, observed.attributes, [{ ...observed.unproven, address: input.address }]);
    const off = switchedOff({ ...input, attributes: observed.attributes }, observed.off, secretNames(input));
    const found = [...(planned.conditions ?? []), ...off];
    return found.length === 0 ? planned : { ...planned, conditions: found };
  }
  if (expired !== undefined) return leave(notCreated(input, expired));
  // Report mistakes before similar objects, because a mistake makes the order impossible.
  const mistakes = mismatchesWithLive(input).filter(isError);
  const doubles = input.orderAnyway ? [] : lookalikesOf(kind, input.config, observed.alike ?? [], input.plans, input);
  const hidden = input.orderAnyway ? [] : unheld(observed.unreadable, input.ownerOf);
  if (observed.status === "gone") {
    if (prior === undefined) return leave(notImportable(input, observed.how));
    if (observed.matches.length > 0) return leave(existing(input, observed.matches));
    if (hidden.length > 0) return leave(unreadable(input, input.config, hidden));
    if (kind.creation !== "listable" && !input.reorder)
      return { ...unchanged(input, null, []), conditions: [goneCondition(input, prior, observed.how)] };
    if (doubles.length > 0) return unchanged(input, null, likeOrWrong(input, doubles, mistakes));
    const generation = kind.creation === "keyed" ? (prior.private.generation ?? 1) + 1 : undefined;
    const why = kind.creation === "keyed" ? "reorder" : "gone";
    const text = `${kind.noun} ${String(prior.attributes.id)} ${observed.how}`;
    return planCreate(input, [{ why, text }], generation);
  }
  if (observed.matches.length > 0) return leave(existing(input, observed.matches));
  if (hidden.length > 0) return leave(unreadable(input, input.config, hidden));
  if (doubles.length > 0) return unchanged(input, null, likeOrWrong(input, doubles, mistakes));
  const former = input.orderAnyway ? undefined : renamedFrom(kind, input.config, input.plans, input);
  if (former !== undefined) return leave(problem("plan.lookalike/renamed", { address: input.address, former }));
  // A state entry without an id only keeps the generation of a failed order.
  const spent = prior?.private.generation;
  const generation = spent !== undefined && input.reorder ? spent + 1 : (spent ?? input.nextGeneration);
  const { waitsFor } = observed;
  // An import must wait until its object is visible. It never creates an object.
  if (waitsFor !== undefined && input.importId !== undefined)
    return leave(problem("apply.waiting/lists", { address: input.address, noun: kind.noun, waitsFor }));
  const later = waitsFor === undefined ? "" : `; the API shows no ${kind.noun}s of ${waitsFor} until that is live`;
  return planCreate(input, [{ why: "declared", text: `not in the state${later}` }], generation);
}

/** Returns the mistakes of a declaration, or else an error about similar objects. */
const likeOrWrong = (input: PlanInput, doubles: readonly Remote[], mistakes: readonly Diagnostic[]) =>
  mistakes.length > 0 ? mistakes : [lookalike(input, doubles, input.config)];

const notCreated = ({ address, severity }: PlanInput, expired: string) =>
  problem("plan.expired", { address, expired, severity });

/** Returns the objects without an owner. */
const unheld = (objects: readonly Remote[] = [], ownerOf: PlanInput["ownerOf"] = () => undefined) =>
  objects.filter((remote) => ownerOf(remote) === undefined);

/** Plans to send the request of a pending creation again. May also delete its result first. */
function planResent(
  input: PlanInput,
  { private: mark }: PendingCreate,
  text: string,
  { requests = 1, waitMs = 0 }: { readonly requests?: number; readonly waitMs?: number },
): Planned {
  const { pending, generation } = mark;
  const planned = planCreate(input, [{ why: "declared", text }], generation, true);
  // Keep the intent: the change sends this request, even if a name changed since.
  const wait = waitMs > 0 && { waitMs };
  const change = { ...planned.change, requests: requests + planned.change.requests - 1, ...wait };
  return { ...planned, change: { ...change, private: { ...change.private, pending } } };
}

/** Plans to adopt the result of a pending creation. */
function planAdopted(input: PlanInput, prior: ResourceState): Planned {
  const planned = planResource({ ...input, prior: undefined });
  const { shown = {} } = planned.change.private;
  return { ...planned, change: { ...planned.change, private: withForms(withoutRequests(prior.private), shown) } };
}

function planCreate(
  input: PlanInput,
  reasons: readonly ChangeReason[],
  generation: number | undefined,
  isOrdered = false,
): Planned {
  const { kind, config } = input;
  const later = kind.deferred?.("pending") ?? [];
  const after: Record<string, Value> = {};
  for (const { name, meta } of attributesOf(kind)) {
    const value = later.includes(name) ? undefined : (config[name] ?? meta.default);
    after[name] = meta.writeOnly ? null : (value ?? (meta.computed ? UNKNOWN : null));
  }
  Object.assign(after, planSecret(kind, input.address, {}, after).after);
  const priced = kind.quote?.(after, input.plans, isOrdered);
  const deposed = input.prior?.private.deposed;
  return finish(input, {
    actions: ["create"],
    before: null,
    after,
    reasons,
    deferred: later.filter((name) => config[name] !== undefined && config[name] !== false),
    mark: { ...(generation !== undefined && { generation }), ...(deposed && { deposed }) },
    requests: deposed === undefined ? 1 : 2,
    ...(input.orderAnyway && { anyway: true }),
    diagnostics: [
      ...mismatchesWithLive(input),
      ...(priced?.diagnostic === undefined ? [] : [{ ...priced.diagnostic, address: input.address }]),
    ],
    quote: priced?.quote,
  });
}

/** Returns mistakes that only live data reveals. @param before Undefined if the object does not exist yet. */
const mismatchesWithLive = ({ kind, config, plans, address }: PlanInput, before?: JsonObject): Diagnostic[] =>
  (kind.validateAgainstLive?.(config, before, plans) ?? []).map((each) => ({ ...each, address }));

interface Difference {
  readonly name: string;
  readonly meta: AttributeMeta;
  readonly wanted: Value;
  readonly reason: ChangeReason;
}

function planPresent(
  input: PlanInput,
  { attributes: before, phase, ...seen }: Extract<PlanInput["observed"], { status: "present" }>,
  expired: string | undefined,
): Planned {
  const { kind, prior } = input;
  const unclear = { ...unclearOf(kind, before), ...seen.unclear };
  const entries = attributesOf(kind);
  const differences: Difference[] = [];
  const conditions: Condition[] = [];
  const subject = { kind, address: input.address, sensitive: secretNames(input) };
  const known = prior?.private.shown ?? {};
  const { forms = known } = seen;
  const seenMark = prior?.private ?? {};
  const { invoices, now } = input;
  const isWished = input.replace === true && kind.replacement !== undefined && prior !== undefined;
  const isHeld = isHeldByInvoice({ kind, attributes: before, phase, now }, seenMark, invoices);
  for (const entry of entries) {
    const { name, meta } = entry;
    const old = before[name] ?? null;
    const wanted = desiredValue(input, name, meta, old);
    const form = forms[name];
    if (isOtherPlan(kind, name, form, wanted)) {
      conditions.push(...[otherPlan(subject, before, forms)].filter((found) => found !== undefined));
      continue;
    }
    if (Object.hasOwn(unclear, name) || sameValue(meta, wanted, old) || isOwnForm(entry, form, wanted, old)) continue;
    // An unpaid invoice keeps the object suspended: the host would suspend it again. A condition names the invoice.
    if (name === "suspended" && wanted === false && isHeld) continue;
    if (form !== undefined && !isWished && isUnkept(entry, form, wanted, old))
      conditions.push(unkept(subject, name, form));
    else
      differences.push({
        name,
        meta,
        wanted,
        reason: reasonOf(input, name, { wanted, old, isSecret: subject.sensitive.includes(name) }),
      });
  }
  if (expired !== undefined) return unchanged(input, before, []);

  // A change waits if it is not possible yet, or if the status is unknown.
  const diagnostics = [
    ...mismatchesWithLive(input, before),
    ...unknownValues(input.address, unclear),
    ...formNotices(subject, known, forms),
  ];
  const later = kind.deferred?.(phase) ?? [];
  const deferred = differences.filter(({ name }) => later.includes(name));
  const untouchable = phase === "unknown" ? differences.filter(({ meta }) => meta.change === "in-place") : [];
  const observedAs = observedMark(seenMark, phase, seen.forms);
  const unseen = phase === "unknown" ? unseenNames(kind, input.config) : [];
  const unfulfilled = untouchable.length > 0 || unseen.length > 0;
  if (phase === "unknown") {
    const { address, provider } = input;
    const about = { kind, address, provider, attributes: before, job: observedAs.job };
    conditions.push(unknownStatus(about, { left: untouchable.map(({ name }) => name), unseen }));
  }
  const active = differences.filter((one) => !deferred.includes(one) && !untouchable.includes(one));
  const toggle = active.find(({ name }) => name === "suspended")?.wanted;
  const mark = suspensionMark(observedAs, phase, input.config, now);
  if ((seen.unlisted ?? seen.waitsFor ?? seen.unread ?? seen.unproven) === undefined) {
    const billed = { ...subject, attributes: before, phase, config: input.config, now };
    const { moneyScale } = input.settings ?? {};
    conditions.push(...billingConditions(billed, seenMark, invoices, { isRestored: toggle === false, moneyScale }));
  }

  // Only an import has an object without a state entry.
  const importing = prior === undefined;
  // If neither the API nor the state contains the attribute (after an import), it counts as equal.
  const refused = active.filter(
    ({ meta, name }) =>
      (meta.change === "immutable" && before[name] !== null) || (input.isAnswer && meta.change === "replace"),
  );
  const secrets = subject.sensitive;
  for (const { name, meta, wanted } of refused) {
    const old = before[name] ?? null;
    const values: Parameters<typeof mismatch>[2] = { before: old, after: wanted, secret: secrets.includes(name) };
    const cause = causeIn(meta, { wanted, old, form: forms[name], recorded: prior?.attributes[name] });
    diagnostics.push(
      importing || input.adopting ? mismatch(input, name, values) : immutable(input, name, values, cause),
    );
  }

  const replaced = isWished || active.some(({ meta }) => meta.change === "replace");
  const changed: Record<string, Value> = {};
  for (const { name, wanted } of active) changed[name] = wanted;
  for (const { name } of active) for (const other of kind.invalidates?.(name, before) ?? []) changed[other] = UNKNOWN;
  if (replaced) for (const { name, meta } of entries) if (meta.change === undefined) changed[name] = UNKNOWN;
  const values = planned(before, changed, entries);
  const secret = planSecret(kind, input.address, before, values);
  const after = Object.keys(secret.after).length === 0 ? values : { ...values, ...secret.after };
  diagnostics.push(...secret.diagnostics);
  const reasons = [...active.map(({ reason }) => reason), ...secret.reasons];
  if (isWished) reasons.unshift({ why: "replace", text: "replaced on purpose" });
  if (prior?.private.deposed !== undefined) {
    reasons.push({ why: "declared", text: `the ${kind.noun} that it replaced remains to be deleted` });
  }
  if (importing) reasons.unshift({ why: "import", text: `adopts the existing ${kind.noun} ${String(before.id)}` });
  const actions: ChangeActions =
    reasons.length === (importing ? 1 : 0) || refused.length > 0
      ? ["no-op"]
      : !replaced
        ? ["update"]
        : kind.replacement === "create-first"
          ? ["create", "delete"]
          : ["delete", "create"];
  const requests =
    (replaced ? 2 : actions[0] === "update" ? stepsOf(kind, before, after) : 0) +
    (prior?.private.deposed === undefined ? 0 : 1);
  return finish(input, {
    actions,
    before,
    after: refused.length > 0 ? before : after,
    reasons,
    deferred: deferred.map(({ name }) => name),
    ...(unfulfilled && { unfulfilled }),
    mark,
    requests,
    diagnostics,
    conditions,
    importing: importing && refused.length === 0,
  });
}

/** Returns the cause of a difference, if it was not the declaration. */
function causeIn(
  meta: AttributeMeta,
  given: {
    readonly wanted: Value;
    readonly old: Value;
    readonly form: OwnForm | undefined;
    readonly recorded: Value | undefined;
  },
): "kept" | "changed" | undefined {
  const { wanted, old, form, recorded = null } = given;
  if (form !== undefined && sameValue(meta, form.sent, wanted)) return form.foreign ? "changed" : "kept";
  return recorded !== null && sameValue(meta, recorded, wanted) && !sameValue(meta, recorded, old)
    ? "changed"
    : undefined;
}

/** Returns the attributes after a change. Null for missing attributes. */
const planned = (before: JsonObject, changed: ValueObject, entries: readonly AttributeEntry[]): ValueObject =>
  Object.fromEntries(
    entries.map(({ name }) => [name, (Object.hasOwn(changed, name) ? changed[name] : before[name]) ?? null]),
  );

function stepsOf(kind: Kind, before: JsonObject, after: ValueObject): number {
  const known = split(after).known as JsonObject;
  return kind.update?.(before, known, known).length ?? 0;
}

/** Returns the desired value of an attribute: declared, default, or unchanged. */
function desiredValue(input: PlanInput, name: string, meta: AttributeMeta, old: Value): Value {
  if (meta.writeOnly) return null;
  const declared = input.config[name];
  if (declared !== undefined) return declared;
  if (meta.change === "recorded") return meta.default ?? null;
  return meta.computed || meta.change === "immutable" ? old : null;
}

/**
 * Plans a resource with a pending creation, with the attributes of the request. If the declaration changed since, the next
 * plan updates the object. The apply reads the list and decides again before it sends a request.
 */
function planPending(input: PlanInput, prior: PendingCreate, expired: string | undefined): Planned {
  const { kind, observed } = input;
  const { since } = prior.private.pending;
  const listed = observed.status === "absent" ? observed.listed : undefined;
  // The entry of an expired creation is removed without another check. This plan must therefore prove that no object was
  // created.
  const [want, by] = expired === undefined ? (["it", foresee] as const) : (["nothing", decide] as const);
  const question = { ...input, sent: prior, listed, want };
  const decided = decidePending(question, by);
  const [only] = decided.objects;
  const leave = (...why: Diagnostic[]) => unchanged(input, prior.attributes, why);
  const then = asSent(input, prior);
  if (decided.do === "adopt" && only !== undefined) {
    if (decided.next === "recreate") {
      const text = `the response with its secret was lost: ${kind.noun} ${only.id} is deleted and created again`;
      return planResent(then, prior, text, { requests: 2 });
    }
    const found = reread(kind, prior, only, {}, "made");
    const present = { status: "present", ...found, phase: only.phase } as const;
    const { change, ...planned } = planAdopted({ ...then, importId: only.id, observed: present }, prior);
    const because = (one: ChangeReason) =>
      one.why === "import" ? { ...one, text: `${one.text}: ${decided.because}` } : one;
    return { ...planned, change: { ...change, reasons: change.reasons.map(because) } };
  }
  if (decided.do === "ask") return leave(questionOf(input, prior, decided));
  if (decided.do === "refused" && only !== undefined)
    return leave(existing(input, [only], "holder" in decided ? decided.holder : undefined));
  if (expired === undefined) {
    // The run that sent the request has ended, so no attempt can be sent after now. The apply decides the same way.
    const now = decidePending({ ...question, attempts: attemptsOf(prior.private.pending, input.now) });
    const waitMs = now.do === "wait" && now.proof !== undefined ? now.proof - input.now : 0;
    const again = `the response to the request of ${since} was lost: the same request is sent again`;
    const key = kind.creation === "keyed" ? ", with the same key" : "";
    const why =
      waitMs > 0 ? `after ${Math.ceil(waitMs / 1000)} s if no list shows its object` : `because ${decided.because}`;
    const text = `${again}${key}, ${why}`;
    return planResent(then, prior, text, { waitMs });
  }
  if (decided.do !== "refused") return leave(notCreated(input, expired));
  const { change } = unchanged({ ...input, prior: { ...prior, private: {} } }, prior.attributes, []);
  const reason = { why: "gone", text: "it was never made" } as const;
  return {
    change: { ...change, actions: ["forget"], after: null, reasons: [reason], removal: "forget" },
    diagnostics: [notCreated(input, expired)],
    result: {},
  };
}

/** Returns the declaration with the identifying attributes of the request. */
function asSent(input: PlanInput, { attributes }: PendingCreate): PlanInput {
  const config: Record<string, Value> = { ...input.config };
  for (const {
    name,
    meta: { change },
  } of attributesOf(input.kind)) {
    if (change !== "immutable" && change !== "replace" && name !== "reference") continue;
    const sent = attributes[name] ?? null;
    if (sent === null) delete config[name];
    else config[name] = sent;
  }
  return { ...input, config: config satisfies ValueObject };
}
