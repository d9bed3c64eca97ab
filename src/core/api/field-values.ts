import { z } from "zod";
import { isObject } from "../model/index.ts";

/** Single values of answers, read loosely: what a field of a record may look like, and what it means. */

/** Ids are opaque (the specification gives integers for services and invoices only): numbers become text. */
export const id = z
  .union([z.number(), z.string(), z.bigint()], "an id (a number or a text)")
  .transform(String)
  .refine((value) => value.trim() !== "", "an id that is not empty");

export const scalar = (value: unknown): string | null =>
  typeof value === "string"
    ? value.trim() === ""
      ? null
      : value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : null;

/** A word or a date as it came, alone in a list, or as the name of an object; anything else is null. */
export const text = z.unknown().optional().transform(word);

export function word(value: unknown): string | null {
  if (Array.isArray(value)) return value.length === 1 ? scalar(value[0]) : null;
  return isObject(value) ? (scalar(value.name) ?? scalar(value.code) ?? scalar(value.value)) : scalar(value);
}

/** A domain, or that of an address. */
export const domain = z
  .unknown()
  .optional()
  .transform((value) => {
    const said = word(value);
    return said !== null && /^https?:\/\//i.test(said) && URL.canParse(said) ? new URL(said).hostname : said;
  });

/** An instant. Seconds or milliseconds since the epoch become ISO 8601, as §2 has it; 0 is none. Anything else is as it came. */
export const instant = z
  .unknown()
  .optional()
  .transform((said) => {
    // An object of PHP's: the moment and its zone.
    const value = momentOf(said);
    const number = numeric(value);
    if (number === null) return utc(scalar(value));
    const ms = number < LEAST_MS ? number * 1000 : number;
    return number < LEAST_SECONDS || ms > MOST_MS ? (number === 0 ? null : scalar(value)) : new Date(ms).toISOString();
  });

export const momentOf = (said: unknown) => (isObject(said) ? (said.timestamp ?? said.date ?? said.iso ?? said) : said);

/** An instant of SQL's has no zone; it is read as UTC wherever hostform runs. */
const utc = (text: string | null) =>
  text !== null && /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d+)?$/.test(text) ? `${text.replace(" ", "T")}Z` : text;

/** 1973 in seconds; below it a number is a day, a year or a duration. In milliseconds, 1973 and 9999. */
const LEAST_SECONDS = 100_000_000;
const LEAST_MS = LEAST_SECONDS * 1000;
const MOST_MS = 253_402_300_799_999;

/** An amount in the API's own unit; digits in a text count. */
export const amount = z.unknown().optional().transform(numeric);

function numeric(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

export const integer = z
  .unknown()
  .optional()
  .transform((value) => {
    const number = numeric(value);
    return Number.isSafeInteger(number) ? number : null;
  });

export const prices = z
  .unknown()
  .optional()
  .transform((said): Record<string, number> => {
    const rows = Array.isArray(said) ? said.filter(isObject).map((row) => [row.currency, row.amount ?? row.price]) : [];
    const value = Array.isArray(said) ? Object.fromEntries(rows) : said;
    if (!isObject(value)) return {};
    const entries = Object.entries(value).map(([currency, price]) => [currency.toUpperCase(), numeric(price)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, number] => entry[1] !== null));
  });

/** Names of events: a list of names or of objects with a name, names in a text, or a map of names to whether they are on. */
export const eventNames = z
  .unknown()
  .optional()
  .transform((value): string[] => {
    const entries = isObject(value) ? Object.entries(value) : [];
    // A list with numbers for names is a list; so is one that was written as JSON in a text.
    const isMap = entries.some(([name]) => !/^\d+$/.test(name));
    const list = Array.isArray(value)
      ? value
      : isMap
        ? entries.filter(([, on]) => isOn(on)).map(([name]) => name)
        : typeof value === "string"
          ? value.split(/[\s,;|[\]"']+/)
          : entries.map(([, name]) => name);
    const names = list.map((item) => {
      if (!isObject(item)) return scalar(item)?.trim();
      return isOn(item.enabled ?? item.active ?? true)
        ? scalar(item.name ?? item.event ?? item.type)?.trim()
        : undefined;
    });
    return names.filter((name): name is string => name !== undefined && name !== "");
  });

function isOn(value: unknown): boolean {
  if (isObject(value)) return isOn(value.enabled ?? value.active ?? true);
  return typeof value === "string" ? !/^(?:|0|false|no|off)$/i.test(value.trim()) : Boolean(value);
}
