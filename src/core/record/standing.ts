import { stat } from "node:fs/promises";
import { errnoOf } from "../model/index.ts";

/** What stands at a path, symbolic links followed. */
export interface Standing {
  readonly form: "file" | "folder" | "other";
  /** Whether anybody but its owner may read it. */
  readonly readableByOthers: boolean;
}

/** @returns undefined when there is nothing. @throws the system's own errors for a place that cannot be looked at. */
export async function standingAt(path: string): Promise<Standing | undefined> {
  try {
    const found = await stat(path);
    return {
      form: found.isFile() ? "file" : found.isDirectory() ? "folder" : "other",
      readableByOthers: process.platform !== "win32" && (found.mode & 0o077) !== 0,
    };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
