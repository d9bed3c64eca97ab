import path from "node:path";
import { realPath, rename } from "../core/files/index.ts";
import { filesOfState } from "../core/record/index.ts";
import { raise } from "./messages.ts";
import type { Project } from "./project.ts";

/** Returns the name of the file that keeps the state of the file after its migration. */
export const backupOf = ({ source }: Project) => path.basename(filesOfState(source.state).backup);

/**
 * Copies the state of the file to the declared backend while both are locked. The file becomes its backup.
 * @param back copies the state of the backend to the file instead. The backend keeps it.
 * @returns the number of resources. Undefined without a state.
 * @throws HostformError `state.backend` without a backend at a server; otherwise as `push`.
 */
export async function migrateState(
  { state, declaration, source }: Project,
  back: boolean,
): Promise<number | undefined> {
  const { type = "local" } = (await declaration.backend()) ?? {};
  if (type === "local") raise("state.backend/none", {});
  const [from, to] = back ? [state, state.inFile()] : [state.inFile(), state];
  const command = "state migrate";
  return from.write(command, async (open, signal) => {
    const { state: before } = open;
    if (before.lineage === "") return undefined;
    await open.settle();
    const text = (await from.store().pull()) ?? "";
    await to.store().push(text, { command, timeoutMs: source.lockTimeoutMs ?? 0, signal, force: false });
    if (!back) rename(realPath(source.state), filesOfState(realPath(source.state)).backup);
    await from.recordNow({ ...before, resources: new Map() }, before, signal);
    return before.resources.size;
  });
}
