/** Data sources of the host's offers: plans and domains. */
import type { DomainAvailability, PlanRecord } from "../../../core/api/index.ts";
import { listPrice } from "../../../core/kinds/service/quote.ts";
import {
  CURRENCIES,
  type Diagnostic,
  didYouMean,
  domainProblem,
  foldedDomain,
  type Json,
  type JsonObject,
  some,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import type { DataSession, DataSource } from "../index.ts";
import { problem } from "../messages.ts";
import { amountText, moneyText } from "../schema/of-kind.ts";
import {
  computed,
  exactlyOne,
  filter,
  fits,
  listOf,
  readOnly,
  required,
  type Sought,
  shaped,
  sorted,
  sought,
  theOnly,
  withConfigured,
  wordProblem,
} from "./define.ts";

const CURRENCY =
  "Currency in which the plan is to be ordered (`GEL`, `USD` or `EUR`): plans without a price in it are left out, and `price` is the one in it.";

const plan: Attributes = {
  plan_id: computed("number", "The number that `hosting_service` takes as `plan_id`."),
  name: computed("string", "Name of the plan."),
  product_type: computed("string", "Kind of product, in the API's own word."),
  currency: computed("string", "Currency of `price`."),
  billing_cycle: computed("string", "Billing cycle of `price`, in the API's own word."),
  price: computed(
    "number",
    "Undiscounted list price of one billing cycle, in the API's own unit. Null where the API lists none in this currency.",
  ),
  price_text: amountText("price", "9.99 USD"),
  prices: computed({ map: "number" }, "Prices by currency, where the API lists several; in the API's own unit."),
  manage_discount_percent: computed("number", "Discount of a Manage-track client account, in percent; null elsewhere."),
  price_after_discount: computed(
    "number",
    "Price of one billing cycle for the account of this token (Manage track), in the API's own unit. Null if the API does not return it in this currency.",
  ),
  price_after_discount_text: amountText("price_after_discount", "8.99 USD"),
};

/** Returns a plan with its price. @param wanted currency of the price. Default: the plan's own currency. */
function described(record: PlanRecord, wanted: string | undefined, session: DataSession): JsonObject {
  const own = wanted === undefined || fits(wanted, record.currency);
  const currency = wanted ?? record.currency;
  const price = wanted === undefined ? record.price : listPrice(record, wanted);
  const discounted = own ? record.price_after_discount : null;
  return shaped(plan, {
    ...record,
    currency,
    price,
    price_text: moneyText(price, currency, session.moneyScale),
    price_after_discount: discounted,
    price_after_discount_text: moneyText(discounted, currency, session.moneyScale),
  });
}

/** Returns true if a plan has a price in the currency. A plan without a listed currency may have any currency. */
function isOffered({ currency, prices }: PlanRecord, wanted: string | undefined): boolean {
  if (wanted === undefined || fits(wanted, currency) || Object.hasOwn(prices, wanted)) return true;
  return currency === null && Object.keys(prices).length === 0;
}

const currencyOf = ({ currency }: ValueObject) =>
  typeof currency === "string" ? currency.trim().toUpperCase() : undefined;

const knownCurrency = (config: ValueObject) =>
  wordProblem("currency", currencyOf(config), CURRENCIES, "No plan can be ordered in another one.");

/** Returns the plans that match the configuration. */
async function matching(config: JsonObject, { account }: DataSession): Promise<PlanRecord[]> {
  const currency = currencyOf(config);
  const fitting = (await account.plans({ isShown: true })).filter(
    (record) =>
      (["name", "product_type", "billing_cycle"] as const).every((name) => fits(config[name], record[name])) &&
      isOffered(record, currency),
  );
  return sorted(fitting, ({ plan_id }) => plan_id);
}

const nameOf = ({ plan_id, name, currency, billing_cycle }: PlanRecord) =>
  `${plan_id ?? "?"} (${[name, currency, billing_cycle].filter((word) => word !== null).join(", ")})`;

export const hostingPlan: DataSource = {
  name: "hosting_plan",
  schema: readOnly(
    "A plan that can be ordered, by its number or its name. It is an error when there is none, or more than one.",
    {
      ...plan,
      plan_id: sought(
        "number",
        "Number of the plan, which `hosting_service` takes as `plan_id`. Either this or `name`.",
      ),
      name: sought("string", "Name of the plan, in upper or lower case. Either this or `plan_id`."),
      product_type: sought("string", "Kind of product, in the API's own word; distinguishes plans of one name."),
      currency: sought("string", CURRENCY),
      billing_cycle: sought("string", "Billing cycle, in the API's own word; distinguishes plans of one name."),
    },
  ),
  check: (config) => [...exactlyOne(config, ["plan_id", "name"]), ...knownCurrency(config)],
  async read(config, session) {
    const fitting = await matching(config, session);
    const found = fitting.filter((record) => config.plan_id === null || record.plan_id === config.plan_id);
    const record = theOnly(found, soughtPlan(config, await session.account.plans({ isShown: true })));
    return withConfigured(config, described(record, currencyOf(config), session));
  },
};

/** Describes the plan that a configuration selects. @param all every plan of the host. */
function soughtPlan(config: JsonObject, all: readonly PlanRecord[]): Sought<PlanRecord> {
  const more = ["product_type", "currency", "billing_cycle"].filter((name) => config[name] !== null);
  const narrowed = more.map((name) => ` of ${name} ${JSON.stringify(config[name])}`).join("");
  const names = [...new Set(all.flatMap(({ name }) => name ?? []))];
  const several = "Narrow it with `product_type`, `currency` or `billing_cycle`, or set the `plan_id`.";
  if (config.plan_id !== null) {
    const none = `The plans are ${some(all.map(nameOf))}.`;
    return { what: `plan ${String(config.plan_id)}${narrowed}`, attribute: "plan_id", nameOf, none, several };
  }
  const name = String(config.name);
  const none = `The plans are ${some(names)}.${didYouMean(name, names)}`;
  return { what: `plan ${JSON.stringify(name)}${narrowed}`, attribute: "name", nameOf, none, several };
}

export const hostingPlans: DataSource = {
  name: "hosting_plans",
  schema: readOnly("The plans that can be ordered, all or some of them.", {
    name: filter("string", "Only plans of this name, in upper or lower case."),
    product_type: filter("string", "Only plans of this kind of product, in the API's own word."),
    currency: filter("string", CURRENCY),
    billing_cycle: filter("string", "Only plans of this billing cycle, in the API's own word."),
    plans: listOf(plan, "plans"),
  }),
  check: knownCurrency,
  async read(config, session) {
    const found = await matching(config, session);
    return { ...config, plans: found.map((record) => described(record, currencyOf(config), session)) };
  },
};

export const hostingDomainAvailability: DataSource = {
  name: "hosting_domain_availability",
  schema: readOnly(
    "Availability of domains for registration, according to the API. Each plan asks again. An answer reserves nothing.",
    {
      domains: required({ list: "string" }, "The domains to ask about, such as `acme.example`."),
      available: computed(
        { map: "bool" },
        "Availability by domain, as written in `domains`: `true`, `false`, or null if the API's answer is unclear.",
      ),
      all_available: computed("bool", "True if all domains are available."),
    },
  ),
  check: ({ domains }) =>
    Array.isArray(domains) ? domains.flatMap((name, at) => (isDomain(name) ? [] : [notADomain(name, at)])) : [],
  async read({ domains }, { client, stop }) {
    const names = Array.isArray(domains) ? domains.map(String) : [];
    const asked = [...new Set(names)];
    const answers = asked.length === 0 ? [] : await client.domains.check(asked, { signal: stop });
    const entries = asked.map((name): [string, Json] => [name, availabilityOf(name, answers)]);
    return {
      domains: names,
      available: Object.fromEntries(entries),
      all_available: entries.every(([, available]) => available === true),
    };
  },
};

/** Returns true for a valid domain. Accepts an unknown value, because Terraform validates again when the value is known. */
function isDomain(name: Value): boolean {
  if (name === UNKNOWN) return true;
  return typeof name === "string" && domainProblem(name) === undefined;
}

function notADomain(name: Value, at: number): Diagnostic {
  const why = typeof name === "string" ? `: ${domainProblem(name)}` : "";
  return problem("config.invalid_value/domain", { name: JSON.stringify(name), why, attribute: ["domains", at] });
}

/** Returns the availability of a name. The client requests each name once, in lower case. */
function availabilityOf(name: string, answers: readonly DomainAvailability[]): boolean | null {
  const wanted = foldedDomain(name);
  return answers.find(({ domain }) => foldedDomain(domain) === wanted)?.available ?? null;
}
