import type { SecretSource } from "./desired.ts";

/** Destination of a one-time secret (`secret_output`). Paths are relative to the project directory. */
export type SecretOutput =
  | FileOutput
  /** Program that reads the secret from its standard input. */
  | { readonly command: readonly [string, ...string[]] };

/** Destination in a file. */
export type FileOutput = {
  /** True if the file may lie outside of the project, by its real path. */
  readonly outside_project?: boolean;
} & (
  | { /** File that contains only the secret and a line break. */ readonly file: string }
  | { /** One `NAME=value` line of a file. */ readonly env_file: { readonly path: string; readonly name: string } }
);

/** Real destination of a `secret_output`. */
export interface SecretDestination {
  /** Real path, with links resolved. */
  readonly real: string;
  readonly inside: boolean;
  /** Path for people: relative in the project, absolute outside. */
  readonly shown: string;
}

/** Returns the path in a `secret_output`. */
export function outputPath(output: FileOutput): string {
  return "file" in output ? output.file : output.env_file.path;
}

/** Attribute with a secret. */
export interface SecretName {
  readonly address: string;
  readonly attribute: string;
}

/** Returns the destination for a sentence: `the file secrets/billing`, `BILLING_SECRET in .env`, `the command vault`. */
export function outputPlace(output: SecretOutput): string {
  if ("file" in output) return `the file ${output.file}`;
  if ("env_file" in output) return `${output.env_file.name} in ${output.env_file.path}`;
  return `the command ${output.command[0]}`;
}

/** Returns the source of a value: `env.ACME_PASSWORD`, `file pw.txt`, `command pass`. */
export function sourceName(source: SecretSource): string {
  if ("env" in source) return `env.${source.env}`;
  return "file" in source ? `file ${source.file}` : `command ${source.command[0]}`;
}

/** Returns the source for a sentence: `the environment variable ACME_PASSWORD`, `the file pw.txt`, `the command pass`. */
export function sourcePlace(source: SecretSource): string {
  if ("env" in source) return `the environment variable ${source.env}`;
  return "file" in source ? `the file ${source.file}` : `the command ${source.command[0]}`;
}

/**
 * Returns true if a string is an API token: a bearer header or a numbered token. If `name` is true, also a long string that is
 * no variable name.
 */
export function looksLikeToken(text: string, name = false): boolean {
  if (/^bearer\s+\S/i.test(text) || /^\d+\|[A-Za-z0-9]{16,}$/.test(text)) return true;
  return name && /^\S{20,}$/.test(text) && !text.includes("${") && !/^(?=.*_)[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

/** Returns true if a provider setting contains a token: in place of a variable name, or in the URL. */
export function holdsToken(setting: string, text: string): boolean {
  return setting === "base_url" ? /^[^/]*\/\/[^/]*@/.test(text) : looksLikeToken(text, setting === "token_env");
}

/** Number of characters that remain of a cut word. Less than the shortest secret. */
const MOST_OF_A_WORD = 5;

/**
 * Shortens a text to `most` characters plus `…`. Only complete secrets are redacted in texts. If prefixes were redacted, an
 * attacker could guess a secret character by character. Therefore a word, which may be a secret, is kept or cut as a whole.
 */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  const [word = ""] = /[^\s"<>,;]*$/.exec(kept) ?? [];
  const isWhole = /^[\s"<>,;]/.test(text.slice(most));
  return `${isWhole ? kept : kept.slice(0, kept.length - word.length + Math.min(word.length, MOST_OF_A_WORD))}…`;
}
