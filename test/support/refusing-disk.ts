/** A file system that rejects operations. Changes Node's module, because the built files import it. */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { onTestFinished, vi } from "vitest";

/**
 * Rejects an operation on each file with a matching name, until the test ends or the returned function is called.
 * @param code Error code, such as `EXDEV` or `ENOSPC`.
 */
export function refuse(operation: "rename" | "link" | "open", name: string | RegExp, code: string): () => void {
  const real = fs[operation] as (...paths: unknown[]) => Promise<unknown>;
  const fits = (file: unknown) => {
    const base = path.basename(String(file));
    return typeof name === "string" ? base === name : name.test(base);
  };
  const spy = vi.spyOn(fs, operation).mockImplementation(async (...args: unknown[]): Promise<never> => {
    // A full disk still allows reading.
    const isReading = typeof args[1] === "number" && (args[1] & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
    if (!isReading && args.slice(0, 2).some(fits))
      throw Object.assign(new Error(`${code}: refused, ${operation}`), { code });
    return (await real(...args)) as never;
  });
  syncBuiltinESMExports();
  const allow = () => {
    spy.mockRestore();
    syncBuiltinESMExports();
  };
  onTestFinished(allow);
  return allow;
}
