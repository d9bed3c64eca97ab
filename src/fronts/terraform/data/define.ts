import { type Kind, kinds, type Remote } from "../../../core/kinds/index.ts";
import { type Account, isNotFound } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  fail,
  formatAmount,
  type Json,
  type JsonObject,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Attribute, Attributes } from "../../../core/model/schema.ts";
import type { DataSession, DataSource } from "../index.ts";
import { collectionsOf } from "../resource/provider-scope.ts";

/** A data source that can refuse a configuration before it is read. Values may be unknown; null where nothing is given. */
export interface CheckedDataSource extends DataSource {
  check?(config: ValueObject): readonly Diagnostic[];
}

type Type = Attribute["type"];

/** What the API reports. */
export const computed = (type: Type, description: string): Attribute => ({ type, description, computed: true });
/** What narrows a list. */
export const filter = (type: Type, description: string): Attribute => ({ type, description, optional: true });
/** What an object is looked up by, or else computed from the one found. */
export const sought = (type: Type, description: string): Attribute => ({
  type,
  description,
  optional: true,
  computed: true,
});
export const required = (type: Type, description: string): Attribute => ({ type, description, required: true });

/** The objects of a list, each with these attributes. @param of "services", for the description. */
export const listOf = (attributes: Attributes, of: string): Attribute =>
  computed({ nesting: "list", attributes }, `The ${of}, by ascending id.`);

/** The same order at each read, whatever the API's is: a list that turns round would look changed. */
export function sorted<T>(objects: Iterable<T>, idOf: (one: T) => Json | undefined): T[] {
  return [...objects].sort((a, b) => NUMERIC.compare(String(idOf(a)), String(idOf(b))));
}

const NUMERIC = new Intl.Collator("en-US", { numeric: true });

/** The attributes of a schema taken from a record, null where it does not have them: nothing else gets out. */
export function shaped(attributes: Attributes, record: object): JsonObject {
  const values = record as Readonly<Record<string, Json | undefined>>;
  return Object.fromEntries(Object.keys(attributes).map((name) => [name, values[name] ?? null]));
}

const SCALE = "null without `money_scale` in the provider's configuration";

/** An amount as text, for people. */
export const amountText = (of: string, example: string): Attribute =>
  computed("string", `\`${of}\` as text, such as \`${example}\`; ${SCALE}.`);

/** `9.99 USD`; null when the scale of amounts is not known (§2 Gaps), or there is no amount. */
export function moneyText(amount: number | null, currency: string | null, { moneyScale }: DataSession): string | null {
  if (amount === null || moneyScale === undefined) return null;
  const text = formatAmount(amount, moneyScale);
  return currency === null ? text : `${text} ${currency}`;
}

/** What was asked for stays as it was written. */
export function withConfigured(config: JsonObject, attributes: JsonObject): JsonObject {
  const given = Object.entries(config).filter(([, value]) => value !== null);
  return { ...attributes, ...Object.fromEntries(given) };
}

/** The kind whose objects a data source shows. */
export function kindOf(type: string): Kind {
  return kinds.get(type) ?? fail("internal", `There is no kind ${type}`);
}

/** The accounts whose collections were listed here, with the types. */
const listed = new WeakMap<Account, Set<string>>();

/** The objects of a kind (of one parent), by ascending id. */
export async function allOf(kind: Kind, session: DataSession, parent?: string): Promise<Remote[]> {
  const { account } = session;
  (session.collections ?? collectionsOf(session)).upToDate(kind, parent);
  listed.set(account, (listed.get(account) ?? new Set()).add(kind.type));
  return sorted((await account.list(kind, parent)).values(), ({ id }) => id);
}

/** One object: by a request of its own where few are asked for and nothing else needs the listing, else out of the listing that all share. */
export async function oneById(kind: Kind, id: string, session: DataSession): Promise<Remote | undefined> {
  const { collections = collectionsOf(session) } = session;
  collections.upToDate(kind, undefined);
  const alone = (await collections.isAlone(kind, undefined)) && !listed.get(session.account)?.has(kind.type);
  return alone ? session.account.get(kind, id) : session.account.find(kind, id);
}

/** Equality of words, without regard to case and surrounding blanks; what is not asked for fits everything. */
export function fits(wanted: Json | undefined, found: string | null): boolean {
  if (typeof wanted !== "string") return true;
  return found !== null && found.trim().toLowerCase() === wanted.trim().toLowerCase();
}

/** Exactly one of two attributes is to be given. One that is unknown yet counts as given. */
export function exactlyOne(config: ValueObject, names: readonly [string, string]): Diagnostic[] {
  const given = names.filter((name) => (config[name] ?? null) !== null);
  const last = given.at(-1);
  const words = names.map((name) => `\`${name}\``).join(" or ");
  if (last === undefined) {
    const summary = `Nothing to look for: ${words} is missing`;
    return [{ severity: "error", code: "config.missing_attribute", summary, remedies: [`Give ${words}.`] }];
  }
  if (given.length === 1) return [];
  const summary = `Only one of ${words} can be given`;
  return [
    {
      severity: "error",
      code: "config.invalid_value",
      summary,
      remedies: ["Remove one of the two."],
      attribute: [last],
    },
  ];
}

/** What is looked for, in words, and what to do when there is not exactly one. */
export interface Sought<T> {
  /** Completes "There is no …": `plan "Start"`. */
  readonly what: string;
  /** The attribute that it is looked for by. */
  readonly attribute: string;
  /** How one of several is named. */
  nameOf(one: T): string;
  readonly none: string;
  readonly several: string;
}

/** The one object among those found. @throws HostformError `terraform.lookup` when there is none, or several. */
export function theOnly<T>(found: readonly T[], { what, attribute, nameOf, none, several }: Sought<T>): T {
  const [only, another] = found;
  const place = { attribute: [attribute] };
  if (only === undefined) return fail("terraform.lookup", `There is no ${what}`, { remedies: [none], ...place });
  if (another === undefined) return only;
  return fail("terraform.lookup", `There is more than one ${what}`, {
    detail: `They are ${inWords(found.map(nameOf))}.`,
    remedies: [several],
    ...place,
  });
}

/** How many names a message lists. */
const SHOWN = 10;

/** `a, b, c and 4 more`. */
export function inWords(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more > 0 ? `${names.slice(0, SHOWN).join(", ")} and ${more} more` : names.join(", ");
}

/**
 * The object that a reading by id finds.
 * @param source the data source that lists such objects. @throws HostformError `terraform.lookup` when there is none.
 */
export async function existing<T>(
  reading: Promise<T | undefined>,
  { noun, id, attribute, source }: { noun: string; id: string; attribute: string; source: string },
): Promise<T> {
  const found = await reading.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found !== undefined) return found;
  return fail("terraform.lookup", `There is no ${noun} ${id}`, {
    detail: "The API does not know it, or not in the account of this token.",
    remedies: [`Correct the id; \`data "${source}"\` tells those that there are.`],
    attribute: [attribute],
  });
}
