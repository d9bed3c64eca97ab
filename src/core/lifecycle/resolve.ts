/** Pending creations that the user settles with `resolve`: the evidence, and the new state entry. */
import type { InvoiceRecord } from "../api/index.ts";
import { identityOf, type Kind, matches, type Remote } from "../kinds/kind.ts";
import { raise } from "../messages/index.ts";
import {
  ApiError,
  type Forms,
  isNotFound,
  type Json,
  type JsonObject,
  openUrl,
  openValue,
  type ResourceState,
} from "../model/index.ts";
import type { Account } from "./account.ts";
import { parentOf, sensitiveNames, unreadableOf } from "./attributes.ts";
import { foresee } from "./decide.ts";
import { learnFromUser } from "./habits.ts";
import { openValues, otherForms, reread, takenForms, withForms } from "./own-forms.ts";
import { type PendingCreate, withoutRequests } from "./pending-create.ts";
import { decidePending, type PendingDecision, siblingOf } from "./pending-facts.ts";
import { listAll } from "./pending-list.ts";
import { type Others, read } from "./read.ts";
import { soldAs } from "./sold-plan.ts";

/**
 * Returns the state entry for an object that the user names as the result of a pending creation.
 * @param others `isForced`: true if the user accepts differences from the request. A condition then reports these.
 * @returns undefined if the account lacks the object.
 * @throws HostformError `usage` if another address has the object, the object differs from the request, or it existed before.
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

/** Reads the list for the decision. */
async function questionFor(input: EvidenceInput) {
  const { account, kind, prior } = input;
  const listed = kind.list && (await listAll(account, kind, prior.attributes));
  return { ...input, sent: prior, listed, now: account.hostNow(), settings: account.settings };
}

/** Rejects an object that another address has, or that another pending creation requested. */
function refuseHeld(kind: Kind, { address, attributes }: PendingCreate, remote: Remote, others: Others): void {
  const owner = others.ownerOf?.(remote);
  const about = { address, noun: kind.noun, id: remote.id };
  if (owner !== undefined) raise("usage/held", { ...about, owner });
  const sibling = matches(kind, attributes, remote.attributes) ? undefined : siblingOf(kind, remote, others.siblings);
  if (sibling !== undefined) raise("usage/sibling", { ...about, sibling: sibling.address });
}

/** Rejects an object that the request did not create. If the API can delete the object, its natural key must always match. */
function refuseOther(
  kind: Kind,
  { address, attributes, private: { pending } }: PendingCreate,
  { id, attributes: live }: Remote,
  { differences, isForced }: { readonly differences: Forms; readonly isForced: boolean },
): void {
  const about = { address, noun: kind.noun, id };
  const isOlder = pending.known?.includes(id) === true;
  if (isOlder) raise("usage/other", { ...about, isOlder });
  const isFinal = kind.removal === "delete" && identityOf(kind).some((name) => Object.hasOwn(differences, name));
  const names = Object.keys(differences).filter(
    (name) => name !== kind.fromCatalogue?.attribute || differences[name]?.is !== null,
  );
  const secret = sensitiveNames(kind);
  const shown = names.flatMap((name) => {
    const form = differences[name];
    return form === undefined ? [] : [{ name, ...openValues(form, secret.includes(name)) }];
  });
  if (shown.length > 0 && (isFinal || !isForced)) raise("usage/differs", { ...about, differences: shown, isFinal });
  // Trust the user if the natural key is unreadable, or if the object certainly did not exist before.
  const comparable = kind.naturalKey(attributes) !== undefined && unreadableOf(kind, attributes, live).length === 0;
  if (isForced || pending.knowsAll || !comparable || matches(kind, attributes, live)) return;
  raise("usage/other", { ...about, isOlder });
}

/** Rejects an id that is the natural key of another object. No endpoint can confirm the id. */
function refuseOtherName(kind: Kind, { address, attributes }: PendingCreate, id: string): void {
  const { name } = kind.words;
  if (!kind.attributes.shape[name]?.safeParse(id).success) return;
  if (kind.naturalKey({ ...attributes, [name]: id }) === kind.naturalKey(attributes)) return;
  raise("usage/other", { address, noun: kind.noun, id, isOlder: false });
}

/** Rejects dropping a pending creation that created an object. Sends only GET requests. @throws HostformError `usage`. */
export async function refuseCreated(input: EvidenceInput, undeclared = false): Promise<void> {
  const { kind, prior } = input;
  if (kind.list === undefined) return;
  const decided = decidePending(await questionFor(input));
  if (decided.do !== "adopt") return;
  const about = { address: prior.address, noun: kind.noun, id: decided.id, undeclared };
  raise("usage/created", about);
}

/**
 * Returns the state entry after a creation that created nothing.
 * @returns undefined if no entry is needed. An entry keeps the object to be replaced, and the generation of an order, so that
 * its key is not used again.
 */
export function withdraw(prior: ResourceState): ResourceState | undefined {
  const { deposed, ...kept } = withoutRequests(prior.private);
  if (deposed !== undefined) return { ...prior, attributes: deposed, private: kept };
  return kept.generation === undefined ? undefined : { ...prior, private: kept };
}

/** Facts about a pending creation, collected with GET requests. */
export interface Evidence {
  readonly address: string;
  readonly type: string;
  /** Time (ISO 8601) and endpoint of the first attempt. */
  readonly since: string;
  readonly operation: string;
  readonly idempotency_key: string | null;
  /** Body of the request. Its URLs have no query. */
  readonly body: JsonObject | null;
  /** Attributes of the natural key. */
  readonly key_attributes: readonly string[];
  /** True if the API accepted the request but did not identify the object. Undefined if the response was lost. */
  readonly accepted?: boolean;
  /** Objects that may be the result. Null if the API has no endpoint that shows the kind. */
  readonly candidates: readonly Candidate[] | null;
  /**
   * Invoices of the candidates. Without candidates: invoices whose order has no visible service. Null if the token may not
   * read invoices.
   */
  readonly invoices: readonly InvoiceEvidence[] | null;
  /**
   * True if the domain can still be registered. Null if the response does not contain the answer. Undefined for other kinds.
   */
  readonly available?: boolean | null;
  /**
   * Result. `sent-again`: the next apply sends the same order with the same key. `made`: the next apply adopts the object.
   * `secret-lost`: the next apply creates the object again. `nothing`: the next apply sends the request again. `waiting`:
   * lists may lack the object until `until`. `held`: the request created nothing, and `holder` has the object. `unclear`: the
   * user must choose a candidate. `unknowable`: no endpoint returns the object.
   */
  readonly verdict: "sent-again" | "made" | "secret-lost" | "nothing" | "waiting" | "held" | "unclear" | "unknowable";
  /** Reason for the verdict, as a clause. Example: `the create made nothing`. */
  readonly because: string;
  /** Objects that are newer than the request but are not its result. */
  readonly ruled_out: readonly RuledOutObject[];
  /**
   * Whether the host changes natural keys. `never`: 10 objects kept the key as sent. `seen`: one did not. `unknown`: neither
   * is proven.
   */
  readonly rewrites_key: "never" | "seen" | "unknown";
  /** End of the list lag (ISO 8601). */
  readonly until?: string;
  /** Address whose object has the same natural key. */
  readonly holder?: string;
}

interface Found {
  readonly id: string;
  /** Natural key (e-mail address, domain) in the format of the API. Null if unreadable. */
  readonly natural_key: string | null;
  readonly created_at: Json;
  readonly status: Json;
  readonly domain: Json;
  readonly plan: Json;
}

interface Candidate extends Found {
  /** Its natural key, compared with the request. Undefined if the next apply adopts the object. */
  readonly key?: "same" | "near" | "other" | "hidden" | "similar";
  /** Immutable attribute that differs from the request. */
  readonly differs?: string;
  /** True if the hosting plan differs from the ordered one. */
  readonly other_plan?: true;
}

/**
 * Object that is not the result. `otherKey`: the host never changes natural keys, and this one differs. `by`: an address or a
 * state.
 */
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
  /** Decimal digits of the total. Null if `money_scale` is not declared. */
  readonly money_scale: number | null;
  readonly status: string | null;
}

/** The creation, its account, and the other resources. */
interface EvidenceInput extends Pick<Others, "ownerOf" | "siblings"> {
  readonly account: Account;
  readonly kind: Kind;
  readonly prior: PendingCreate;
  /** Kind of the orders in invoices (services), to find the owner of an invoice. */
  readonly invoiced?: Kind | undefined;
  /** Returns true if the state contains the service of the order. */
  isRecorded?(order: string): boolean;
}

/** Collects the evidence. Sends only GET requests. @throws ApiError if the account cannot be read. */
export async function evidence(input: EvidenceInput): Promise<Evidence> {
  const { kind, prior, account } = input;
  const { pending } = prior.private;
  const question = await questionFor(input);
  const decided = decidePending(question);
  // While lists may lag, show the candidates of a later decision.
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

/** Returns the natural key in the format of the API, which the host's web pages also use. */
const shownKey = (kind: Kind, attributes: JsonObject): string =>
  identityOf(kind)
    .map((name) => [attributes[name]].flat().map(String).map(openUrl).join(","))
    .join(" ");

/** Returns the invoices of the candidates. An invoice contains the id of its order (§2 order_id), but no creation time. */
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
    // Invoices need their own ability (§5).
    if (error instanceof ApiError && (error.status === 403 || isNotFound(error))) return null;
    throw error;
  }
}

/** Returns invoices whose order has no visible service. */
async function unclaimed(all: readonly InvoiceRecord[], account: Account, invoiced: Kind | undefined) {
  if (invoiced !== undefined) account.proveAbsence(invoiced);
  const known = invoiced === undefined ? new Map<string, Remote>() : await account.list(invoiced);
  return all.filter(({ order_id: order }) => order !== null && !known.has(order));
}
