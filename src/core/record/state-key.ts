import { type Diagnostic, fail } from "../model/index.ts";

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

const FIX_KEY = "Make one with `openssl rand -base64 32`.";

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
    refuse(`${given.length === 2 ? "Both " : ""}${given.join(" and ")} are set`, {
      detail: "A state is encrypted with one of them.",
      remedies: [
        `Set only one: ${variables.passphrase} for a passphrase, ${variables.key} for a key of ${KEY_BYTES} bytes, ${variables.command} for a command that prints such a key.`,
      ],
    });
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
    refuse(`${first} is set, but there is no key to encrypt with`, {
      detail: "Old keys are for reading only.",
      remedies: [
        `Set ${KEY_VARIABLES.key}, ${KEY_VARIABLES.passphrase} or ${KEY_VARIABLES.command}, or unset ${first}.`,
      ],
    });
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
    refuse(`The passphrase in ${variable} is too short`, {
      detail: `It has ${length} characters, at least ${PASSPHRASE_CHARACTERS} are needed.`,
      remedies: ["Use a long random one: `openssl rand -base64 24`."],
    });
  }
  return { from: "passphrase", variable, passphrase };
}

/**
 * 64 hexadecimal digits, or base64 of either alphabet, padded or not. Space around it is ignored.
 * @param isPrinted the variable holds the command that printed it.
 */
function parseKey(text: string, variable: string, isPrinted = false): Buffer {
  const trimmed = text.trim();
  const subject = isPrinted ? `what the command in ${variable} printed` : variable;
  if (trimmed === "") refuseEmpty(variable, isPrinted);
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  if (!/^[\w+/-]+={0,2}$/.test(trimmed)) {
    refuse(`${subject[0]?.toUpperCase()}${subject.slice(1)} is neither base64 nor hexadecimal`, {
      detail: `It has ${trimmed.length} characters; a key of ${KEY_BYTES} bytes has 44 in base64, 64 in hexadecimal.`,
      remedies: [FIX_KEY],
    });
  }
  const bytes = Buffer.from(trimmed, "base64");
  if (bytes.length !== KEY_BYTES) {
    refuse(`The key in ${subject} has the wrong length`, {
      detail: /^[0-9a-f]{45,}$/i.test(trimmed)
        ? `It has ${trimmed.length} hexadecimal digits, ${KEY_BYTES * 2} are needed.`
        : `It has ${bytes.length} bytes, ${KEY_BYTES} are needed.`,
      remedies: [FIX_KEY],
    });
  }
  return bytes;
}

function refuseEmpty(variable: string, isPrinted = false): never {
  if (isPrinted) {
    refuse(`The command in ${variable} printed nothing`, {
      detail: "It ended well.",
      remedies: ["Let it print the key, and nothing else."],
    });
  }
  refuse(`${variable} is set, but empty`, {
    detail: "A CI job that is not given a secret has an empty variable in its place.",
    remedies: ["Give it its value, or unset it."],
  });
}

function refuse(summary: string, more: Pick<Diagnostic, "detail" | "remedies">): never {
  fail("state.key", summary, more);
}
