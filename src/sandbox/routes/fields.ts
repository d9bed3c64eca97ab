/**
 * Reads the fields of a body, and collects the errors by dotted path (§7: 422 `{message, errors}`). An invalid or missing
 * field is undefined. `complete` throws if there are errors.
 */
import { domainToASCII } from "node:url";
import { type FieldErrors, invalid } from "../refusal.ts";

export type Body = Readonly<Record<string, unknown>>;

interface Rule {
  required?: boolean;
}

export class Fields {
  readonly #body: Body;
  readonly #errors: FieldErrors;
  readonly #prefix: string;

  constructor(body: Body, prefix = "", errors: FieldErrors = {}) {
    this.#body = body;
    this.#prefix = prefix;
    this.#errors = errors;
  }

  /** Adds an error of the field. Returns undefined, which is the value of the field. */
  refuse(name: string, message: string): undefined {
    const path = this.#prefix + name;
    this.#errors[path] = [...(this.#errors[path] ?? []), message];
    return undefined;
  }

  /**
   * Returns the values of all fields. If a required field is missing, there is an error, so no value is undefined.
   * @throws Refusal 422 with all errors
   */
  complete<T extends Readonly<Record<string, unknown>>>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
    if (Object.keys(this.#errors).length > 0) throw invalid(this.#errors);
    return values as { [K in keyof T]: Exclude<T[K], undefined> };
  }

  /** Returns true if the field is present. Null and a blank string count as missing. */
  given(name: string): boolean {
    const value = this.#body[name];
    return value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "");
  }

  names(): string[] {
    return Object.keys(this.#body);
  }

  raw(name: string): unknown {
    return this.#body[name];
  }

  string(name: string, rule: Rule & { max?: number } = {}): string | undefined {
    const value = this.#present(name, rule);
    if (value === undefined) return undefined;
    if (typeof value !== "string") return this.#wrong(name, "must be a string");
    const max = rule.max ?? 255;
    if (value.length > max) return this.#wrong(name, `must not be greater than ${max} characters`);
    return value.trim();
  }

  integer(
    name: string,
    rule: Rule & { min?: number; max?: number; oneOf?: readonly number[] } = {},
  ): number | undefined {
    const value = this.#present(name, rule);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isSafeInteger(value)) return this.#wrong(name, "must be an integer");
    if (rule.oneOf !== undefined && !rule.oneOf.includes(value))
      return this.#wrong(name, `must be one of ${rule.oneOf.join(", ")}`);
    const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = rule;
    if (value < min || value > max) return this.#wrong(name, `must be between ${min} and ${max}`);
    return value;
  }

  oneOf<T extends string>(name: string, values: readonly T[], rule: Rule = {}): T | undefined {
    const value = this.string(name, rule);
    if (value === undefined) return undefined;
    const found = values.find((one) => one === value);
    return found ?? this.#wrong(name, `must be one of ${values.join(", ")}`);
  }

  /** Returns a string that passes `test`. `form` describes it for the error, such as "a valid domain name". */
  matching(name: string, test: (value: string) => boolean, form: string, rule: Rule = {}): string | undefined {
    const value = this.string(name, { ...rule, max: 2048 });
    if (value === undefined || test(value)) return value;
    return this.#wrong(name, `must be ${form}`);
  }

  /** Returns a domain name in its stored format. */
  domain(name: string, rule: Rule = { required: true }): string | undefined {
    const value = this.matching(name, isDomainName, "a valid domain name", rule);
    return value === undefined ? undefined : keptDomain(value);
  }

  /** Returns a future time in the store's format. */
  futureInstant(name: string, now: number): string | undefined {
    const value = this.string(name);
    if (value === undefined) return undefined;
    const at = INSTANT.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(at)) return this.#wrong(name, "must be an ISO 8601 timestamp, such as 2027-01-31T12:00:00+00:00");
    if (at <= now) return this.#wrong(name, "must be a time in the future");
    return new Date(at).toISOString();
  }

  /** Returns the fields of a nested object. */
  object(name: string, rule: Rule = {}): Fields | undefined {
    const value = this.#present(name, rule);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) return this.#wrong(name, "must be an object");
    return new Fields(value as Body, `${this.#prefix}${name}.`, this.#errors);
  }

  #present(name: string, rule: Rule): NonNullable<unknown> | undefined {
    if (this.given(name)) return this.#body[name] ?? undefined;
    return rule.required ? this.#wrong(name, "is required") : undefined;
  }

  /** Adds an error such as "must be a string". */
  #wrong(name: string, problem: string): undefined {
    return this.refuse(name, `The ${(this.#prefix + name).replaceAll("_", " ")} field ${problem}.`);
  }
}

/** Timestamps "with UTC offset" (§2): with an offset or Z. Also dates, which mean midnight UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;

/** Returns a domain in the store's format: in lower case, without the final dot, with A-labels for an international name. */
export function keptDomain(value: string): string {
  const name = value.trim().toLowerCase().replace(/\.$/, "");
  return /^[a-z\d.-]*$/.test(name) || !/^[\p{L}\p{M}\p{N}.-]*$/u.test(name) ? name : domainToASCII(name) || name;
}

/** Returns an e-mail address in the store's format. */
export function keptEmail(value: string): string {
  const at = value.lastIndexOf("@") + 1;
  return value.slice(0, at).toLowerCase() + keptDomain(value.slice(at));
}

/**
 * Returns true for a domain name: at least two labels, the last one not a number. Accepts A-labels and letters of any script.
 */
export function isDomainName(given: string): boolean {
  const value = keptDomain(given);
  const labels = value.split(".");
  if (value.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return false;
  return /^([a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i.test(labels.at(-1) ?? "");
}

/** Returns true for an e-mail address with one @ and a domain name after it. */
export function isEmail(value: string): boolean {
  const at = value.lastIndexOf("@");
  return (
    value.length <= 254 &&
    /^[^\s@"<>]{1,64}$/.test(value.slice(0, Math.max(at, 0))) &&
    isDomainName(value.slice(at + 1))
  );
}

/** Returns true for an absolute http or https URL (§4: "must be a valid URL"). */
export function isWebUrl(value: string): boolean {
  if (/\s/.test(value) || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return (protocol === "https:" || protocol === "http:") && hostname !== "";
}

export function isPhone(value: string): boolean {
  return /^\+?[0-9][0-9 ().-]{3,24}$/.test(value);
}

export function isCountry(value: string): boolean {
  return /^[A-Za-z]{2}$/.test(value);
}
