import { realpathSync } from "node:fs";
import path from "node:path";
import { errnoOf, fail } from "../../core/model/index.ts";
import { placeName, stateFile } from "./place.ts";
import type { LoadedStack } from "./stack.ts";

/** The backends that hostform knows; others are refused when the stack is read. */
const KNOWN: readonly (string | undefined)[] = [undefined, "local", "http", "pg"];

/**
 * Refuses stacks that keep their state at the same place: for each of them, what the other one has made is no longer
 * declared, and would be suspended or removed.
 * @param shown where the stacks are, as people know it. @throws HostformError `stack.manifest`.
 */
export function refuseSharedStates(
  stacks: readonly LoadedStack[],
  env: Readonly<Record<string, string | undefined>>,
  shown: string,
): void {
  const holders = new Map<string, string>();
  for (const { name, folder, outline } of stacks) {
    const { backend } = outline;
    if (!KNOWN.includes(backend?.type)) continue;
    const onDisk = backend === undefined || backend.type === "local";
    const place = onDisk ? `local ${real(stateFile(folder, backend?.settings))}` : placeName(folder, backend, env);
    const other = holders.get(place);
    if (other !== undefined) {
      fail("stack.manifest", `${shown}: the stacks ${other} and ${name} keep their state at the same place`, {
        detail: "What the one has made would be taken for removed by the other. Nothing was asked of the account.",
        fix: "Give each stack a place of its own: `path` of the local backend, `address` of http, `workspace` of pg.",
      });
    }
    holders.set(place, name);
  }
}

/** A file by its real path: two names may lead to one. It need not be there yet. */
function real(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const above = path.dirname(file);
    return above === file ? file : path.join(real(above), path.basename(file));
  }
}
