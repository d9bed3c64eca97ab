/**
 * The folder in which the commands of this run note requests and creates, instead of the user's own: a sandbox of today may get
 * the port and the token of yesterday's, and then an order would be another run's.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), "hostform-tests-state-"));
  process.env.XDG_STATE_HOME = folder;
  return () => rm(folder, { recursive: true, force: true });
}
