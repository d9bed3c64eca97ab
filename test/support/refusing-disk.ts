/** A file system that rejects operations. Changes Node's module, because the built files import it. */
import { constants, default as fsNow } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { onTestFinished, vi } from "vitest";

/**
 * Rejects an operation on each file with a matching name, until the test ends or the returned function is called.
 * @param code Error code, such as `EXDEV` or `ENOSPC`.
 */
export function refuse(
  operation: "rename" | "link" | "open" | "renameSync",
  name: string | RegExp,
  code: string,
): () => void {
  type Operations = Record<typeof operation, (...args: unknown[]) => unknown>;
  const owner = (operation === "renameSync" ? fsNow : fs) as unknown as Operations;
  const real = owner[operation];
  const fits = (file: unknown) => {
    const base = path.basename(String(file));
    return typeof name === "string" ? base === name : name.test(base);
  };
  const spy = vi.spyOn(owner, operation).mockImplementation((...args) => {
    // A full disk still allows reading.
    const isReading = typeof args[1] === "number" && (args[1] & (constants.O_WRONLY | constants.O_RDWR)) === 0;
    if (isReading || !args.slice(0, 2).some(fits)) return real(...args);
    const error = Object.assign(new Error(`${code}: refused, ${operation}`), { code });
    if (owner === (fs as unknown)) return Promise.reject(error);
    throw error;
  });
  syncBuiltinESMExports();
  const allow = () => {
    spy.mockRestore();
    syncBuiltinESMExports();
  };
  onTestFinished(allow);
  return allow;
}
