/** Files, sizes and imports of `src`, for the checks of the house. A statement begins a line, so that no comment or string counts as one. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "@babel/parser";

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

/** Output of a generator: `*.gen.ts`, and the bindings for CDKTF and CDK Terrain. */
export const isGenerated = (file: string): boolean => /\.gen\.ts$|^constructs\/cdkt[fn]\/lib\//.test(file);

/** Size of a file as a reader meets it: packing lines gains nothing. */
export interface Size {
  /** Tokens of the language; a string, template or pattern counts as many as it has words. */
  readonly tokens: number;
  /** Comments that begin with a relative clause, as `file:line text`. */
  readonly clauses: readonly string[];
}

const RELATIVE = /^(What|Whether|Which|Who|Whose|Where|When|How|Of|With|As|That|Those|Such|So|To)\b/i;
const TEXTS: ReadonlySet<string> = new Set(["string", "template", "regexp"]);

export function sizeOf(file: string): Size {
  const { tokens, comments } = parse(textOf(file), { sourceType: "module", plugins: ["typescript"], tokens: true });
  let count = 0;
  for (const { type, value } of tokens as readonly { type: string | { label: string }; value?: unknown }[]) {
    if (typeof type === "string") continue;
    count += TEXTS.has(type.label) && typeof value === "string" ? Math.max(1, value.match(/\S+/g)?.length ?? 0) : 1;
  }
  const clauses = (comments ?? []).flatMap(({ value, loc }) => {
    const text = value.replace(/^\*?\s*/, "").trim();
    return /^[A-Za-z]+\s/.test(text) && RELATIVE.test(text)
      ? [`${file}:${loc?.start.line} ${text.split("\n")[0]?.slice(0, 110)}`]
      : [];
  });
  return { tokens: count, clauses };
}

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
