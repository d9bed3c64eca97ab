import { describe, expect, it } from "vitest";
import { HostformError } from "../../../src/core/model/index.ts";
import { readManifest } from "../../../src/project/stacks/files.ts";
import { inOrder, selected } from "../../../src/project/stacks/stack.ts";

const entry = (name: string, more: object = {}) => ({
  name,
  constructPath: `app/${name}`,
  workingDirectory: `stacks/${name}`,
  synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
  stackMetadataPath: `stacks/${name}/metadata.json`,
  annotations: [],
  dependencies: [],
  ...more,
});

const manifest = (...stacks: { name: string }[]) =>
  JSON.stringify({ version: "0.21.0", stacks: Object.fromEntries(stacks.map((stack) => [stack.name, stack])) });

const read = (text: string) => readManifest(text, "/out", "cdktf.out/manifest.json");

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof HostformError)
      return error.diagnostics.map(({ code, summary }) => `${code}: ${summary}`).join();
    throw error;
  }
  return "accepted";
}

describe("a manifest", () => {
  it("gives folder, file and dependencies of each stack; dependencies are construct paths", () => {
    const text = manifest(entry("one"), entry("two", { dependencies: ["app/one"] }));
    expect(read(text).map(({ name, folder, file, dependencies }) => [name, folder, file, dependencies])).toEqual([
      ["one", "/out/stacks/one", "/out/stacks/one/cdk.tf.json", []],
      ["two", "/out/stacks/two", "/out/stacks/two/cdk.tf.json", ["one"]],
    ]);
  });

  it("may have been written on Windows", () => {
    const paths = { workingDirectory: "stacks\\one", synthesizedStackPath: "stacks\\one\\cdk.tf.json" };
    expect(read(manifest(entry("one", paths)))[0]?.file).toBe("/out/stacks/one/cdk.tf.json");
  });

  it("reports annotations of constructs at the first line outside of libraries", () => {
    const annotations = [
      {
        constructPath: "app/one/site/Default",
        level: "@cdktf/error",
        message: "No domain.\nPlan: 0 to add, 0 to change, 0 to destroy.\n",
        stacktrace: ["new Site (/app/node_modules/x/site.js:3:4)", "at Object.<anonymous> (/app/main.ts:12:34)"],
      },
      { constructPath: "app/one", level: "@cdktf/warn", message: "Old." },
      { constructPath: "app/one", level: "@cdktf/info", message: "Hello." },
    ];
    const [one] = read(manifest(entry("one", { annotations })));
    expect(one?.annotations.map(({ severity, summary, detail, range }) => [severity, summary, detail, range])).toEqual([
      [
        "error",
        "app/one/site: No domain.",
        "  Plan: 0 to add, 0 to change, 0 to destroy.",
        { file: "/app/main.ts", line: 12, column: 34, endLine: 12, endColumn: 34 },
      ],
      ["warning", "app/one: Old.", undefined, undefined],
      ["warning", "app/one: Hello.", undefined, undefined],
    ]);
  });

  it.each([
    ["no JSON", "{", "is not JSON"],
    ["another document", '{"stacks": []}', "is not a manifest of stacks"],
    ["a stack without a folder", manifest({ name: "one" }), "is not a manifest of stacks"],
    ["no stack", manifest(), "names no stack"],
    ["a folder outside", manifest(entry("one", { workingDirectory: "../other" })), "../other is outside the folder"],
    ["an absolute path", manifest(entry("one", { synthesizedStackPath: "/etc/x.tf.json" })), "is outside the folder"],
    ["a drive", manifest(entry("one", { workingDirectory: "C:\\x" })), "is outside the folder"],
    ["HCL", manifest(entry("one", { synthesizedStackPath: "stacks/one/cdk.tf" })), "only in Terraform's JSON"],
    ["a dependency that is not there", manifest(entry("one", { dependencies: ["app/two"] })), "depends on app/two"],
    ["one path twice", manifest(entry("one"), entry("two", { constructPath: "app/one" })), "two stacks the same name"],
  ])("is refused with %s", (_, text, words) => {
    expect(refusal(() => read(text))).toMatch(/^stack\.manifest: /);
    expect(refusal(() => read(text))).toContain(words);
  });
});

describe("the order of stacks", () => {
  const stacks = (...names: [string, ...string[]][]) =>
    read(manifest(...names.map(([name, ...on]) => entry(name, { dependencies: on.map((one) => `app/${one}`) }))));

  it("follows the dependencies, and then the manifest", () => {
    const ordered = inOrder(stacks(["c", "b"], ["b", "a"], ["a"], ["d"]));
    expect(ordered.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
  });

  it("refuses a circle", () => {
    expect(refusal(() => inOrder(stacks(["a", "b"], ["b", "c"], ["c", "b"])))).toContain("b -> c -> b");
  });

  it("holds for a selection by name or construct path", () => {
    const all = stacks(["a"], ["b"], ["c"]);
    expect(selected(all, ["app/c", "a", "a"]).map(({ name }) => name)).toEqual(["a", "c"]);
    expect(selected(all, [])).toHaveLength(3);
    expect(refusal(() => selected(all, ["bb"]))).toMatch(/^usage: Unknown stack "bb". Did you mean "?b"?/);
  });
});
