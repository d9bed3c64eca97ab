/** What notations of a server mean, written down anew for the tests: the code under test must not judge itself. */

/** The day of an instant in whatever notation, or null. */
export function instantOf(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, 10) : null;
}

/** `SUSPENDED_BY_CLIENT`, `Suspended` and `suspended` are one word. */
export function phaseOfStatus(value: unknown): string | null {
  return typeof value === "string" ? (value.toLowerCase().split("_")[0] ?? null) : null;
}
