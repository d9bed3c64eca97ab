/** Conditions of one paid object, for example offline, or an unpaid invoice. */
import type { InvoiceRecord } from "../api/index.ts";
import type { Kind } from "../kinds/kind.ts";
import { conditionFor } from "../messages/index.ts";
import {
  type ApplyResult,
  type ChangeOutcome,
  type Condition,
  type ConditionFacts,
  invoiceOf,
  type JsonObject,
  type KindWords,
  type Phase,
  type Plan,
  type PrivateMark,
  type ResourceState,
  shownName,
  type ValueObject,
} from "../model/index.ts";
import { type Bill, billOf, type InvoiceReading, invoiceText } from "./invoices.ts";

/** An object with its declaration. */
interface Subject {
  readonly kind: Kind;
  readonly address: string;
  readonly attributes: JsonObject;
  readonly phase: Phase;
  /** Names of secret attributes. */
  readonly sensitive: readonly string[];
  /** Declared attributes. Undefined if the object is not declared. */
  readonly config: ValueObject | undefined;
  /** Current time by the host's clock, in milliseconds since the epoch. */
  readonly now: number;
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Returns the end date of the paid term if the term has ended. */
function dueOf({ attributes: { next_due_date: due }, now }: Pick<Subject, "attributes" | "now">): string | undefined {
  const day = typeof due === "string" && /^\d{4}-\d\d-\d\d/.test(due) ? due.slice(0, 10) : undefined;
  return day !== undefined && day <= dateOf(now) ? day : undefined;
}

/** Returns true for kinds with a price and a status. */
const isBilled = ({ quote, phase }: Kind): boolean => quote !== undefined && phase !== undefined;

/**
 * Returns true if an unpaid invoice may explain the object's condition: it is pending or suspended, or its term has ended.
 */
export function asksForInvoices({
  kind,
  attributes,
  phase,
  config,
  now,
}: Omit<Subject, "address" | "sensitive">): boolean {
  if (!isBilled(kind) || config === undefined || phase === "gone" || phase === "unknown") return false;
  const isWanted = phase === "suspended" && config.suspended === true;
  return (phase !== "live" && !isWanted) || dueOf({ attributes, now }) !== undefined;
}

/** Returns the suspension in the state entry: declared, or the time when hostform first read the suspension. */
export function suspensionMark(
  mark: PrivateMark,
  phase: Phase,
  config: ValueObject | undefined,
  now: number,
): PrivateMark {
  if (phase !== "suspended") return mark;
  if (config?.suspended === true) return { ...mark, suspended: { declared: true } };
  return mark.suspended === undefined ? { ...mark, suspended: { since: new Date(now).toISOString() } } : mark;
}

/** Returns the unpaid invoices that were due on a day. An invoice without a due date may have been due. */
const dueBy = (bill: Bill | undefined, day: string) =>
  bill?.open.filter(({ due_date }) => due_date === null || due_date.slice(0, 10) <= day) ?? [];

/**
 * Returns true if the host may have suspended an object for an invoice: at least one is due, and the declaration did not
 * request the suspension.
 */
export function isHeldByInvoice(
  { kind, attributes, phase, now }: Omit<Subject, "address" | "sensitive" | "config">,
  mark: PrivateMark,
  reading: InvoiceReading | undefined,
): boolean {
  if (!isBilled(kind) || phase !== "suspended" || mark.suspended?.declared) return false;
  return dueBy(billOf(reading, String(attributes.id)), dateOf(now)).length > 0;
}

interface Named extends Pick<Subject, "address" | "attributes" | "sensitive"> {
  readonly kind: Pick<Kind, "noun"> & { readonly words: Pick<KindWords, "site"> };
}

/** Returns the object's fields for messages. */
function objectOf({ kind, address, attributes, sensitive }: Named) {
  const { site = "" } = kind.words;
  const name = attributes[site];
  const isShown = typeof name === "string" && !sensitive.includes(site);
  return { address, noun: kind.noun, id: String(attributes.id), name: isShown ? shownName(name) : undefined };
}

const factsOf = ({ name }: ReturnType<typeof objectOf>): ConditionFacts => (name === undefined ? {} : { domain: name });

/** Returns unpaid invoices as parameters of messages, and as facts of a condition. */
function billedWith(
  [first, ...others]: readonly InvoiceRecord[],
  facts: ConditionFacts,
  moneyScale: number | undefined,
): { readonly unpaid?: { readonly invoice: string; readonly more: number }; readonly billed: ConditionFacts } {
  if (first === undefined) return { billed: facts };
  const more = others.length > 0 && { others: others.map(invoiceOf) };
  return {
    unpaid: { invoice: invoiceText(invoiceOf(first), moneyScale), more: others.length },
    billed: { ...facts, invoice: invoiceOf(first), ...more },
  };
}

/** Returns the conditions of an existing object. @param isRestored True if the plan ends its suspension. */
export function billingConditions(
  subject: Subject,
  mark: PrivateMark,
  reading: InvoiceReading | undefined,
  { isRestored, moneyScale }: { readonly isRestored: boolean; readonly moneyScale?: number | undefined },
): Condition[] {
  const { phase, config, now } = subject;
  if (!asksForInvoices(subject)) return [];
  const object = objectOf(subject);
  const bill = billOf(reading, object.id);
  const facts = factsOf(object);
  const { unpaid, billed } = billedWith(bill?.open ?? [], facts, moneyScale);
  const due = dueOf(subject);
  const unread =
    bill === undefined || bill.why === undefined
      ? []
      : [conditionFor("unread/invoices", { ...object, why: bill.why }, facts)];
  if (phase === "pending") {
    if (unpaid) return [conditionFor("unpaid/order", { ...object, ...unpaid }, billed)];
    if (bill === undefined || bill.why !== undefined)
      return [conditionFor("unread/order", { ...object, why: bill?.why }, facts)];
    return [conditionFor(bill.paid.length > 0 ? "offline/provisioning" : "offline/pending", object, facts)];
  }
  const renewal =
    unpaid && due !== undefined ? [conditionFor("unpaid/renewal", { ...object, ...unpaid, due }, billed)] : [];
  const owed = renewal.length > 0 || !unpaid ? renewal : [conditionFor("unpaid", { ...object, ...unpaid }, billed)];
  if (phase !== "suspended" || config?.suspended === true || isRestored) return [...owed, ...unread];
  const { since, declared } = mark.suspended ?? {};
  const down = { ...object, since: since?.slice(0, 10) };
  const at: ConditionFacts = since === undefined ? {} : { since };
  if (declared) return [conditionFor("offline/withdrawn", object, facts), ...owed, ...unread];
  // A younger invoice is not the reason of the suspension.
  const reason = billedWith(dueBy(bill, down.since ?? dateOf(now)), facts, moneyScale);
  if (reason.unpaid)
    return [conditionFor("offline/invoice", { ...down, ...reason.unpaid }, { ...reason.billed, ...at }), ...owed];
  const form = bill === undefined || bill.why !== undefined ? "offline/unread" : "offline";
  const isOwing = isHeldByInvoice(subject, mark, reading);
  return [conditionFor(form, { ...down, isOwing }, { ...facts, ...at }), ...owed, ...unread];
}

/**
 * Returns the conditions after an apply: the conditions of the plan, and conditions of ordered or adopted objects that are
 * not live yet.
 * @param outcomes Outcomes by address.
 * @param attributes Attributes after the apply, by address.
 * @param scaleOf Returns the `money_scale` of a provider.
 */
export function conditionsAfter(
  plan: Plan,
  outcomes: ReadonlyMap<string, ChangeOutcome>,
  attributes: ReadonlyMap<string, JsonObject>,
  scaleOf: (provider: string) => number | undefined,
): Pick<ApplyResult, "conditions"> {
  const ordered = plan.changes.flatMap(({ address, sensitive, provider, words }) => {
    const { awaiting, invoice } = outcomes.get(address) ?? {};
    const live = attributes.get(address);
    if ((awaiting !== "payment" && awaiting !== "provisioning") || live === undefined) return [];
    const object = objectOf({ kind: { words, noun: words.noun }, address, attributes: live, sensitive });
    const facts = factsOf(object);
    if (awaiting === "provisioning") return [conditionFor("offline/provisioning", object, facts)];
    if (invoice === undefined) return [conditionFor("unread/order", { ...object, why: undefined }, facts)];
    const unpaid = { invoice: invoiceText(invoice, scaleOf(provider)), more: 0 };
    return [conditionFor("unpaid/order", { ...object, ...unpaid }, { ...facts, invoice })];
  });
  const all = [...(plan.conditions ?? []), ...ordered];
  return all.length === 0 ? {} : { conditions: all.toSorted((a, b) => (a.address < b.address ? -1 : 1)) };
}

/** Returns the condition of an ended object that the plan does not order again. */
export function goneCondition(
  { kind, address }: Pick<Subject, "kind" | "address">,
  { attributes, sensitive }: Pick<ResourceState, "attributes" | "sensitive">,
  how: string,
): Condition {
  const object = objectOf({ kind, address, attributes, sensitive });
  return conditionFor("gone", { ...object, how }, factsOf(object));
}
