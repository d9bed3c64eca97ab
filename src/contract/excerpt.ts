/**
 * Answers as they may be shown: a report of a server's habits is copied into mails and issues, so it holds its forms and
 * its words, and nothing of who is hosted there. What is not known to be harmless is not shown.
 */
import { isObject } from "../core/model/index.ts";

/** Fields whose values are words of the server, not of its customers. */
const WORD_FIELDS = new Set([
  "status",
  "provisioning_status",
  "product_type",
  "billing_cycle",
  "currency",
  "permission",
  "event",
  "events",
]);
const WORDS = /^[\p{L}\d][\p{L}\d _/.-]{0,39}$/u;
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const FIELD = /^[A-Za-z_][\w-]{0,40}$/;
const MOST_ITEMS = 1;
/** More than are shown; an answer may have a million. */
const MOST_FIELDS = 24;
const LONGEST = 240;

/** A text of the server without e-mail addresses, names of hosts, addresses and long numbers. */
export function maskText(text: string): string {
  return text
    .replace(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, "[e-mail]")
    .replace(/\b[a-z]+:\/\/[^\s"'<>]+/gi, "[address]")
    .replace(/(?<![\w-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.\p{L}[\p{L}\p{N}-]*\p{L}(?![\w-])/gu, "[name]")
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\da-f]*:[\da-f:]*:[\da-f:]+/gi, "[address]")
    .replace(/\d{5,}/g, (digits) => "9".repeat(digits.length));
}

/** A JSON value, masked, on one line and cut: names of fields, types, and the server's own words. */
export function excerpt(json: unknown, field = ""): string {
  const text = shown(json, field, 0);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A word of the server in quotes; anything else masked. */
export function word(value: unknown): string {
  return shown(value, "status", 0);
}

/** The name of a field; what is none (names of hosts that a map is kept by) is `…`. */
export function fieldName(name: string): string {
  return FIELD.test(name) ? name : "…";
}

function shown(value: unknown, field: string, depth: number): string {
  if (typeof value === "number") return String(value).replace(/\d/g, "9");
  if (typeof value === "string") return JSON.stringify(maskedText(value, field));
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => shown(item, field, depth + 1));
    return `[${items.join(", ")}${value.length > MOST_ITEMS ? ", …" : ""}]`;
  }
  if (!isObject(value)) return value === undefined ? "nothing" : String(value);
  if (depth > 6) return "{…}";
  const fields = Object.entries(value)
    .slice(0, MOST_FIELDS)
    .map(([name, item]) => {
      const known = FIELD.test(name) && !MOMENT.test(name);
      return `${JSON.stringify(known ? name : "…")}: ${shown(item, known ? name : "", depth + 1)}`;
    });
  return `{${fields.join(", ")}}`;
}

function maskedText(text: string, field: string): string {
  if (text === "") return "";
  if (MOMENT.test(text) || UUID.test(text)) return text.replace(/[\da-f]/gi, "9");
  if (/^\d+$/.test(text)) return "9".repeat(Math.min(text.length, 12));
  return WORD_FIELDS.has(field) && WORDS.test(text) && maskText(text) === text ? text : "…";
}
