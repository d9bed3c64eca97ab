import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { errnoOf } from "../model/index.ts";

/** Variables of the environment, as a parameter. */
/**
 * Where hostform keeps what belongs to the user and this machine, and to no project: the count of requests of each
 * token, and what the Terraform provider notes of creates. `HOSTFORM_STATE_HOME` decides; else it is the place that the
 * platform has for such things. Nothing is made here: whoever writes there makes it.
 * @returns undefined where no home is known, as in some containers.
 */
export function stateFolder(env: NodeJS.ProcessEnv, platform: string = process.platform): string | undefined {
  const places = platform === "win32" ? path.win32 : path.posix;
  if (env.HOSTFORM_STATE_HOME) return places.resolve(env.HOSTFORM_STATE_HOME);
  // A relative one would be another folder in each place; the XDG specification has it ignored.
  if (env.XDG_STATE_HOME && places.isAbsolute(env.XDG_STATE_HOME)) return places.join(env.XDG_STATE_HOME, "hostform");
  if (platform === "win32") return env.LOCALAPPDATA ? places.join(env.LOCALAPPDATA, "hostform") : undefined;
  if (!env.HOME) return undefined;
  return platform === "darwin"
    ? places.join(env.HOME, "Library", "Application Support", "hostform")
    : places.join(env.HOME, ".local", "state", "hostform");
}

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
