/**
 * Values that Terraform does not get after an import. It writes generated configuration from the state, and a generated
 * `suspended = false` would end each later suspension by the host. So an attribute that a declaration takes control of stays null in
 * the state until it is declared; the private data has its live value, which the core needs.
 */
import type { Kind } from "../../../core/kinds/kind.ts";
import { attributesOf } from "../../../core/lifecycle/index.ts";
import type { JsonObject, ValueObject } from "../../../core/model/index.ts";
import type { Mark } from "./attribute-mapping.ts";

/** The attributes that an import withholds: requests change them, and the API gives a value when none is declared. */
export const withheldByImport = (kind: Kind): readonly string[] =>
  attributesOf(kind).flatMap(({ name, meta: { change, computed, writeOnly } }) =>
    change === "in-place" && computed && !writeOnly ? [name] : [],
  );

/** The names that stay withheld: null in Terraform's state, and not declared. */
export function stillWithheld(
  { undeclared = {} }: Mark,
  state: ValueObject | null,
  config: ValueObject = {},
): string[] {
  if (state === null) return [];
  return Object.keys(undeclared).filter((name) => (state[name] ?? null) === null && (config[name] ?? null) === null);
}

/** An answer for Terraform: the values of these names go into the mark. */
export function withheld(state: JsonObject | null, mark: Mark, names: readonly string[]) {
  const { undeclared: _, ...rest } = mark;
  if (state === null || names.length === 0) return { state, mark: rest };
  const undeclared = Object.fromEntries(names.map((name) => [name, state[name] ?? null]));
  return { state: withNull(state, names), mark: { ...rest, undeclared } };
}

/** A plan for Terraform: what is withheld stays null. */
export const withNull = <T extends ValueObject>(values: T, names: readonly string[]): T => ({
  ...values,
  ...Object.fromEntries(names.map((name) => [name, null])),
});

/** The core's form of a state or a plan. */
export function withUndeclared<T extends ValueObject>(values: T, { undeclared = {} }: Mark): T {
  const given = Object.entries(undeclared).filter(([name]) => (values[name] ?? null) === null);
  return given.length === 0 ? values : { ...values, ...Object.fromEntries(given) };
}
