/** Checks the values of fields. The control may create drift, but only records that could exist at a host. */
import { TERM_MONTHS } from "../money.ts";
import { unprocessable } from "../refusal.ts";
import { ABILITIES, CURRENCIES, EVENTS, PRODUCT_TYPES, TIERS } from "./records.ts";

export const isText = (value: unknown): value is string => typeof value === "string";
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type FieldRule = readonly [fits: (value: unknown) => boolean, words: string];

const oneOf = (values: readonly unknown[]): FieldRule => [
  (value) => values.includes(value),
  `one of ${values.join(", ")}`,
];
const someOf = (values: readonly unknown[]): FieldRule => [
  (value) => Array.isArray(value) && value.length > 0 && value.every((one) => values.includes(one)),
  `a list of ${values.join(", ")}`,
];
const whole: FieldRule = [isCount, "a whole number of 0 or more"];
const percent: FieldRule = [(value) => (value as number) >= 0 && (value as number) <= 100, "a number from 0 to 100"];
const date: FieldRule = [
  (value) => /^\d{4}-\d{2}-\d{2}$/.test(String(value)) && isDay(`${value}T00:00:00.000Z`),
  "a date such as 2026-12-31",
];
const instant: FieldRule = [
  (value) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(String(value)) && isDay(String(value)),
  "an instant such as 2026-12-31T10:00:00.000Z",
];

/** Rejects days such as 31 February, which `Date` would move to March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
}

/** Rules by field name. Statuses and product types may be any word, because clients must accept unknown words (§2 Gaps). */
const EVERYWHERE: Readonly<Record<string, FieldRule>> = {
  id: whole,
  currency: oneOf(CURRENCIES),
  product_types: someOf(PRODUCT_TYPES),
  abilities: someOf(ABILITIES),
  events: someOf(EVENTS),
  permission: oneOf(["view", "manage"]),
  suspended_for: oneOf(["request", "unpaid"]),
  tier: oneOf(TIERS),
  track: oneOf(["standard", "manage"]),
  term: oneOf(TERM_MONTHS),
  price: whole,
  subtotal: whole,
  total: whole,
  percent,
  manage_discount_percent: percent,
};

const HERE: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  transfers: { status: oneOf(["offered", "accepted", "declined"]) },
  deliveries: { status: oneOf(["pending", "delivered", "abandoned", "blocked"]) },
};

/** Nullable fields by collection. */
const NULLABLE: Readonly<Record<string, readonly string[]>> = {
  customers: ["tier"],
  tokens: ["service_ids"],
  services: ["domain", "coupon_code", "suspended_for"],
  invoices: ["paid_at"],
  grants: ["expires_at"],
  accounts: ["company_name", "company_number", "vat_number", "currency"],
  migration_requests: ["order_id", "credentials"],
  sign_ons: ["used_at"],
  deliveries: ["replay_of"],
  billing: ["invoice_id"],
};

export function isNullable(collection: string, name: string): boolean {
  return NULLABLE[collection]?.includes(name) ?? false;
}

function ruleOf(collection: string, name: string): FieldRule | undefined {
  const byForm = name.endsWith("_date") ? date : name.endsWith("_at") ? instant : undefined;
  return HERE[collection]?.[name] ?? EVERYWHERE[name] ?? byForm;
}

/** @throws Refusal (422) for an invalid value */
export function checkSound(collection: string, name: string, value: unknown): void {
  const rule = ruleOf(collection, name);
  if (rule === undefined || value === null || rule[0](value)) return;
  throw unprocessable(`The field "${name}" must be ${rule[1]}, not ${JSON.stringify(value)?.slice(0, 60)}.`);
}
