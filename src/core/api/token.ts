/** The API token: reading, validation and redaction. */
import { scryptSync } from "node:crypto";
import { look, read } from "../files/file-system.ts";
import { raise } from "../messages/index.ts";
import { type Diagnostic, errnoOf, fileFailure, shorten } from "../model/index.ts";

/** Place of an API token: an environment variable, or a file by its absolute path. */
export type TokenSource = { readonly env: string } | { readonly file: string };

/** Environment of a token, and its names in messages. */
export interface TokenReading {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Owner of the token, for messages: "provider beta". */
  readonly of: string;
  /** Alternative remedy for a missing variable, as a part of a sentence. */
  readonly otherwise?: string;
  /** Name of the base of a relative `token_file`, for messages: "the declaration". */
  readonly relativeTo: string;
  /** Place of the setting, for diagnostics. */
  readonly place: Pick<Diagnostic, "range" | "attribute">;
}

export interface FoundToken {
  readonly token: string;
  /** True if other users of this machine can read the token's file. */
  readonly readableByOthers: boolean;
}

/** Reads a token without surrounding white space. @throws HostformError `provider.token`, without the token. */
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

/** Returns the token if a header accepts it (§5.1). @throws HostformError `provider.token`, without the token. */
export function validToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  raise(`provider.token/${token.trim() === "" ? "absent" : "characters"}`);
}

/** Removes secrets from a text. `more`: secret values of this request's body. */
export type Redact = (text: string, more?: readonly string[]) => string;

const MARK = "[redacted]";
const LONGEST = 400;
/** Maximum length of the text that is searched for names of secrets: a long text would take a minute. */
const LOOKED_THROUGH = 10_000;

/** Matches values after a name of a secret in JSON or query text, also if the value is cut off. */
const NAMED =
  /("?\b[\w-]*(?:password|secret|token|authorization|api_?key|sso_?url)[\w-]*"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^\s,;&}\]]+)/gi;
const BEARER = /\b(bearer)\s+[^\s"',;]+/gi;

/**
 * Creates the function that redacts every text of the server before it is part of an error. Removes the token (whole, URL-encoded, and
 * the part after Laravel's `id|`), bearer credentials, values of fields with names of secrets, and `more`. Then folds white space and
 * control characters, and shortens the text to 400 characters.
 */
export function createRedact(token: string): Redact {
  const own = tokenForms(token);
  return (text, more = []) => {
    let shown = text;
    const values = [...own, ...more, ...more.map((value) => JSON.stringify(value).slice(1, -1))];
    for (const value of values) {
      if (value !== "") shown = shown.replaceAll(value, MARK);
    }
    // Both patterns also match a value that was cut off.
    shown = shown.slice(0, LOOKED_THROUGH).replace(BEARER, `$1 ${MARK}`).replace(NAMED, `$1${MARK}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
    shown = shown.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    return shorten(shown, LONGEST);
  };
}

/** Returns the forms of a token in a server's echo: whole, URL-encoded, in JSON, and the part after `id|`. */
export function tokenForms(token: string): readonly string[] {
  const parts = token.split("|").filter((part) => part.length >= 8);
  // The whole token must precede its part, or the rest would remain.
  return [token, encodeURIComponent(token), JSON.stringify(token).slice(1, -1), ...parts];
}

/**
 * Cost of the digest: about 1 ms and 1 MiB for each guess. It protects a short token if the names of its files become known. A long token
 * needs no protection. A secret key would be in the folder of these files, and therefore protect nothing.
 */
const COST = { N: 1024, r: 8, p: 1 };
const BYTES = 16;

/**
 * Returns a name for an account and a token, without revealing the token: the same name on every machine.
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

/** Cache by token and base URL: a process requests the same digests repeatedly. */
const digests = new Map<string, Map<string, string>>();
