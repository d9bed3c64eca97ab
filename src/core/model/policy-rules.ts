// Rules of a policy, and their verdicts. Rules can only reject: no rule allows what another rule or a guard rejects.
import type { ConditionName } from "./condition.ts";
import type { EffectKind } from "./effect.ts";
import type { SourceRange } from "./errors.ts";
import { lookAlikes } from "./look-alike.ts";
import { isNameLike, shownName } from "./natural-key.ts";
import { type ChangeFacts, domainIn, type PolicyFacts, suspicions } from "./policy-facts.ts";
import type { PolicyVerdict } from "./policy-verdict.ts";
import { isLike } from "./selection.ts";
import { isCurrency } from "./specification.ts";
import { some } from "./text.ts";
import { isWithin, type TimeWindow } from "./time-window.ts";
import { UNKNOWN } from "./value.ts";

/** Limits changes in certain files or by certain authors: only the listed clients, kinds and effects are allowed. */
export interface Scope {
  /** Files of the declaration, relative to the project directory. `*` matches any characters. */
  readonly files?: readonly string[] | undefined;
  /** CI users to limit. A run without an author is limited too. */
  readonly authors?: readonly string[] | undefined;
  readonly except_authors?: readonly string[] | undefined;
  readonly clients?: readonly string[] | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly effects?: readonly EffectKind[] | undefined;
}

/** Rules of one policy file. Missing rules reject nothing. `schemas/policy.schema.json` describes all rules. */
export interface PolicyRules {
  readonly max_orders?: number | undefined;
  readonly max_spend?: Readonly<Record<string, number>> | undefined;
  readonly max_spend_month?: Readonly<Record<string, number>> | undefined;
  readonly max_orders_day?: number | undefined;
  readonly max_removals?: number | undefined;
  readonly webhook_hosts?: readonly string[] | undefined;
  readonly grantee_domains?: readonly string[] | undefined;
  readonly plans?: readonly (string | number)[] | undefined;
  readonly currencies?: readonly string[] | undefined;
  readonly removable_kinds?: readonly string[] | undefined;
  readonly never_offline?: readonly string[] | undefined;
  readonly look_alikes?: "deny" | "warn" | undefined;
  readonly require_state_key?: boolean | undefined;
  readonly no_orders_while?: readonly ConditionName[] | undefined;
  readonly windows?: readonly TimeWindow[] | undefined;
  readonly scopes?: readonly Scope[] | undefined;
}

export type PolicyRule = keyof PolicyRules;

/** A policy in one file. */
export interface Policy {
  /** Path for messages. */
  readonly file: string;
  readonly rules: PolicyRules;
  /** Locations of rules and of their entries (`scopes.0`). */
  readonly places: ReadonlyMap<string, SourceRange>;
}

interface Judged {
  /** True if the plan is applied later or never. Time windows then only warn. */
  readonly isLater?: boolean;
}

type Found = Pick<PolicyVerdict, "sentence"> &
  Partial<Pick<PolicyVerdict, "address" | "level">> & { readonly entry?: number };
type Judge<Rule extends PolicyRule> = (
  rule: NonNullable<PolicyRules[Rule]>,
  facts: PolicyFacts,
  judged: Judged,
) => readonly Found[];

/** One function for each rule. The verdicts of a policy are the verdicts of all its rules. */
const judges: { readonly [Rule in PolicyRule]-?: Judge<Rule> } = {
  max_orders: (most, { changes }) => tooMany(most, changes, ({ order }) => order !== undefined, "order"),
  max_removals: (most, { changes }) => tooMany(most, changes, ({ isRemoval }) => isRemoval, "removal"),
  max_spend: (limits, { changes }) =>
    Object.entries(limits).flatMap(([currency, most]) => {
      // An order with unknown currency counts toward every limit.
      const counted = changes.filter(
        ({ order }) => order?.currency === currency || (order && !isCurrency(order.currency)),
      );
      const total = counted.reduce((sum, { order }) => sum + (order?.most ?? 0), 0);
      const unknown = counted.filter(({ order }) => order?.most === null);
      if (total > most)
        return [
          { sentence: `The orders of the plan may cost ${total} ${currency}; max_spend allows ${most} ${currency}` },
        ];
      return unknown.map(({ address }) => ({
        address,
        sentence: `The price of ${address} is not known, and at most ${most} ${currency} are allowed`,
      }));
    }),
  // Guards enforce these two rules, because a plan contains only its own orders.
  max_spend_month: () => [],
  max_orders_day: () => [],
  webhook_hosts: (allowed, { changes }) =>
    changes.flatMap(({ address, receiver }) =>
      outside(receiver, allowed, address, "sends events to", "a host that is known only after apply"),
    ),
  grantee_domains: (allowed, { changes }) =>
    changes.flatMap(({ address, grantee }) =>
      outside(grantee, allowed, address, "gives access to someone at", "a domain that is known only after apply"),
    ),
  plans: (allowed, { changes }) =>
    changes.flatMap(({ address, order }) => {
      if (order?.plan === undefined || order.plan.some((one) => allowed.some((plan) => String(plan) === one)))
        return [];
      return [{ address, sentence: `${address} orders the plan ${order.plan[0] ?? "(not known)"}` }];
    }),
  currencies: (allowed, { changes }) =>
    changes.flatMap(({ address, order }) =>
      order === undefined || allowed.includes(order.currency)
        ? []
        : [{ address, sentence: `${address} is an order in ${order.currency}` }],
    ),
  removable_kinds: (allowed, { changes }) =>
    changes.flatMap(({ address, type, noun, isRemoval }) =>
      !isRemoval || allowed.includes(type) ? [] : [{ address, sentence: `${address} is removed, and it is a ${noun}` }],
    ),
  never_offline: (sites, { changes }) =>
    changes.flatMap(({ address, site, takesOffline }) => {
      const isNamed = sites.some((one) => isLike(one, address) || (site !== undefined && isNameLike(one, site)));
      if (!takesOffline || !isNamed) return [];
      return [{ address, sentence: `${site === undefined ? address : shownName(site)} would go offline` }];
    }),
  look_alikes: (level, { changes, known }) => {
    const looksLike = lookAlikes(known);
    return changes.flatMap((change) =>
      suspicions(change, looksLike).map(({ name, other }) => {
        const like = other === undefined ? "" : `, which looks like ${shownName(other)}`;
        return { level, address: change.address, sentence: `${change.address} names ${shownName(name)}${like}` };
      }),
    );
  },
  require_state_key: (isRequired, { hasStateKey }) =>
    isRequired && hasStateKey !== true ? [{ sentence: "The state has no key, so a saved plan proves nothing" }] : [],
  no_orders_while: (names, { changes, conditions, unseen }) => {
    const held = conditions.filter(({ condition }) => names.includes(condition));
    const [first] = held;
    if (changes.every(({ order }) => order === undefined)) return [];
    if (first === undefined)
      return unseen === 0 ? [] : [{ sentence: `The plan orders, and ${unseen} recorded objects were not checked` }];
    const where = some(held.map(({ address }) => address));
    return [{ sentence: `The plan orders while these have the condition ${first.condition}: ${where}` }];
  },
  windows: (windows, { changes, now }, { isLater = false }) =>
    windows.flatMap((window, entry) => {
      const { allow = [], reason } = window;
      if (!isWithin(window, now)) return [];
      const stopped = changes.filter(({ effects }) => effects.some((effect) => !allow.includes(effect)));
      if (stopped.length === 0) return [];
      const only = allow.length === 0 ? "Nothing may be applied now" : `Only ${allow.join(", ")} may be applied now`;
      const sentence = `${only}${reason === undefined ? "" : ` (${reason})`}`;
      return [{ entry, level: isLater ? ("warn" as const) : ("deny" as const), sentence }];
    }),
  scopes: (scopes, { changes, author }) =>
    scopes.flatMap((scope, entry) =>
      changes.flatMap((change) => {
        const who = subjectOf(scope, change, author);
        const what = who === undefined ? undefined : beyond(scope, change);
        if (what === undefined) return [];
        return [{ entry, address: change.address, sentence: `${who} may not change ${change.address}: ${what}` }];
      }),
    ),
};

export const POLICY_RULES = Object.keys(judges) as readonly PolicyRule[];

/**
 * Returns the verdicts of several policies. Each rule of each file is evaluated separately, so an additional rule never
 * allows more.
 */
export function verdictsOf(policies: readonly Policy[], facts: PolicyFacts, judged: Judged = {}): PolicyVerdict[] {
  return policies.flatMap(({ file, rules, places }) =>
    POLICY_RULES.flatMap((rule) => {
      if (rules[rule] === undefined) return [];
      const judge = judges[rule] as Judge<typeof rule>;
      return judge(rules[rule], facts, judged).map(({ level = "deny", entry, ...found }): PolicyVerdict => {
        const range = places.get(`${rule}.${entry}`) ?? places.get(rule);
        return { level, rule, file, ...found, ...(range && { range }) };
      });
    }),
  );
}

/** Returns the limits in policies. They also apply during the apply, because an invoice can exceed the planned price. */
export function capsOf(policies: readonly Pick<Policy, "rules">[]) {
  const least = (values: readonly (number | undefined)[]) => {
    const given = values.filter((value) => value !== undefined);
    return given.length === 0 ? undefined : Math.min(...given);
  };
  const count = (rule: "max_orders" | "max_orders_day") => least(policies.map(({ rules }) => rules[rule]));
  const amounts = (rule: "max_spend" | "max_spend_month") => {
    const currencies = new Set(policies.flatMap(({ rules }) => Object.keys(rules[rule] ?? {})));
    const spend = [...currencies].map((one) => [one, least(policies.map(({ rules }) => rules[rule]?.[one]))]);
    return spend.length === 0 ? undefined : (Object.fromEntries(spend) as Readonly<Record<string, number>>);
  };
  const caps = {
    maxOrders: count("max_orders"),
    maxSpend: amounts("max_spend"),
    maxSpendMonth: amounts("max_spend_month"),
    maxOrdersDay: count("max_orders_day"),
  };
  type Given = { readonly [Cap in keyof typeof caps]?: NonNullable<(typeof caps)[Cap]> };
  return Object.fromEntries(Object.entries(caps).filter(([, cap]) => cap !== undefined)) as Given;
}

function tooMany(
  most: number,
  changes: readonly ChangeFacts[],
  counts: (change: ChangeFacts) => boolean,
  noun: string,
): Found[] {
  const found = changes.filter(counts);
  if (found.length <= most) return [];
  const number = `${found.length} ${noun}${found.length === 1 ? "" : "s"}`;
  return [
    { sentence: `The plan has ${number}, and ${most} are allowed: ${some(found.map(({ address }) => address))}` },
  ];
}

/** Returns true if the policy does not allow the domain of an e-mail address. */
export const isOutsider = ({ rules: { grantee_domains: allowed } }: Policy, email: unknown): boolean =>
  allowed !== undefined && outside(domainIn(email), allowed, "", "", "").length > 0;

function outside(
  name: ChangeFacts["receiver"],
  allowed: readonly string[],
  address: string,
  verb: string,
  later: string,
): Found[] {
  if (name === undefined || (name !== UNKNOWN && allowed.some((one) => isNameLike(one, name)))) return [];
  return [{ address, sentence: `${address} ${verb} ${name === UNKNOWN ? later : shownName(name)}` }];
}

/** Returns the author or file that the scope limits. Undefined if the scope does not concern the change. */
function subjectOf({ files, authors, except_authors: free = [] }: Scope, { file }: ChangeFacts, author: string | null) {
  const isOne = (names: readonly string[]) =>
    names.some((name) => author !== null && isLike(name.toLowerCase(), author.toLowerCase()));
  if (isOne(free)) return undefined;
  if (files !== undefined && (file === undefined || !files.some((one) => isLike(one, file)))) return undefined;
  if (authors !== undefined && author !== null && !isOne(authors)) return undefined;
  if (authors === undefined && files !== undefined) return file;
  return author ?? "A run whose author is not known";
}

/** Returns the part of a change that the scope does not allow. Undefined if everything is allowed. */
function beyond({ clients, kinds, effects }: Scope, change: ChangeFacts): string | undefined {
  const foreign = change.clients.find((one) => clients?.every((name) => one === null || !isLike(name, one)));
  if (foreign !== undefined) return foreign === null ? "it is of no client" : `it is of ${foreign}`;
  if (kinds !== undefined && !kinds.includes(change.type)) return `it is a ${change.noun}`;
  const effect = change.effects.find((one) => effects?.includes(one) === false);
  return effect === undefined ? undefined : `its effect is ${effect}`;
}
