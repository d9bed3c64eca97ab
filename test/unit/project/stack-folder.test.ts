import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { HostformError } from "../../../src/core/model/index.ts";
import { Redaction } from "../../../src/project/redaction.ts";
import { refuseTerraformArguments, refuseWorkspaces } from "../../../src/project/stacks/choose.ts";
import { load, outlineOf, stackFiles, stacksAt } from "../../../src/project/stacks/files.ts";
import type { VariableOption } from "../../../src/project/stacks/stack.ts";
import { placeName, stateFile } from "../../../src/project/stacks/stack.ts";
import { givenVariables, learnVariables } from "../../../src/project/stacks/variables.ts";
import { temporaryFolder } from "../../support/folder.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

const near = (file: string) => path.relative(folder, file) || ".";
const put = (name: string, text: string | object = "{}") => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text));
};

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HostformError)
      return error.diagnostics.map(({ code, summary }) => `${code}: ${summary}`).join();
    throw error;
  }
  return "accepted";
}

describe("the files of a stack", () => {
  it("are those that Terraform reads, in its order", async () => {
    for (const name of [
      "b.tf.json",
      "a.tf.json",
      ".hidden.tf.json",
      "c.tf.json~",
      "#d.tf.json#",
      "metadata.json",
      "x.tfstate",
    ])
      put(name);
    mkdirSync(path.join(folder, "folder.tf.json"));
    expect((await stackFiles(folder, { shown: "." })).map(near)).toEqual(["a.tf.json", "b.tf.json"]);
  });

  it.each(["main.tf", "override.tf.json", "x_override.tf.json", "main.tofu", "main.tofu.json"])(
    "are refused beside %s, which is not read",
    async (name) => {
      put("cdk.tf.json");
      put(name);
      expect(await refusal(stackFiles(folder, { shown: "." }))).toMatch(new RegExp(`^stack\\.files: ${name}`));
    },
  );
});

describe("a path", () => {
  const manifest = {
    stacks: {
      one: {
        name: "one",
        constructPath: "one",
        workingDirectory: "stacks/one",
        synthesizedStackPath: "stacks/one/cdk.tf.json",
      },
    },
  };
  const at = async (name: string) => {
    const { stacks, meant } = await stacksAt(path.join(folder, name), near);
    return [stacks.map((stack) => stack.name), meant?.name];
  };

  it("leads to the output of an app, to one of its stacks, to a folder and to a file", async () => {
    put("cdktf.out/manifest.json", manifest);
    put("cdktf.out/stacks/one/cdk.tf.json");
    put("plain/a.tf.json");
    expect(await at("cdktf.out")).toEqual([["one"], undefined]);
    expect(await at("cdktf.out/manifest.json")).toEqual([["one"], undefined]);
    expect(await at("cdktf.out/stacks/one")).toEqual([["one"], "one"]);
    expect(await at("cdktf.out/stacks/one/cdk.tf.json")).toEqual([["one"], "one"]);
    expect(await at("plain")).toEqual([["plain"], undefined]);
    expect(await at("plain/a.tf.json")).toEqual([["plain"], undefined]);
  });

  it("is refused if it leads to no stack or to a part of one", async () => {
    put("plain/a.tf.json");
    put("plain/b.tf.json");
    put("readme.md");
    mkdirSync(path.join(folder, "empty"));
    const opened = async (name: string) => {
      const [stack] = (await stacksAt(path.join(folder, name), near)).stacks;
      return stack && load(stack, near);
    };
    expect(await refusal(opened("readme.md"))).toContain("readme.md is not a stack");
    expect(await refusal(opened("empty"))).toContain("No *.tf.json was found in empty");
    expect(await refusal(opened("nowhere"))).toContain("nowhere cannot be read: there is no such file or folder");
    // hostform would treat the resources of the other file as removed.
    expect(await refusal(opened("plain/a.tf.json"))).toContain("plain/b.tf.json lies beside plain/a.tf.json");
    expect((await opened("plain"))?.files.map((file) => file.path)).toEqual(["plain/a.tf.json", "plain/b.tf.json"]);
  });
});

describe("the outline of a stack", () => {
  const of = (...texts: unknown[]) =>
    outlineOf(texts.map((text) => ({ path: "x", text: typeof text === "string" ? text : JSON.stringify(text) })));

  it("is the same for objects and lists of blocks", () => {
    const backend = { local: { path: "x.tfstate" } };
    const variable = { secret: { sensitive: true, default: "s3cret-default" }, plan: {} };
    const plain = of({ terraform: { backend }, variable, output: { id: { value: 1 } } });
    const lists = of([{ terraform: [{ backend: [backend] }] }], { variable: [variable] }, { output: [{ id: [{}] }] });
    expect(plain).toEqual({
      backend: { type: "local", settings: { path: "x.tfstate" } },
      variables: new Map([
        ["secret", { sensitive: true, default: "s3cret-default" }],
        ["plan", { sensitive: false }],
      ]),
      outputs: ["id"],
    });
    expect(lists).toEqual(plain);
  });

  it("is empty for other documents", () => {
    const nothing = { variables: new Map(), outputs: [] };
    expect(of("{", "[]", "null", { terraform: 3, variable: "x", output: [null] })).toEqual(nothing);
  });
});

describe("the state of a stack", () => {
  it("is at the place of Terraform", () => {
    expect(stateFile("/s")).toBe("/s/terraform.tfstate");
    expect(stateFile("/s", { path: "../one.tfstate" })).toBe("/one.tfstate");
    expect(stateFile("/s", { path: "/x/one.tfstate" })).toBe("/x/one.tfstate");
  });

  it("has one name for all spellings of its place", () => {
    const local = (path: string) => ({ type: "local", settings: { path } });
    expect(placeName("/s/a", undefined)).toBe(placeName("/s/b", local("../a/terraform.tfstate")));
    const http = (address: string, more = {}) => ({ type: "http", settings: { address, ...more } });
    expect(placeName("/a", http("https://x/1"))).toBe(placeName("/b", http("https://x/1", { lock_method: "POST" })));
    expect(placeName("/a", http("https://x/1"))).not.toBe(placeName("/a", http("https://x/2")));
  });

  it("is refused in another workspace", async () => {
    expect(await refusal(refuseWorkspaces(folder, {}, "x"))).toBe("accepted");
    expect(await refusal(refuseWorkspaces(folder, { TF_WORKSPACE: "default" }, "x"))).toBe("accepted");
    expect(await refusal(refuseWorkspaces(folder, { TF_WORKSPACE: "prod" }, "x"))).toContain(
      'stack.workspace: The workspace "prod"',
    );
    put(".terraform/environment", "staging");
    expect(await refusal(refuseWorkspaces(folder, {}, "x"))).toContain('"staging"');
    // TF_WORKSPACE overrides the recorded workspace, as in Terraform.
    expect(await refusal(refuseWorkspaces(folder, { TF_WORKSPACE: "default" }, "x"))).toBe("accepted");
    expect(await refusal(refuseWorkspaces(folder, { TF_DATA_DIR: "elsewhere" }, "x"))).toBe("accepted");
  });
});

describe("variables", () => {
  const variables = new Map([
    ["plan", { sensitive: false }],
    ["password", { sensitive: true, default: "the default password" }],
  ]);
  const outline = { variables, outputs: [] };
  const given = (options: readonly VariableOption[] = [], env: Record<string, string> = {}) =>
    givenVariables({ folder, outline }, options, { env, near });

  it("are given in Terraform's order: environment, files by name, then the line as it stands", async () => {
    put("z.auto.tfvars.json", { plan: 3 });
    put("a.auto.tfvars.json", { plan: 2 });
    put("terraform.tfvars.json", { plan: 1, list: ["${not.a.template}"] });
    put("more.json", { plan: 5 });
    const options = [
      { name: "plan", text: "4" },
      { file: path.join(folder, "more.json") },
      { name: "plan", text: "6" },
    ];
    const found = await given(options, { TF_VAR_plan: "0", TF_VAR_undeclared: "x" });
    expect(found.diagnostics).toEqual([]);
    expect(found.given.map(({ name, from, value }) => [name, from, "json" in value ? value.json : value.text])).toEqual(
      [
        ["plan", "TF_VAR_plan", "0"],
        ["plan", "terraform.tfvars.json", 1],
        ["list", "terraform.tfvars.json", ["${not.a.template}"]],
        ["plan", "a.auto.tfvars.json", 2],
        ["plan", "z.auto.tfvars.json", 3],
        ["plan", "-var", "4"],
        ["plan", "more.json", 5],
        ["plan", "-var", "6"],
      ],
    );
  });

  it.each([
    ["terraform.tfvars", "plan = 1", "is HCL"],
    ["x.auto.tfvars", "plan = 1", "is HCL"],
    ["terraform.tfvars.json", "{", "is not a JSON object"],
    ["terraform.tfvars.json", "[1]", "is not a JSON object"],
  ])("are refused in %s with %s", async (name, text, words) => {
    put(name, text);
    const { diagnostics } = await given();
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([["error", "stack.variables"]]);
    expect(diagnostics[0]?.summary).toContain(words);
  });

  it("are read from hidden files too, and in the order of the bytes of their names, as Terraform reads them", async () => {
    put(".x.auto.tfvars.json", { plan: 1 });
    // In UTF-8, U+FF5E sorts before U+1F600. In UTF-16, U+FF5E sorts after it.
    put("\u{1F600}.auto.tfvars.json", { plan: 3 });
    put("\uFF5E.auto.tfvars.json", { plan: 2 });
    put("y.auto.tfvars.json~", { plan: 4 });
    expect((await given()).given.map(({ value }) => "json" in value && value.json)).toEqual([1, 2, 3]);
  });

  it.each([
    ["numbers of too many digits", '{"plan": 123456789012345678901}', "This number cannot be stored exactly"],
    ["numbers that come close", '{"plan": 9007199254740993}', "This number cannot be stored exactly"],
    ["numbers within", '{"plan": {"a": [0.1234567890123456789]}}', "This number cannot be stored exactly"],
    ["numbers too small", '{"plan": 1e-400}', "This number cannot be stored exactly"],
    ["names given twice", '{"plan": "1", "plan": "2"}', "declared twice"],
    ["keys given twice", '{"plan": {"a": 1, "a": 2}}', "declared twice"],
  ])("are refused with %s, which Terraform reads otherwise, without a line of the file", async (_, text, words) => {
    put("terraform.tfvars.json", text);
    const found = await given();
    expect(found.given).toEqual([]);
    expect(found.diagnostics).toMatchObject([{ severity: "error", summary: expect.stringContaining(words) }]);
    expect(found.diagnostics[0]?.range).toMatchObject({ file: "terraform.tfvars.json", line: 1 });
    expect(found.diagnostics[0]?.range).not.toHaveProperty("text");
  });

  it.each<[string, string, "plan" | "apply" | "destroy" | "validate" | "other", boolean]>([
    ["TF_CLI_ARGS", "-var=v=secret-value", "plan", true],
    ["TF_CLI_ARGS", "-no-color -var 'v=x'", "apply", true],
    ["TF_CLI_ARGS_plan", "--var-file=x.tfvars", "apply", true],
    ["TF_CLI_ARGS_apply", "-target=x", "apply", true],
    ["TF_CLI_ARGS_apply", "-target=x", "plan", false],
    ["TF_CLI_ARGS_destroy", "-state=x", "destroy", true],
    ["TF_CLI_ARGS", "-no-color -input=false -lock-timeout=5m -variety", "apply", false],
    ["TF_CLI_ARGS", "-var=v=x", "other", false],
    ["TF_CLI_ARGS", "-var=v=x", "validate", false],
  ])("that Terraform would take from %s (%s) for %s are refused: %s", async (name, text, purpose, refused) => {
    const words = await refusal((async () => refuseTerraformArguments({ [name]: text }, purpose))());
    if (refused) expect(words).toContain(`${name} sets Terraform's \`-`);
    else expect(words).toBe("accepted");
    expect(words).not.toContain("secret-value");
  });

  it("announce their secret texts", () => {
    const from = "x";
    const values = [
      { name: "plan", from, value: { text: "eleven" } },
      { name: "password", from, value: { text: '1st one ["2nd-secret"]' } },
      { name: "password", from, value: { json: { a: ["3rd-secret"] } } },
    ];
    const learned: unknown[] = [];
    const redaction = new Redaction();
    redaction.onLearn((secret) => learned.push(secret));
    learnVariables(redaction, outline, values);
    expect(learned.sort()).toEqual(['1st one ["2nd-secret"]', "2nd-secret", "3rd-secret", "the default password"]);
  });
});
