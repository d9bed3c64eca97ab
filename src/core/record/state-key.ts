import { raise } from "../messages/index.ts";

/** The environment variables of which one holds the key of a state, or the command that prints it. */
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

/** Variables of earlier keys, which only decrypt. Each may hold several, one a line. */
export const OLD_KEY_VARIABLES: KeyVariables = {
  passphrase: "HOSTFORM_STATE_OLD_PASSPHRASE",
  key: "HOSTFORM_STATE_OLD_KEY",
  command: "HOSTFORM_STATE_OLD_KEY_COMMAND",
};

/** Key of a state: a passphrase from which a key is derived, or the key itself. */
export type StateKey =
  | { readonly from: "passphrase"; readonly variable: string; readonly passphrase: string }
  /** 32 bytes; of a command, once they are needed. */
  | { readonly from: "key"; readonly variable: string; readonly bytes: Buffer | (() => Promise<Buffer>) };

/**
 * Runs the command that prints a key.
 * @param variable holds the command.
 * @returns its standard output. @throws HostformError `state.key`.
 */
export type KeyCommand = (command: string, variable: string) => Promise<string>;

const KEY_BYTES = 32;
/** The same limit as OpenTofu's: a derived key is no better than what it is derived from. */
const PASSPHRASE_CHARACTERS = 16;

/**
 * The key that the environment holds; undefined when no variable is set. An empty variable is an error: it is most
 * likely a secret that a CI job was not given, and a state written in the clear would be worse than a failed job.
 * @param run is called once, when the key of a command is needed.
 * @throws HostformError `state.key` naming the variable and lengths, never the value.
 */
export function readStateKey(
  env: NodeJS.ProcessEnv,
  variables: KeyVariables,
  run: KeyCommand = noCommand,
): StateKey | undefined {
  const given = Object.values(variables).filter((name) => env[name] !== undefined);
  if (given.length > 1) {
    const variablesGiven = `${given.length === 2 ? "Both " : ""}${given.join(" and ")}`;
    raise("state.key/several", { ...variables, variables: variablesGiven });
  }
  const [passphrase, key, command] = [env[variables.passphrase], env[variables.key], env[variables.command]];
  if (passphrase !== undefined) return parsePassphrase(passphrase, variables.passphrase);
  if (key !== undefined) return { from: "key", variable: variables.key, bytes: parseKey(key, variables.key) };
  if (command === undefined) return undefined;
  const variable = variables.command;
  if (command.trim() === "") refuseEmpty(variable);
  return { from: "key", variable, bytes: once(async () => parseKey(await run(command, variable), variable, true)) };
}

/**
 * The keys of before that the environment holds, whatever they are.
 * @throws HostformError `state.key` as {@link readStateKey} does, and where there is no present key to encrypt with.
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

/** Made at the first call alone. */
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
 * 64 hexadecimal digits, or base64 of either alphabet, padded or not. Space around it is ignored.
 * @param isPrinted the variable holds the command that printed it.
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
