/**
 * The sources as the checks of the house see them: files, their lines, and who imports whom. Read as text; statements begin a
 * line, so that no comment and no string is taken for one.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const SRC = path.resolve(import.meta.dirname, "../../src");

export interface Import {
  /** Both paths are below `src`, with `/`. */
  readonly from: string;
  readonly to: string;
  readonly form: "static" | "types" | "lazy";
}

/** Every TypeScript file below `src`. */
export const files: readonly string[] = globSync("**/*.ts", { cwd: SRC })
  .map((file) => file.replaceAll(path.sep, "/"))
  .sort();

export const textOf = (file: string): string => readFileSync(path.join(SRC, file), "utf8");

/** What a generator writes: `*.gen.ts`, and the bindings for CDKTF and CDK Terrain. */
export const isGenerated = (file: string): boolean => /\.gen\.ts$|^constructs\/cdkt[fn]\/lib\//.test(file);

/** The room of a file: `core/lifecycle`, `fronts/yaml`, `report`. */
export const roomOf = (file: string): string => /^(?:(?:core|fronts)\/)?[^/]+/.exec(file)?.[0] ?? "";

/** `import … from "…"`, `export … from "…"`, `import "…"`, `import("…")`. */
const STATEMENT = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[^;"']*?\sfrom\s*)?["'](\.[^"']+)["']/gms;
const LAZY = /\bimport\(\s*["'](\.[^"']+)["']\s*\)/g;

function importsOf(from: string): Import[] {
  const text = textOf(from);
  const target = (specifier: string) => path.posix.join(path.posix.dirname(from), specifier);
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, to = ""]) => ({
      from,
      to: target(to),
      form: type ? ("types" as const) : ("static" as const),
    })),
    ...[...text.matchAll(LAZY)].map(([, to = ""]) => ({ from, to: target(to), form: "lazy" as const })),
  ];
}

/** Every import of one file of `src` by another. */
export const imports: readonly Import[] = files.flatMap(importsOf);

/** Each circle once, as `a -> b -> a`. */
export function circles(edges: readonly Import[]): string[] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]) => {
    const at = trail.indexOf(file);
    if (at >= 0) found.push([...trail.slice(at), file].join(" -> "));
    if (at >= 0 || done.has(file)) return;
    for (const { to } of next.get(file) ?? []) visit(to, [...trail, file]);
    done.add(file);
  };
  for (const file of next.keys()) visit(file, []);
  return found;
}
