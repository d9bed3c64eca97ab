import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { errnoOf } from "../model/index.ts";

/**
 * Makes a folder and those above it that are missing, for their owner alone. Unlike `mkdir` with `recursive` it ends where
 * a folder cannot be made although the one above it exists: below `/proc`, Node tries for as long as it lives.
 * @throws the system's own error, which names the folder that could not be made.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !exists(at); at = path.dirname(at)) missing.push(at);
  for (const each of missing.toReversed()) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      // Another process may have made it meanwhile.
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}

/** A root always exists. What may not be looked at does not: making it says why. */
function exists(folder: string): boolean {
  if (path.dirname(folder) === folder) return true;
  try {
    return statSync(folder, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
