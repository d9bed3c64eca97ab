import { childEnvironment, fail } from "../core/model/index.ts";
import {
  ALLOW_UNENCRYPTED,
  Encryption,
  endOfErrors,
  KEY_VARIABLES,
  type KeyCommand,
  type KeyVariables,
  readOldKeys,
  readStateKey,
  SECRET_COMMAND_MS,
} from "../core/record/index.ts";
import type { Invocation } from "./io.ts";
import { learnValue } from "./known-secrets.ts";

const known = new WeakMap<Invocation["io"], Map<KeyVariables, Encryption>>();

/**
 * The encryption of the state, with the key that the environment holds; without one, it seals and opens nothing. One for
 * each run, so that a key is derived or asked for once.
 * @throws HostformError `state.key` for a key that cannot be one.
 */
export function stateEncryption({ io }: Pick<Invocation, "io">, variables: KeyVariables = KEY_VARIABLES): Encryption {
  const ofRun = known.get(io) ?? new Map<KeyVariables, Encryption>();
  known.set(io, ofRun);
  const made = ofRun.get(variables) ?? encryptionOf(io, variables);
  ofRun.set(variables, made);
  return made;
}

function encryptionOf(io: Invocation["io"], variables: KeyVariables): Encryption {
  const run = keyCommand(io);
  const key = readStateKey(io.env, variables, run);
  if (variables !== KEY_VARIABLES) return new Encryption({ key, variables });
  let keys: ReturnType<typeof readOldKeys> | undefined;
  const old = () => {
    keys ??= readOldKeys(io.env, key, run);
    return keys;
  };
  return new Encryption({ key, variables, old, acceptsClear: io.env[ALLOW_UNENCRYPTED] === "1" });
}

/** Runs the command of a variable in the working folder, without a shell. What it prints is a secret. */
function keyCommand(io: Invocation["io"]): KeyCommand {
  return async (command, variable) => {
    const options = { cwd: io.cwd, env: childEnvironment(io.env), input: "", timeoutMs: SECRET_COMMAND_MS };
    const { failure, stdout, stderr } = await io.capture(wordsOf(command, variable), options);
    learnValue(io.redaction, stdout);
    if (failure === undefined) return stdout;
    return fail("state.key", `The command in ${variable} ${failure}`, {
      detail: endOfErrors(stderr, stdout),
      fix: "Fix the command: it prints the key, 32 bytes in base64 or hexadecimal, and nothing else.",
    });
  };
}

/** The program and its arguments: divided at white space, or a list in JSON. */
function wordsOf(command: string, variable: string): [string, ...string[]] {
  const [program, ...args] = command.trim().startsWith("[") ? listed(command) : command.trim().split(/\s+/);
  if (program !== undefined && (command.trim().startsWith("[") || !/["'\\]/.test(command))) return [program, ...args];
  return fail("state.key", `${variable} is not a program with its arguments`, {
    detail: "It is not given to a shell: quotes and backslashes have no meaning.",
    fix: `Write it as a list in JSON: ${variable}='["program", "an argument"]'.`,
  });
}

function listed(command: string): string[] {
  try {
    const list: unknown = JSON.parse(command);
    return Array.isArray(list) && list.every((word) => typeof word === "string") ? list : [];
  } catch {
    return [];
  }
}
