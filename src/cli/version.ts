/** The version as the command line shows it. Imports nothing that takes time to load: `main.ts` answers with it alone. */
import { VERSION } from "../core/api/version.ts";

export const platform = `${process.platform}-${process.arch}`;

/** Text of `--version`; `version` prints more. */
export const shortVersion = `hostform ${VERSION}`;
export const longVersion = `${shortVersion} (Node ${process.versions.node}, ${platform})`;

/** The answer to a command line that asks for the version and nothing else; undefined for any other. */
export function versionAnswer([only, ...more]: readonly string[]): string | undefined {
  if (more.length > 0) return undefined;
  if (only === "version") return longVersion;
  return only === "--version" || only === "-V" ? shortVersion : undefined;
}
