/** Where two JSON values part, in words. */

/** The longest value that a sentence quotes. */
const LONGEST = 120;

/** A value as a sentence quotes it. */
export function inWords(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/**
 * The first place where the value lacks what is wanted, or undefined. An object may hold more than is wanted unless
 * `exact`; a list must be as long.
 */
export function difference(wanted: unknown, got: unknown, place: string, exact = false): string | undefined {
  if (isObject(wanted) && isObject(got)) {
    for (const [name, inner] of Object.entries(wanted)) {
      const own = Object.hasOwn(got, name) ? got[name] : undefined;
      const found = difference(inner, own, `${place}.${name}`, exact);
      if (found !== undefined) return found;
    }
    const surplus = exact ? Object.keys(got).find((name) => !Object.hasOwn(wanted, name)) : undefined;
    return surplus === undefined
      ? undefined
      : `${place}.${surplus} is ${inWords(got[surplus])}, where nothing was expected`;
  }
  if (Array.isArray(wanted) && Array.isArray(got)) {
    for (const [at, inner] of wanted.entries()) {
      const found = at < got.length ? difference(inner, got[at], `${place}[${at}]`, exact) : undefined;
      if (found !== undefined) return found;
    }
    return wanted.length === got.length ? undefined : `${place} has a length of ${got.length}, not ${wanted.length}`;
  }
  return wanted === got ? undefined : `${place} is ${inWords(got)}, not ${inWords(wanted)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
