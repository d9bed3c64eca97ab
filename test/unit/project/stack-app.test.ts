import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import { runShell } from "../../../src/project/programs.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { fakeIo } from "../../support/io.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

const put = (name: string, text: string | object) =>
  writeFileSync(path.join(folder, name), typeof text === "string" ? text : JSON.stringify(text));

const node = JSON.stringify(process.execPath);

/** Synthesizes one empty stack, and records its output folder, working directory and variables. */
const SYNTH = `
const { mkdirSync, writeFileSync } = require("node:fs");
const out = process.env.CDKTF_OUTDIR;
mkdirSync(out + "/stacks/one", { recursive: true });
writeFileSync(out + "/stacks/one/cdk.tf.json", "{}");
writeFileSync(out + "/manifest.json", JSON.stringify({ version: "0.21.0", stacks: { one: {
  name: "one", constructPath: "one", workingDirectory: "stacks/one", synthesizedStackPath: "stacks/one/cdk.tf.json",
  annotations: JSON.parse(process.env.ANNOTATIONS || "[]"),
} } }));
writeFileSync("given.json", JSON.stringify([out, process.cwd(), process.env.CDKTF_CONTEXT_JSON, process.env.HOSTING_TOKEN]));
console.log("synthesizing");
`;

async function run(args: string[], env: Record<string, string> = {}) {
  const io = { ...fakeIo({ cwd: folder, env: { PATH: process.env.PATH ?? "", ...env } }), shell: runShell };
  const code = await runCli(args, io);
  return { code, out: io.stdout(), err: io.stderr() };
}

describe("--app", () => {
  it("runs in the project's folder, with the output folder and the context of cdktf.json", async () => {
    put("app.cjs", SYNTH);
    put("cdktf.json", { app: "ignored", output: "build/out", context: { a: ["b"] } });
    const { code, out, err } = await run(["state", "list", "--app", `${node} app.cjs`]);
    expect([code, out, err]).toEqual([0, "", "synthesizing\n"]);
    expect(JSON.parse(readFileSync(path.join(folder, "given.json"), "utf8"))).toEqual([
      path.join(folder, "build/out"),
      folder,
      '{"a":["b"]}',
      null,
    ]);
  });

  it("gets no API token, unless HOSTFORM_CHILD_ENV names it", async () => {
    put("app.cjs", SYNTH);
    const tokenGiven = async (env: Record<string, string>) => {
      await run(["state", "list", "--app", `${node} app.cjs`], { HOSTING_TOKEN: "1|abcdefgh", ...env });
      return JSON.parse(readFileSync(path.join(folder, "given.json"), "utf8"))[3];
    };
    expect(await tokenGiven({})).toBeNull();
    expect(await tokenGiven({ HOSTFORM_CHILD_ENV: "HOSTING_TOKEN" })).toBe("1|abcdefgh");
  });

  it("writes to standard error, and nothing with --quiet", async () => {
    put("app.cjs", SYNTH);
    const { code, out, err } = await run(["state", "list", "--json", "--app", `${node} app.cjs`]);
    expect([code, JSON.parse(out), err]).toEqual([0, [], "synthesizing\n"]);
    expect((await run(["state", "list", "--quiet", "--app", `${node} app.cjs`])).err).toBe("");
  });

  it("repeats only the error of a failed synthesis", async () => {
    put(
      "app.cjs",
      `const error = new Error("Validation failed with the following errors:\\n  [prod/e] events: no such event\\n\\nIf you wish");
       error.stack = "Error: " + error.message + "\\n" + "    at f (/x/node_modules/y.js:1:1)\\n".repeat(30);
       console.log("be" + "fore"); throw error;`,
    );
    const words = "Error: Validation failed with the following errors:\n  [prod/e] events: no such event\n";
    const shown = await run(["plan", "--app", `${node} app.cjs`]);
    expect(shown.code).toBe(1);
    const printed = shown.err.slice(shown.err.indexOf("The app ended with exit code 1"));
    expect(printed).toContain(words);
    expect(printed).not.toMatch(/^ +at |The end of its output|before/m);
    expect(shown.err.match(/before/g)).toHaveLength(1);
    // With --quiet, or for a program, hostform prints only the end of the app's output.
    const quiet = await run(["plan", "--quiet", "--app", `${node} app.cjs`]);
    expect(quiet.err).toContain("The end of its output");
    expect(quiet.err).toContain(words);
    expect(quiet.err).not.toMatch(/^ +at f /m);
    const json = JSON.parse((await run(["plan", "--json", "--app", `${node} app.cjs`])).out);
    expect(json.diagnostics[0].detail).toContain(words);
  });

  it("refuses the output of an earlier run", async () => {
    put("app.cjs", SYNTH);
    await run(["state", "list", "--app", `${node} app.cjs`]);
    put("app.cjs", "");
    const { code, err } = await run(["state", "list", "--app", `${node} app.cjs`]);
    expect(code).toBe(1);
    expect(err).toContain("did not write cdktf.out/manifest.json");
  });

  it.each([
    ["{", "cdktf.json cannot be read: it is not JSON"],
    ['{"output": 3}', "`output` must be a folder"],
    ['{"context": []}', "`context` a map"],
  ])("does not run with a cdktf.json of %s", async (text, words) => {
    put("cdktf.json", text);
    const { code, err } = await run(["plan", "--app", "exit 0"]);
    expect(code).toBe(1);
    expect(err.replaceAll(/\s+/g, " ")).toContain(words);
  });

  it("ends with all its processes after an interrupt", async () => {
    const io = { ...fakeIo({ cwd: folder, env: { PATH: process.env.PATH ?? "" } }) };
    let child: Promise<string | undefined> | undefined;
    const shell: typeof runShell = (line, options) => {
      child = runShell(line, {
        ...options,
        onOutput: () => io.interrupt(),
      });
      return child;
    };
    put("app.cjs", "console.log(1); setInterval(() => {}, 1000);");
    expect(await runCli(["plan", "--app", `${node} app.cjs`], { ...io, shell })).toBe(1);
    expect(io.stderr()).toContain("Interrupted.");
    await expect(child).rejects.toThrow();
  });
});

describe("the options of stacks", () => {
  it.each([
    [["plan", "--app", "x", "--stack", "y"], "--app and --stack cannot be combined"],
    [["plan", "-f", "x.yaml", "--stack", "y"], "-f and --app or --stack cannot be combined"],
    [["plan", "--var", "a=b"], "--var requires a stack"],
    [["plan", "-var=a=b"], "--var requires a stack"],
    [["plan", "--var-file", "x.json"], "--var requires a stack"],
    [["plan", "--only", "one"], "--only requires a stack"],
    [["plan", "--stack", "x", "--var", "a"], "Expected NAME=VALUE."],
    [["plan", "--stack", ""], "It is empty"],
    [["version", "--stack", "x"], "`hostform version` does not work on a stack"],
    [["export", "--stack", "x"], "already a Terraform configuration"],
    [["plan", "--stack", "nowhere"], "nowhere cannot be read"],
  ])("%j is refused", async (args, words) => {
    const { code, err } = await run(args);
    expect(code).toBe(1);
    expect(err.replaceAll(/\s+/g, " ")).toContain(words);
  });

  it("name the stacks if a command needs one", async () => {
    const stack = (name: string) => ({
      name,
      constructPath: name,
      workingDirectory: `stacks/${name}`,
      synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
    });
    mkdirSync(path.join(folder, "out/stacks/a"), { recursive: true });
    mkdirSync(path.join(folder, "out/stacks/b"));
    put("out/manifest.json", { stacks: { a: stack("a"), b: stack("b") } });
    put("out/stacks/a/cdk.tf.json", {});
    put("out/stacks/b/cdk.tf.json", {});
    const wanted = [
      [["state", "list"], "`hostform state list` works on one stack"],
      [["plan", "--json"], "--json reports one stack"],
      [["plan", "--out", "x"], "--out is for one stack"],
      [["plan", "--max-orders", "1"], "--max-orders is for one stack"],
      [["plan", "--state", "x"], "--state names the state of one stack"],
      [["apply", "x.plan"], "A saved plan is of one stack"],
      [["plan", "--var", "x=y"], 'None of the stacks declares a variable "x"'],
      [["plan", "--only", "c"], 'Unknown stack "c"'],
    ] as const;
    for (const [args, words] of wanted) {
      const { code, out, err } = await run([...args, "--stack", "out"]);
      expect(code, words).toBe(1);
      expect(`${out}${err}`.replaceAll(/\s+/g, " ").replaceAll('\\"', '"')).toContain(words);
    }
    expect((await run(["state", "list", "--stack", "out", "--only", "b"])).code).toBe(0);
  });
});
