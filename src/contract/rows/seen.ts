/** What a row's function answers: pure, from what was seen. */
import { excerpt } from "../excerpt.ts";
import { recordsOf, type Survey, valuesOf, type Written } from "../sight.ts";
import type { SwitchName, ValueOf } from "../switches.ts";

export type Seen<S extends SwitchName> =
  | { readonly value: ValueOf<S>; readonly evidence: string }
  /** Something was seen that no value is like. */
  | { readonly other: string }
  /** There was nothing to look at. */
  | { readonly nothing: string };

/** Looks for one switch. `written` is undefined unless the harmless writes were sent. */
export type Look<S extends SwitchName> = (survey: Survey, written: Written | undefined) => Seen<S>;

export type Looks<S extends SwitchName> = { readonly [N in S]: Look<N> };

/** `services`, `client accounts`: for sentences. */
export const NOUNS = {
  plans: "plans",
  services: "services",
  invoices: "invoices",
  webhooks: "webhooks",
  accounts: "client accounts",
  migration_requests: "migration requests",
} as const;

/** The values of one field in one collection, which may have been read under several titles. */
export function fieldOf(survey: Survey, collection: keyof typeof NOUNS, field: string) {
  return valuesOf(recordsOf(survey, collection), field);
}

/** The value that all records of these collections agree upon in a field; the first one is where it is to be. */
export function toldBy<S extends SwitchName>(
  survey: Survey,
  collections: readonly [keyof typeof NOUNS, ...(keyof typeof NOUNS)[]],
  field: string,
  candidates: (value: unknown) => readonly ValueOf<S>[],
): Seen<S> {
  const [first] = collections;
  const samples = collections.flatMap((collection) => fieldOf(survey, collection, field));
  const seen = agreed<S>(samples, candidates, field);
  if (seen !== undefined) return seen;
  const [record] = recordsOf(survey, first);
  return record === undefined ? nothingIn(survey, first) : { other: `${record.title}: there is no ${field}.` };
}

/** Why a collection has nothing to look at. */
export function nothingIn(survey: Survey, collection: keyof typeof NOUNS): { readonly nothing: string } {
  const { problem, answer } = survey.lists[collection];
  if (answer?.status === 403) return { nothing: `The token may not look at ${NOUNS[collection]} (403).` };
  if (problem !== undefined) return { nothing: `The ${NOUNS[collection]} could not be read.` };
  return { nothing: `There are no ${NOUNS[collection]} in the account.` };
}

/**
 * Tells the value that all samples agree upon. A sample that fits several values is no evidence for any (`active` is
 * spelled alike whatever else is); one that fits none ends the matter.
 */
export function agreed<S extends SwitchName>(
  samples: readonly { readonly title: string; readonly value: unknown }[],
  candidates: (value: unknown) => readonly ValueOf<S>[],
  field: string,
): Seen<S> | undefined {
  if (samples.length === 0) return undefined;
  const fits = samples.map((sample) => ({ sample, values: candidates(sample.value) }));
  const stranger = fits.find(({ values }) => values.length === 0);
  if (stranger !== undefined) {
    return { other: `${stranger.sample.title}: ${field} is ${excerpt(stranger.sample.value, field)}.` };
  }
  const shared = fits.map(({ values }) => values).reduce((left, right) => left.filter((one) => right.includes(one)));
  const [value] = shared;
  const telling = fits.toSorted((a, b) => a.values.length - b.values.length)[0]?.sample;
  const shown = [...new Set(samples.map((sample) => excerpt(sample.value, field)))].slice(0, 4).join(", ");
  if (value === undefined) return { other: `${field} is written in several ways: ${shown}.` };
  return { value, evidence: `${telling?.title ?? ""}: ${field} is ${shown}.` };
}
