/** Runs the commands that print a key: the key of a state, or the private key of a signature. */
import path from "node:path";
import { endOfErrors, exists, isInside, SECRET_COMMAND_MS } from "../core/files/index.ts";
import { type Code, childEnvironment, fail, parsedJson } from "../core/model/index.ts";
import { TF_ENCRYPTION } from "../core/record/index.ts";
import type { ProjectParts, ProjectSource } from "./source.ts";

/** Returns the names of environment variables with API tokens. */
export type Tokens = () => Promise<readonly (string | undefined)[]>;

/** A command that prints a key. */
interface KeyCommandOptions {
  /** Environment variable with the command. */
  readonly variable: string;
  readonly input?: string;
  /** Environment variables with API tokens. */
  readonly tokens?: Awaited<ReturnType<Tokens>>;
  /** Code of the failure, and the expected output. Default: the key of a state. */
  readonly key?: { readonly code: Code; readonly prints: string };
}

const STATE_KEY = {
  code: "state.key",
  prints: "the key, 32 bytes in base64 or hexadecimal, and nothing else",
} as const;

/** A private key in PEM, which a command printed to the wrong stream. */
const PRIVATE = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+/;

/**
 * Runs a command that prints a key. It runs without a shell, without credentials, and outside of the project. Its output is secret.
 * @throws HostformError `state.key`, or the code of the other key.
 */
export async function keyFromCommand(
  { source, host, redaction }: Omit<ProjectParts, "log">,
  command: readonly [string, ...string[]],
  { variable, input = "", tokens, key = STATE_KEY }: KeyCommandOptions,
): Promise<string> {
  const options = {
    cwd: folderOfUser(source),
    // Remove even variables that HOSTFORM_CHILD_ENV allows.
    env: childEnvironment({ ...source.env, HOSTFORM_CHILD_ENV: undefined }, tokens),
    input,
    timeoutMs: SECRET_COMMAND_MS,
  };
  const { failure, stdout, stderr } = await host.capture(command, options);
  redaction.learn(`command in ${variable}`, stdout, ...(PRIVATE.exec(stderr) ?? []));
  if (failure === undefined) return stdout;
  const isTofu = variable === TF_ENCRYPTION;
  return fail(key.code, `The command ${isTofu ? `${command[0]} ` : ""}in ${variable} ${failure}`, {
    detail: endOfErrors(stderr, stdout),
    remedies: [
      isTofu
        ? "Write its absolute path. The program prints OpenTofu's header, then its keys as JSON."
        : `Fix the command: it prints ${key.prints}.`,
    ],
  });
}

/**
 * Returns the home folder of the user, who wrote the key command. If the home folder is inside the project: the root of the
 * disk.
 */
function folderOfUser({ env, dir, cwd }: ProjectSource): string {
  const home = env.HOME || env.USERPROFILE || "";
  const isOwn = path.isAbsolute(home) && exists(home) && ![dir, cwd].some((one) => isInside(one, home));
  return isOwn ? home : path.parse(dir).root;
}

/** Splits a command into the program and its arguments. The command is words or a JSON list. */
export function wordsOf(command: string, variable: string, code: Code = "state.key"): [string, ...string[]] {
  const text = command.trim();
  const list = parsedJson(text);
  const words = Array.isArray(list) ? list : /^\[|["'\\]/.test(text) ? [] : text.split(/\s+/);
  const [program, ...args] = words.every((word) => typeof word === "string") ? words : [];
  if (program !== undefined) return [program, ...args];
  return fail(code, `${variable} is not a program with its arguments`, {
    detail: "hostform starts the program without a shell: quotes and backslashes have no meaning.",
    remedies: [`Write it as a list in JSON: ${variable}='["program", "an argument"]'.`],
  });
}
