/** Returns the version of the command line. Imports only small modules, because `main.ts` loads it alone for `version`. */
import { VERSION } from "../core/api/version.ts";

export const platform = `${process.platform}-${process.arch}`;

/** Output of `--version`. `version` prints more. */
export const shortVersion = `hostform ${VERSION}`;
export const longVersion = `${shortVersion} (Node ${process.versions.node}, ${platform})`;

/** Returns the output for arguments that only request the version. Undefined for all others. */
export function versionAnswer([only, ...more]: readonly string[]): string | undefined {
  if (more.length > 0) return undefined;
  if (only === "version") return longVersion;
  return only === "--version" || only === "-V" ? shortVersion : undefined;
}
