/** An answer that is not a success, thrown from wherever the reason is found. */

/** Field errors of a 422, by dotted path (§7). */
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

/** 422 with field errors. The message repeats the first one and counts the rest. */
export function invalid(errors: FieldErrors): Refusal {
  const all = Object.values(errors).flat();
  const rest = all.length - 1;
  const more = rest > 0 ? ` (and ${rest} more ${rest === 1 ? "error" : "errors"})` : "";
  return new Refusal(422, `${all[0] ?? "The given data is invalid."}${more}`, { errors });
}

/** 404: no such record. Which status an unknown resource gets is not specified (§7 Gaps). 422 for what cannot be an id. */
export function notFound(what: string, id: unknown): Refusal {
  if (typeof id === "string" || typeof id === "number") return new Refusal(404, `There is no ${what} ${id}.`);
  return new Refusal(422, `A ${what} is told by its id or name, not by ${JSON.stringify(id)?.slice(0, 60)}.`);
}
