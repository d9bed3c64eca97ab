/** Interprets a server's notations independently of src, so that the code under test does not judge itself. */

/** Returns the day of an instant in any notation, or null. */
export function instantOf(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, 10) : null;
}

const OTHER_WORDS: Readonly<Record<string, string>> = {
  running: "active",
  paused: "suspended",
  new: "draft",
  "0": "pending",
  "1": "active",
  "2": "suspended",
  "3": "terminated",
  "10": "draft",
};

/** Returns the canonical word of a status: `SUSPENDED_BY_CLIENT`, `Suspended`, `suspended` and `Paused` are equal. */
export function phaseOfStatus(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const word = value.toLowerCase().split(/[_ ]/)[0] ?? "";
  return OTHER_WORDS[word] ?? word;
}

/** Returns the product: `vps`, `Root VPS` and `root-vps` are equal. */
export function productOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  return ["vps", "desktop", "wordpress", "shared"].find((word) => value.toLowerCase().includes(word)) ?? value;
}

/**
 * Returns the objects of a list or of a single response, in any envelope. The objects are the body's own, so callers
 * can change them.
 */
export function itemsOf(body: unknown): Record<string, unknown>[] {
  if (Array.isArray(body)) return body;
  if (typeof body !== "object" || body === null) return [];
  return Object.values(body).find(Array.isArray) ?? [];
}

export function objectOf(body: object): Record<string, unknown> {
  const { data = body } = body as { data?: object };
  return data as Record<string, unknown>;
}

const CYCLES: readonly [string, string][] = [
  ["monthly|1 month|month|1", "month"],
  ["annually|12 months|year|12", "year"],
];

/** Returns the billing cycle: `annually`, `12 months`, `year` and `12` are equal. */
export function cycleOf(value: unknown): string | null {
  return CYCLES.find(([words]) => words.split("|").includes(String(value)))?.[1] ?? null;
}
