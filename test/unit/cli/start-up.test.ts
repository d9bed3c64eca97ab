import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import { fakeIo } from "../../support/io.ts";

const ROOT = path.join(import.meta.dirname, "../../..");

/** Module that prints every module loaded by its process when the process ends, one per line. */
const LISTING = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from "node:fs";
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on("exit", () => writeSync(2, loaded.map((url) => "loaded " + url + "\\n").join("")));
`)}`;

function urlsLoadedBy(program: string, ...line: string[]): string[] {
  const { stderr } = spawnSync(process.execPath, ["--import", LISTING, path.join(ROOT, program), ...line], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOSTING_TOKEN: "12|a-token-of-the-test" },
  });
  return [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url = ""]) => url);
}

/** Returns the packages and the parts of `src` that a command line loads, without `src/cli`. */
function loadedBy(...line: string[]): string[] {
  const parts = urlsLoadedBy("src/cli/main.ts", ...line).map((url) => {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
    return name ?? url.slice(url.indexOf("/src/") + 1).replace(/^(src\/core\/model)\/.*/, "$1");
  });
  return [...new Set(parts)].filter((part) => !part.startsWith("src/cli/")).sort();
}

/** Modules for the redaction of secrets. `zod`, `undici`, `yaml` and the engine are not among them. */
const FOR_HELP = [
  "commander",
  "hono",
  "src/core/api/version.ts",
  "src/core/files/file-system.ts",
  "src/core/files/paths.ts",
  "src/core/messages/message.ts",
  "src/core/model",
  "src/project/redaction.ts",
  "src/report/escape.ts",
  "src/report/paint.ts",
  "src/report/status/names.ts",
];

describe("modules that a command line loads", () => {
  it.each([
    ["version", ["version"], ["src/core/api/version.ts", "src/core/model"]],
    ["help", ["plan", "--help"], FOR_HELP],
  ])("%s", (_, line, parts) => {
    expect(loadedBy(...line)).toEqual(parts);
  });

  it("loads of undici only what a connection needs", () => {
    const urls = urlsLoadedBy("src/core/api/connect.ts").filter((url) => url.includes("/undici/"));
    expect(urls.some((url) => url.endsWith("/lib/dispatcher/agent.js"))).toBe(true);
    expect(urls.filter((url) => /\/(?:web|mock|cache|interceptor)\/|\/undici\/index\.js$/.test(url))).toEqual([]);
  });
});

describe("a usage error", () => {
  it("hides a secret of the environment in a usage error", async () => {
    const io = fakeIo({ env: { HOSTING_TOKEN: "12|a-token-of-the-test" } });
    expect(await runCli(["plan", "--a-token-of-the-test"], io)).toBe(1);
    expect(io.stderr()).toContain("(sensitive: env.HOSTING_TOKEN)");
    expect(io.stderr()).not.toContain("a-token-of-the-test");
  });
});
