import * as z from "zod";
import { attempt, CONDITION_NAMES, CURRENCIES, EFFECT_KINDS, WEEKDAYS } from "../model/index.ts";

const number = (of: string) => z.int(`expected a whole number of ${of}`).min(0, "at least 0");

const amounts = () =>
  z.strictObject(Object.fromEntries(CURRENCIES.map((currency) => [currency, number("units").optional()]))).optional();

/** Returns a list type. An empty list allows nothing. */
const list = <Item extends z.ZodType>(item: Item, what: string) => z.array(item, `expected a list of ${what}`);

const names = (what: string) => list(z.string(`expected ${what}`).min(1, `expected ${what}`), what);

/**
 * Returns the type of domain patterns. An asterisk must precede the domain, because elsewhere it could match domains of other
 * owners.
 */
const domains = () =>
  list(
    z.string().regex(/^(?:\*|(?:\*\.)?[^*\s]+)$/u, "expected a domain, *.DOMAIN for those below it, or *"),
    "domains such as *.acme.example",
  );

const kinds = () => list(z.string().regex(/^[a-z]\w*$/, "expected a type such as hosting_webhook"), "types");
const effects = () => list(z.enum(EFFECT_KINDS), "effects");
const time = () => z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, "expected a time such as 17:30");
const day = () => z.iso.date("expected a day such as 2026-12-24");

const isTimeZone = (timeZone: string) =>
  attempt(
    () => new Intl.DateTimeFormat("en", { timeZone }) !== undefined,
    () => false,
  );

const windows = z.strictObject({
  days: list(z.enum(WEEKDAYS), "days").min(1, "at least one day").optional().describe("Days of the week."),
  from: time().optional().describe("First minute of the day. Default: 00:00."),
  to: time().optional().describe("The minute after the last. Earlier than `from`: on the next day. Default: 24:00."),
  since: day().optional().describe("First day."),
  until: day().optional().describe("Last day."),
  time_zone: z
    .string()
    .refine(isTimeZone, "expected a time zone such as Europe/Berlin")
    .optional()
    .describe("Time zone of days and times. Default: UTC."),
  allow: effects().optional().describe("Effects that the window allows. Default: none."),
  reason: z.string().optional().describe("Reason of the window, for readers."),
});

const scopes = z
  .strictObject({
    files: names("files")
      .optional()
      .describe("Files of the declaration, relative to its folder. `*` matches any characters."),
    authors: names("authors")
      .optional()
      .describe("Users that the CI reports. The scope also applies to a run without an author."),
    except_authors: names("authors").optional().describe("Users to whom the scope does not apply."),
    clients: names("clients").optional().describe("Clients whose objects may change."),
    kinds: kinds().optional().describe("Types of resources that may change."),
    effects: effects().optional().describe("Effects that a change may have."),
  })
  .refine(({ files, authors, except_authors }) => files ?? authors ?? except_authors, "expected `files` or `authors`")
  .refine(({ clients, kinds, effects }) => clients ?? kinds ?? effects, "expected `clients`, `kinds` or `effects`");

/** Schema of a rule file. The published JSON schema is generated from it. */
export const policySchema = z
  .strictObject({
    max_orders: number("orders").optional().describe("Maximum number of orders in one run."),
    max_spend: amounts().describe("Maximum spending of one run, by currency, in the unit of the API."),
    max_spend_month: amounts().describe("Maximum spending of one calendar month (UTC), over all runs, by currency."),
    max_orders_day: number("orders").optional().describe("Maximum number of orders of one day (UTC), over all runs."),
    max_removals: number("removals").optional().describe("Maximum number of resources that one run may remove."),
    webhook_hosts: domains().optional().describe("Hosts that may receive events."),
    grantee_domains: domains().optional().describe("E-mail domains of the people who may get access."),
    plans: list(z.union([z.string(), z.int()]), "plans")
      .optional()
      .describe("Hosting plans that may be ordered: names or numbers."),
    currencies: list(z.enum(CURRENCIES), "currencies").optional().describe("Currencies of orders."),
    removable_kinds: kinds().optional().describe("Types of resources that may be removed."),
    never_offline: names("sites").optional().describe("Domains or addresses of sites that must stay online."),
    look_alikes: z
      .enum(["deny", "warn"])
      .optional()
      .describe("Result for a name that is similar to another name: reject it, or warn."),
    require_state_key: z.literal(true).optional().describe("The state must be encrypted with a key."),
    no_orders_while: list(z.enum(CONDITION_NAMES), "conditions")
      .optional()
      .describe("Conditions that forbid an order while an object has one of them."),
    windows: list(windows, "windows")
      .optional()
      .describe("Times in which an apply changes nothing, or has only the allowed effects."),
    scopes: list(scopes, "scopes").optional().describe("Changes that authors or files may contain."),
  })
  .refine((rules) => Object.keys(rules).length > 0, "expected at least one rule");
