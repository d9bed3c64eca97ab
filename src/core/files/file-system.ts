// Paths: with `disk.ts` the only module that imports `node:fs` (decision 0059). `webhooks` and the sandbox have their own.
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

/** Reason for the rejection of a path. `fileFailure` returns its text. */
type Refusal = "EOUTSIDE" | "ELINK" | "ENOTREGULAR" | "EOWNER" | "EMODE";

/** Error about a rejected path. */
export class PathRefused extends Error {
  readonly code: Refusal;
  readonly path: string;

  constructor(code: Refusal, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
    this.path = path;
  }
}

/** Bounds of a path. */
export interface Bounds {
  /**
   * Absolute folders that contain the path. The text of the path and of each link is checked before any access to the disk.
   * Default: no bounds.
   */
  readonly roots?: readonly string[] | undefined;
  /** False rejects each link below the roots. Without roots, false rejects only a link at the end of the path. Default: true. */
  readonly links?: boolean | undefined;
}

export interface Reading extends Bounds {
  /** Maximum number of bytes, from the beginning. Default: the whole file. */
  readonly limit?: number;
  /** True also reads pipes and devices, for paths from the command line. Default: only regular files, so that no pipe hangs. */
  readonly streams?: boolean | undefined;
}

/** Properties of a file, folder or link at one moment. */
export interface Seen {
  readonly form: "file" | "folder" | "link" | "other";
  /** Permissions, such as 0o600. */
  readonly mode: number;
  /** True if this user is the owner, and on systems without owners. */
  readonly isOwn: boolean;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly writtenAt: number;
  /** Nanoseconds since the epoch. No program can set this time back. */
  readonly changedAt: bigint;
  /** Identity of file and content. A new file or a rewrite changes the identity. */
  readonly identity: string;
  readonly inode: bigint;
}

/** Maximum number of links in one path. */
const MOST_LINKS = 40;
// Windows has neither flag.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Returns the properties at a path, after links, or undefined. @throws Node's errors. */
export const look = (path: string): Seen | undefined => seen(statOf(resolve(path)));

/** Returns the properties at a path without following a link, or undefined. @throws Node's errors. */
export const lookAt = (path: string): Seen | undefined => seen(lstat(path));

/** Returns true if the path exists, also as a dangling link. False for an inaccessible path. */
export const exists = (path: string): boolean =>
  attempt(
    () => lookAt(path) !== undefined,
    () => false,
  );

/**
 * Resolves the links of a path within the bounds, step by step. Missing parts stay unchanged.
 * @throws PathRefused before any access outside the roots; Node's errors.
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

/** Returns the real path. A missing file resolves to the place of its creation. @throws Node's errors, except about missing files. */
export function realPath(path: string, depth = 0): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch (error) {
    const above = dirname(absolute);
    if (!isMissing(error) || above === absolute || depth > MOST_LINKS) throw error;
    const own = join(realPath(above, depth), basename(absolute));
    // A dangling link.
    const target = lstat(own)?.isSymbolicLink() ? readlinkSync(own) : undefined;
    return target === undefined ? own : realPath(resolve(dirname(own), target), depth + 1);
  }
}

/** Reads the content of a file. @throws PathRefused, Node's errors. */
export async function read(path: string, { limit, streams = false, ...bounds }: Reading = {}): Promise<Buffer> {
  const file = await open(bounded(path, bounds), constants.O_RDONLY | flagsOf(bounds) | (streams ? 0 : NO_WAIT));
  try {
    // Checks the descriptor, because the path may already lead to another file.
    if (!streams) requireRegular(fstatSync(file.fd, { bigint: true }), path);
    return limit === undefined ? await file.readFile() : await firstBytes(file, limit);
  } finally {
    await file.close();
  }
}

/** Reads a small file synchronously. @throws PathRefused, Node's errors. */
export function readNow(path: string, bounds: Bounds = {}): Buffer {
  const file = openSync(bounded(path, bounds), constants.O_RDONLY | flagsOf(bounds) | NO_WAIT);
  try {
    requireRegular(fstatSync(file, { bigint: true }), path);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reads the text of a small file. Returns undefined for an unreadable file. */
export const textNow = (path: string): string | undefined =>
  attempt(
    () => readNow(path).toString(),
    () => undefined,
  );

/** Lists the names in a folder. @throws PathRefused, Node's errors. */
export async function list(folder: string, bounds: Bounds = {}): Promise<string[]> {
  return readdir(bounded(folder, bounds));
}

/** Lists the names in a folder synchronously. @throws Node's errors. */
export const listNow = (folder: string): string[] => readdirSync(folder);

/** Lists all names in a folder except folders. @throws PathRefused, Node's errors. */
export async function listFiles(folder: string, bounds: Bounds = {}): Promise<string[]> {
  const entries = await readdir(bounded(folder, bounds), { withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

export interface Writing extends Bounds {
  /** Mode of a new file before the umask. Default: 0o666. */
  readonly mode?: number;
}

/**
 * Replaces or creates the regular file at a path. Readers get the whole old file or the whole new file. Rejects a link.
 * @throws PathRefused, Node's errors. No temporary file remains.
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

/** Returns the resolved path of a replaceable file: a regular or a missing file. @throws PathRefused, Node's errors. */
export function requireReplaceable(path: string, bounds: Bounds = {}): string {
  const at = bounded(path, { ...bounds, links: false });
  requireRegular(lstat(at), at);
  return at;
}

/** Creates a durable file. @throws Node's errors; `EEXIST` if the file exists. */
export function create(path: string, content: string | Uint8Array, mode: number): void {
  writeFileSync(path, content, { flag: "wx", mode, flush: true });
}

/** Returns a unique temporary path in the folder of a file. */
export const beside = (path: string): string => join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.tmp`);

/** Removes a file. Does nothing if the file does not exist. */
export const remove = (path: string): void => rmSync(path, { force: true });

export const removeTree = (folder: string): void => rmSync(folder, { recursive: true, force: true });
export const rename = (from: string, to: string): void => renameSync(from, to);
/** Gives a file a second name. Fails if the name exists. */
export const link = (from: string, to: string): void => linkSync(from, to);
export const setMode = (path: string, mode: number): void => chmodSync(path, mode);
export const setTime = (path: string, at: number): void => utimesSync(path, at / 1000, at / 1000);
/** Returns the target of a link as text. @throws Node's errors. */
export const targetOf = (path: string): string => readlinkSync(path);
/** Returns Linux's number for the type of a folder's file system. */
export const fileSystemOf = (folder: string): number => statfsSync(folder).type;
/** Creates a folder with a unique name after the prefix, accessible only to its owner. */
export const newFolder = (prefix: string): string => mkdtempSync(prefix);
/** Writes to an open stream of this process. */
export const writeTo = (descriptor: number, text: string): number => writeSync(descriptor, text);

/**
 * Creates a folder and its missing parents. `mkdir` with `recursive` never ends below `/proc`; this function fails there.
 * @param mode mode of each new folder. Default: accessible only to its owner.
 * @throws the system's own error with the path of the failed folder.
 */
export function makeFolder(folder: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = resolve(folder); dirname(at) !== at && !exists(at); at = dirname(at)) missing.push(at);
  for (const each of missing.toReversed()) {
    try {
      mkdirSync(each, { mode });
    } catch (error) {
      // Another process may have created the folder meanwhile.
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}

/** Creates the folder of a file, with the permissions of the umask. */
export const makeParent = (file: string): void => makeFolder(dirname(file), 0o777);

/**
 * Rejects a path that other users could access, because the path will contain secrets. Returns undefined for a missing path.
 * @throws PathRefused for a link, another owner, and permissions of other users.
 */
export function requirePrivate(path: string): Seen | undefined {
  const standing = lookAt(path);
  if (standing === undefined) return undefined;
  if (standing.form === "link") throw new PathRefused("ELINK", path);
  if (!standing.isOwn) throw new PathRefused("EOWNER", path);
  if ((standing.mode & 0o077) !== 0) throw new PathRefused("EMODE", path);
  return standing;
}

/** Checks a folder or link as {@link requirePrivate}. Ignores a file, because the later creation of the folder fails there. */
export function requirePrivateFolder(folder: string): void {
  if (["folder", "link"].includes(lookAt(folder)?.form ?? "")) requirePrivate(folder);
}

/** Creates a missing folder, accessible only to its owner, or checks an existing one. @throws as {@link requirePrivate}; Node's errors. */
export function privateFolder(folder: string): void {
  requirePrivateFolder(folder);
  makeFolder(folder);
}

/** Creates an empty file, accessible only to its owner, or checks an existing one. @returns true for a new file. @throws PathRefused, Node's errors. */
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

/** An open file, accessible only to its owner. */
export interface OpenFile {
  readonly size: number;
  /** Returns false once the path has another file or no file. */
  isAt(path: string): boolean;
  text(): string;
  /** Appends text. */
  append(text: string): void;
  /** Truncates the file to this number of bytes. */
  cut(bytes: number): void;
  /** Closes the file. A second call does nothing. */
  close(): void;
}

/**
 * Opens a regular file. Rejects links. A new file is accessible only to its owner.
 * @param how `create`: creates the file and fails if it exists. `append`: opens an existing file. `pin`: opens or creates the file.
 * @throws PathRefused, Node's errors.
 */
export function openPrivate(path: string, how: "create" | "append" | "pin"): OpenFile {
  // Checked before the opening, because opening a pipe or a device may have effects.
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

/** Returns the flags that reject a link at the end of a path. With roots, {@link bounded} has already resolved all allowed links. */
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

/** Reads in parts, because limits far exceed most file sizes and a stream has no size. */
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
