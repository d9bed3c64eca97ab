/** What notations of a server mean, written down a second time for the tests: the code under test must not judge itself. */

/** The day of an instant in whatever notation, or null. */
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

/** `SUSPENDED_BY_CLIENT`, `Suspended`, `suspended` and `Paused` are one word. */
export function phaseOfStatus(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const word = value.toLowerCase().split(/[_ ]/)[0] ?? "";
  return OTHER_WORDS[word] ?? word;
}

/** `vps`, `Root VPS` and `root-vps` are one kind of product. */
export function productOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  return ["vps", "desktop", "wordpress", "shared"].find((word) => value.toLowerCase().includes(word)) ?? value;
}

/** The objects of a list, and the object of an answer, in whatever wrapping: those of the body itself, so that they can be changed. */
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

/** `annually`, `12 months`, `year` and `12` are one cycle. */
export function cycleOf(value: unknown): string | null {
  return CYCLES.find(([words]) => words.split("|").includes(String(value)))?.[1] ?? null;
}
