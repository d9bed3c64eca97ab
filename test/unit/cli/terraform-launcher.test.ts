import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { entryProgram, launcher, NODE_FLOOR } from "../../../src/fronts/terraform/package.ts";
import { temporaryFolder } from "../../support/folder.ts";

describe("the launcher", () => {
  /** Runs the launcher with a fake Node, which prints its process id and its arguments. */
  async function launch(how: "path" | "variable") {
    const at = temporaryFolder();
    const bin = path.join(at, "bin dir");
    await mkdir(bin);
    const node = path.join(bin, how === "path" ? "node" : "my node");
    await writeFile(node, `#!/bin/sh\nprintf '%s\\n' "ran $$" "$@"\n`, { mode: 0o755 });
    await writeFile(path.join(at, "start"), launcher(), { mode: 0o755 });
    const env = how === "path" ? { PATH: `${bin}:/usr/bin:/bin` } : { PATH: "/usr/bin:/bin", HOSTFORM_NODE: node };
    const child = spawnSync(path.join(at, "start"), ["-x", "a b"], { env, encoding: "utf8" });
    return { at, ...child };
  }

  it("replaces itself with the Node of the path, and passes its arguments on", async () => {
    const { at, status, stdout, pid } = await launch("path");
    const lines = [`ran ${pid}`, `${at}/provider.cjs`, "-x", "a b", ""];
    expect({ status, lines: stdout.split("\n") }).toEqual({ status: 0, lines });
  });

  it("starts the Node that HOSTFORM_NODE names, with or without blanks in its path", async () => {
    const { at, stdout } = await launch("variable");
    expect(stdout).toContain(`${at}/provider.cjs`);
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

describe("the file that Node runs", () => {
  /** Runs the file as a Node of this version, in whose place `main.cjs` prints its call. */
  function run(version: string, env: Readonly<Record<string, string>> = {}) {
    const at = temporaryFolder();
    writeFileSync(path.join(at, "main.cjs"), 'exports.main = () => console.log("started");');
    writeFileSync(path.join(at, "provider.cjs"), entryProgram());
    const preload = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "${version}" });`;
    return spawnSync(process.execPath, ["--import", preload, path.join(at, "provider.cjs")], { env, encoding: "utf8" });
  }

  it.each(["22.20.0", "23.0.0", "100.1.0", "25.0.0-nightly2026"])("runs the provider with Node %s", (version) => {
    expect(run(version)).toMatchObject({ status: 0, stdout: "started\n", stderr: "" });
  });

  it.each(["22.19.9", "8.17.0", "0.10.48"])("names the needed version in one line with Node %s", (version) => {
    const { major, minor } = NODE_FLOOR;
    const line = `The Terraform provider hosting needs Node.js ${major}.${minor} or later; ${process.execPath} is v${version}. Install a newer one, or set HOSTFORM_NODE to its path.\n`;
    expect(run(version)).toMatchObject({ status: 1, stdout: "", stderr: line });
    expect(run(version, { TF_PLUGIN_MAGIC_COOKIE: "d602bf8f" })).toMatchObject({ status: 1, stdout: line, stderr: "" });
  });

  it("has no syntax that Node 0.10 cannot parse", () => {
    expect(() => transformSync(entryProgram(), { target: "es5" })).not.toThrow();
    expect(entryProgram()).not.toMatch(/\b(?:const|let|class)\b|=>|`/);
  });

  it("runs nothing for a program that imports it", () => {
    const at = temporaryFolder();
    writeFileSync(path.join(at, "main.cjs"), 'exports.main = () => console.log("started");');
    writeFileSync(path.join(at, "provider.cjs"), entryProgram());
    const { stdout } = spawnSync(process.execPath, ["-p", 'Object.keys(require("./provider.cjs"))[0]'], {
      cwd: at,
      encoding: "utf8",
    });
    expect(stdout).toBe("main\n");
  });
});
