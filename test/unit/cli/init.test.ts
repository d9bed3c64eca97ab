import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/core/kinds/index.ts";
import { gitignoreWith, starter } from "../../../src/project/starter.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { runIn } from "./harness.ts";

const read = (dir: string, name: string) => readFile(path.join(dir, name), "utf8");

describe("init", () => {
  it("writes a declaration that validates, and a .gitignore", async () => {
    const dir = temporaryFolder();
    const { code, stdout } = await runIn(dir, ["init", "--project", "acme"]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "Wrote hosting.yaml\nWrote hosting.schema.json\nWrote .gitignore\n",
    });
    const [first] = (await read(dir, "hosting.yaml")).split("\n");
    expect(first).toBe("# yaml-language-server: $schema=./hosting.schema.json");
    expect(await read(dir, "hosting.schema.json")).toBe(await readFile("schemas/hosting.schema.json", "utf8"));
    expect(await read(dir, ".gitignore")).toContain("\nhosting.tfstate*\n");
    const validated = await runIn(dir, ["validate", "--json"]);
    expect(validated.json()).toMatchObject({ valid: true, warning_count: 0 });
  });

  it("contains a commented example of each kind that is valid without the comment signs", async () => {
    const dir = temporaryFolder();
    const text = starter({ project: "acme", baseUrl: "https://api.acme.example", schema: "./hosting.schema.json" });
    const prose = /^# (?=[A-Z]|yaml-language-server)/;
    const bare = text
      .split("\n")
      .map((line) => (prose.test(line) ? line : line.replace(/^# ?/, "")))
      .join("\n");
    await writeFile(path.join(dir, "hosting.yaml"), bare);
    const { stdout, stderr } = await runIn(dir, ["validate"]);
    expect(stderr).toBe("");
    // The template has at least one resource for each kind. A nested resource is in the example of its parent.
    expect(Number(/(\d+) resources/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(kinds.size);
    for (const { section } of kinds.values()) expect(bare).toContain(`${section}:\n`);
  });

  it("refers to the schema in the project if the package is installed there", async () => {
    const dir = temporaryFolder();
    const schemas = path.join(dir, "node_modules/hostform/schemas");
    await mkdir(schemas, { recursive: true });
    await writeFile(path.join(schemas, "hosting.schema.json"), "{}");
    await runIn(dir, ["init", "--project", "acme"]);
    expect(await read(dir, "hosting.yaml")).toMatch(
      /^# yaml-language-server: \$schema=\.\/node_modules\/hostform\/schemas\/hosting\.schema\.json\n/,
    );
  });

  it("asks questions in a terminal, and uses the defaults for empty answers", async () => {
    const dir = temporaryFolder();
    const { code, io } = await runIn(dir, ["init"], { answers: ["acme", "https://api.acme.example", ""] });
    expect(code).toBe(0);
    expect(io.questions).toHaveLength(4);
    expect(io.questions.at(-1)).toContain("2: it counts in cents");
    const text = await read(dir, "hosting.yaml");
    expect(text).toContain("\nproject: acme\n");
    expect(text).toContain("\n    base_url: https://api.acme.example\n");
    expect(text).not.toMatch(/^ +token_env/m);
    expect(text).toMatch(/^ +# money_scale: 2 # the API counts in cents/m);
  });

  it.each([
    ["asked", ["init"], ["acme", "https://api.acme.example", "", "2"]],
    ["given", ["init", "--project", "acme", "--money-scale", "2"], []],
  ])("writes the scale of amounts that it is %s", async (_, args, answers) => {
    const dir = temporaryFolder();
    expect((await runIn(dir, args, { answers })).code).toBe(0);
    expect(await read(dir, "hosting.yaml")).toMatch(/^ {4}money_scale: 2$/m);
  });

  it("uses the folder's name without a terminal", async () => {
    const dir = path.join(temporaryFolder(), "Ana's shop");
    await mkdir(dir);
    expect((await runIn(dir, ["init"])).code).toBe(0);
    expect(await read(dir, "hosting.yaml")).toContain("\nproject: Ana-s-shop\n");
  });

  it("never overwrites a declaration", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.yaml"), "project: mine\n");
    const refused = await runIn(dir, ["init", "--project", "acme"]);
    expect(refused.code).toBe(1);
    expect(await readdir(dir)).toEqual(["hosting.yaml"]);
    expect(await read(dir, "hosting.yaml")).toBe("project: mine\n");
  });

  it.each([
    ["a scale that is no number", ["--project", "a", "--money-scale", "cents"]],
    ["a project that is no name", ["--project", "a b"]],
    ["an address that is none", ["--project", "a", "--base-url", "api.acme.example"]],
    ["a token in place of its variable", ["--project", "a", "--token-env", "9|Zk4vJqX0pLw8s7d6f5g4h3j2k1"]],
  ])("refuses %s, and writes nothing", async (_, flags) => {
    const dir = temporaryFolder();
    const { code, stdout, stderr } = await runIn(dir, ["init", ...flags]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error");
    expect(stderr).not.toContain("Zk4vJqX0pLw8s7d6f5g4h3j2k1");
    expect(await readdir(dir)).toEqual([]);
  });

  it("rejects a folder that does not exist", async () => {
    const { code, stderr } = await runIn(temporaryFolder(), ["init", "--project", "a", "-C", "none"]);
    expect(code).toBe(1);
    expect(stderr).toContain("cannot be written: there is no such file or folder");
  });
});

describe("schema", () => {
  const packed = () => readFile("schemas/hosting.schema.json", "utf8");

  it("writes the schema, once, and prints it for `-`", async () => {
    const dir = temporaryFolder();
    const { code, stdout, stderr } = await runIn(dir, ["schema"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Wrote hosting.schema.json\n" });
    expect(stderr).toContain("# yaml-language-server: $schema=./hosting.schema.json");
    expect(await read(dir, "hosting.schema.json")).toBe(await packed());
    expect((await runIn(dir, ["schema", "--json"])).json()).toEqual({ format_version: "1.0", written: [] });
    expect((await runIn(dir, ["schema", "-"])).stdout).toBe(await packed());
  });

  it("replaces the schema of another version, and changes nothing else", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "old.json"), '{\n  "title": "hostform declaration"\n}\n');
    expect((await runIn(dir, ["schema", "old.json"])).code).toBe(0);
    expect(await read(dir, "old.json")).toBe(await packed());
    await writeFile(path.join(dir, "mine.json"), "{}");
    const { code, stderr } = await runIn(dir, ["schema", "mine.json"]);
    expect(code).toBe(1);
    expect(stderr).toContain("mine.json already exists, and is not a schema of hostform");
    expect(await read(dir, "mine.json")).toBe("{}");
  });
});

describe("gitignoreWith", () => {
  it("adds each missing line once, and keeps the other lines", () => {
    const once = gitignoreWith("node_modules/\n*.token");
    expect(once.startsWith("node_modules/\n*.token\n\n")).toBe(true);
    expect(once.match(/\*\.token/g)).toHaveLength(1);
    expect(gitignoreWith(once)).toBe(once);
  });
});
