import { raise } from "../messages/index.ts";
import type { KeyProviders } from "./opentofu.ts";

/** Names of environment variables. One of them contains the key of a state, or the command that prints the key. */
export interface KeyVariables {
  readonly passphrase: string;
  readonly key: string;
  readonly command: string;
}

export const KEY_VARIABLES: KeyVariables = {
  passphrase: "HOSTFORM_STATE_PASSPHRASE",
  key: "HOSTFORM_STATE_KEY",
  command: "HOSTFORM_STATE_KEY_COMMAND",
};

/** Variables of the next key, for the rotation. */
export const NEW_KEY_VARIABLES: KeyVariables = {
  passphrase: "HOSTFORM_STATE_NEW_PASSPHRASE",
  key: "HOSTFORM_STATE_NEW_KEY",
  command: "HOSTFORM_STATE_NEW_KEY_COMMAND",
};

/** Variables of earlier keys, only for decryption. Each may contain several keys, one on each line. */
export const OLD_KEY_VARIABLES: KeyVariables = {
  passphrase: "HOSTFORM_STATE_OLD_PASSPHRASE",
  key: "HOSTFORM_STATE_OLD_KEY",
  command: "HOSTFORM_STATE_OLD_KEY_COMMAND",
};

/** Key of a state: the key itself, or a passphrase for its derivation. */
export type StateKey =
  | { readonly from: "passphrase"; readonly variable: string; readonly passphrase: string }
  /** 32 bytes, or a function that runs the command for these bytes. */
  | { readonly from: "key"; readonly variable: string; readonly bytes: Buffer | (() => Promise<Buffer>) }
  /** Key providers of OpenTofu, read when first needed. */
  | { readonly from: "configuration"; readonly variable: string; readonly providers: () => Promise<KeyProviders> };

/** Variable with OpenTofu's settings of the encryption. */
export const TF_ENCRYPTION = "TF_ENCRYPTION";

/**
 * Runs the command that prints a key.
 * @param variable name of the command's variable, for messages.
 * @returns the command's standard output. @throws HostformError `state.key`.
 */
export type KeyCommand = (command: string, variable: string) => Promise<string>;

const KEY_BYTES = 32;
/** Minimum length of a passphrase, as in OpenTofu. A derived key is only as strong as its passphrase. */
const PASSPHRASE_CHARACTERS = 16;

/**
 * Reads the key from the environment. Returns undefined if no variable is set. An empty variable is an error: probably a CI job lacks a
 * secret, and a failed job is better than a state in clear text.
 * @param run runs the key command, at most once, when the key is first needed.
 * @param providers key providers of OpenTofu, if the environment has any.
 * @throws HostformError `state.key` with the variable and lengths, never with the value.
 */
export function readStateKey(
  env: NodeJS.ProcessEnv,
  variables: KeyVariables,
  run: KeyCommand = noCommand,
  providers?: () => Promise<KeyProviders>,
): StateKey | undefined {
  const given = [
    ...Object.values(variables).filter((name) => env[name] !== undefined),
    ...(providers ? [TF_ENCRYPTION] : []),
  ];
  if (given.length > 1) {
    const variablesGiven = `${given.length === 2 ? "Both " : ""}${given.join(" and ")}`;
    raise("state.key/several", { ...variables, variables: variablesGiven });
  }
  if (providers !== undefined) return { from: "configuration", variable: TF_ENCRYPTION, providers };
  const [passphrase, key, command] = [env[variables.passphrase], env[variables.key], env[variables.command]];
  if (passphrase !== undefined) return parsePassphrase(passphrase, variables.passphrase);
  if (key !== undefined) return { from: "key", variable: variables.key, bytes: parseKey(key, variables.key) };
  if (command === undefined) return undefined;
  const variable = variables.command;
  if (command.trim() === "") refuseEmpty(variable);
  return { from: "key", variable, bytes: once(async () => parseKey(await run(command, variable), variable, true)) };
}

/**
 * Reads all earlier keys from the environment.
 * @throws HostformError `state.key` as {@link readStateKey}, and if the current key is missing.
 */
export async function readOldKeys(
  env: NodeJS.ProcessEnv,
  current: StateKey | undefined,
  run: KeyCommand,
): Promise<StateKey[]> {
  const [first] = Object.values(OLD_KEY_VARIABLES).filter((name) => env[name] !== undefined);
  if (first === undefined) return [];
  if (current === undefined) {
    const { passphrase, key, command } = KEY_VARIABLES;
    raise("state.key/old", { variable: first, variables: `${key}, ${passphrase} and ${command}` });
  }
  const { passphrase, key, command } = OLD_KEY_VARIABLES;
  const keys = (text: string | undefined, variable: string, isPrinted = false) =>
    linesOf(text, variable, isPrinted).map((line): StateKey => {
      return { from: "key", variable, bytes: parseKey(line, variable, isPrinted) };
    });
  const printer = env[command];
  if (printer?.trim() === "") refuseEmpty(command);
  return [
    ...keys(env[key], key),
    ...keys(printer && (await run(printer, command)), command, true),
    ...linesOf(env[passphrase], passphrase).map((line) => parsePassphrase(line, passphrase)),
  ];
}

const noCommand: KeyCommand = async (_, variable) => {
  throw new TypeError(`nothing runs the command in ${variable}`);
};

/** Returns a function that calls `make` only once. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function linesOf(text: string | undefined, variable: string, isPrinted = false): string[] {
  const lines = text?.split(/\r?\n/).filter((line) => line.trim() !== "") ?? [];
  return text !== undefined && lines.length === 0 ? refuseEmpty(variable, isPrinted) : lines;
}

function parsePassphrase(passphrase: string, variable: string): StateKey {
  const length = [...passphrase].length;
  if (length === 0) refuseEmpty(variable);
  if (length < PASSPHRASE_CHARACTERS) {
    raise("state.key/short", { variable, is: length, least: PASSPHRASE_CHARACTERS });
  }
  return { from: "passphrase", variable, passphrase };
}

/**
 * Parses a key: 64 hexadecimal digits, or base64 of either alphabet, with or without padding. Ignores surrounding white space.
 * @param isPrinted true if the command in the variable printed the key.
 */
function parseKey(text: string, variable: string, isPrinted = false): Buffer {
  const trimmed = text.trim();
  if (trimmed === "") refuseEmpty(variable, isPrinted);
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  const isBase64 = /^[\w+/-]+={0,2}$/.test(trimmed);
  const bytes = Buffer.from(isBase64 ? trimmed : "", "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  const { length } = trimmed;
  const is = /^[0-9a-f]{45,}$/i.test(trimmed)
    ? `${length} hexadecimal digits`
    : isBase64
      ? `${bytes.length} bytes`
      : `${length} characters, and is neither base64 nor hexadecimal`;
  raise("state.key/form", { from: isPrinted ? `The output of the command in ${variable}` : variable, is });
}

function refuseEmpty(variable: string, isPrinted = false): never {
  raise(isPrinted ? "state.key/silent" : "state.key/empty", { variable });
}
