// The one place that opens paths: no other module of the sources imports `node:fs` (decision 0059).
import {
  appendFileSync,
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { attempt, errnoOf } from "../model/errors.ts";
import { isForeignPath, isInside } from "./paths.ts";

/** The reason why a path is not opened. `fileFailure` has the words of each. */
type Refusal = "EOUTSIDE" | "ELINK" | "ENOTREGULAR" | "EOWNER" | "EMODE";

/** A path that is not opened. */
export class PathRefused extends Error {
  readonly code: Refusal;
  readonly path: string;

  constructor(code: Refusal, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
    this.path = path;
  }
}

/** Limits of the places that a path may lead to. */
export interface Bounds {
  /**
   * Folders that the path stays in, absolute. Its text is checked before anything is looked at, and so is the text of each link on
   * the way. Default: it may lead anywhere.
   */
  readonly roots?: readonly string[] | undefined;
  /** False refuses each link below the roots, and at the end of a path without roots. Default: true. */
  readonly links?: boolean | undefined;
}

export interface Reading extends Bounds {
  /** The first bytes that are read. Default: all. */
  readonly limit?: number;
  /** True reads a pipe or a device, too: the command line names it. Default: only regular files, and a pipe never hangs. */
  readonly streams?: boolean | undefined;
}

/** A file, folder or link as it was at one moment. */
export interface Seen {
  readonly form: "file" | "folder" | "link" | "other";
  /** Permissions, such as 0o600. */
  readonly mode: number;
  /** True if this user owns it, and where there are no owners. */
  readonly isOwn: boolean;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly writtenAt: number;
  /** Nanoseconds since the epoch; no program can set it back. */
  readonly changedAt: bigint;
  /** The same text for the same file with the same content. */
  readonly identity: string;
  readonly inode: bigint;
}

/** More links than the system follows. */
const MOST_LINKS = 40;
// Windows has neither.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Returns what is at a path, links followed within the bounds; undefined for nothing. @throws PathRefused, Node's errors. */
export const look = (path: string, bounds: Bounds = {}): Seen | undefined => seen(statOf(bounded(path, bounds)));

/** Returns what is at a path itself, be it a link. @throws Node's errors. */
export const lookAt = (path: string): Seen | undefined => seen(lstat(path));

/** Returns true if something, be it a link to nothing, is at a path that the system lets us look at. */
export const exists = (path: string): boolean =>
  attempt(
    () => lookAt(path) !== undefined,
    () => false,
  );

/**
 * The path with its links followed within the bounds, step by step; what does not exist yet is taken as it is written.
 * @throws PathRefused before anything outside of the roots is looked at; Node's errors.
 */
export function bounded(path: string, { roots, links = true }: Bounds): string {
  const absolute = resolve(path);
  if (roots === undefined) {
    if (!links && lstat(absolute)?.isSymbolicLink()) throw new PathRefused("ELINK", absolute);
    return absolute;
  }
  const places = roots.map((root) => ({ root: resolve(root), real: realPath(resolve(root)) }));
  const within = (file: string): [string, string[]] => {
    for (const { root, real } of places)
      for (const from of [root, real]) {
        const way = relative(from, file);
        if (isInside(from, file) && !isForeignPath(way)) return [real, way.split(sep).filter(Boolean)];
      }
    throw new PathRefused("EOUTSIDE", absolute);
  };
  let [at, open] = within(absolute);
  for (let count = 0; open.length > 0; ) {
    const next = join(at, open[0] ?? "");
    const standing = lstat(next);
    if (standing === undefined) return join(at, ...open);
    if (!standing.isSymbolicLink()) {
      at = next;
      open = open.slice(1);
      continue;
    }
    if (!links) throw new PathRefused("ELINK", next);
    if (count++ === MOST_LINKS) throw Object.assign(new Error(`${next}: too many links`), { code: "ELOOP" });
    const [begin, steps] = within(resolve(at, readlinkSync(next)));
    [at, open] = [begin, [...steps, ...open.slice(1)]];
  }
  return at;
}

/** The real path; of what does not exist yet, where it would be created. @throws Node's errors, except for what does not exist. */
export function realPath(path: string, depth = 0): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch (error) {
    const above = dirname(absolute);
    if (!isMissing(error) || above === absolute || depth > MOST_LINKS) throw error;
    const own = join(realPath(above, depth), basename(absolute));
    // A link that leads to a place where nothing is yet.
    const target = lstat(own)?.isSymbolicLink() ? readlinkSync(own) : undefined;
    return target === undefined ? own : realPath(resolve(dirname(own), target), depth + 1);
  }
}

/** The content of a file. @throws PathRefused, Node's errors. */
export async function read(path: string, { limit, streams = false, ...bounds }: Reading = {}): Promise<Buffer> {
  const file = await open(bounded(path, bounds), constants.O_RDONLY | flagsOf(bounds) | (streams ? 0 : NO_WAIT));
  try {
    // A descriptor: what is at the path may be another file by now.
    if (!streams) requireRegular(fstatSync(file.fd, { bigint: true }), path);
    return limit === undefined ? await file.readFile() : await firstBytes(file, limit);
  } finally {
    await file.close();
  }
}

/** The same at once, of a small file. */
export function readNow(path: string, bounds: Bounds = {}): Buffer {
  const file = openSync(bounded(path, bounds), constants.O_RDONLY | flagsOf(bounds) | NO_WAIT);
  try {
    requireRegular(fstatSync(file, { bigint: true }), path);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** The text of a small file; undefined for what cannot be read. */
export const textNow = (path: string): string | undefined =>
  attempt(
    () => readNow(path).toString(),
    () => undefined,
  );

/** The names in a folder. @throws PathRefused, Node's errors. */
export async function list(folder: string, bounds: Bounds = {}): Promise<string[]> {
  return readdir(bounded(folder, bounds));
}

/** The same at once. */
export const listNow = (folder: string): string[] => readdirSync(folder);

/** The names of all that is no folder. */
export async function listFiles(folder: string, bounds: Bounds = {}): Promise<string[]> {
  const entries = await readdir(bounded(folder, bounds), { withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

export interface Writing extends Bounds {
  /** The mode of a new file, as far as the umask permits. Default: 0o666. */
  readonly mode?: number;
}

/**
 * Puts a file with a content in place of the regular file at a path, or of none: a reader finds the old one or the new one, whole.
 * A link at the path is refused.
 * @throws PathRefused, Node's errors; nothing is left behind then.
 */
export async function replace(
  path: string,
  content: string | Uint8Array,
  { mode = 0o666, ...bounds }: Writing = {},
): Promise<void> {
  const at = requireReplaceable(path, bounds);
  const temporary = beside(at);
  try {
    writeFileSync(temporary, content, { flag: "wx", mode });
    renameSync(temporary, at);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The place of a file that may be replaced: a regular one, or none. @throws PathRefused, Node's errors. */
export function requireReplaceable(path: string, bounds: Bounds = {}): string {
  const at = bounded(path, { ...bounds, links: false });
  requireRegular(lstat(at), at);
  return at;
}

/** Writes a file that must not exist yet; durable when it returns. @throws Node's errors, `EEXIST`. */
export function create(path: string, content: string | Uint8Array, mode: number): void {
  writeFileSync(path, content, { flag: "wx", mode, flush: true });
}

/** A free path beside a file, in its folder. */
export const beside = (path: string): string => join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.tmp`);

/** Removes a file; it is no error when there is none. */
export const remove = (path: string): void => rmSync(path, { force: true });

export const removeTree = (folder: string): void => rmSync(folder, { recursive: true, force: true });
export const rename = (from: string, to: string): void => renameSync(from, to);
/** Gives a file a second name, which must be free. */
export const link = (from: string, to: string): void => linkSync(from, to);
export const setMode = (path: string, mode: number): void => chmodSync(path, mode);
export const setTime = (path: string, at: number): void => utimesSync(path, at / 1000, at / 1000);
/** Returns the text of a link. @throws Node's errors. */
export const targetOf = (path: string): string => readlinkSync(path);
/** Returns the type of the file system of a folder, as Linux numbers them. */
export const fileSystemOf = (folder: string): number => statfsSync(folder).type;
/** Creates a folder for its owner alone, with a name that begins so. */
export const newFolder = (prefix: string): string => mkdtempSync(prefix);
/** Writes to an open stream of this process. */
export const writeTo = (descriptor: number, text: string): number => writeSync(descriptor, text);

/**
 * Creates a folder and those above it that are missing. Unlike `mkdir` with `recursive` it fails where
 * a folder cannot be created although the one above it exists: below `/proc`, Node tries without end.
 * @param mode of each folder that is created. Default: for its owner alone.
 * @throws the system's own error, which names the folder that could not be created.
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = resolve(folder); dirname(at) !== at && !exists(at); at = dirname(at)) missing.push(at);
  for (const each of missing.toReversed()) {
    try {
      mkdirSync(each, { mode });
    } catch (error) {
      // Another process may have created it meanwhile.
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}

/** Creates the folder of a file; others may use it as far as the umask permits. */
export const makeParent = (file: string): void => makeFolder(dirname(file), 0o777);

/**
 * Refuses what this user does not own alone: secrets would be another user's to read. Nothing at the path is no refusal.
 * @throws PathRefused for a link, another owner, and permissions of others.
 */
export function requirePrivate(path: string): Seen | undefined {
  const standing = lookAt(path);
  if (standing === undefined) return undefined;
  if (standing.form === "link") throw new PathRefused("ELINK", path);
  if (!standing.isOwn) throw new PathRefused("EOWNER", path);
  if ((standing.mode & 0o077) !== 0) throw new PathRefused("EMODE", path);
  return standing;
}

/** The same of a folder. What is no folder is no refusal: nothing can be written into it. */
export function requirePrivateFolder(folder: string): void {
  if (["folder", "link"].includes(lookAt(folder)?.form ?? "")) requirePrivate(folder);
}

/** A folder for its owner alone, which is created if it is missing. @throws as {@link requirePrivate} does; Node's errors. */
export function privateFolder(folder: string): void {
  requirePrivateFolder(folder);
  makeFolder(folder);
}

/** Creates an empty file for its owner alone, or accepts a private one. @returns true if it is new. @throws PathRefused, Node's errors. */
export function privateFile(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    if (requirePrivate(path)?.form !== "file") throw new PathRefused("ENOTREGULAR", path);
    return false;
  }
}

/** An open file for its owner alone. */
export interface OpenFile {
  readonly size: number;
  /** False once another file, or none, is at the path. */
  isAt(path: string): boolean;
  text(): string;
  /** Adds text at the end. */
  append(text: string): void;
  /** Cuts the file off behind these bytes. */
  cut(bytes: number): void;
  /** Closing twice is no error. */
  close(): void;
}

/**
 * Opens a regular file for its owner alone, and no link.
 * @param how `create`: the file must not exist yet. `append`: it exists. `pin`: it is created if it is missing.
 * @throws PathRefused, Node's errors.
 */
export function openPrivate(path: string, how: "create" | "append" | "pin"): OpenFile {
  // Before it is opened: a pipe or a device may act on that.
  if (how !== "create") requireRegular(lstat(path), path);
  const extra = how === "create" ? constants.O_CREAT | constants.O_EXCL : how === "pin" ? constants.O_CREAT : 0;
  const flags = constants.O_RDWR | extra | NO_FOLLOW | (how === "pin" ? 0 : constants.O_APPEND);
  const file = openSync(path, flags, 0o600);
  let isOpen = true;
  return {
    size: fstatSync(file).size,
    isAt: (other) => {
      const [ours, there] = [fstatSync(file, { bigint: true }), statOf(other)];
      return there !== undefined && there.dev === ours.dev && there.ino === ours.ino;
    },
    text: () => readFileSync(file, "utf8"),
    append: (text) => appendFileSync(file, text),
    cut: (bytes) => ftruncateSync(file, bytes),
    close: () => {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

const statOf = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });
const lstat = (path: string): BigIntStats | undefined => lstatSync(path, { bigint: true, throwIfNoEntry: false });
const isMissing = (error: unknown): boolean => errnoOf(error) === "ENOENT";

/** Below roots the links are resolved already. Without roots, only the last part of a path can be refused. */
const flagsOf = ({ roots, links = true }: Bounds): number => (roots !== undefined || !links ? NO_FOLLOW : 0);

function requireRegular(found: BigIntStats | undefined, path: string): void {
  if (found === undefined || found.isFile()) return;
  if (found.isSymbolicLink()) throw new PathRefused("ELINK", path);
  if (found.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path} is a folder`), { code: "EISDIR" });
  throw new PathRefused("ENOTREGULAR", path);
}

function seen(found: BigIntStats | undefined): Seen | undefined {
  if (found === undefined) return undefined;
  const form = found.isFile() ? "file" : found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "other";
  const [user, hasModes] = [process.getuid?.(), process.platform !== "win32"];
  return {
    form,
    mode: hasModes ? Number(found.mode) & 0o777 : 0o600,
    isOwn: user === undefined || Number(found.uid) === user,
    size: Number(found.size),
    writtenAt: Number(found.mtimeNs) / 1e6,
    changedAt: found.ctimeNs,
    identity: `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`,
    inode: found.ino,
  };
}

const PART_BYTES = 64 * 1024;

/** In parts: limits are far above the size of most files, and a stream has no size. */
async function firstBytes(file: FileHandle, limit: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let left = limit; left > 0; ) {
    const { buffer, bytesRead } = await file.read(new Uint8Array(Math.min(left, PART_BYTES)));
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return Buffer.concat(parts);
}
