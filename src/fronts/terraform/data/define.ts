import { type Kind, kinds, type Remote } from "../../../core/kinds/index.ts";
import type { Account } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  folded,
  isError,
  isNameLike,
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

/** Creates the schema of a data source. Its version is always 0, because Terraform never upgrades a data source. */
export const readOnly = (description: string, attributes: Attributes): Schema => ({
  version: 0,
  description,
  attributes,
});

/** Creates an attribute that the API reports. */
export const computed = (type: Type, description: string): Attribute => ({ type, description, computed: true });
/** Creates an attribute that filters a list. */
export const filter = (type: Type, description: string): Attribute => ({ type, description, optional: true });
/** Creates an attribute that selects an object. If it is not set, the found object provides its value. */
export const sought = (type: Type, description: string): Attribute => ({
  type,
  description,
  optional: true,
  computed: true,
});
export const required = (type: Type, description: string): Attribute => ({ type, description, required: true });

/** Creates the attribute with the objects of a list. @param of plural noun for the description, for example `services`. */
export const listOf = (attributes: Attributes, of: string): Attribute =>
  computed({ nesting: "list", attributes }, `The ${of}, by ascending id.`);

/** Sorts a list by id, so that a different order from the API causes no change. */
export function sorted<T>(objects: Iterable<T>, idOf: (one: T) => Json | undefined): T[] {
  numeric ??= new Intl.Collator("en-US", { numeric: true });
  const { compare } = numeric;
  return [...objects].sort((a, b) => compare(String(idOf(a)), String(idOf(b))));
}

/** Created for the first list, because the data of locales load slowly. */
let numeric: Intl.Collator | undefined;

/** Selects the attributes of a schema from a record. A missing attribute is null. Omits all other fields. */
export function shaped(attributes: Attributes, record: object): JsonObject {
  const values = record as Readonly<Record<string, Json | undefined>>;
  return Object.fromEntries(Object.keys(attributes).map((name) => [name, values[name] ?? null]));
}

/** Filters by the name of a value: comparison with the wanted value, description, and type (default: `string`). */
export type Filters = Readonly<
  Record<string, readonly [fits: (wanted: Given, found: Given) => boolean, description: string, type?: Type]>
>;

/** Creates the attributes of filters. */
export const filterAttributes = (filters: Filters): Attributes =>
  Object.fromEntries(Object.entries(filters).map(([name, [, text, type = "string"]]) => [name, filter(type, text)]));

/** Returns true if the values match each declared filter. */
export const fitsAll = (filters: Filters, config: JsonObject, values: JsonObject): boolean =>
  Object.entries(filters).every(([name, [fit]]) => config[name] === null || fit(config[name], values[name]));

/** A data source that lists objects. */
interface Listing {
  readonly description: string;
  /** Attributes of an object. */
  readonly item: Attributes;
  /** Attributes that {@link all} needs. */
  readonly of?: Attributes;
  readonly filters: Filters;
  readonly check?: DataSource["check"];
  /** Returns all objects. The API has no filters (§4). */
  all(config: JsonObject, session: DataSession): Promise<JsonObject[]>;
}

/** Creates the data source `hosting_NAME`, with the attribute NAME: the objects that match all filters. */
export function listing(name: string, { description, item, of = {}, filters, check, all }: Listing): DataSource {
  const list = listOf(item, name.replaceAll("_", " "));
  return {
    name: `hosting_${name}`,
    schema: readOnly(description, { ...of, ...filterAttributes(filters), [name]: list }),
    ...(check && { check }),
    async read(config, session) {
      const found = (await all(config, session)).filter((one) => fitsAll(filters, config, one));
      return { ...config, [name]: found.map((one) => shaped(item, one)) };
    },
  };
}

/** Rules of a pattern, for descriptions. */
export const PATTERN =
  "`*` matches any text, `?` one character; in upper or lower case, international names in either form";

/** Creates a filter by domain. @param of for example `services of`. */
export const domainFilter = (of: string, more = ""): Filters[string] => [
  isNameLike,
  `Only ${of} this domain, such as \`*.acme.example\`: ${PATTERN}.${more}`,
];

/** Returns attributes with the declared values, which must stay unchanged. */
export function withConfigured(config: JsonObject, attributes: JsonObject): JsonObject {
  const given = Object.entries(config).filter(([, value]) => value !== null);
  return { ...attributes, ...Object.fromEntries(given) };
}

/** Returns the kind of a resource type. */
export function kindOf(type: string): Kind {
  return kinds.get(type) ?? refuse(problem("internal/absent", { what: `kind ${type}` }));
}

/** Types whose collections were listed in this process, by account. */
const listed = new WeakMap<Account, Set<string>>();

/** Lists the objects of a type (of one parent), by ascending id. */
export async function allOf(type: string, session: DataSession, parent?: string): Promise<Remote[]> {
  const kind = kindOf(type);
  const { account, collections = collectionsOf(session) } = session;
  collections.upToDate(kind, parent);
  listed.set(account, (listed.get(account) ?? new Set()).add(type));
  return sorted((await account.list(kind, parent)).values(), ({ id }) => id);
}

/** Returns a function that lists the attributes of all objects of a type. */
export const attributesOf = (type: string) => async (_: JsonObject, session: DataSession) =>
  (await allOf(type, session)).map(({ attributes }) => attributes);

/**
 * Returns the object with an id: by its own request if the process reads only a few objects and no list, otherwise from the list that
 * all readers share.
 * @param attribute of the id. @throws HostformError `terraform.lookup` if the object does not exist.
 */
export async function oneById(type: string, id: string, session: DataSession, attribute = "id"): Promise<Remote> {
  const kind = kindOf(type);
  const { account, collections = collectionsOf(session) } = session;
  collections.upToDate(kind, undefined);
  const alone = (await collections.isAlone(kind, undefined)) && !listed.get(account)?.has(type);
  const reading = alone ? account.get(kind, id) : account.find(kind, id);
  return existing(reading, { noun: kind.noun, id, attribute, source: `${type}s` });
}

/** Validates the configuration of a data source or an action. Accepts unknown values. @param block first word of the block. */
export function checkSource(
  { name, schema: { attributes }, check }: Pick<DataSource, "name" | "schema" | "check">,
  config: ValueObject,
  block: "data" | "ephemeral" | "list" | "action",
): readonly Diagnostic[] {
  // An empty id would request another URL. Terraform accepts null as a value.
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

/** Reports a known value that is not one of the words. @param more sentence for the remedy. */
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

/** Compares words in their folded form. An absent filter matches every word. */
export const fits = (wanted: Given, found: Given) => typeof wanted !== "string" || folded(found) === folded(wanted);

/** Reports two attributes if both or none of them are set. Accepts an unknown value, which may become null. */
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
  /** Attribute of the lookup. */
  readonly attribute: string;
  /** Names one of several matches. */
  nameOf(one: T): string;
  readonly none: string;
  readonly several: string;
}

/** Returns the only found object. @throws HostformError `terraform.lookup` if no object or several objects were found. */
export function theOnly<T>(found: readonly T[], { what, attribute, nameOf, none, several }: Sought<T>): T {
  const [only, another] = found;
  const place = { what, attribute: [attribute] };
  if (only === undefined) return refuse(problem("terraform.lookup/none", { ...place, fix: none }));
  if (another === undefined) return only;
  return refuse(problem("terraform.lookup/several", { ...place, found: some(found.map(nameOf)), fix: several }));
}

/**
 * Reads one object by id.
 * @param source data source that lists such objects. @throws HostformError `terraform.lookup` if the object does not exist.
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
  return refuse(problem("terraform.lookup/none", { what: `${noun} ${id}`, fix, attribute: [attribute] }));
}
