/** Checks of the records against §2: their fields, types and words. */
import { type ContractCheck, isObject, type JsonObject } from "../core/model/index.ts";
import { type CheckResult, check, differs, excerpt, fieldOf, pass, stops, unseen, unseenIn, word } from "./evidence.ts";
import { isSuccess, recordsOf, type Survey } from "./survey.ts";

/** How hostform reads the words of a server; the kinds know them, so the caller hands them in. */
export interface Vocabulary {
  /** The phase of a status word; hostform never acts on "unknown". */
  readonly phase: (word: string) => string;
  /** The months of a billing cycle; undefined when it is not known. */
  readonly months: (cycle: string) => number | undefined;
  /** How the password of a product is set. */
  readonly password: (productType: string) => "given" | "generated" | "unknown";
}

/** The rule of a field. `optional`: it may be null (§2 does not say, but an unpaid invoice has no paid_at). */
type FieldRule = { readonly expects: string; readonly fits: (value: unknown) => boolean; readonly optional?: true };

const matching = (expects: string, pattern: RegExp): FieldRule => ({
  expects,
  fits: (value) => typeof value === "string" && pattern.test(value),
});
const integer: FieldRule = { expects: "an integer", fits: Number.isSafeInteger };
const string = matching("a string", /^/);
const currency = matching("GEL, USD or EUR", /^(?:GEL|USD|EUR)$/);
const date = matching("a date, YYYY-MM-DD", /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/);
const moment = matching(
  "a time, ISO 8601 with UTC offset",
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})$/,
);
const optional = (rule: FieldRule): FieldRule => ({ ...rule, optional: true });

const FIELDS: Readonly<Record<"service" | "invoice", Readonly<Record<string, FieldRule>>>> = {
  service: {
    id: integer,
    plan: string,
    product_type: string,
    status: string,
    // A VPS is ordered without a domain (§4).
    domain: optional(string),
    billing_cycle: string,
    currency,
    price: integer,
    next_due_date: optional(date),
    provisioning_status: string,
    created_at: moment,
  },
  invoice: {
    id: integer,
    invoice_number: string,
    status: string,
    currency,
    subtotal: integer,
    total: integer,
    due_date: optional(date),
    paid_at: optional(moment),
    order_id: integer,
  },
};

export function recordChecks(survey: Survey, { phase, months, password }: Vocabulary): readonly ContractCheck[] {
  const manageSays = "Manage-track fields come together, and the price after discount is no higher";
  const productSays = "hostform knows how passwords of the products are set";
  return [
    check("plan.plan_id", "§2 Plan", "plan_id is the integer that an order takes", planId(survey)),
    check("plan.manage", "§2 Plan", manageSays, manage(survey)),
    check("service.fields", "§2 Service", "A service has the fields of the table", fields(survey, "service")),
    check("service.wrapped", "§2 Service", "One service is wrapped under data", wrapped(survey, "service")),
    check("service.same", "§4 Endpoints", "GET /services/{id} gives the service of that id", same(survey)),
    check("service.status", "§2 Service", "hostform knows the words for a service's status", statuses(survey, phase)),
    check("service.cycle", "§2 Service", "hostform knows the billing cycles", cycles(survey, months)),
    check("service.product", "§4 POST password", productSays, products(survey, password)),
    check("invoice.fields", "§2 Invoice", "An invoice has the fields of the table", fields(survey, "invoice")),
    check("invoice.wrapped", "§2 Invoice", "One invoice is wrapped under data", wrapped(survey, "invoice")),
    check("invoice.total", "§2 Invoice", "total is net of a discount: never above subtotal", totals(survey)),
  ];
}

function fields(survey: Survey, kind: keyof typeof FIELDS): CheckResult {
  const records = recordsOf(survey, `${kind}s`);
  if (records.length === 0) return unseenIn(survey, `${kind}s`);
  const wrong = new Map<string, string>();
  for (const { record, title } of records) {
    for (const [field, rule] of Object.entries(FIELDS[kind])) {
      const value = record[field];
      if (wrong.has(field) || (rule.optional && value === null) || (value !== undefined && rule.fits(value))) continue;
      const came = value === undefined ? "is missing" : `is ${excerpt(value, field)}, not ${rule.expects}`;
      wrong.set(field, `${field} ${came} (${title})`);
    }
  }
  if (wrong.size === 0) return pass(`${records.length} checked.`);
  return differs(`${[...wrong.values()].join("; ")}.`);
}

function planId(survey: Survey): CheckResult {
  const plans = recordsOf(survey, "plans");
  if (plans.length === 0) return unseenIn(survey, "plans");
  const ids = plans.map(({ record }) => record.plan_id);
  if (ids.every((id) => Number.isSafeInteger(id))) return pass(`${plans.length} checked.`);
  const usable = plans.every(({ record }) => /^\d+$/.test(String(record.plan_id ?? record.id)));
  const shown = `A plan is ${excerpt(plans[0]?.record)}.`;
  if (usable) return differs(shown);
  return stops(`${shown} An order names its plan by a whole number.`, "Ask the host for the plan_id of each plan.");
}

function manage(survey: Survey): CheckResult {
  const plans = recordsOf(survey, "plans").map(({ record }) => record);
  const names = ["manage_discount_percent", "price_after_discount"];
  const having = plans.filter((plan) => names.some((name) => plan[name] !== undefined && plan[name] !== null));
  if (having.length === 0) return unseen("No plan has them: the account is not on the Manage track.");
  const halved = having.find((plan) => names.some((name) => plan[name] === undefined));
  if (halved !== undefined) return differs(`A plan has only one of the two: ${excerpt(halved)}.`);
  const dearer = having.find(({ price, price_after_discount: after }) => Number(after) > Number(price ?? Number.NaN));
  return dearer === undefined
    ? pass(`${having.length} checked.`)
    : differs("A price after discount is higher than the price.");
}

function wrapped(survey: Survey, kind: "service" | "invoice"): CheckResult {
  const sight = survey[kind];
  if (sight === undefined) return unseenIn(survey, `${kind}s`);
  if (!isSuccess(sight)) return unseen(`${sight.title} returned no record.`);
  const json = sight.answer?.json;
  return isObject(json) && isObject(json.data) ? pass() : differs(`${sight.title}: ${excerpt(json)}.`);
}

/** With another service than the requested one, hostform could suspend the wrong site. */
function same(survey: Survey): CheckResult {
  const sight = survey.service;
  if (sight === undefined) return unseenIn(survey, "services");
  if (sight.id === undefined) return unseen(`${sight.title} returned no record.`);
  if (sight.id === sight.asked) return pass();
  return stops("The answer is another service than the requested one.", "Look for a cache in front of the API.");
}

/** The texts of one field in these collections, each once. */
function textsOf(survey: Survey, field: string, names: readonly ("services" | "plans")[]): readonly string[] {
  const values = names.flatMap((name) => fieldOf(survey, name, field)).map(({ value }) => value);
  const texts = values.filter((value) => typeof value === "string" || typeof value === "number").map(String);
  return [...new Set(texts)].filter((text) => text.trim() !== "");
}

function statuses(survey: Survey, phase: Vocabulary["phase"]): CheckResult {
  const words = textsOf(survey, "status", ["services"]);
  if (words.length === 0) return unseenIn(survey, "services");
  const unknown = words.filter((text) => phase(text) === "unknown");
  const known = words.filter((text) => phase(text) !== "unknown").map((text) => `${word(text)} is ${phase(text)}`);
  if (unknown.length === 0) return pass(`${known.join(", ")}.`);
  return differs(
    `It does not know ${unknown.map(word).join(", ")}, and does not change services of that status.`,
    "Map the words under `providers: … status_words`.",
  );
}

function cycles(survey: Survey, months: Vocabulary["months"]): CheckResult {
  const words = textsOf(survey, "billing_cycle", ["services", "plans"]);
  if (words.length === 0) return unseenIn(survey, "services");
  const unknown = words.filter((text) => months(text) === undefined);
  if (unknown.length === 0) return pass();
  return differs(`It does not know ${unknown.map(word).join(", ")}, and cannot detect a changed term there.`);
}

function products(survey: Survey, password: Vocabulary["password"]): CheckResult {
  const words = textsOf(survey, "product_type", ["services", "plans"]);
  if (words.length === 0) return unseenIn(survey, "plans");
  const unknown = words.filter((text) => password(text) === "unknown");
  if (unknown.length === 0) return pass();
  return differs(
    `It does not know ${unknown.map(word).join(", ")}.`,
    "Use `hostform password`, with `--generate` or a given password; `password` cannot be declared there.",
  );
}

function totals(survey: Survey): CheckResult {
  const invoices = recordsOf(survey, "invoices").map(({ record }) => record);
  if (invoices.length === 0) return unseenIn(survey, "invoices");
  const above = ({ subtotal, total }: JsonObject) => Number(total) > Number(subtotal);
  return invoices.some(above) ? differs("The total of an invoice exceeds its subtotal, possibly by a tax.") : pass();
}
