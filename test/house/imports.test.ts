import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { circles, files, type Import, imports, isGenerated, roomOf, SRC, textOf } from "../../scripts/house/sources.ts";

/** Files of `core/kinds` that define the contract of all kinds. */
const CONTRACT = ["core/kinds/kind.ts", "core/kinds/attribute.ts"];
/** Imports allowed in a front that reads a declaration. No front imports another front. */
const READING = ["fronts/source", "core/model", "core/expression", ...CONTRACT, "core/kinds/provider-settings.ts"];
/** Import table: folder of `src` -> folders and files that its files may import. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  "core/model": [],
  "core/messages": ["core/model"],
  "core/local": ["core/model", "core/files"],
  "core/files": ["core/model"],
  "core/expression": ["core/model"],
  "core/policy": ["core/model"],
  "core/api": ["core/model", "core/local", "core/files"],
  "core/kinds": ["core/api", "core/model"],
  "core/lifecycle": [...CONTRACT, "core/model", "core/api (types)", "core/local (types)"],
  "core/engine": ["core/lifecycle", "core/kinds/kind.ts", "core/model", "core/api (types)", "core/local (types)"],
  "core/record": ["core/model", "core/files", "core/local"],
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
    "core/files",
    "core/policy",
    "core/expression/references.ts",
  ],
  project: [
    "core/api",
    "core/engine",
    "core/expression",
    "core/files",
    "core/kinds",
    "core/lifecycle",
    "core/local",
    "core/model",
    "core/policy",
    "core/record",
    "fronts/source",
    "fronts/stacks",
    "fronts/yaml",
    "fronts/terraform (lazy)",
    "report",
    "webhooks",
    "sandbox (lazy)",
    "sandbox (types)",
  ],
  fleet: ["project", "report", "core/model", "core/files", "core/local", "core/policy"],
  report: ["core/model"],
  webhooks: ["core/model"],
  constructs: ["../bindings"],
  sandbox: [],
  cli: [
    "fleet",
    "project",
    "report",
    "core/api",
    "core/files",
    "core/model",
    "webhooks",
    "sandbox (lazy)",
    "fronts/terraform (lazy)",
    "fronts/terraform/package.ts",
  ],
};

function allowed({ from, to, form }: Import): boolean {
  const folder = roomOf(from);
  if (roomOf(to) === folder) return true;
  // Only the core, the fronts, the project and the command line use the catalogue.
  if (roomOf(to) === "core/messages")
    return folder !== "core/model" && /^(?:core\/|fronts\/|project|fleet|cli$)/.test(folder);
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

/** Returns true if one kind imports another kind. Kinds may share files of their folder. */
function acrossKinds({ from, to }: Import): boolean {
  const shared = /^core\/kinds\/(?:attribute|invoice|kind|life|secret-output)\.ts$/;
  const unit = (file: string) => file.split("/")[2];
  const glue = /^core\/kinds\/(?:index|registry\.gen)\.ts$/;
  return (
    roomOf(from) === "core/kinds" &&
    roomOf(to) === "core/kinds" &&
    !glue.test(from) &&
    !shared.test(to) &&
    unit(from) !== unit(to)
  );
}

/** Returns a file's text without the program that `adopt` writes, because this program runs elsewhere. */
const ownCodeOf = (file: string) => textOf(file).replace(/^\) => `(?:\\`|[^`])*`;$/gm, "");

describe("src", () => {
  it("has imports that the search finds", () => {
    expect(imports.length).toBeGreaterThan(200);
    expect(imports.filter(({ form }) => form === "lazy").length).toBeGreaterThan(2);
  });

  it("has every folder in the import table", () => {
    expect([...new Set(files.map(roomOf))].filter((folder) => !(folder in TABLE))).toEqual([]);
  });

  it("has only imports that the import table allows", () => {
    expect(imports.filter((one) => !allowed(one)).map(({ from, to, form }) => `${from} -> ${to} (${form})`)).toEqual(
      [],
    );
  });

  it("has no kind that imports another kind", () => {
    expect(imports.filter(acrossKinds).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it("imports only files that exist", () => {
    expect(
      imports.filter(({ to }) => !existsSync(path.join(SRC, to))).map(({ from, to }) => `${from} -> ${to}`),
    ).toEqual([]);
  });

  it("has no circular imports, including lazy imports", () => {
    expect(circles(imports)).toEqual([]);
  });

  it("creates folders with makeFolder, because a recursive `mkdir` below /proc never returns", () => {
    const recursive = files.filter((file) => /\bmkdir(?:Sync)?\([^;]*recursive: true/.test(textOf(file)));
    expect(recursive).toEqual([]);
  });

  it("has only files below the size limit", () => {
    const long = files
      .map((file) => [file, textOf(file).split("\n").length] as const)
      .filter(([file, lines]) => lines > 410 && !isGenerated(file));
    expect(long).toEqual([]);
  });

  it("gives each file of core a unique name that differs from all folder names", () => {
    const core = files.filter((file) => file.startsWith("core/") && !file.endsWith("/index.ts"));
    const nameOf = (file: string) => path.posix.basename(file, ".ts");
    const folders = [...new Set([...files.map(roomOf), ...core.map(path.posix.dirname)])];
    const twins = [...Map.groupBy(core, nameOf).values()].filter(({ length }) => length > 1);
    const rooms = core.filter((file) => folders.some((folder) => path.posix.basename(folder) === nameOf(file)));
    expect({ twins, rooms }).toEqual({ twins: [], rooms: [] });
  });

  it("imports fs only in core/files, the sandbox and the webhook library", () => {
    const open = files.filter((file) =>
      /^import .* from "(?:node:)?fs(?:\/promises)?"|\b(?:import|require|getBuiltinModule)\("(?:node:)?fs\b/m.test(
        ownCodeOf(file),
      ),
    );
    const allowed = /^(?:sandbox|webhooks)\//;
    expect(open.filter((file) => !allowed.test(file))).toEqual(["core/files/disk.ts", "core/files/file-system.ts"]);
  });

  it("has a paragraph about each folder", () => {
    const folders = [...new Set(files.map(roomOf))].filter((folder) => folder !== "cli");
    for (const folder of folders) {
      expect(textOf(`${folder}/index.ts`), folder).toMatch(/^\/\*\*[\s\S]*Must not:[\s\S]*?\*\//);
    }
  });
});
