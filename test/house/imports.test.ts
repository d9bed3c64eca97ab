import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** The house's import table: folder of `src` -> what it may import of the rest of `src`. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  model: [],
  local: ["model"],
  api: ["model", "local"],
  kinds: ["api", "model"],
  lifecycle: ["kinds/kind.ts", "kinds/attribute.ts", "model", "api (types)"],
  engine: ["lifecycle", "kinds/kind.ts", "model", "api (types)"],
  expression: ["model"],
  declare: ["kinds/kind.ts", "kinds/attribute.ts", "kinds/provider-settings.ts", "expression", "model"],
  record: ["model", "local"],
  report: ["model"],
  webhooks: ["model"],
  contract: ["api", "model"],
  constructs: [],
  sandbox: [],
  terraform: ["lifecycle", "kinds", "api", "model", "local", "webhooks", "record/secret-output.ts"],
  cli: [
    "api",
    "declare",
    "engine",
    "expression",
    "kinds",
    "lifecycle",
    "local",
    "model",
    "record",
    "report",
    "webhooks",
    "contract",
    "sandbox (lazy)",
    "terraform (lazy)",
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
const folderOf = (file: string) => file.split("/")[0] ?? "";

function allowed({ from, to, form }: Import): boolean {
  const folder = folderOf(from);
  if (folderOf(to) === folder) return true;
  return (TABLE[folder] ?? []).some((entry) => {
    const [place = "", condition] = entry.split(" ");
    if (to !== place && folderOf(to) !== place) return false;
    return (
      condition === undefined ||
      (condition === "(types)" && form === "types") ||
      (condition === "(lazy)" && form === "lazy")
    );
  });
}

/** Kinds may share files of their folder, but no kind imports another. */
function acrossKinds({ from, to }: Import): boolean {
  const shared = /^kinds\/(?:attribute|common|invoice|kind|secret-output)\.ts$/;
  const unit = (file: string) => file.split("/")[1];
  const glue = /^kinds\/(?:index|registry\.gen)\.ts$/;
  return (
    folderOf(from) === "kinds" &&
    folderOf(to) === "kinds" &&
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
    const known = new Set(files);
    expect(all.filter(({ to }) => !known.has(to)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it("has no circles", () => {
    expect(circles(all.filter(({ form }) => form !== "lazy"))).toEqual([]);
  });

  it("keeps files small enough to read", () => {
    const long = files
      .map((file) => [file, readFileSync(path.join(src, file), "utf8").split("\n").length] as const)
      .filter(([file, lines]) => lines > 410 && !/\.gen\.|^constructs\/cdkt[fn]\//.test(file));
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
