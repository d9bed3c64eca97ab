import type { SecretSource } from "./desired.ts";

/** Destination of a one-time secret (`secret_output`). Paths are relative to the project directory. */
export type SecretOutput =
  | FileOutput
  /** Program that reads the secret from its standard input. */
  | { readonly command: readonly [string, ...string[]] };

/** Destination in a file. */
export type FileOutput = {
  /** True if the file may be outside of the project, by its real path. */
  readonly outside_project?: boolean;
} & (
  | { /** File that contains only the secret and a line break. */ readonly file: string }
  | { /** One `NAME=value` line of a file. */ readonly env_file: { readonly path: string; readonly name: string } }
);

/** Real destination of a `secret_output` file. */
export interface SecretDestination {
  /** Path with links resolved. */
  readonly real: string;
  readonly inside: boolean;
  /** Set if the folder of the path does not exist. */
  readonly missing?: string;
  /** Path for people: relative inside the project, absolute outside. */
  readonly shown: string;
}

/** Returns the path in a `secret_output`. */
export function outputPath(output: FileOutput): string {
  return "file" in output ? output.file : output.env_file.path;
}

/** Name of an attribute with a secret. */
export interface SecretName {
  readonly address: string;
  readonly attribute: string;
}

/** Describes a destination for a sentence: `the file secrets/billing`, `BILLING_SECRET in .env`, `the command vault`. */
export function outputPlace(output: SecretOutput): string {
  if ("file" in output) return `the file ${output.file}`;
  if ("env_file" in output) return `${output.env_file.name} in ${output.env_file.path}`;
  return `the command ${output.command[0]}`;
}

/** Returns the short name of a secret source: `env.ACME_PASSWORD`, `file pw.txt`, `command pass`. */
export function sourceName(source: SecretSource): string {
  if ("env" in source) return `env.${source.env}`;
  return "file" in source ? `file ${source.file}` : `command ${source.command[0]}`;
}

/**
 * Describes a secret source for a sentence: `the environment variable ACME_PASSWORD`, `the file pw.txt`, `the command pass`.
 */
export function sourcePlace(source: SecretSource): string {
  if ("env" in source) return `the environment variable ${source.env}`;
  return "file" in source ? `the file ${source.file}` : `the command ${source.command[0]}`;
}

/**
 * Returns true if a string looks like an API token: a bearer header or a numbered token.
 * @param name True if a variable name is expected. A long string that is no variable name then also looks like a token.
 */
export function looksLikeToken(text: string, name = false): boolean {
  if (/^bearer\s+\S/i.test(text) || /^\d+\|[A-Za-z0-9]{16,}$/.test(text)) return true;
  return name && /^\S{20,}$/.test(text) && !text.includes("${") && !/^(?=.*_)[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

/** Returns true if a provider setting contains a token: in place of a variable name, or in the URL. */
export function holdsToken(setting: string, text: string): boolean {
  return setting === "base_url" ? /^[^/]*\/\/[^/]*@/.test(text) : looksLikeToken(text, setting === "token_env");
}

/** Maximum number of characters to keep of a cut word. Shorter than any secret. */
const MOST_OF_A_WORD = 5;

/**
 * Shortens a text to `most` characters plus `…`. Redaction finds only complete secrets, so this never leaves a long part of a
 * word, which could be a secret. (Redacting parts would let an attacker guess a secret character by character.)
 */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  const [word = ""] = /[^\s"<>,;]*$/.exec(kept) ?? [];
  const isWhole = /^[\s"<>,;]/.test(text.slice(most));
  return `${isWhole ? kept : kept.slice(0, kept.length - word.length + Math.min(word.length, MOST_OF_A_WORD))}…`;
}
