// Figures of a plan: access, unpaid invoices and sites. Every report format shows the same figures.
import {
  type Change,
  capitalized,
  type Effect,
  type EffectKind,
  effectOf,
  effectsOf,
  formatMoney,
  formatNumber,
  type Invoice,
  moneyTotals,
  type Plan,
} from "../core/model/index.ts";
import { moneyLines, scaleOf, upTo } from "./money.ts";
import { type MoneyScale, plural, sharedScale } from "./numbers.ts";

/** Unpaid invoices of one currency. */
interface UnpaidTotal {
  readonly currency: string;
  readonly invoices: number;
  /** Sum in the unit of the API. Null if every amount is unknown. */
  readonly total: number | null;
}

export interface Figures {
  readonly sites_going_offline: number;
  /** Number of sites that are offline but not declared as suspended. */
  readonly sites_offline: number;
  readonly people_gaining_access: number;
  readonly people_losing_access: number;
  /** Number of people who keep access with another permission. */
  readonly permissions_changing: number;
  /** Unpaid invoices by currency. hostform reads only invoices of pending, suspended and due services, not of live ones. */
  readonly unpaid_invoices: readonly UnpaidTotal[];
  /** Numbers of unread objects. Their values are unknown, not 0. */
  readonly not_checked: {
    readonly sites: number;
    readonly grants: number;
    /** Number of sites with unread invoices. */
    readonly invoices: number;
  };
}

const isSite = ({ ordered, site }: Change["words"]): boolean => ordered !== undefined && site !== undefined;

/** Counts the distinct persons in effects of these kinds. */
export const personsIn = (effects: readonly Effect[], ...kinds: EffectKind[]): number =>
  new Set(effects.flatMap((effect) => (kinds.includes(effect.kind) ? (effect.person ?? effect.address) : []))).size;

export function figuresOf(plan: Plan, effects: readonly Effect[]): Figures {
  const { conditions = [], changes } = plan;
  const unread = new Set(plan.unread);
  const left = new Set([...unread, ...(plan.notRead ?? []).map(({ address }) => address)]);
  // A forget needs no read.
  const unseen = changes.filter((change) => left.has(change.address) && effectOf(change) !== "forget");
  const addresses = (name: string) =>
    new Set(conditions.flatMap(({ condition, address }) => (condition === name ? [address] : [])));
  return {
    sites_going_offline: effects.filter(({ kind }) => kind === "offline").length,
    sites_offline: addresses("offline").size,
    people_gaining_access: personsIn(effects, "access_given"),
    people_losing_access: personsIn(effects, "access_taken"),
    permissions_changing: personsIn(effects, "access_raised", "access_reduced"),
    unpaid_invoices: unpaidTotals(invoicesIn(plan).map(({ invoice }) => invoice)),
    not_checked: {
      sites: unseen.filter(({ words }) => isSite(words)).length,
      grants: unseen.filter(({ words }) => words.access !== undefined).length,
      invoices: [...addresses("unread")].filter((address) => !unread.has(address)).length,
    },
  };
}

/** Unpaid invoice without details. */
const UNNAMED: Invoice = { id: null, number: null, currency: null, total: null, status: null, due_date: null };

/** Returns the distinct unpaid invoices of all conditions, with their providers. */
function invoicesIn({ conditions = [], changes }: Plan) {
  const providers = new Map(changes.map(({ address, provider }) => [address, provider]));
  const all = conditions.flatMap(({ address, condition, invoice, others = [] }) =>
    [invoice ?? (condition === "unpaid" ? UNNAMED : []), others].flat().map((one) => ({
      invoice: one,
      provider: providers.get(address) ?? "default",
      key: `${providers.get(address)} ${one.id ?? `${one.number} ${address}`}`,
    })),
  );
  return [...new Map(all.map((one) => [one.key, one])).values()];
}

function unpaidTotals(invoices: readonly Invoice[]): UnpaidTotal[] {
  return [...Map.groupBy(invoices, ({ currency }) => currency ?? "")].map(([currency, all]) => {
    const amounts = all.flatMap(({ total }) => total ?? []);
    return {
      currency,
      invoices: all.length,
      total: amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount, 0),
    };
  });
}

/** Returns one string for each currency, such as `1 invoice, 4.50 USD`, and one for unread invoices. */
function unpaidTexts(plan: Plan, figures: Figures, moneyScale: MoneyScale | undefined): string[] {
  const seen = invoicesIn(plan);
  const { invoices: unread, sites } = figures.not_checked;
  const isAnyLive = plan.changes.some(({ words, before }) => isSite(words) && before?.status === "active");
  const unpaid = figures.unpaid_invoices.map(({ currency, invoices, total }) => {
    const same = seen.filter(({ invoice }) => (invoice.currency ?? "") === currency);
    const scale = sharedScale(
      moneyScale,
      currency,
      same.map(({ provider }) => provider),
    );
    const least = same.some(({ invoice }) => invoice.total === null) ? "at least " : "";
    const sum = total === null ? "amount unknown" : `${least}${formatMoney(total, currency || null, scale)}`;
    return `${plural(invoices, "invoice")}, ${sum}`;
  });
  return [
    ...(unpaid.length + unread + sites > 0 ? unpaid : [isAnyLive ? "not read for live sites" : "none found"]),
    ...(unread > 0 ? [`not read for ${plural(unread, "site")}`] : []),
    ...(sites > 0 ? [`${plural(sites, "site")} not checked`] : []),
  ];
}

/** Formats orders, access and unpaid invoices. Returns one line if the plan orders nothing. */
export function figureLines(plan: Plan, moneyScale: MoneyScale | undefined): string[] {
  const effects = effectsOf(plan);
  const figures = figuresOf(plan, effects);
  const {
    people_gaining_access: gains,
    people_losing_access: loses,
    permissions_changing: changing,
    not_checked: open,
  } = figures;
  const access = [
    ...(gains > 0 ? [`${plural(gains, "person gains", "people gain")} access`] : []),
    ...(loses > 0 ? [`${plural(loses, "person loses", "people lose")} access`] : []),
    ...(changing > 0 ? [plural(changing, "permission changes", "permissions change")] : []),
    ...(open.grants > 0 ? [`${plural(open.grants, "grant")} not checked`] : []),
  ];
  const invoices = unpaidTexts(plan, figures, moneyScale).join("; ");
  const rest = `Access: ${access.join(", ") || "nobody gains or loses access"}. Unpaid invoices: ${invoices}.`;
  const orders = moneyLines(plan, moneyScale);
  return effects.some(({ money }) => money !== undefined) ? [...orders, rest] : [`${orders.join(" ")} ${rest}`];
}

/** Returns labelled figures for the page, with one value for each currency and one for unknown amounts. */
export function tilesOf(plan: Plan, effects: readonly Effect[], moneyScale: MoneyScale | undefined) {
  const figures = figuresOf(plan, effects);
  const { sites_going_offline: goingOffline, sites_offline: offline, not_checked: open } = figures;
  const { people_gaining_access: gains, people_losing_access: loses } = figures;
  const totals = moneyTotals(effects);
  const sums = (which: "now" | "monthly") => {
    const values = totals.flatMap(({ currency, bound, unknown, orders, ...total }) => {
      const amount = total[which];
      if (amount === null) return [`${currency}: ${plural(orders + unknown, "order")} unknown`];
      const sum = upTo(formatMoney(amount, currency, scaleOf(plan.changes, currency, moneyScale)), bound);
      return [unknown > 0 ? `${sum} + ${plural(unknown, "order")} unknown` : sum];
    });
    return values.length === 0 ? ["Nothing"] : values;
  };
  // An unread value is unknown, not 0.
  const known = (text: string, isNone: boolean, unread: number, all: number) => [
    ...(isNone && unread >= all && unread > 0 ? [] : [text]),
    ...(unread > 0 ? [isNone && unread >= all ? "Not checked" : `${formatNumber(unread)} not checked`] : []),
  ];
  const count = (fits: (words: Change["words"]) => boolean) => plan.changes.filter(({ words }) => fits(words)).length;
  const sites = count(isSite);
  const grants = count(({ access }) => access !== undefined);
  const access = gains + loses === 0 ? "None" : `+${gains} / −${loses}`;
  return [
    { label: "Billed by this plan", values: sums("now") },
    { label: "Added per month", values: sums("monthly") },
    { label: "Unpaid invoices", values: unpaidTexts(plan, figures, moneyScale).map(capitalized) },
    {
      label: "Sites going offline",
      values: known(String(goingOffline), goingOffline === 0, open.sites, sites),
      alarm: goingOffline > 0,
    },
    {
      label: "Sites offline, but not declared as suspended",
      values: known(String(offline), offline === 0, open.sites, sites),
      alarm: offline > 0,
    },
    { label: "People gaining or losing access", values: known(access, gains + loses === 0, open.grants, grants) },
  ];
}
