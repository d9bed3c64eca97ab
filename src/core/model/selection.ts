// Patterns of addresses.

/** Prefix of a pattern that selects a client. */
export const CLIENT = "client:";

/** Returns true if a word can match several addresses: it contains `*`, or begins with `client:`. */
export const isPattern = (word: string): boolean => word.includes("*") || word.startsWith(CLIENT);

/** Returns true if a name matches a pattern with `*`. Runs in linear time. */
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
