import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * Writes a file so that a reader finds the old one or the new one, whole. For what holds no secret: who may read it
 * follows from `mode` and the umask.
 * @throws Node's errors; nothing is left behind then.
 */
export async function writeWhole(file: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, content, { flag: "wx", mode });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
