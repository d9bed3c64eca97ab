/**
 * A pending create that the user decides: the evidence, and the record that follows from the decision.
 */
import type { InvoiceRecord } from "../api/index.ts";
import { identityOf, type Kind, matches, type Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  ApiError,
  HostformError,
  isNotFound,
  type Json,
  type JsonObject,
  openUrl,
  openValue,
  type ResourceState,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { type Forms, parentOf, sensitiveNames, unreadableOf } from "./attributes.ts";
import { foresee } from "./decide.ts";
import { learnFromUser } from "./habits.ts";
import { openValues, otherForms, reread, takenForms, withForms } from "./own-forms.ts";
import { type PendingCreate, withoutRequests } from "./pending-create.ts";
import { decidePending, type PendingDecision, siblingOf } from "./pending-facts.ts";
import { listAll } from "./pending-list.ts";
import { type Others, read } from "./read.ts";
import { soldAs } from "./sold-plan.ts";

/**
 * Returns the record of an object that the user names as the result of a pending create.
 * @param others `isForced`: the user has looked at an object that is not as it was sent. What differs stays so, as a condition.
 * @returns undefined when the account does not have it.
 * @throws HostformError `usage` when another address has it, it is not as it was sent, or it existed before.
 */
export async function adopt(
  account: Account,
  kind: Kind,
  prior: PendingCreate,
  id: string,
  { isForced = false, ...others }: Others & { readonly isForced?: boolean } = {},
): Promise<ResourceState | undefined> {
  const settled = { ...prior, private: withoutRequests(prior.private) };
  if (kind.list === undefined && kind.get === undefined) {
    refuseHeld(kind, prior, { id, attributes: prior.attributes, phase: "live" }, others);
    refuseOtherName(kind, prior, id);
    return { ...settled, attributes: { ...prior.attributes, id } };
  }
  const observed = await read(account, { kind, prior: undefined, importId: id, config: prior.attributes });
  if (observed.status !== "present") return undefined;
  const liveId = String(observed.attributes.id);
  const listed = await account.find(kind, liveId, parentOf(kind, observed.attributes));
  const remote: Remote = listed ?? { id: liveId, attributes: observed.attributes, phase: observed.phase };
  refuseHeld(kind, prior, remote, others);
  const { fromCatalogue: of } = kind;
  const plans = of === undefined ? [] : await account.knownPlans();
  const sold = soldAs(kind, { number: prior.attributes[of?.attribute ?? ""] }, remote.attributes, plans);
  const differences = { ...otherForms(kind, prior.attributes, sold.live), ...sold.forms };
  refuseOther(kind, prior, { ...remote, attributes: sold.live }, { differences, isForced });
  await learnFromUser(account, kind, prior.attributes, remote);
  const taken = takenForms(differences);
  const { forms, attributes } = reread(kind, prior, { ...remote, attributes: sold.live }, taken, "made");
  return { ...settled, attributes, private: withForms(settled.private, forms) };
}

/** Lists the kind, for the decision. */
async function questionFor(input: EvidenceInput) {
  const { account, kind, prior } = input;
  const listed = kind.list && (await listAll(account, kind, prior.attributes));
  return { ...input, sent: prior, listed, now: account.hostNow(), settings: account.settings };
}

/** An object has one owner: an address that records it, or another pending create that requested it. */
function refuseHeld(kind: Kind, { address, attributes }: PendingCreate, remote: Remote, others: Others): void {
  const owner = others.ownerOf?.(remote);
  const about = { address, noun: kind.noun, id: remote.id };
  if (owner !== undefined) throw new HostformError([problem("usage/held", { ...about, owner })]);
  const sibling = matches(kind, attributes, remote.attributes) ? undefined : siblingOf(kind, remote, others.siblings);
  if (sibling !== undefined)
    throw new HostformError([problem("usage/sibling", { ...about, sibling: sibling.address })]);
}

/** Refuses an object that the create did not request. What the API can delete is never adopted under another natural key. */
function refuseOther(
  kind: Kind,
  { address, attributes, private: { pending } }: PendingCreate,
  { id, attributes: live }: Remote,
  { differences, isForced }: { readonly differences: Forms; readonly isForced: boolean },
): void {
  const about = { address, noun: kind.noun, id };
  const isOlder = pending.known?.includes(id) === true;
  if (isOlder) throw new HostformError([problem("usage/other", { ...about, isOlder })]);
  const isFinal = kind.removal === "delete" && identityOf(kind).some((name) => Object.hasOwn(differences, name));
  const names = Object.keys(differences).filter(
    (name) => name !== kind.fromCatalogue?.attribute || differences[name]?.is !== null,
  );
  const secret = sensitiveNames(kind);
  const shown = names.flatMap((name) => {
    const form = differences[name];
    return form === undefined ? [] : [{ name, ...openValues(form, secret.includes(name)) }];
  });
  if (shown.length > 0 && (isFinal || !isForced))
    throw new HostformError([problem("usage/differs", { ...about, differences: shown, isFinal })]);
  // The user knows more about an object whose natural key is unreadable, and about an object that is new.
  const comparable = kind.naturalKey(attributes) !== undefined && unreadableOf(kind, attributes, live).length === 0;
  if (isForced || pending.knowsAll || !comparable || matches(kind, attributes, live)) return;
  throw new HostformError([problem("usage/other", { ...about, isOlder })]);
}

/** Refuses an id that is the natural key of another object: no call of the API shows which object has an id. */
function refuseOtherName(kind: Kind, { address, attributes }: PendingCreate, id: string): void {
  const { name } = kind.words;
  if (!kind.attributes.shape[name]?.safeParse(id).success) return;
  if (kind.naturalKey({ ...attributes, [name]: id }) === kind.naturalKey(attributes)) return;
  throw new HostformError([problem("usage/other", { address, noun: kind.noun, id, isOlder: false })]);
}

/** Refuses to forget a create that certainly created an object. Sends GETs only. @throws HostformError `usage`. */
export async function refuseCreated(input: EvidenceInput, undeclared = false): Promise<void> {
  const { kind, prior } = input;
  if (kind.list === undefined) return;
  const decided = decidePending(await questionFor(input));
  if (decided.do !== "adopt") return;
  const about = { address: prior.address, noun: kind.noun, id: decided.id, undeclared };
  throw new HostformError([problem("usage/created", about)]);
}

/**
 * The record of a resource whose create, as the user or the API says, made nothing.
 * @returns undefined when nothing is left to be remembered; the object that was to be replaced, or the generation of an
 *   order, whose key must not be used for another, outlives it.
 */
export function withdraw(prior: ResourceState): ResourceState | undefined {
  const { deposed, ...kept } = withoutRequests(prior.private);
  if (deposed !== undefined) return { ...prior, attributes: deposed, private: kept };
  return kept.generation === undefined ? undefined : { ...prior, private: kept };
}

/** The facts about a pending create that GETs show. */
export interface Evidence {
  readonly address: string;
  readonly type: string;
  /** The time of the first attempt (ISO 8601), and its endpoint. */
  readonly since: string;
  readonly operation: string;
  readonly idempotency_key: string | null;
  /** The request's body. URLs are without their query. */
  readonly body: JsonObject | null;
  /** Attributes that distinguish objects of the kind. */
  readonly key_attributes: readonly string[];
  /** The API accepted it, and its answer did not show what it made. Absent: the answer was lost. */
  readonly accepted?: boolean;
  /** The objects that it may have made; null when the API has no call that shows the kind. */
  readonly candidates: readonly Candidate[] | null;
  /** Invoices of the candidates; without candidates, those of orders that no service shows. Null: the token may not read them. */
  readonly invoices: readonly InvoiceEvidence[] | null;
  /** A domain can still be registered. Null: the answer does not say; absent for other kinds. */
  readonly available?: boolean | null;
  /**
   * The next step. `sent-again`: none, the next apply sends the same order with the same key; `made`: none, the next apply
   * adopts the object; `secret-lost`: none, the next apply recreates it; `nothing`: none, the next apply sends the request
   * again; `waiting`: lists may not show the object before `until`; `held`: it created nothing, `holder` has the object;
   * `unclear`: the user decides which candidate it is; `unknowable`: no call shows the object.
   */
  readonly verdict: "sent-again" | "made" | "secret-lost" | "nothing" | "waiting" | "held" | "unclear" | "unknowable";
  /** The fact that decides, as a clause: `the create made nothing`. */
  readonly because: string;
  /** Objects that are new since the request and that something else explains. */
  readonly ruled_out: readonly RuledOutObject[];
  /** The host's habit with natural keys: 10 recorded objects have theirs as it was sent, one has not, or neither is proved. */
  readonly rewrites_key: "never" | "seen" | "unknown";
  /** ISO 8601. */
  readonly until?: string;
  /** The address of the object with the same natural key. */
  readonly holder?: string;
}

interface Found {
  readonly id: string;
  /** Natural key (an e-mail address, a domain) as the API shows it; null: unreadable. */
  readonly natural_key: string | null;
  readonly created_at: Json;
  readonly status: Json;
  readonly domain: Json;
  readonly plan: Json;
}

interface Candidate extends Found {
  /** Its natural key beside the requested one; absent for an object that the next apply adopts. */
  readonly key?: "same" | "near" | "other" | "hidden" | "similar";
  /** The immutable attribute in which it is not as it was requested. */
  readonly differs?: string;
  /** It is of another plan than the ordered one. */
  readonly other_plan?: true;
}

/** `otherKey`: the host shows natural keys as they were sent, and this is another one. `by`: an address or a state. */
interface RuledOutObject extends Found {
  readonly why: "held" | "siblings" | "otherKey" | "older" | "ended";
  readonly by: string | null;
}

interface InvoiceEvidence {
  readonly id: string;
  readonly number: string | null;
  readonly order_id: string | null;
  readonly total: number | null;
  readonly currency: string | null;
  /** Digits of the total after the decimal point; null where nobody has declared them. */
  readonly money_scale: number | null;
  readonly status: string | null;
}

/** The create, its account, and the other resources. */
interface EvidenceInput extends Pick<Others, "ownerOf" | "siblings"> {
  readonly account: Account;
  readonly kind: Kind;
  readonly prior: PendingCreate;
  /** The kind whose objects invoices are raised for (services), to find the owner of an invoice. */
  readonly invoiced?: Kind | undefined;
  /** Returns true for the order of an object that the state holds. */
  isRecorded?(order: string): boolean;
}

/** Gathers the evidence. Sends GETs only. @throws ApiError when the account cannot be read. */
export async function evidence(input: EvidenceInput): Promise<Evidence> {
  const { kind, prior, account } = input;
  const { pending } = prior.private;
  const question = await questionFor(input);
  const decided = decidePending(question);
  // Until absence is proved, the candidates are those that an apply would ask about then.
  const foreseen = decidePending(question, foresee);
  const made = kind.list === undefined ? null : foreseen.objects;
  const domain = kind.list === undefined ? prior.attributes.domain : undefined;
  return {
    address: prior.address,
    type: kind.type,
    since: pending.since,
    operation: pending.operation,
    idempotency_key: pending.idempotencyKey ?? null,
    body: pending.body ? openValue(pending.body) : null,
    key_attributes: identityOf(kind),
    ...(pending.accepted && { accepted: true }),
    candidates: made?.map((remote) => candidateOf(kind, remote, foreseen)) ?? null,
    invoices: kind.creation === "listable" ? [] : await invoicesOf(input, made),
    ...(typeof domain === "string" && { available: await account.isAvailable(domain) }),
    ...verdictOf(kind, decided),
    because: decided.because,
    ruled_out: foreseen.ruledOut.map(({ remote, why, by = null }) => ({ ...foundOf(kind, remote), why, by })),
    rewrites_key: foreseen.rewritesKey,
  };
}

function verdictOf({ creation }: Kind, decided: PendingDecision): Pick<Evidence, "verdict" | "until" | "holder"> {
  switch (decided.do) {
    case "adopt":
      return { verdict: decided.next === "recreate" ? "secret-lost" : "made" };
    case "resend":
      return { verdict: creation === "keyed" ? "sent-again" : "nothing" };
    case "wait":
      return {
        verdict: "waiting",
        ...(decided.proof && { until: new Date(decided.proof).toISOString() }),
      };
    case "ask":
      return { verdict: decided.row === "blind" ? "unknowable" : "unclear" };
    case "refused":
      return { verdict: "held", ...("holder" in decided && { holder: decided.holder }) };
  }
}

function candidateOf(kind: Kind, remote: Remote, { rows }: PendingDecision): Candidate {
  const { key, differs } = rows.find(({ id }) => id === remote.id) ?? {};
  const isOtherPlan = differs !== undefined && differs === kind.fromCatalogue?.attribute;
  return {
    ...foundOf(kind, remote),
    ...(key && { key }),
    ...(differs && { differs }),
    ...(isOtherPlan && { other_plan: true as const }),
  };
}

const foundOf = (kind: Kind, { id, attributes }: Remote): Found => ({
  id,
  natural_key: kind.naturalKey(attributes) === undefined ? null : shownKey(kind, attributes),
  created_at: attributes.created_at ?? null,
  status: attributes.status ?? null,
  domain: attributes.domain ?? null,
  plan: attributes.plan ?? null,
});

/** The natural key as the API shows it: a folded name is on no page of the host. */
const shownKey = (kind: Kind, attributes: JsonObject): string =>
  identityOf(kind)
    .map((name) => [attributes[name]].flat().map(String).map(openUrl).join(","))
    .join(" ");

/** Invoices name the order that they are for (§2 order_id), not when they were raised. */
async function invoicesOf(
  { account, invoiced, isRecorded }: EvidenceInput,
  made: readonly Remote[] | null,
): Promise<InvoiceEvidence[] | null> {
  try {
    const all = await account.invoices.all();
    const wanted =
      made === null || made.length === 0
        ? (await unclaimed(all, account, invoiced)).filter(({ order_id: order }) => !isRecorded?.(String(order)))
        : all.filter(({ order_id: order }) => made.some(({ id }) => id === order));
    return wanted.map(({ id, invoice_number: number, order_id, total, currency, status }) => ({
      id,
      number,
      order_id,
      total,
      currency,
      money_scale: account.settings.moneyScale ?? null,
      status,
    }));
  } catch (error) {
    // §5: invoices need an ability of their own.
    if (error instanceof ApiError && (error.status === 403 || isNotFound(error))) return null;
    throw error;
  }
}

/** Invoices of orders that are none of the services there are. */
async function unclaimed(all: readonly InvoiceRecord[], account: Account, invoiced: Kind | undefined) {
  if (invoiced !== undefined) account.proveAbsence(invoiced);
  const known = invoiced === undefined ? new Map<string, Remote>() : await account.list(invoiced);
  return all.filter(({ order_id: order }) => order !== null && !known.has(order));
}
