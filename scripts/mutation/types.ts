// The mutants that the compiler refuses: they cannot be written, so they do not count.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { instrument, type Mutant } from "./mutants.ts";

/**
 * The numbers of those that do not type-check. One run of the compiler checks one mutant of each file.
 * @param firstIds of the mutants of each file.
 * @param folder for temporary files. The one of the tests has been removed by now.
 */
export function refusedByTypes(
  root: string,
  mutants: readonly Mutant[],
  firstIds: ReadonlyMap<string, number>,
  folder: string,
): number[] {
  const copy = mkdtempSync(path.join(folder, "types-"));
  cpSync(path.join(root, "src"), path.join(copy, "src"), { recursive: true });
  for (const file of ["schemas", "package.json"])
    cpSync(path.join(root, file), path.join(copy, file), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  // Unused names are no mistake of types.
  const compilerOptions = {
    incremental: true,
    tsBuildInfoFile: "build-info.json",
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
    noImplicitReturns: false,
  };
  const config = {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions,
    include: ["src"],
    exclude: ["src/constructs"],
  };
  writeFileSync(path.join(copy, "tsconfig.json"), JSON.stringify(config));
  const queues = Map.groupBy(mutants, ({ file }) => file);
  const rounds = Math.max(0, ...[...queues.values()].map(({ length }) => length));
  const refused: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const tried = [...queues.values()].flatMap((queue) => queue[round] ?? []);
      for (const [file] of queues) {
        const text = readFileSync(path.join(root, file), "utf8");
        const mutant = tried.find((one) => one.file === file);
        const changed = instrument(text, file, firstIds.get(file) ?? 1, (id) => id === mutant?.id, true).text;
        writeFileSync(path.join(copy, file), mutant ? changed : text);
      }
      const args = [path.join(root, "node_modules/.bin/tsc"), "-p", copy, "--pretty", "false"];
      const { stdout } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
      refused.push(...tried.filter(({ file }) => stdout.includes(`${file}(`)).map(({ id }) => id));
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
  return refused;
}
