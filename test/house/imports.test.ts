import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** Of the kinds, what stands for all of them. */
const CONTRACT = ["core/kinds/kind.ts", "core/kinds/attribute.ts"];
/** What a front may import that reads a declaration; no front knows another. */
const READING = ["fronts/source", "core/model", "core/expression", ...CONTRACT, "core/kinds/provider-settings.ts"];
/** The house's import table: room of `src` -> what it may import of the rest of `src`, or beside it. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  "core/model": [],
  "core/local": ["core/model"],
  "core/expression": ["core/model"],
  "core/api": ["core/model", "core/local"],
  "core/kinds": ["core/api", "core/model"],
  "core/lifecycle": [...CONTRACT, "core/model", "core/api (types)"],
  "core/engine": ["core/lifecycle", "core/kinds/kind.ts", "core/model", "core/api (types)"],
  "core/record": ["core/model", "core/local"],
  "fronts/source": READING,
  "fronts/yaml": READING,
  "fronts/stacks": READING,
  "fronts/terraform": [
    "core/lifecycle",
    "core/kinds",
    "core/api",
    "core/model",
    "core/local",
    "webhooks",
    "core/record/secret-output.ts",
  ],
  report: ["core/model"],
  webhooks: ["core/model"],
  contract: ["core/api", "core/model"],
  constructs: ["../bindings"],
  sandbox: [],
  cli: [
    "core/api",
    "core/engine",
    "core/expression",
    "core/kinds",
    "core/lifecycle",
    "core/local",
    "core/model",
    "core/record",
    "fronts/source",
    "fronts/stacks",
    "fronts/yaml",
    "report",
    "webhooks",
    "contract",
    "sandbox (lazy)",
    "fronts/terraform (lazy)",
  ],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly form: "static" | "types" | "lazy";
}

const src = path.resolve(import.meta.dirname, "../../src");
const files = globSync("**/*.ts", { cwd: src });

/** `import … from "…"`, `export … from "…"`, `import "…"`, `import("…")`; comments and strings cannot begin a line with them. */
const STATEMENT = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[^;"']*?\sfrom\s*)?["'](\.[^"']+)["']/gms;
const LAZY = /\bimport\(\s*["'](\.[^"']+)["']\s*\)/g;

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(src, file), "utf8");
  const target = (specifier: string) => path.posix.join(path.posix.dirname(file), specifier);
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, to = ""]) => ({
      from: file,
      to: target(to),
      form: type ? ("types" as const) : ("static" as const),
    })),
    ...[...text.matchAll(LAZY)].map(([, to = ""]) => ({ from: file, to: target(to), form: "lazy" as const })),
  ];
}

const all = files.flatMap(importsOf);
const folderOf = (file: string) => /^(?:(?:core|fronts)\/)?[^/]+/.exec(file)?.[0] ?? "";

function allowed({ from, to, form }: Import): boolean {
  const folder = folderOf(from);
  if (folderOf(to) === folder) return true;
  return (TABLE[folder] ?? []).some((entry) => {
    const [place = "", condition] = entry.split(" ");
    if (to !== place && !to.startsWith(`${place}/`)) return false;
    return (
      condition === undefined ||
      (condition === "(types)" && form === "types") ||
      (condition === "(lazy)" && form === "lazy")
    );
  });
}

/** Kinds may share files of their folder, but no kind imports another. */
function acrossKinds({ from, to }: Import): boolean {
  const shared = /^core\/kinds\/(?:attribute|common|invoice|kind|secret-output)\.ts$/;
  const unit = (file: string) => file.split("/")[2];
  const glue = /^core\/kinds\/(?:index|registry\.gen)\.ts$/;
  return (
    folderOf(from) === "core/kinds" &&
    folderOf(to) === "core/kinds" &&
    !glue.test(from) &&
    !shared.test(to) &&
    unit(from) !== unit(to)
  );
}

describe("the house", () => {
  it("finds the imports at all", () => {
    expect(all.length).toBeGreaterThan(200);
    expect(all.filter(({ form }) => form === "lazy").length).toBeGreaterThan(2);
  });

  it("knows every folder of src", () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => !(folder in TABLE))).toEqual([]);
  });

  it("keeps the import table", () => {
    expect(all.filter((one) => !allowed(one)).map(({ from, to, form }) => `${from} -> ${to} (${form})`)).toEqual([]);
  });

  it("lets no kind import another", () => {
    expect(all.filter(acrossKinds).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it("imports only files that exist", () => {
    expect(all.filter(({ to }) => !existsSync(path.join(src, to))).map(({ from, to }) => `${from} -> ${to}`)).toEqual(
      [],
    );
  });

  it("has no circles", () => {
    expect(circles(all.filter(({ form }) => form !== "lazy"))).toEqual([]);
  });

  it("keeps files small enough to read", () => {
    const long = files
      .map((file) => [file, readFileSync(path.join(src, file), "utf8").split("\n").length] as const)
      .filter(([file, lines]) => lines > 410 && !/\.gen\./.test(file));
    expect(long).toEqual([]);
  });

  it("opens each folder with a paragraph", () => {
    const folders = [...new Set(files.map(folderOf))].filter((folder) => folder !== "cli");
    for (const folder of folders) {
      expect(readFileSync(path.join(src, folder, "index.ts"), "utf8"), folder).toMatch(
        /^\/\*\*[\s\S]*Must not:[\s\S]*?\*\//,
      );
    }
  });
});

/** Each circle once, as `a -> b -> a`. */
function circles(edges: readonly Import[]): string[] {
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
  for (const file of files) visit(file, []);
  return found;
}
