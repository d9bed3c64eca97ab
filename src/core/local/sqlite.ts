import type { DatabaseSync } from "node:sqlite";

type Sqlite = typeof import("node:sqlite");

let loaded: Sqlite | undefined;

/** Opens a file as an SQLite database. The module loads at the first call: most commands never need it. */
export function openDatabase(path: string): DatabaseSync {
  loaded ??= withoutWarning(process, () => process.getBuiltinModule("node:sqlite"));
  return new loaded.DatabaseSync(path);
}

/**
 * Runs `load` and drops the one warning that Node 22 gives for it ("SQLite is an experimental feature"); every other
 * warning passes.
 */
export function withoutWarning<T>(emitter: Pick<NodeJS.Process, "emitWarning">, load: () => T): T {
  const emit = emitter.emitWarning;
  emitter.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes("SQLite is an experimental feature")) {
      Reflect.apply(emit, emitter, [warning, ...rest]);
    }
  }) as typeof emit;
  try {
    return load();
  } finally {
    emitter.emitWarning = emit;
  }
}
