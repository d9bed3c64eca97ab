/** The API token: where it is read, its form, and how it stays out of every text and name. */

import { scryptSync } from "node:crypto";
import { look, read } from "../files/file-system.ts";
import { raise } from "../messages/index.ts";
import { type Diagnostic, errnoOf, fileFailure, shorten } from "../model/index.ts";

/** Place of an API token: an environment variable, or a file by its absolute path. */
export type TokenSource = { readonly env: string } | { readonly file: string };

/** Environment of a token, and the names in messages about it. */
export interface TokenReading {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** "provider beta". */
  readonly of: string;
  /** Another remedy for a missing variable, as a part of a sentence. */
  readonly otherwise?: string;
  /** The base of a relative `token_file`: "the declaration". */
  readonly relativeTo: string;
  /** The place that failures point at. */
  readonly place: Pick<Diagnostic, "range" | "attribute">;
}

export interface FoundToken {
  readonly token: string;
  /** It is in a file that others on this machine may read. */
  readonly readableByOthers: boolean;
}

/** Reads a token, without the space around it. @throws HostformError `provider.token`, which never holds it. */
export async function readToken(source: TokenSource, reading: TokenReading): Promise<FoundToken> {
  return "env" in source ? fromVariable(source.env, reading) : fromFile(source.file, reading);
}

function fromVariable(variable: string, { env, of, otherwise, place }: TokenReading): FoundToken {
  const token = env[variable]?.trim();
  if (token) return { token, readableByOthers: false };
  const state = token === undefined ? "not set" : "empty";
  const set = `\`export ${variable}=…\`${otherwise === undefined ? "" : `, ${otherwise}`}`;
  raise("provider.token", { of, variable, state, set, ...place });
}

async function fromFile(file: string, { of, relativeTo, place }: TokenReading): Promise<FoundToken> {
  try {
    const token = (await read(file)).toString().trim();
    const readableByOthers = ((look(file)?.mode ?? 0) & 0o077) !== 0;
    if (token === "") raise("provider.token/empty_file", { of, file, ...place });
    return { token, readableByOthers };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const failure = `${file}: ${fileFailure(error)}`;
    raise("provider.token/file", { of, failure, base: relativeTo, ...place });
  }
}

/** §5.1. @throws HostformError `provider.token`, without the token, where a header cannot hold it. */
export function validToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  raise(`provider.token/${token.trim() === "" ? "absent" : "characters"}`);
}

/** Removes what must never be shown from text that will be. `more`: further secret values, of this request's body. */
export type Redact = (text: string, more?: readonly string[]) => string;

const MARK = "[redacted]";
const LONGEST = 400;
/** Length of the part of a text that is searched for names of secrets: a long one would take a minute, and little of it is shown. */
const LOOKED_THROUGH = 10_000;

/** Values that follow a name like these in JSON or query text, whole or cut off. */
const NAMED =
  /("?\b[\w-]*(?:password|secret|token|authorization|api_?key|sso_?url)[\w-]*"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^\s,;&}\]]+)/gi;
const BEARER = /\b(bearer)\s+[^\s"',;]+/gi;

/**
 * Makes the one function through which every text of the server passes before it becomes part of an error: takes out
 * the token (whole, URL-encoded, and the part after Laravel's `id|`), bearer credentials, the values of fields named
 * like secrets, and `more`; then folds white space and control characters and shortens to 400 characters.
 */
export function createRedact(token: string): Redact {
  const own = tokenForms(token);
  return (text, more = []) => {
    let shown = text;
    const values = [...own, ...more, ...more.map((value) => JSON.stringify(value).slice(1, -1))];
    for (const value of values) {
      if (value !== "") shown = shown.replaceAll(value, MARK);
    }
    // Both patterns take a value that is cut off, too.
    shown = shown.slice(0, LOOKED_THROUGH).replace(BEARER, `$1 ${MARK}`).replace(NAMED, `$1${MARK}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
    shown = shown.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    return shorten(shown, LONGEST);
  };
}

/** The forms that a server may echo a token in: whole, URL-encoded, as JSON writes it, and the part after `id|`. */
export function tokenForms(token: string): readonly string[] {
  const parts = token.split("|").filter((part) => part.length >= 8);
  // The whole before its part, or the rest of it would stay.
  return [token, encodeURIComponent(token), JSON.stringify(token).slice(1, -1), ...parts];
}

/**
 * About 1 ms and 1 MiB for each guess. A host's token is too long to be guessed; this is for a short one whose file names
 * became known. A key would not help: it would be in the same folder.
 */
const COST = { N: 1024, r: 8, p: 1 };
const BYTES = 16;

/**
 * A name for an account and a token, which does not reveal the token: always the same for the same two, on every machine.
 * @param baseUrl normalised, so that one account has one name.
 * @returns 32 hexadecimal digits.
 */
export function accountDigest(baseUrl: string, token: string): string {
  const known = digests.get(token)?.get(baseUrl);
  if (known !== undefined) return known;
  const digest = scryptSync(token, `hostform account\n${baseUrl}`, BYTES, COST).toString("hex");
  digests.set(token, (digests.get(token) ?? new Map()).set(baseUrl, digest));
  return digest;
}

/** By token and address: one process asks for the same few again and again. */
const digests = new Map<string, Map<string, string>>();
