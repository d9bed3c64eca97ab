// Which resources a word of the user means: an address, a pattern of addresses, or whose they are.
import { fail } from "./errors.ts";
import { didYouMean, nearest, some } from "./text.ts";
import { resourceOf } from "./value.ts";

/** Something that can be selected. */
interface Selectable {
  readonly address: string;
  /** Whose it is (`client:`). */
  readonly client?: string | undefined;
}

const CLIENT = "client:";

/** Whether a word is more than one address: it has a `*`, or begins with `client:`. */
export const isPattern = (word: string): boolean => word.includes("*") || word.startsWith(CLIENT);

/**
 * What some words mean. `hosting_service.acme-*` is all whose address, with or without its key, is like that: `*` is any
 * characters, none too. `client:acme` is all of that client, and `client:a*` of each like that. A word that is itself an address is
 * that address; what else is no pattern stays as it is.
 * @throws HostformError `plan.address` for a pattern that nothing is like, with what is near.
 */
export function selected(words: readonly string[], all: readonly Selectable[]): string[] {
  const addresses = new Set(all.map(({ address }) => address));
  const found = words.flatMap((word) =>
    !isPattern(word) || addresses.has(word) ? [word] : matching(word, all).map(({ address }) => address),
  );
  return [...new Set(found)];
}

function matching(word: string, all: readonly Selectable[]): readonly Selectable[] {
  const isClient = word.startsWith(CLIENT);
  const pattern = isClient ? word.slice(CLIENT.length) : word;
  const namesOf = ({ address, client }: Selectable) =>
    isClient ? (client === undefined ? [] : [client]) : [address, resourceOf(address)];
  const found = all.filter((one) => namesOf(one).some((name) => isLike(pattern, name)));
  if (found.length > 0) return found;
  const names = [...new Set(all.flatMap(namesOf))].sort();
  if (!isClient) return fail("plan.address", `No resource is like ${word}.${nearPattern(pattern, names)}`, NONE);
  const near = didYouMean(pattern, names);
  const others = names.length === 0 ? " No resource has a client." : ` The clients are: ${some(names)}.`;
  return fail("plan.address", `No resource is of ${word}.${near === "" ? others : near}`, NONE);
}

const NONE = { remedies: [{ do: "see", what: "addresses" }] } as const;

/** The same pattern with a beginning that some name has. */
function nearPattern(pattern: string, names: readonly string[]): string {
  const length = pattern.indexOf("*");
  const near = nearest(
    pattern.slice(0, length),
    names.flatMap((name) => [-1, 0, 1].map((more) => name.slice(0, Math.max(0, length + more)))),
  );
  return near === undefined || near === "" ? "" : ` Did you mean "${near}${pattern.slice(length)}"?`;
}

/** Returns true if a name is like a pattern with `*`, in time that grows with their lengths alone. */
export function isLike(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const next = name.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
