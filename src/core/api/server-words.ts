import { isObject } from "../model/index.ts";
import type { Reply } from "./exchange.ts";

/** What an error answer says. `form` describes the body where it holds no message: "an HTML page". */
export interface ServerWords {
  readonly message?: string;
  readonly form?: string;
  readonly json?: unknown;
}

/** Names under which servers put the sentence for people; the specification has `message` (§7). */
const MESSAGE_NAMES = ["message", "error", "error_description", "detail", "title"];

/** Finds the server's words in JSON, plain text or an HTML page (whose title is taken); none in an empty body. */
export function serverMessageOf({ text, headers, cut }: Reply): ServerWords {
  const trimmed = text.trim();
  if (trimmed === "") return { form: cut === undefined ? "The answer is empty" : "The answer was cut off" };
  const page = htmlPage(trimmed, headers["content-type"]);
  if (page !== undefined) return { form: `The answer is ${page}, perhaps of a proxy` };
  const json = parsed(trimmed);
  if (json === undefined) return { message: trimmed.slice(0, 400) };
  const message = messageIn(json);
  return message === undefined ? { form: "The answer holds no message", json } : { message, json };
}

/** `an HTML page titled "…"` when a body is a web page rather than data, whatever its Content-Type claims. */
export function htmlPage(text: string, contentType = ""): string | undefined {
  const tagged = /^\s*<(!doctype|html|head|body|h1|center|title|!--)/i.test(text);
  if (!tagged && !(/^\s*</.test(text) && /html/i.test(contentType))) return undefined;
  const title = /<title[^>]{0,200}>([^<]{1,200})/i.exec(text)?.[1]?.trim() ?? "";
  return title === "" ? "an HTML page" : `an HTML page titled "${title}"`;
}

/**
 * §7, 422: `errors` as dotted field path -> messages. Strings, lists and nested objects are accepted, and lists of
 * `{field, message}`; every text passes through `redact`.
 */
export function fieldErrorsOf(json: unknown, redact: (text: string) => string): Record<string, readonly string[]> {
  const errors = isObject(json) ? json.errors : undefined;
  const found = new Map<string, string[]>();
  const add = (path: string, text: unknown) => {
    if (typeof text !== "string" && typeof text !== "number") return;
    found.set(path, [...(found.get(path) ?? []), redact(String(text))]);
  };
  const walk = (path: string, value: unknown, depth: number): void => {
    if (depth > 5) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        if (isObject(item)) walk(fieldOf(item) ?? path, item.message ?? item.messages, depth + 1);
        else add(path, item);
      }
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        walk(redact(path === "" ? name : `${path}.${name}`), item, depth + 1);
      }
    } else add(path, value);
  };
  walk("", errors, 0);
  return Object.fromEntries(found);
}

function fieldOf(item: { readonly [key: string]: unknown }): string | undefined {
  return [item.field, item.path, item.name].find((name): name is string => typeof name === "string");
}

function messageIn(json: unknown): string | undefined {
  if (typeof json === "string" && json.trim() !== "") return json;
  if (!isObject(json)) return undefined;
  for (const name of MESSAGE_NAMES) {
    const value = json[name];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (isObject(value) && typeof value.message === "string" && value.message.trim() !== "") return value.message;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
