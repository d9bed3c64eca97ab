// One-time secrets out to a file, a line of an env file or a command: where they may go, and how they get there.
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { problem } from "../messages/index.ts";
import {
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
  /** Absolute: paths are relative to it, and stay in it. */
  readonly folder: string;
  /** Absolute: the projects that the folder is a part of, such as that of an app whose stack it is; a secret may go anywhere in them. */
  readonly projects?: readonly string[];
  readonly disk: Disk;
  /** Looks at the path itself, be it a link. Undefined when nothing is there. */
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
 * Writes one-time secrets to where `secret_output` says. One at a time: two secrets may share an env file or a store.
 * Every failure is a HostformError `secret.output` that never holds the secret.
 */
export class SecretFiles {
  readonly #parts: SecretOutputParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SecretOutputParts) {
    this.#parts = parts;
  }

  /**
   * The place where a secret would be written. Writes nothing, and does not look outside of the project unless that is declared.
   * @throws HostformError `secret.output` for a place where no secret may be written.
   */
  destination(output: FileOutput, of: SecretName): Promise<SecretDestination> {
    return secretTarget(this.#parts, output, of).destination(output);
  }

  /** Makes sure, by trying, that a secret can be written there, and is this user's alone. */
  check(output: SecretOutput, of: SecretName): Promise<void> {
    return this.#inTurn(() => secretTarget(this.#parts, output, of).check());
  }

  /** The secrets that are there now. A command shows none. */
  held(output: SecretOutput, of: SecretName): Promise<readonly string[]> {
    return this.#inTurn(() => secretTarget(this.#parts, output, of).held());
  }

  /** Writes a secret; durable when it resolves. A file is replaced whole, so that it is never half written. */
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

  async function destination(file: FileOutput): Promise<SecretDestination> {
    const { folder, projects = [], own, isOwn, owner = "hostform" } = parts;
    const outside = file.outside_project === true;
    const declared = resolve(folder, outputPath(file));
    const folders = [...projects, folder];
    const roots = [...folders, ...(await attempt(() => Promise.all(folders.map((one) => realPath(disk, one)))))];
    // The text decides, before anything is looked at.
    const root = roots.find((one) => isInside(one, declared));
    if (root === undefined && !outside) {
      refuse(
        `It is ${declared}, which is not in ${folders[0]}.`,
        "Name a file in that folder, or set `outside_project` to true beside it if this one is meant.",
      );
    }
    const linked = await attempt(async () => stepsTo(declared, root).find((step) => look(step)?.form === "link"));
    if (linked !== undefined) refuse(`${linked} is a symbolic link, and no secret follows one.`, "Name its target.");
    const real = await attempt(() => realPath(disk, declared));
    if (real.split(sep).some((name) => name.toLowerCase() === ".git"))
      refuse("It is in a folder of git, which runs hooks and reads its configuration from there.");
    const owned = await Promise.all(own.map((file) => disk.resolve(file).catch(() => file)));
    if (owned.includes(real) || isOwn?.(real)) refuse(`It is a file that ${owner} itself reads or writes.`);
    return { real, inside: root !== undefined, shown: root === undefined ? real : relative(root, declared) };
  }

  async function check(): Promise<void> {
    if ("command" in output) return run(output.command, "test", "");
    const path = await target(output);
    const found = look(path);
    if (found?.isOwn === false)
      refuse(`Another user owns ${path}.`, "Remove the file, or name another: hostform creates it.");
    if (found !== undefined && (found.mode & 0o077) !== 0)
      refuse(`Others can read or write ${path}.`, `\`chmod 600 ${shellPath(outputPath(output))}\``);
    if ("env_file" in output) await textOf(path);
    await attempt(async () => {
      const temporary = await freeBeside(path);
      await createSynced(disk, temporary, "This line tests whether the file can be written.\n");
      await disk.remove(temporary);
      if (await isMount(disk, { path, temporary }))
        refuse(`${path} is a mount of its own, and no other file can replace it.`, "Mount its folder instead.");
    }, path);
  }

  async function write(secret: string): Promise<void> {
    if ("command" in output) return run(output.command, "write", secret);
    const path = await target(output);
    const text = "file" in output ? `${secret}\n` : await assigned(path, output.env_file.name, secret);
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
    return found.filter((secret) => secret !== "");
  }

  /** The regular file that is to be replaced, or created. */
  async function target(file: FileOutput): Promise<string> {
    const { real: path } = await destination(file);
    const found = await attempt(async () => look(path));
    if (found !== undefined && found.form !== "file") {
      const what = found.form === "folder" ? "a folder" : "not an ordinary file";
      refuse(`${path} is ${what}.`, "Name a file; it need not exist yet.");
    }
    return path;
  }

  async function assigned(path: string, name: string, secret: string): Promise<string> {
    const quoted = quoteValue(secret);
    if (quoted === undefined) {
      const detail = "It holds characters that shells and readers of .env files quote differently.";
      refuse(detail, "Use `file` or `command` instead.");
    }
    return withAssignment(await textOf(path), name, quoted);
  }

  async function textOf(path: string): Promise<string> {
    const text = (await attempt(() => disk.read(path))) ?? "";
    if (!text.includes("\uFFFD")) return text;
    return refuse(`${path} is not a text in UTF-8; rewriting it would damage it.`);
  }

  /** A free path beside the target. Always the same, so that what a killed run left there does not stay. */
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
    const when = purpose === "test" ? " when it was tried (HOSTFORM_SECRET_OUTPUT=test)" : "";
    refuse(`It ${failure}${when}. ${endOfErrors(stderr, input)}`, "Fix the command, or name another.");
  }

  /** Does a step on the disk; the system's refusal becomes a message. @param path what is to be written. */
  async function attempt<T>(step: () => Promise<T>, path?: string): Promise<T> {
    try {
      return await step();
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      const folder = path !== undefined && isThere(dirname(path));
      // The folder exists, but no file can be created in it (/proc).
      const fix = folder ? "Name a file in a folder where files can be created." : FIXES.ENOENT;
      const how = (code === "ENOENT" ? fix : FIXES[code]) ?? "Fix the path, or name another.";
      // The temporary file beside it is not shown.
      return refuse((error as Error).message.replace(/\.([^/\\]+)\.hostform\.tmp/, "$1"), how);
    }
  }

  function isThere(folder: string): boolean {
    try {
      return look(folder) !== undefined;
    } catch {
      return false;
    }
  }

  function refuse(detail: string, remedy = "Name another file."): never {
    const said = problem("secret.output", {
      address,
      attribute: ["secret_output"],
      what: attribute,
      place: outputPlace(output),
      reason: detail,
      remedy,
    });
    throw new HostformError([said]);
  }

  return { destination, check, held, write };
}

/**
 * Secrets on the disk of this machine; commands run in `folder`.
 * @param env the environment of commands.
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

const FIXES: Readonly<Record<string, string>> = {
  ENOENT: "Create its folder first (`mkdir -p`).",
  EACCES: "Get write access to its folder, or name another path.",
  EPERM: "Get write access to its folder, or name another path.",
  EROFS: "Name a path that can be written to.",
  ENOSPC: "Free space on the disk.",
};

/** The parts of a path below a root, from the top; without a root the path alone. */
function stepsTo(path: string, root: string | undefined): string[] {
  if (root === undefined) return [path];
  const names = relative(root, path).split(sep);
  return names.map((_, at) => join(root, ...names.slice(0, at + 1)));
}

/** @throws the system's errors, except that something does not exist yet. */
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
 * The project that the folder belongs to. A stack of CDKTF is in `cdktf.out/stacks/NAME`, and its project where the app
 * has its `cdktf.json`, or beside the output folder.
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

/** Characters that mean themselves to a shell and to every reader of `.env` files. */
const PLAIN = /^[A-Za-z0-9_./+=@%,-]+$/;

/** `NAME=value` with the place of the value; what a quoted value holds, line breaks too, is no assignment of its own. */
const ASSIGNMENT =
  /^([^\S\r\n]*(?:export[^\S\r\n]+)?)([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*(?:(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*")[^\r\n]*|[^\r\n]*)/gm;

/**
 * A text of `NAME=value` lines in which every line of this name has the value; appended when there is none. All other
 * lines stay as they are.
 * @param quoted as {@link quoteValue} gives it.
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

/** The values of this name in a text of `NAME=value` lines, without their quotes. */
function assignedTo(text: string, name: string): string[] {
  return [...text.matchAll(ASSIGNMENT)].flatMap(([line, , own]) => {
    if (own !== name) return [];
    const value = line.slice(line.indexOf("=") + 1).trim();
    const [, single, double] = /^(?:'([^']*)'|"([^"]*)")/.exec(value) ?? [];
    return [single ?? double ?? value];
  });
}

/**
 * A value in a notation that a shell (`set -a; . ./.env`) and dotenv readers understand alike; undefined when there is
 * none: dotenv knows no escapes that a shell knows too, so a value with both kinds of quotes cannot be written.
 */
export function quoteValue(value: string): string | undefined {
  if (PLAIN.test(value)) return value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\0-\x1f\x7f]/.test(value)) return undefined;
  if (!value.includes("'")) return `'${value}'`;
  return /["$`\\]/.test(value) ? undefined : `"${value}"`;
}
