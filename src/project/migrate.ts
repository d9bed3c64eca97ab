import path from "node:path";
import { realPath, rename } from "../core/files/index.ts";
import { filesOfState } from "../core/record/index.ts";
import { raise } from "./messages.ts";
import type { Project } from "./project.ts";

/** Result of a migration. */
interface Migrated {
  readonly resources: number;
  /** Number of entries in the history of the target. Undefined if the target keeps no history. */
  readonly entries: number | undefined;
  /** Number of entries that only the source has. */
  readonly left: number;
}

/** Returns the names of the files that keep the state and the history after a migration. */
export function keptFiles({ source }: Project): { readonly backup: string; readonly history: string } {
  const { backup, history } = filesOfState(source.state);
  return { backup: path.basename(backup), history: path.basename(history) };
}

/**
 * Copies the state and the history of the file to the declared backend while both are locked. The file becomes its backup.
 * @param back copies the state and the history of the backend to the file instead. The backend keeps both.
 * @returns undefined without a state.
 * @throws HostformError `state.backend` without a backend at a server; otherwise as `push`.
 */
export async function migrateState(
  { state, declaration, source }: Project,
  back: boolean,
): Promise<Migrated | undefined> {
  const { type = "local" } = (await declaration.backend()) ?? {};
  if (type === "local") raise("state.backend/none", {});
  const [from, to] = back ? [state, state.inFile()] : [state.inFile(), state];
  const command = "state migrate";
  return from.write(command, async (open, signal) => {
    const { state: before } = open;
    if (before.lineage === "") return undefined;
    await open.settle();
    const text = (await from.store().pull()) ?? "";
    const history = await open.history?.lines();
    const timeoutMs = source.lockTimeoutMs ?? 0;
    await to.store().push(text, { command, timeoutMs, signal, force: false, history });
    if (!back) rename(realPath(source.state), filesOfState(realPath(source.state)).backup);
    await from.recordNow({ ...before, resources: new Map() }, before, signal);
    const copy = await to.history();
    return {
      resources: before.resources.size,
      entries: copy?.entries.length,
      left: copy === undefined ? (history?.length ?? 0) : 0,
    };
  });
}
