import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { pages, root } from "./markdown.ts";

/** Type-checks texts as modules that may import `hostform/client`. @returns what the compiler says. */
function check(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-docs-types-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const compilerOptions = {
      paths: { "hostform/client": [path.join(root, "src/api/index.ts")] },
      typeRoots: [path.join(root, "node_modules/@types")],
    };
    const config = { extends: path.join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = path.join(root, "node_modules/.bin/tsc");
    return spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("the TypeScript of the pages type-checks", () => {
  const blocks = pages().flatMap(({ file, blocks: all }) =>
    all
      .filter(({ lang }) => lang === "ts")
      .map(({ line, text }) => [`${file.replace(/\W+/g, "-")}-${line}.ts`, text] as const),
  );
  expect(blocks.length).toBeGreaterThan(0);
  expect(check(Object.fromEntries(blocks))).toBe("");
});

it("a mistake in TypeScript is found", () => {
  const text =
    'import { HostingClient } from "hostform/client";\nexport const client = new HostingClient({ token: 1 });\n';
  expect(check({ "wrong.ts": text })).toMatch(/wrong\.ts/);
});
