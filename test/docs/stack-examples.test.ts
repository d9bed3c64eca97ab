import { execFile } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installConstructs } from "../support/constructs.ts";
import { startProject } from "../support/project.ts";
import { root } from "./markdown.ts";

const EXAMPLES = readdirSync(path.join(root, "examples")).filter((name) =>
  existsSync(path.join(root, "examples", name, "cdktf.json")),
);
/** Secret in the environment of each run. No output may contain the secret. */
const CANARY = "canary-5b1d-hunter22";

const run = promisify(execFile);
const read = (file: string) => readFileSync(file, "utf8");

describe("the examples for CDKTF and CDK Terrain", () => {
  let base = "";
  const at = (...parts: string[]) => path.join(base, ...parts);
  const node = (cwd: string, ...args: string[]) =>
    run(process.execPath, args, {
      cwd: at(cwd),
      env: {
        PATH: path.dirname(process.execPath),
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        GOGC: process.env.GOGC,
        NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
        NO_COLOR: "1",
        HOSTING_TOKEN: CANARY,
        TF_VAR_nino_password: CANARY,
      },
    });
  const said = async (running: ReturnType<typeof node>) => {
    const { stdout, stderr } = await running.catch((error) => error);
    return `${stdout}${stderr}`;
  };

  beforeAll(async () => {
    base = realpathSync(mkdtempSync(path.join(tmpdir(), "hostform-stack-examples-")));
    await installConstructs(base);
    for (const name of EXAMPLES) cpSync(path.join(root, "examples", name), at(name), { recursive: true });
    await Promise.all(EXAMPLES.map((name) => node(name, "main.ts")));
  }, 60_000);
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  /** Returns one synthesized stack, without the version of the library. */
  const synthesized = (name: string, stack: string) => {
    const text = read(at(name, "cdktf.out/stacks", stack, "cdk.tf.json")).replaceAll(at(name), "");
    const value = JSON.parse(text);
    value["//"].metadata.version = "";
    return value;
  };

  it("are synthesized without a warning, and contain no value of the environment", () => {
    const files = globSync("*/cdktf.out/**/*.json", { cwd: base });
    expect(files).toHaveLength(7 + EXAMPLES.length);
    for (const file of files) expect(read(at(file)), file).not.toContain(CANARY);
    for (const name of EXAMPLES) {
      const { stacks } = JSON.parse(read(at(name, "cdktf.out/manifest.json")));
      const annotations = Object.values<{ annotations: unknown[] }>(stacks).flatMap((stack) => stack.annotations);
      expect(annotations, name).toEqual([]);
    }
  });

  it.each(["development", "staging", "production"])("synthesize the same %s with both libraries", (stack) => {
    expect(synthesized("cdktn-agency", stack)).toEqual(synthesized("cdktf-agency", stack));
  });

  it.each(["cdktf-site", "cdktn-agency"])(
    "%s is applied by hostform without Terraform, and then has no changes",
    async (name) => {
      const project = await startProject({ env: { TF_VAR_nino_password: CANARY } });
      const hostform = (...args: string[]) => project.run(...args, "--stack", at(name, "cdktf.out"));
      const applied = await hostform("apply", "--auto-approve");
      expect(applied.code, applied.text).toBe(0);
      const again = await hostform("plan", "--detailed-exitcode");
      expect(again.code, again.text).toBe(0);
      // The program sets the folder of each secret. No state contains a secret.
      const states = globSync("*.tfstate", { cwd: at(name) });
      expect(states).toHaveLength(Object.keys(JSON.parse(read(at(name, "cdktf.out/manifest.json"))).stacks).length);
      const written = states.map((state) => read(at(name, state))).join("");
      expect([written, applied.text, again.text].join("")).not.toContain(CANARY);
      const [, secret = ""] = /^[A-Z]+_SECRET=(\S+)$/m.exec(read(at(name, "hooks.env"))) ?? [];
      expect(secret).toMatch(/^whsec_/);
      expect([written, applied.text].join("")).not.toContain(secret);
      const sent = project.control.requests().filter(({ path: to }) => to.endsWith("/password"));
      expect(sent).toHaveLength(name === "cdktf-site" ? 0 : 2);
    },
  );

  it("pass their own tests", { timeout: 60_000 }, async () => {
    const report = at("report.json");
    const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
    const text = await said(node(".", vitest, "run", "--root", ".", "--reporter=json", `--outputFile=${report}`));
    const { success, numPassedTests, numTotalTests, testResults } = JSON.parse(read(report));
    expect(success, text + JSON.stringify(testResults)).toBe(true);
    expect(testResults).toHaveLength(EXAMPLES.length);
    expect(numPassedTests).toBe(numTotalTests);
    expect(numTotalTests).toBeGreaterThan(15);
  });

  it.each(EXAMPLES)("%s type-checks with the options of its tsconfig", { timeout: 60_000 }, async (name) => {
    expect(await said(node(name, path.join(root, "node_modules/.bin/tsc"), "-p", ".", "--singleThreaded"))).toBe("");
  });
});
