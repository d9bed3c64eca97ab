/** Error response of the sandbox. Any code can throw or return a Refusal. The HTTP layer sends it. */

/** Errors by dotted path of a field, in a 422 (§7). */
export type FieldErrors = Record<string, string[]>;

export class Refusal extends Error {
  readonly status: number;
  readonly body: { message: string; errors?: FieldErrors };
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, more: { errors?: FieldErrors; headers?: Record<string, string> } = {}) {
    super(message);
    this.status = status;
    this.body = more.errors === undefined ? { message } : { message, errors: more.errors };
    this.headers = more.headers ?? {};
  }
}

/** Returns a 422 without a field, for an action that is not possible. */
export function unprocessable(message: string): Refusal {
  return new Refusal(422, message);
}

/** Returns a 422 with the error of one field. */
export function wrongField(field: string, message: string): Refusal {
  return invalid({ [field]: [message] });
}

/** Returns a 422 with field errors. Its message is the first error, and the number of other errors. */
export function invalid(errors: FieldErrors): Refusal {
  const all = Object.values(errors).flat();
  const rest = all.length - 1;
  const more = rest > 0 ? ` (and ${rest} more ${rest === 1 ? "error" : "errors"})` : "";
  return new Refusal(422, `${all[0] ?? "The given data is invalid."}${more}`, { errors });
}

/**
 * Returns a 404 for a missing record, or a 422 for an invalid id. §7 does not define the status for an unknown record (§7
 * Gaps).
 */
export function notFound(what: string, id: unknown): Refusal {
  if (typeof id === "string" || typeof id === "number") return new Refusal(404, `There is no ${what} ${id}.`);
  return unprocessable(`A ${what} is named by its id or name, not by ${JSON.stringify(id)?.slice(0, 60)}.`);
}

/** Rejects unknown fields. @throws Refusal (422) */
export function requireKnown(what: string, given: object, fields: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !fields.includes(name));
  if (unknown === undefined) return;
  throw wrongField(unknown, `${what} has no field "${unknown}". Its fields are ${fields.join(", ")}.`);
}

/** Unusable option. The message explains the correction. */
export class SandboxOptionError extends Error {
  override name = "SandboxOptionError";
  /** Name of the option if the message omits it, because its value may come from a file. */
  readonly option: string | undefined;

  constructor(message: string, option?: string) {
    super(message);
    this.option = option;
  }
}

/**
 * Returns ` Did you mean "status"?`, or an empty text if no candidate is similar. At most a third of the word's letters, and
 * at least one letter, may differ.
 */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = candidates
    .map((candidate) => ({ candidate, edits: edits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= Math.max(1, Math.floor(word.length / 3)))
    .sort((a, b) => a.edits - b.edits);
  const [best] = near;
  return best === undefined ? "" : ` Did you mean "${best.candidate}"?`;
}

/** Returns the number of insertions, deletions, replacements and swaps of neighbouring letters between two words. */
function edits(a: string, b: string): number {
  // Very different lengths are no typing mistake, and would need a large table.
  if (Math.abs(a.length - b.length) > 10) return a.length + b.length;
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same];
      rows[i]?.push(Math.min(...steps, swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY));
    }
  }
  return at(a.length, b.length);
}
