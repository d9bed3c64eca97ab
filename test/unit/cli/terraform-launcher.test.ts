import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { launcher, NODE_FLOOR } from "../../../src/fronts/terraform/package.ts";
import { temporaryFolder } from "../../support/folder.ts";

describe("the launcher", () => {
  /** Runs the launcher with a fake Node of this version, which prints its process id and its arguments. */
  async function launch(version: string, how: "path" | "variable" = "path") {
    const at = temporaryFolder();
    const bin = path.join(at, "bin dir");
    await mkdir(bin);
    const node = path.join(bin, how === "path" ? "node" : "my node");
    await writeFile(
      node,
      `#!/bin/sh\n[ "$1" = --version ] && echo '${version}' && exit 0\nprintf '%s\\n' "ran $$" "$@"\n`,
      {
        mode: 0o755,
      },
    );
    await writeFile(path.join(at, "start"), launcher(), { mode: 0o755 });
    const env = how === "path" ? { PATH: `${bin}:/usr/bin:/bin` } : { PATH: "/usr/bin:/bin", HOSTFORM_NODE: node };
    const child = spawnSync(path.join(at, "start"), ["-x", "a b"], { env, encoding: "utf8" });
    return { at, ...child };
  }

  it.each([
    ["v22.20.0", true],
    ["v23.0.0", true],
    ["v100.1.0", true],
    ["v25.0.0-nightly2026", true],
    ["v22.19.9", false],
    ["v8.17.0", false],
    ["something else", false],
    ["", false],
  ])("with Node %s: %s", async (version, starts) => {
    const { at, status, stdout, stderr, pid } = await launch(version);
    if (starts) {
      // The launcher replaced itself with Node, and passed its arguments on.
      expect({ status, lines: stdout.split("\n") }).toEqual({
        status: 0,
        lines: [`ran ${pid}`, `${at}/provider.mjs`, "-x", "a b", ""],
      });
    } else {
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain(`needs Node.js ${NODE_FLOOR.major}.${NODE_FLOOR.minor} or later; node is ${version}.`);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    }
  });

  it("starts the Node that HOSTFORM_NODE names, with or without blanks in its path", async () => {
    const { at, stdout } = await launch("v24.0.0", "variable");
    expect(stdout).toContain(`${at}/provider.mjs`);
  });

  it("reports an error on the line that Terraform shows", async () => {
    const at = temporaryFolder();
    await writeFile(path.join(at, "start"), launcher(), { mode: 0o755 });
    const env = { PATH: at, TF_PLUGIN_MAGIC_COOKIE: "d602bf8f" };
    const { status, stdout, stderr } = spawnSync(path.join(at, "start"), { env, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    expect(stdout).toContain("node cannot be run");
  });

  it("reports a missing Node in one line", async () => {
    const at = temporaryFolder();
    await writeFile(path.join(at, "start"), launcher(), { mode: 0o755 });
    const { status, stderr } = spawnSync(path.join(at, "start"), { env: { PATH: at }, encoding: "utf8" });
    expect({ status, lines: stderr.trimEnd().split("\n").length }).toEqual({ status: 1, lines: 1 });
    expect(stderr).toContain("node cannot be run");
  });

  it("requires the same version of Node as package.json", async () => {
    const { engines } = JSON.parse(await readFile(path.resolve(import.meta.dirname, "../../../package.json"), "utf8"));
    expect(engines.node).toBe(`>=${NODE_FLOOR.major}.${NODE_FLOOR.minor}`);
    execFileSync("/bin/sh", ["-n"], { input: launcher() });
  });
});
