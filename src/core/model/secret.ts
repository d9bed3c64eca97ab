import type { SecretSource } from "./desired.ts";

/** Destination of a one-time secret (`secret_output`). Paths are relative to the project's folder. */
export type SecretOutput =
  | FileOutput
  /** A program that reads the secret from its standard input. */
  | { readonly command: readonly [string, ...string[]] };

/** Destination in a file. */
export type FileOutput = {
  /** The file may lie outside of the project, by its real path. */
  readonly outside_project?: boolean;
} & (
  | { /** The whole content of it is the secret and a line break. */ readonly file: string }
  | { /** One `NAME=value` line of it. */ readonly env_file: { readonly path: string; readonly name: string } }
);

/** Real destination of a `secret_output`. */
export interface SecretDestination {
  /** The real path. */
  readonly real: string;
  readonly inside: boolean;
  /** For people: relative to the project, or in full outside of it. */
  readonly shown: string;
}

/** The path that a `secret_output` names. */
export function outputPath(output: FileOutput): string {
  return "file" in output ? output.file : output.env_file.path;
}

/** The attribute that holds a secret. */
export interface SecretName {
  readonly address: string;
  readonly attribute: string;
}

/** `the file secrets/billing`, `BILLING_SECRET in .env`, `the command vault`: for sentences. */
export function outputPlace(output: SecretOutput): string {
  if ("file" in output) return `the file ${output.file}`;
  if ("env_file" in output) return `${output.env_file.name} in ${output.env_file.path}`;
  return `the command ${output.command[0]}`;
}

/** `env.ACME_PASSWORD`, `file pw.txt`, `command pass`: the origin of the value. */
export function sourceName(source: SecretSource): string {
  if ("env" in source) return `env.${source.env}`;
  return "file" in source ? `file ${source.file}` : `command ${source.command[0]}`;
}

/** `the environment variable ACME_PASSWORD`, `the file pw.txt`, `the command pass`: for sentences. */
export function sourcePlace(source: SecretSource): string {
  if ("env" in source) return `the environment variable ${source.env}`;
  return "file" in source ? `the file ${source.file}` : `the command ${source.command[0]}`;
}

/**
 * True for a string that is an API token: a bearer header, a numbered token, and, where the `name` of a variable
 * is expected, what is long and no such name.
 */
export function looksLikeToken(text: string, name = false): boolean {
  if (/^bearer\s+\S/i.test(text) || /^\d+\|[A-Za-z0-9]{16,}$/.test(text)) return true;
  return name && /^\S{20,}$/.test(text) && !text.includes("${") && !/^(?=.*_)[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

/** Returns true if a setting of a provider holds a token: in place of a variable's name, or inside the URL. */
export function holdsToken(setting: string, text: string): boolean {
  return setting === "base_url" ? /^[^/]*\/\/[^/]*@/.test(text) : looksLikeToken(text, setting === "token_env");
}

/** Characters of a cut word that stay: fewer than the shortest secret has. */
const MOST_OF_A_WORD = 5;

/**
 * A text of at most `most` characters and `…` for the rest. Only whole secrets are hidden in texts: if the beginning of one were
 * hidden too, an attacker could guess it character by character. So a word, which may be a secret, stays whole or is left out.
 */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  const [word = ""] = /[^\s"<>,;]*$/.exec(kept) ?? [];
  const isWhole = /^[\s"<>,;]/.test(text.slice(most));
  return `${isWhole ? kept : kept.slice(0, kept.length - word.length + Math.min(word.length, MOST_OF_A_WORD))}…`;
}
