/** Records all uses of paths in this process: inspected, read and changed paths. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";

/** Functions of `node:fs` that change nothing. */
const LOOKING =
  /^(?:access|exists|glob|lstat|open(?:AsBlob|dir)?|read(?:dir|File|link)|realpath|stat(?:fs)?|createReadStream|watch(?:File)?)(?:Sync)?$/;
const CHANGING =
  /^(?:appendFile|chmod|chown|copyFile|cp|createWriteStream|lchmod|lchown|link|lutimes|mkdir|mkdtemp|rename|rm|rmdir|symlink|truncate|unlink|utimes|writeFile)(?:Sync)?$/;

type Module = Record<string, (...args: unknown[]) => unknown>;

/** Records all functions of `node:fs` and `node:fs/promises` with a path, from `begin` to `end`. */
export function watchPaths() {
  const seen: { readonly name: string; readonly path: string; readonly isChange: boolean }[] = [];
  const modules = [fs, fs.promises] as unknown as readonly Module[];
  const isWatched = (name: string) => LOOKING.test(name) || CHANGING.test(name);
  const real = modules.map((module) => Object.entries(module).filter(([name]) => isWatched(name)));
  const opensToWrite = (flags: unknown) =>
    typeof flags === "number"
      ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0
      : /[wa+]/.test(String(flags));
  const watched = (name: string, step: Module[string]): Module[string] => {
    const watching = (...args: unknown[]) => {
      const isChange = CHANGING.test(name) || (/^open(?:Sync)?$/.test(name) && opensToWrite(args[1] ?? "r"));
      const count = /^(?:copyFile|cp|link|rename|symlink)/.test(name) ? 2 : 1;
      for (const one of args.slice(0, count))
        if (typeof one === "string" || one instanceof URL || Buffer.isBuffer(one))
          seen.push({ name, path: path.resolve(String(one)), isChange });
      return step(...args);
    };
    // Keeps properties such as `realpath.native`.
    return Object.assign(watching, step);
  };
  return {
    begin(): void {
      for (const [nth, module] of modules.entries())
        for (const [name, step] of real[nth] ?? []) module[name] = watched(name, step);
      syncBuiltinESMExports();
    },
    end(): void {
      for (const [nth, module] of modules.entries()) Object.assign(module, Object.fromEntries(real[nth] ?? []));
      syncBuiltinESMExports();
    },
    forget: (): void => void seen.splice(0),
    /** Returns the names of functions that were called with this path or a path below it. */
    with: (place: string): readonly string[] =>
      seen.filter(({ path: one }) => one === place || one.startsWith(`${place}${path.sep}`)).map(({ name }) => name),
    /** Returns `NAME PATH` of each call that changes a path. */
    changes: (): readonly string[] =>
      seen.filter(({ isChange }) => isChange).map(({ name, path: at }) => `${name} ${at}`),
  };
}
