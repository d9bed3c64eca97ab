/** Why a file could not be read or written, in words. */
import { errnoOf } from "../core/model/index.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "its permissions do not allow it",
  EPERM: "its permissions do not allow it",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
};

/** For the end of a sentence: `it is a folder`. @throws the error itself when it is not one of the file system. */
export function fileFailure(error: unknown): string {
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  return REASONS[errno] ?? errno;
}
