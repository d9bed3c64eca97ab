import {
  type Diagnostic,
  formatAmount,
  type Json,
  type JsonObject,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Attribute, Attributes } from "../../../core/model/schema.ts";
import type { DataSession, DataSource } from "../contract.ts";

/** A data source that can refuse a configuration before it is read. Values may be unknown; null where nothing is given. */
export interface CheckedDataSource extends DataSource {
  check?(config: ValueObject): readonly Diagnostic[];
}

type Type = Attribute["type"];

/** What the API tells. */
export const told = (type: Type, description: string): Attribute => ({ type, description, computed: true });
/** What narrows a list. */
export const filter = (type: Type, description: string): Attribute => ({ type, description, optional: true });
/** What an object is looked for by, or else told of the one found. */
export const sought = (type: Type, description: string): Attribute => ({
  type,
  description,
  optional: true,
  computed: true,
});
export const required = (type: Type, description: string): Attribute => ({ type, description, required: true });

/** The objects of a list, each with these attributes. @param of "services", for the description. */
export const listOf = (attributes: Attributes, of: string): Attribute =>
  told({ nesting: "list", attributes }, `The ${of}, by ascending id.`);

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
  told("string", `\`${of}\` as text, such as \`${example}\`; ${SCALE}.`);

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
