import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { installConstructs } from "../support/constructs.ts";
import { type Page, pages, root } from "./markdown.ts";

/**
 * Type-checks texts as modules that may import `hostform`, `hostform/client`, `hostform/cdktf` and `hostform/cdktn`.
 * @returns The compiler's output.
 */
async function check(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-docs-types-"));
  try {
    await installConstructs(folder, ["express", "@types/express", "hono", "@hono/node-server"]);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const compilerOptions = {
      declaration: false,
      paths: {
        hostform: [path.join(root, "src/project/library.ts")],
        "hostform/client": [path.join(root, "src/core/api/index.ts")],
        "hostform/json": [path.join(root, "src/cli/json.ts")],
        "hostform/sandbox": [path.join(root, "src/sandbox/index.ts")],
        "hostform/webhooks": [path.join(root, "src/webhooks/index.ts")],
        "hostform/webhooks/fetch": [path.join(root, "src/webhooks/fetch.ts")],
      },
      typeRoots: [path.join(root, "node_modules/@types")],
    };
    const config = { extends: path.join(root, "tsconfig.json"), compilerOptions, include: ["**/*.ts"] };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ ...config, exclude: ["node_modules"] }));
    const tsc = path.join(root, "node_modules/.bin/tsc");
    return spawnSync(process.execPath, [tsc, "-p", folder, "--singleThreaded"], { encoding: "utf8" }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the modules of a page as paths and texts. Each page has its own folder, and a module has the name that the
 * page shows, so that modules can import each other.
 */
const modules = ({ file, blocks }: Page): [string, string][] =>
  blocks
    .filter(({ lang }) => lang === "ts")
    .map(({ line, text, directives }) => {
      const name = directives.get("file") ?? `${line}.ts`;
      return [path.join(file.replace(/\W+/g, "-"), name), text];
    });

/** Modules with type errors. One run of the compiler checks them and the modules of the pages. */
const WRONG = {
  "wrong.ts":
    'import { HostingClient } from "hostform/client";\nexport const client = new HostingClient({ token: 1 });\n',
  "page/site.ts":
    'import { TerraformStack } from "cdktn";\nimport { HostedSite } from "hostform/cdktn";\nexport const make = (stack: TerraformStack) => new HostedSite(stack, "a", { planId: 1, currency: "GBP" });\n',
};

it("the TypeScript of the pages and the receivers type-checks, and type errors are found", {
  timeout: 60_000,
}, async () => {
  const receivers = globSync("examples/webhooks/*.ts", { cwd: root });
  const found = [
    ...pages().flatMap(modules),
    ...receivers.map((file): [string, string] => [file, readFileSync(path.join(root, file), "utf8")]),
  ];
  expect(found.length).toBeGreaterThan(0);
  expect(new Set(found.map(([name]) => name)).size).toBe(found.length);
  const said = await check({ ...Object.fromEntries(found), ...WRONG });
  // The compiler indents the continuation lines of an error.
  const ofPages = said
    .split("\n")
    .filter((line) => /^\S/.test(line) && !/(?:^|\/)(?:wrong|page\/site)\.ts\(/.test(line));
  expect(ofPages, said).toEqual([]);
  expect(said).toMatch(/\bwrong\.ts.*string/);
  expect(said).toMatch(/\bpage\/site\.ts.*"GBP"/);
});
