import { isObject } from "../model/index.ts";
import { findText } from "./unwrap.ts";

/** The names of a one-time secret in an answer: where it is likeliest, and what any name of it looks like. */
export interface SecretNames {
  readonly likely: readonly string[];
  /** The objects that it may stand in beside the record. */
  readonly wrappers: readonly string[];
  /** Holds for any other name, in small letters and without `_` and `-`. */
  readonly like: RegExp;
}

export const WEBHOOK_SECRET = {
  likely: ["secret", "signing_secret", "signingSecret", "webhook_secret"],
  like: /(?:secret|(?:secret|signing|signature|hmac|shared)key)(?:value|text|plain|plaintext)?$/,
} as const;

export const GENERATED_PASSWORD = {
  likely: ["password", "new_password", "generated_password"],
  like: /(?:password|passphrase|passwd|pwd)(?:value|text|plain|plaintext)?$/,
} as const;

/** A name of something else, though it ends like one: `old_secret`, `has_password`, `password_hash` does not end so. */
const OTHER = /^(?:old|previous|former|current|has|is|masked|hashed|encrypted)/;
/** The name of the text in an object that is named like a secret. */
const WITHIN = /^(?:value|text|plain|plaintext|key)$/;
const DEEPEST = 8;

/**
 * A secret that is told only in this one answer: under a likely name in a likely place, otherwise under any name like one,
 * anywhere. Not to find it costs more than to look too far: nobody can ask again. Null when there is none.
 */
export function findOnce(json: unknown, { likely, wrappers, like }: SecretNames): string | null {
  const found = findText(json, likely, wrappers);
  if (found !== null) return found;
  let level: readonly unknown[] = [json];
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth++) {
    const fields = level.filter(isObject).flatMap((value) => Object.entries(value));
    for (const [name, value] of fields) {
      const text = isLike(name, like) ? textOf(value) : undefined;
      if (text !== undefined) return text;
    }
    level = [...level.flatMap((value) => (Array.isArray(value) ? value : [])), ...fields.map(([, value]) => value)];
  }
  return null;
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "");

function isLike(name: string, like: RegExp): boolean {
  return like.test(plain(name)) && !OTHER.test(plain(name));
}

/** The text, or that of an object in its place. */
function textOf(value: unknown): string | undefined {
  const inner = isObject(value) ? Object.entries(value).find(([name]) => WITHIN.test(plain(name)))?.[1] : value;
  return typeof inner === "string" && inner !== "" ? inner : undefined;
}

/** The names in an answer, as paths, without what stands there: `data.id`, `meta.key`. */
export function namesIn(json: unknown): string {
  const names: string[] = [];
  const walk = (value: unknown, path: string, depth: number): void => {
    if (!isObject(value) || depth > 3) return;
    for (const [name, inner] of Object.entries(value)) {
      const own = `${path}${/^[\w-]{1,40}$/.test(name) ? name : "?"}`;
      if (isObject(inner)) walk(inner, `${own}.`, depth + 1);
      else names.push(own);
    }
  };
  walk(json, "", 0);
  return names.length === 0 ? "none" : `${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}
