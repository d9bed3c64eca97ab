/** Finds state files that git tracks. Parses the index of the repository. */
import path from "node:path";
import { look, readNow, realPath, textNow } from "../core/files/index.ts";
import { attempt, type Diagnostic, shellPath, warningOf } from "../core/model/index.ts";
import { filesOfState } from "../core/record/index.ts";

/**
 * Warns if git tracks the state, its journal or its backup: a pull request could then replace the file.
 * @param state Path of the state file.
 */
export function trackedWarnings(state: string): Diagnostic[] {
  const at = attempt(
    () => realPath(state),
    () => state,
  );
  const { state: text, backup, journal, history } = filesOfState(at);
  const tracked = trackedFiles(
    path.dirname(at),
    [text, backup, journal, history].map((file) => path.basename(file)),
  );
  if (tracked.length === 0) return [];
  return [
    warningOf("state.tracked", `git tracks ${tracked.join(", ")}`, {
      detail:
        "A pull request or another branch can replace the state, even an encrypted one by an older one. Unencrypted, it shows its secrets to everyone who can read the repository.",
      remedies: [
        `\`git rm --cached ${tracked.map(shellPath).join(" ")}\`, add it to .gitignore, and keep it elsewhere: a backend, or a branch of its own.`,
      ],
    }),
  ];
}

/** Size of the index header in bytes: "DIRC", version, number of entries. */
const HEADER_BYTES = 12;
/** Size of the fields before the object name of an entry, in bytes: times, device, inode, mode, owner and size. */
const STAT_BYTES = 40;
const EXTENDED = 0x4000;
const NUL = 0;

/**
 * Returns the files that git tracks. Empty if the index is unreadable. Starts no program, because a repository can configure
 * programs that git runs.
 * @param folder Absolute, with links resolved.
 * @param names Names of files in the folder.
 */
export function trackedFiles(folder: string, names: readonly string[]): string[] {
  try {
    const repository = repositoryOf(folder);
    if (repository === undefined) return [];
    const index = readNow(path.join(repository.git, "index"));
    const inside = path.relative(repository.top, folder).split(path.sep).filter(Boolean);
    const wanted = new Map(names.map((name) => [[...inside, name].join("/"), name]));
    return [...pathsIn(index, hashBytes(repository.git))].flatMap((entry) => wanted.get(entry.toString()) ?? []);
  } catch {
    return [];
  }
}

export const isInRepository = (folder: string): boolean => repositoryOf(folder) !== undefined;

/** Finds the nearest folder with `.git`, and the folder of its index. A worktree has its index in another folder. */
function repositoryOf(folder: string): { readonly top: string; readonly git: string } | undefined {
  for (let top = folder; ; top = path.dirname(top)) {
    const git = path.join(top, ".git");
    const form = look(git)?.form;
    if (form === "folder") return { top, git };
    if (form === "file") {
      const named = /^gitdir: (.+)$/m.exec(textNow(git) ?? "")?.[1];
      return named === undefined ? undefined : { top, git: path.resolve(top, named.trim()) };
    }
    if (path.dirname(top) === top) return undefined;
  }
}

/**
 * Returns the size of an object name in bytes: SHA-1, or SHA-256 if the repository declares it. A worktree has the settings
 * of its repository.
 */
function hashBytes(git: string): number {
  const common = textNow(path.join(git, "commondir"))?.trim() ?? ".";
  const config = textNow(path.resolve(git, common, "config")) ?? "";
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 32 : 20;
}

/** Yields the paths in an index of version 2, 3 or 4 (`gitformat-index`). As bytes, because a name may not be UTF-8. */
function* pathsIn(index: Buffer, hash: number): Generator<Buffer> {
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return;
  let at = HEADER_BYTES;
  let previous = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const start = at;
    const isExtended = (index.readUInt16BE(at + STAT_BYTES + hash) & EXTENDED) !== 0;
    at += STAT_BYTES + hash + (isExtended ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      const removed = offsetAt(index, at);
      at = removed.next;
      kept = previous.length - removed.value;
    }
    const end = index.indexOf(NUL, at);
    if (end === -1) return;
    previous = Buffer.concat([previous.subarray(0, kept), index.subarray(at, end)]);
    yield previous;
    // In version 2 and 3, 1 to 8 NULs fill an entry to a multiple of 8.
    at = version === 4 ? end + 1 : start + Math.floor((end - start + 8) / 8) * 8;
  }
}

/** Parses a number of variable length, as in `OFS_DELTA` of packs. */
function offsetAt(index: Buffer, from: number): { readonly value: number; readonly next: number } {
  let next = from;
  let byte = index.readUInt8(next++);
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = index.readUInt8(next++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next };
}
