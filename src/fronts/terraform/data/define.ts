import { type Kind, kinds, type Remote } from "../../../core/kinds/index.ts";
import type { Account } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  folded,
  foldedDomain,
  formatAmount,
  isError,
  isNotFound,
  type Json,
  type JsonObject,
  some,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Attribute, Attributes, Schema } from "../../../core/model/schema.ts";
import type { DataSession, DataSource } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { collectionsOf } from "../resource/provider-scope.ts";
import { checkSettable } from "../resource/validate.ts";

type Type = Attribute["type"];

/** The schema of what is only read: no state holds it in an older version. */
export const readOnly = (description: string, attributes: Attributes): Schema => ({
  version: 0,
  description,
  attributes,
});

/** An attribute that the API reports. */
export const computed = (type: Type, description: string): Attribute => ({ type, description, computed: true });
/** An attribute that narrows a list. */
export const filter = (type: Type, description: string): Attribute => ({ type, description, optional: true });
/** An attribute that selects an object, or is computed from the found one. */
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
export function moneyText(amount: Given, currency: Given, { moneyScale }: DataSession): string | null {
  if (typeof amount !== "number" || moneyScale === undefined) return null;
  const text = formatAmount(amount, moneyScale);
  return typeof currency === "string" ? `${text} ${currency}` : text;
}

/** Declared values stay as they were written. */
export function withConfigured(config: JsonObject, attributes: JsonObject): JsonObject {
  const given = Object.entries(config).filter(([, value]) => value !== null);
  return { ...attributes, ...Object.fromEntries(given) };
}

/** The kind of a resource type. */
export function kindOf(type: string): Kind {
  return kinds.get(type) ?? refuse(problem("internal/absent", { what: `kind ${type}` }));
}

/** The accounts whose collections were listed here, with the types. */
const listed = new WeakMap<Account, Set<string>>();

/** The objects of a type (of one parent), by ascending id. */
export async function allOf(type: string, session: DataSession, parent?: string): Promise<Remote[]> {
  const kind = kindOf(type);
  const { account, collections = collectionsOf(session) } = session;
  collections.upToDate(kind, parent);
  listed.set(account, (listed.get(account) ?? new Set()).add(type));
  return sorted((await account.list(kind, parent)).values(), ({ id }) => id);
}

/**
 * The object with an id: by a request for it alone where few are read and nothing else needs the list, else from the list
 * that all readers share.
 * @param attribute in which the id is given. @throws HostformError `terraform.lookup` when there is none.
 */
export async function oneById(type: string, id: string, session: DataSession, attribute = "id"): Promise<Remote> {
  const kind = kindOf(type);
  const { account, collections = collectionsOf(session) } = session;
  collections.upToDate(kind, undefined);
  const alone = (await collections.isAlone(kind, undefined)) && !listed.get(account)?.has(type);
  const reading = alone ? account.get(kind, id) : account.find(kind, id);
  return existing(reading, { noun: kind.noun, id, attribute, source: `${type}s` });
}

/** Checks the configuration of a block that is read. Unknown values pass. @param block the word that the block begins with. */
export function checkSource(
  { name, schema: { attributes }, check }: DataSource,
  config: ValueObject,
  block: "data" | "ephemeral",
): readonly Diagnostic[] {
  // An empty id would ask for another address. Terraform takes null for a value.
  const missing = Object.entries(attributes).filter(
    ([of, { required }]) => config[of] === "" || (required && (config[of] ?? null) === null),
  );
  const found = [
    ...checkSettable(attributes, config, `${block}.${name}.NAME`),
    ...missing.map(([of]) => {
      const value = JSON.stringify(config[of] ?? null);
      return problem("config.missing_attribute/value", { name: of, found: value, attribute: [of] });
    }),
  ];
  return found.some(isError) ? found : [...found, ...(check?.(config) ?? [])];
}

/** Requires one of the words, where a value is known. @param more a sentence for the remedy. */
export function wordProblem(
  name: string,
  given: Value | undefined,
  words: readonly string[],
  more: string,
): Diagnostic[] {
  if (typeof given !== "string" || words.includes(given)) return [];
  return [problem("config.invalid_value/word", { name, given, words, more, attribute: [name] })];
}

/** A value of a configuration or of the API. */
type Given = Json | undefined;

/** Equality of words in their folded form. A filter that is not set matches everything. */
export const fits = (wanted: Given, found: Given) => typeof wanted !== "string" || folded(found) === folded(wanted);

/** The same for domains, whose international names have two forms. */
export const fitsDomain = (wanted: Given, found: Given) =>
  typeof wanted !== "string" || foldedDomain(found) === foldedDomain(wanted);

/** Requires exactly one of two attributes. An unknown value may become null, so it passes. */
export function exactlyOne(config: ValueObject, names: readonly [string, string]): Diagnostic[] {
  if (names.some((name) => config[name] === UNKNOWN)) return [];
  const given = names.filter((name) => (config[name] ?? null) !== null);
  const words = names.map((name) => `\`${name}\``).join(" or ");
  const [first, second] = given;
  if (first === undefined) return [problem("config.missing_attribute/one_of", { words })];
  return second === undefined ? [] : [problem("config.invalid_value/one_of", { words, attribute: [second] })];
}

/** Subject of a lookup, and the fix if it does not find exactly one object. */
export interface Sought<T> {
  /** Completes "There is no …": `plan "Start"`. */
  readonly what: string;
  /** The attribute that it is looked up by. */
  readonly attribute: string;
  /** Names one of several matches. */
  nameOf(one: T): string;
  readonly none: string;
  readonly several: string;
}

/** The one object among those found. @throws HostformError `terraform.lookup` when there is none, or several. */
export function theOnly<T>(found: readonly T[], { what, attribute, nameOf, none, several }: Sought<T>): T {
  const [only, another] = found;
  const place = { what, attribute: [attribute] };
  if (only === undefined) return refuse(problem("terraform.lookup/none", { ...place, fix: none }));
  if (another === undefined) return only;
  return refuse(problem("terraform.lookup/several", { ...place, found: some(found.map(nameOf)), fix: several }));
}

/**
 * The object that a request by id finds.
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
  const fix = `Correct the id. The data source \`${source}\` lists the existing ones.`;
  return refuse(problem("terraform.lookup/id", { what: `${noun} ${id}`, fix, attribute: [attribute] }));
}
