// Describes the effects of a plan for people: orders, sites that go offline, access. All reports use this module.
import {
  type Change,
  type ChangeReason,
  isNoOp,
  isReplacement,
  type KindWords,
  type Plan,
  type ProgressVerb,
  type Quote,
} from "./changes.ts";
import { idOf } from "./history-entry.ts";
import { shownName } from "./natural-key.ts";
import { secretProgram, shownUrl } from "./origin.ts";
import type { Json } from "./value.ts";

/** Most important effect of a change. Terraform's actions hide it: a suspension is an `update` or a `forget`. */
export type ChangeEffect =
  | "none" // changes at most the state, such as the import of a matching object
  | "order" // places a paid order: the host issues an invoice immediately (§1)
  | "create" // creates a free object
  | "update" // changes an object in place; a site stays online
  | "suspend" // a service goes offline (§4 suspend); its state entry may stay
  | "unsuspend" // a suspended service goes online again
  | "replace" // deletes and recreates an object
  | "delete" // deletes an object through the API
  | "forget"; // removes the state entry only; the account does not change

/** Returns the effect of a change. All reports, counts and progress lines use this function. */
export function effectOf(change: Change): ChangeEffect {
  const { actions, before, after, removal, quote } = change;
  if (isNoOp(change) || actions[0] === "no-op") return "none";
  if (isReplacement(change)) return "replace";
  if (actions[0] === "create") return quote === undefined ? "create" : "order";
  if (actions[0] === "delete") return "delete";
  const suspended = before?.suspended === true;
  if (actions[0] === "forget") return removal === "suspend" && !suspended ? "suspend" : "forget";
  if (after?.suspended === true && !suspended) return "suspend";
  if (after?.suspended === false && suspended) return "unsuspend";
  return recordsOnly(change) ? "none" : "update";
}

/** Returns true if a change only updates the state entry, for example after a change of `deletion_policy`. */
export const recordsOnly = ({ actions, requests }: Pick<Change, "actions" | "requests">): boolean =>
  actions[0] === "update" && requests === 0;

/** Kinds of effects, in the order of the reports. */
export const EFFECT_KINDS = [
  "offline", // a site goes offline
  "order", // the host issues an invoice immediately (§1)
  "leaves", // an object stays in the account, but hostform no longer manages it
  "access_taken",
  "access_reduced",
  "access_raised",
  "access_given",
  "online", // a site is online again
  "integration", // a receiver of the account's events changes
  "change", // any other change in the account
  "adopted", // hostform starts to manage an object; the account does not change
  "recorded", // only the state changes
] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

/** Effect of a planned change. Its texts contain unescaped words of the API, which each report must escape. */
export interface Effect {
  readonly kind: EffectKind;
  readonly address: string;
  /** Affected site, domain or receiver. Null if unknown. */
  readonly domain: string | null;
  /** Client, by {@link clientOf}. */
  readonly client: string | null;
  readonly sentence: string;
  /** Parts of the sentence. Even indexes: words of hostform. Odd indexes: words of the API or the declaration. */
  readonly parts: Parts;
  /** Person who gains or loses access. */
  readonly person?: string;
  readonly money?: OrderMoney;
  /** Sentence about how to undo the effect. Null if this is impossible. */
  readonly undo: string | null;
}

type Parts = readonly string[];

/** Template tag that splits a sentence into parts. Interpolated strings have odd indexes. */
function say(own: readonly string[], ...between: readonly (string | Parts)[]): Parts {
  const parts = [own[0] ?? ""];
  for (const [at, value] of between.entries()) {
    const [first = "", ...rest] = typeof value === "string" ? ["", value, ""] : value;
    parts.push(`${parts.pop()}${first}`, ...rest);
    parts.push(`${parts.pop()}${own[at + 1] ?? ""}`);
  }
  return parts;
}

/** Cost of one order in the API's own unit. */
export interface OrderMoney {
  readonly currency: string;
  readonly plan: string;
  /** Number of months that one bill covers. Null if unknown. */
  readonly months: number | null;
  /** Price without discount. Null if unknown. */
  readonly price: number | null;
  readonly discount: number | null;
  /** Amount that is billed now. Its maximum if `bound` is true. Null if unknown. */
  readonly now: number | null;
  /** Cost of each later month, rounded up. Null if unknown. */
  readonly monthly: number | null;
  /** True if the amounts are maximums, because discounts only lower listed prices (§4). */
  readonly bound: boolean;
  /** Reason why an amount is unknown. */
  readonly unknown?: string;
}

/** Cost of a plan in one currency, in the API's own unit. */
export interface MoneyTotal {
  readonly currency: string;
  readonly orders: number;
  readonly now: number | null;
  readonly monthly: number | null;
  /** True if a sum contains a maximum. */
  readonly bound: boolean;
  /** Number of orders with unknown price. The sums do not contain these. */
  readonly unknown: number;
}

/** Returns the effects of a plan, in the order of {@link EFFECT_KINDS} and then of the changes. */
export function effectsOf(plan: Pick<Plan, "changes">): Effect[] {
  const sites = siteFinder(plan.changes);
  const effects = plan.changes.flatMap((change) => effectsOfChange(change, sites));
  const rank = (effect: Effect) => EFFECT_KINDS.indexOf(effect.kind);
  return effects.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Returns the function that describes the subject of a change: `dev@acme.example, www.acme.example`. Undefined if only the
 * address identifies the change.
 */
export function subjectsOf(plan: Pick<Plan, "changes">): (change: Change) => string | undefined {
  const sites = siteFinder(plan.changes);
  return (change) => {
    const { access } = change.words;
    const person = access && (named(change.before?.[access.person]) ?? named(change.after?.[access.person]));
    const names = [person, sites(change)].filter((name) => name !== undefined);
    return names.length === 0 ? undefined : names.join(", ");
  };
}

/** Returns the sums of all orders by currency, in the order of first use. */
export function moneyTotals(effects: readonly Effect[]): MoneyTotal[] {
  const totals = new Map<string, MoneyTotal>();
  for (const { money } of effects) {
    if (money === undefined) continue;
    const { currency, now, monthly, bound } = money;
    const none: MoneyTotal = { currency, orders: 0, now: null, monthly: null, bound: false, unknown: 0 };
    const total = totals.get(currency) ?? none;
    totals.set(
      currency,
      now === null
        ? { ...total, unknown: total.unknown + 1 }
        : {
            ...total,
            orders: total.orders + 1,
            now: (total.now ?? 0) + now,
            // If one amount is unknown, the sum is unknown.
            monthly:
              monthly === null || (total.orders > 0 && total.monthly === null) ? null : (total.monthly ?? 0) + monthly,
            bound: total.bound || bound,
          },
    );
  }
  return [...totals.values()];
}

/** Returns the amounts of an order. A quote without a known price may lack hosting plan and months. */
function moneyOf({ after }: Change, quote: Quote): OrderMoney {
  const { currency, list, billed, most, unknown } = quote;
  const months = quote.months ?? whole(after?.term) ?? (whole(after?.years) ?? 0) * 12;
  const now = billed ?? most;
  return {
    currency,
    plan: quote.plan ?? (after?.plan_id == null ? NO_PLAN : `plan ${String(after.plan_id)}`),
    months: months || null,
    price: list,
    discount: list === null || billed === null ? null : list - billed,
    now,
    monthly: now === null || !months ? null : Math.ceil(now / months),
    bound: billed === null && now !== null,
    ...(unknown !== undefined && { unknown }),
  };
}

const NO_PLAN = "–"; // shown if an order has no hosting plan

const whole = (value: Json | undefined) => (typeof value === "number" ? value : undefined);
const word = (value: Json | undefined) => (typeof value === "string" && value !== "" ? value : undefined);

/** Returns a domain or an e-mail address in readable Unicode. Undefined for any other value. */
const named = (value: Json | undefined) => (word(value) === undefined ? undefined : shownName(String(value)));

/** Finds the site, domain or receiver of a change. @param side Side of a replacement that moves to another parent. */
type SiteFinder = (change: Change, side?: "before" | "after") => string | undefined;

/** Returns a function that finds the site, domain or receiver of a change, or of its parent. */
export function siteFinder(changes: readonly Change[]): SiteFinder {
  const own = ({ before, after, words: { site = "" }, sensitive, origins }: Change) =>
    sensitive.includes(site) ? shownUrl(origins?.[site]) : (named(after?.[site]) ?? named(before?.[site]));
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const byId = new Map(changes.map((one) => [idOf(one.provider, one.type, `${one.before?.id}`), one]));
  return (change, side = "before") => {
    const { parent } = change.words;
    if (parent === undefined) return own(change);
    const [first, second] = side === "before" ? [change.before, change.after] : [change.after, null];
    const id = first?.[parent.attribute] ?? second?.[parent.attribute];
    const parents = [
      byId.get(idOf(change.provider, parent.type, `${id}`)),
      ...change.dependsOn.map((address) => byAddress.get(address)),
    ];
    return parents.flatMap((one) => (one?.type === parent.type ? (own(one) ?? []) : []))[0];
  };
}

/**
 * Returns the client of a resource: the declared or saved client, or else the provider's alias. Null for the default
 * provider.
 */
export const clientOf = ({ client, provider }: Pick<Change, "client" | "provider">): string | null =>
  client ?? (provider === "default" ? null : provider);

type Said = Pick<Effect, "kind" | "parts" | "undo"> & Partial<Effect>;

function effectsOfChange(change: Change, sites: SiteFinder): Effect[] {
  const [domain, client, program] = [sites(change) ?? null, clientOf(change), secretProgram(change)];
  return saidOf(change, sites).map((said, at, { length }) => {
    const isNamed = program !== undefined && at === length - 1;
    const parts = isNamed ? say`${said.parts} Its secret goes to the program ${program}.` : said.parts;
    return { address: change.address, domain, client, ...said, parts, sentence: parts.join("") };
  });
}

function saidOf(change: Change, sites: SiteFinder): Said[] {
  const name = sites(change) ?? change.address;
  const { importing } = change;
  const effect = effectOf(change);
  const first = importing ? [adopted(name, effect === "none")] : effect === "delete" ? [] : movedOf(change);
  if (effect === "none")
    return recordsOnly(change) && !importing ? [...first, recorded(say`${name}: ${changed(change)} recorded.`)] : first;
  const { access, integration } = change.words;
  if (access !== undefined) {
    const next = isReparented(change) ? (sites(change, "after") ?? change.address) : name;
    return [...first, ...accessOf(change, access, name, next)];
  }
  if (integration !== undefined) return [...first, integrationOf(change, name, integration)];
  return [...first, ...siteEffects(change, effect, name)];
}

/** Returns the effect of a renamed address. */
function movedOf({ address, previousAddress }: Change): Said[] {
  if (previousAddress === undefined) return [];
  return [recorded(say`${previousAddress} is renamed to ${address}. Nothing changes in the account.`)];
}

/** Returns true if a grant moves to another parent. */
function isReparented({ before, after, words: { parent } }: Change): boolean {
  return parent !== undefined && before != null && after?.[parent.attribute] !== before[parent.attribute];
}

function siteEffects(change: Change, effect: ChangeEffect, name: string): Said[] {
  const { before, quote, removal, words } = change;
  const { siteless, ordered } = words;
  const isSite = typeof before?.[words.site ?? ""] === "string" || siteless === undefined;
  const what = isSite ? say`${name}` : say`${[siteless]} ${name}`;
  const kept = ordered === undefined ? "" : ", and the host still bills it";
  const place = change.unchecked ? [" The API did not return it."] : [` It stays in the account${kept}.`];
  const leaving: Said = {
    kind: "leaves",
    parts: say`${what} is no longer managed.${place}`,
    undo: "Import it again.",
  };
  switch (effect) {
    case "suspend": {
      const down: Said = {
        kind: "offline",
        parts: say`${what} is suspended and goes offline.`,
        undo: removal === "suspend" ? "Import it again, and unsuspend it." : "Declare suspended as false, and apply.",
      };
      return change.actions[0] === "forget" ? [down, leaving] : [down, ...besides(change, what)];
    }
    case "unsuspend":
      return [
        { kind: "online", parts: say`${what} comes back online.`, undo: "Declare suspended as true, and apply." },
        ...besides(change, what),
      ];
    case "order": {
      const money = quote && moneyOf(change, quote);
      const again = change.reasons.some(({ why }) => why === "reorder" || why === "gone") ? " again" : "";
      const plan = money === undefined || money.plan === NO_PLAN ? [""] : say`: ${money.plan}`;
      return [
        {
          kind: "order",
          parts: say`${name} ${[ordered ?? "is ordered"]}${[again]}${plan}.`,
          ...(money && { money }),
          undo: null,
        },
      ];
    }
    case "forget":
      if (isGone(change.reasons)) return [recorded(say`${what} no longer exists and is removed from the state.`)];
      return [leaving];
    case "update":
      return [updated(change, what)];
    default:
      return [
        { kind: "change", parts: say`${[capitalized(words.noun)]} ${name} is ${[PAST[effect] ?? ""]}.`, undo: null },
      ];
  }
}

const PAST: Readonly<Record<string, string>> = { create: "created", delete: "deleted", replace: "replaced" };

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function changed({ reasons }: Change): Parts {
  const names = [...new Set(reasons.flatMap(({ attribute }) => attribute ?? []))];
  return names.length === 0 ? ["the change is"] : say`${names.join(", ")} ${[names.length === 1 ? "is" : "are"]}`;
}

/** Returns the effects of attributes that change together with `suspended`. */
function besides(change: Change, what: Parts): Said[] {
  const reasons = change.reasons.filter(({ attribute }) => attribute !== undefined && attribute !== "suspended");
  return reasons.length === 0 ? [] : [updated({ ...change, reasons }, what)];
}

function updated(change: Change, what: Parts): Said {
  const names = change.reasons.flatMap(({ attribute }) => attribute ?? []);
  if (names.length > 0 && names.every((one) => one.startsWith("password")))
    return { kind: "change", parts: say`${what} gets a new password.`, undo: null };
  return { kind: "change", parts: say`${what}: ${changed(change)} changed.`, undo: "Declare the earlier value." };
}

/** Returns the effects on access to a site. @param name Site before the change. @param next Site after a replacement. */
function accessOf(change: Change, words: NonNullable<KindWords["access"]>, name: string, next: string): Said[] {
  const { before, after, config, actions } = change;
  const then = { ...config, ...after };
  const [loser = "", winner = ""] = [before, then].map((values) => named(values?.[words.person]) ?? change.address);
  const [had = "", gets = ""] = [before, then].map((values) => word(values?.[words.permission]) ?? "");
  const access = (permission: string, site: string) =>
    say`${permission === "" ? [""] : say`${permission} `}access to ${site}`;
  const loses: Said = {
    kind: "access_taken",
    parts: say`${loser} loses ${access(had, name)}.`,
    person: loser,
    undo: "Grant it again.",
  };
  const gains: Said = {
    kind: "access_given",
    parts: say`${winner} gets ${access(gets, next)}.`,
    person: winner,
    undo: "Revoke it.",
  };
  if (isReplacement(change)) {
    if (loser !== winner || name !== next) return [loses, gains];
    if (had === gets) {
      const causes = change.reasons.flatMap(({ attribute }) => attribute ?? []);
      const why = causes.length === 0 ? [""] : say`: ${changed(change)} changed`;
      return [{ kind: "change", parts: say`${winner} gets access to ${name} again${why}.`, undo: null }];
    }
    const [low, high] = [had, gets].map((one) => words.levels.indexOf(one.toLowerCase()));
    const isLess = low !== undefined && high !== undefined && high >= 0 && high < low;
    const verb = isLess ? "reduced" : "raised";
    const from = had === "" ? [""] : say` from ${had}`;
    const parts = say`${winner}: access to ${name} is ${[verb]}${from} to ${gets}.`;
    return [{ kind: `access_${verb}`, parts, person: winner, undo: "Declare the earlier permission." }];
  }
  if (actions[0] === "create") return [gains];
  if (actions[0] === "delete") return [loses];
  if (isGone(change.reasons)) return [recorded(say`The access of ${loser} to ${name} no longer exists.`)];
  const verb = change.unchecked ? "had" : "keeps";
  const kept = say`${loser} ${[verb]} ${access(had, name)}${[change.unchecked ? " in the state" : ""]}. hostform no longer manages it.`;
  return [{ kind: "leaves", parts: kept, person: loser, undo: "Import it again." }];
}

function integrationOf(change: Change, name: string, words: NonNullable<KindWords["integration"]>): Said {
  const effect = effectOf(change);
  if (effect !== "create" && effect !== "delete" && effect !== "replace") return updated(change, say`${name}`);
  const undo = effect === "create" ? "Remove it." : words.undo;
  const [before = "", after = ""] = words[effect].split("{site}");
  return { kind: "integration", parts: [before, name, after], undo };
}

const isGone = (reasons: readonly ChangeReason[]) => reasons.some(({ why }) => why === "gone");

const adopted = (name: string, isAll: boolean): Said => ({
  kind: "adopted",
  parts: say`${name} is managed from now on.${[isAll ? " Nothing changes in the account." : ""]}`,
  undo: "Stop managing it.",
});

const recorded = (parts: Parts): Said => ({ kind: "recorded", parts, undo: "Nothing in the account changes." });

/** Returns the verb of a change for progress lines. */
export function progressOf(change: Change): ProgressVerb {
  const { actions, importing } = change;
  const effect = effectOf(change);
  if (effect === "suspend") return actions[0] === "forget" ? "suspend-and-forget" : "suspend";
  if (effect === "unsuspend" || effect === "order") return effect;
  if (importing !== undefined && effect === "none") return "import";
  if (actions.length === 2 || actions[0] === "create") return "create";
  return actions[0] === "no-op" ? "update" : actions[0];
}
