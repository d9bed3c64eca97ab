/** Writes one-time secrets to a file, a line of an env file or a command, and rejects unsafe places. */
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { problem } from "../messages/index.ts";
import {
  type Diagnostic,
  errnoOf,
  type FileOutput,
  HostformError,
  outputPath,
  outputPlace,
  type SecretDestination,
  type SecretName,
  type SecretOutput,
  shellPath,
} from "../model/index.ts";
import { createSynced, type Disk, isMount, replaceFile, systemDisk } from "./disk.ts";
import { exists, lookAt, type Seen } from "./file-system.ts";
import { isInside } from "./paths.ts";
import { type CommandRunner, captureCommand, endOfErrors, SECRET_COMMAND_MS } from "./secret-command.ts";

interface SecretOutputParts {
  /** Absolute path of the base of relative paths. Secrets stay in this folder and in `projects`, unless the declaration allows more. */
  readonly folder: string;
  /** Absolute paths of the projects that contain the folder, such as the app of a stack. A secret may be written anywhere in them. */
  readonly projects?: readonly string[];
  readonly disk: Disk;
  /** Returns the properties at a path without following a link. Undefined if the path does not exist. */
  look(path: string): Pick<Seen, "form" | "mode" | "isOwn"> | undefined;
  readonly run: CommandRunner;
  /** Absolute paths of files (state, declaration) that no secret may replace. */
  readonly own: readonly string[];
  /** Returns true for a resolved path of such a file. */
  isOwn?(file: string): boolean;
  /** Owner of the files, for messages. Default: "hostform". */
  readonly owner?: string;
}

/**
 * Writes one-time secrets to their `secret_output`, one after the other, because two secrets may share an env file. Each failure is a
 * HostformError `secret.output`, which never contains the secret.
 */
export class SecretFiles {
  readonly #parts: SecretOutputParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SecretOutputParts) {
    this.#parts = parts;
  }

  /**
   * Returns the place where a secret would be written. Writes nothing, and reads no path outside of the project unless the
   * declaration allows it.
   * @throws HostformError `secret.output` for a forbidden place.
   */
  destination(output: FileOutput, of: SecretName): Promise<SecretDestination> {
    return secretTarget(this.#parts, output, of).destination(output);
  }

  /** Tests that a secret can be written to the place, and that only this user can read it. */
  check(output: SecretOutput, of: SecretName): Promise<void> {
    return this.#inTurn(() => secretTarget(this.#parts, output, of).check());
  }

  /** Returns the secrets that the place contains now. A command has none. */
  held(output: SecretOutput, of: SecretName): Promise<readonly string[]> {
    return this.#inTurn(() => secretTarget(this.#parts, output, of).held());
  }

  /** Writes a secret durably. Replaces the whole file, so that no reader gets a part of it. */
  write(output: SecretOutput, of: SecretName, secret: string): Promise<void> {
    return this.#inTurn(() => secretTarget(this.#parts, output, of).write(secret));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Returns the target of one secret. */
function secretTarget(parts: SecretOutputParts, output: SecretOutput, { address, attribute }: SecretName) {
  const { disk, look } = parts;
  const secret = { address, attribute: ["secret_output"], what: attribute, place: outputPlace(output) };

  async function destination(file: FileOutput): Promise<SecretDestination> {
    const { folder, projects = [], own, isOwn, owner = "hostform" } = parts;
    const outside = file.outside_project === true;
    const declared = resolve(folder, outputPath(file));
    const folders = [...projects, folder];
    const roots = [...folders, ...(await attempt(() => Promise.all(folders.map((one) => realPath(disk, one)))))];
    // Reject a forbidden path by its text, before the path is read.
    const root = roots.find((one) => isInside(one, declared));
    if (root === undefined && !outside) {
      reject(problem("secret.output/elsewhere", { ...secret, file: declared, folder: folders[0] ?? folder }));
    }
    const linked = await attempt(async () => stepsTo(declared, root).find((step) => look(step)?.form === "link"));
    if (linked !== undefined) reject(problem("secret.output/link", { ...secret, file: linked }));
    const real = await attempt(() => realPath(disk, declared));
    if (real.split(sep).some((name) => name.toLowerCase() === ".git")) reject(problem("secret.output/git", secret));
    const owned = await Promise.all(own.map((file) => disk.resolve(file).catch(() => file)));
    if (owned.includes(real) || isOwn?.(real)) reject(problem("secret.output/own", { ...secret, owner }));
    const above = dirname(real);
    const shown = root === undefined ? real : relative(root, declared);
    return { real, inside: root !== undefined, ...(!isThere(above) && { missing: above }), shown };
  }

  async function check(): Promise<void> {
    if ("command" in output) return run(output.command, "test", "");
    const path = await target(output);
    const found = look(path);
    if (found?.isOwn === false) reject(problem("secret.output/owner", { ...secret, file: path }));
    if (found !== undefined && (found.mode & 0o077) !== 0)
      reject(problem("secret.output/mode", { ...secret, file: path, argument: shellPath(outputPath(output)) }));
    if ("env_file" in output) await textOf(path);
    await attempt(async () => {
      const temporary = await freeBeside(path);
      await createSynced(disk, temporary, "This line tests whether the file can be written.\n");
      await disk.remove(temporary);
      if (await isMount(disk, { path, temporary })) reject(problem("secret.output/mount", { ...secret, file: path }));
    }, path);
  }

  async function write(value: string): Promise<void> {
    if ("command" in output) return run(output.command, "write", value);
    const path = await target(output);
    const text = "file" in output ? `${value}\n` : await assigned(path, output.env_file.name, value);
    await attempt(async () => {
      await replaceFile(disk, { path, temporary: await freeBeside(path) }, text);
      await disk.syncFolder(dirname(path));
    }, path);
  }

  async function held(): Promise<readonly string[]> {
    if ("command" in output) return [];
    const path = await target(output);
    const text = (await attempt(() => disk.read(path))) ?? "";
    const found = "file" in output ? [text.replace(/\r?\n$/, "")] : assignedTo(text, output.env_file.name);
    return found.filter((value) => value !== "");
  }

  /** Returns the path of the regular file to replace or create. */
  async function target(file: FileOutput): Promise<string> {
    const { real: path } = await destination(file);
    const found = await attempt(async () => look(path));
    if (found !== undefined && found.form !== "file")
      reject(problem("secret.output/form", { ...secret, file: path, isFolder: found.form === "folder" }));
    return path;
  }

  async function assigned(path: string, name: string, value: string): Promise<string> {
    const quoted = quoteValue(value) ?? reject(problem("secret.output/quotes", secret));
    return withAssignment(await textOf(path), name, quoted);
  }

  async function textOf(path: string): Promise<string> {
    const text = (await attempt(() => disk.read(path))) ?? "";
    if (!text.includes("\uFFFD")) return text;
    return reject(problem("secret.output/encoding", { ...secret, file: path }));
  }

  /** Returns a temporary path beside the target, after the removal of its file. The fixed path lets a run remove the file of a killed run. */
  async function freeBeside(path: string): Promise<string> {
    const temporary = join(dirname(path), `.${basename(path)}.hostform.tmp`);
    await disk.remove(temporary);
    return temporary;
  }

  async function run(command: readonly [string, ...string[]], purpose: "test" | "write", input: string): Promise<void> {
    const { failure, stderr } = await parts.run(command, input, {
      HOSTFORM_SECRET_OUTPUT: purpose,
      HOSTFORM_ADDRESS: address,
      HOSTFORM_ATTRIBUTE: attribute,
    });
    if (failure === undefined) return;
    const output = endOfErrors(stderr, input);
    reject(problem("secret.output/command", { ...secret, failure, isTest: purpose === "test", output }));
  }

  /** Runs a step on the disk, and converts an error of the system to `secret.output`. @param path the file to write. */
  async function attempt<T>(step: () => Promise<T>, path?: string): Promise<T> {
    try {
      return await step();
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      const missing =
        path === undefined || "command" in output || isThere(dirname(path))
          ? undefined
          : shellPath(dirname(outputPath(output)));
      // The message names the target in place of its temporary file.
      const failure = (error as Error).message.replace(/\.([^/\\]+)\.hostform\.tmp/, "$1");
      return reject(problem("secret.output/system", { ...secret, failure, code, missing }));
    }
  }

  function isThere(folder: string): boolean {
    try {
      return look(folder) !== undefined;
    } catch {
      return false;
    }
  }

  return { destination, check, held, write };
}

/**
 * Creates the outputs of secrets on this machine. Commands run in `folder`.
 * @param env environment of the commands.
 */
export function systemSecretFiles({
  env,
  ...parts
}: Pick<SecretOutputParts, "folder" | "projects" | "own" | "isOwn" | "owner"> & {
  readonly env: Readonly<Record<string, string | undefined>>;
}): SecretFiles {
  const run: CommandRunner = (command, input, more) =>
    captureCommand(command, { cwd: parts.folder, env: { ...env, ...more }, input, timeoutMs: SECRET_COMMAND_MS });
  return new SecretFiles({ ...parts, disk: systemDisk, look: lookAt, run });
}

function reject(reason: Diagnostic): never {
  throw new HostformError([reason]);
}

/** Returns the path and its parents below a root, outermost first. Without a root, returns only the path. */
function stepsTo(path: string, root: string | undefined): string[] {
  if (root === undefined) return [path];
  const names = relative(root, path).split(sep);
  return names.map((_, at) => join(root, ...names.slice(0, at + 1)));
}

/** Resolves the links of a path. Its last parts may be missing. @throws all other errors of the system. */
async function realPath(disk: Pick<Disk, "resolve">, file: string): Promise<string> {
  try {
    return await disk.resolve(file);
  } catch (error) {
    const above = dirname(file);
    if (errnoOf(error) !== "ENOENT" || above === file) throw error;
    return join(await realPath(disk, above), basename(file));
  }
}

/**
 * Returns the project of a folder. A stack of CDKTF is in `cdktf.out/stacks/NAME`; its project is the folder with the app's
 * `cdktf.json`, or the parent of the output folder.
 */
export function appFolder(folder: string): string {
  const output = resolve(folder, "..", "..");
  const isStack = basename(dirname(folder)) === "stacks" && exists(join(output, "manifest.json"));
  if (!isStack) return folder;
  const beside = dirname(output);
  for (let at = beside; ; at = dirname(at)) {
    if (exists(join(at, "cdktf.json"))) return at;
    if (at === dirname(at)) return beside;
  }
}

/** Text without a character that is special in a shell or in a `.env` file. */
const PLAIN = /^[A-Za-z0-9_./+=@%,-]+$/;

/** Matches `NAME=value`. A quoted value may contain line breaks and text that looks like another assignment. */
const ASSIGNMENT =
  /^([^\S\r\n]*(?:export[^\S\r\n]+)?)([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*(?:(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*")[^\r\n]*|[^\r\n]*)/gm;

/**
 * Sets the value in every `NAME=value` line of this name, or appends a line. Keeps all other lines.
 * @param quoted result of {@link quoteValue}.
 */
export function withAssignment(text: string, name: string, quoted: string): string {
  let found = false;
  const replaced = text.replace(ASSIGNMENT, (line, lead: string, own: string) => {
    if (own !== name) return line;
    found = true;
    return `${lead}${name}=${quoted}`;
  });
  if (found) return replaced;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const open = text !== "" && !text.endsWith("\n");
  return `${text}${open ? end : ""}${name}=${quoted}${end}`;
}

/** Returns the values of this name in `NAME=value` lines, without their quotes. */
function assignedTo(text: string, name: string): string[] {
  return [...text.matchAll(ASSIGNMENT)].flatMap(([line, , own]) => {
    if (own !== name) return [];
    const value = line.slice(line.indexOf("=") + 1).trim();
    const [, single, double] = /^(?:'([^']*)'|"([^"]*)")/.exec(value) ?? [];
    return [single ?? double ?? value];
  });
}

/**
 * Quotes a value so that a shell (`set -a; . ./.env`) and dotenv readers read an equal value. Undefined if no such notation exists:
 * a shell and dotenv share no escapes, so a value with both kinds of quotes cannot be written.
 */
export function quoteValue(value: string): string | undefined {
  if (PLAIN.test(value)) return value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
  if (/[\0-\x1f\x7f]/.test(value)) return undefined;
  if (!value.includes("'")) return `'${value}'`;
  return /["$`\\]/.test(value) ? undefined : `"${value}"`;
}
