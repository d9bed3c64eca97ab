// `include`: the files that it reads, each once, and the errors for a missing or outside path.

import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DeclarationFiles, readDeclaration } from "../../../../src/fronts/yaml/index.ts";
import { kinds, reported } from "./fakes.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });

/** Creates a project with folders in memory. */
function tree(files: Readonly<Record<string, string>>): DeclarationFiles & { readonly opened: string[] } {
  const opened: string[] = [];
  return {
    opened,
    list: async (folder) => {
      if (files[folder] !== undefined) throw failure("ENOTDIR");
      const names = Object.keys(files)
        .map((file) => path.relative(folder, file).split("/")[0] ?? "")
        .filter((name) => name !== "..");
      if (names.length === 0) throw failure("ENOENT");
      return [...new Set(names)].toReversed();
    },
    read: async (file) => {
      opened.push(file);
      const text = files[file];
      if (text === undefined) throw failure("ENOENT");
      return new TextEncoder().encode(text);
    },
  };
}

const site = (name: string) => `services:\n  ${name}: {template: site}\n`;
const MAIN = "project: p\ntemplates: {site: {plan_id: 11, domain: '${name}.example'}}\n";

async function read(files: Readonly<Record<string, string>>, given: readonly string[] = [], dir = ".") {
  const fs = tree(files);
  const declaration = await readDeclaration({ dir, files: given, fs, kinds, env: {} });
  return { ...declaration, opened: fs.opened };
}

describe("an include reads", () => {
  it("the files that its paths match, with the templates of the whole declaration, without a warning about unread files", async () => {
    const { desired, diagnostics } = await read({
      "hosting.yaml": `${MAIN}include: [clients/*.yaml, more/*/a*e.yml, beside.yaml]\n`,
      "clients/b.yaml": site("b"),
      "clients/a.yaml": `# a client\n---\n${site("a")}`,
      "clients/.hidden.yaml": "[",
      "clients/notes.md": "[",
      "more/one/acme.yml": site("acme"),
      "more/one/a.yml": "[",
      "more/file.yaml": "[",
      "beside.yaml": site("beside"),
    });
    expect(diagnostics).toEqual([]);
    expect(desired?.files).toEqual([
      "hosting.yaml",
      "clients/a.yaml",
      "clients/b.yaml",
      "more/one/acme.yml",
      "beside.yaml",
    ]);
    expect(desired?.resources.map(({ config }) => config.domain)).toEqual([
      "a.example",
      "b.example",
      "acme.example",
      "beside.example",
    ]);
  });

  it("each file once, even an already read file or itself", async () => {
    const { desired, diagnostics, opened } = await read({
      "hosting.yaml": `${MAIN}include: ['*.yaml', ./a.yaml, 'clients/../a*.yaml']`,
      "a.yaml": site("a"),
      "b.hosting.yaml": `${site("b")}include: hosting.yaml\n`,
    });
    expect(diagnostics).toEqual([]);
    expect(opened).toEqual(["hosting.yaml", "b.hosting.yaml", "a.yaml"]);
    expect(desired?.files).toEqual(opened);
  });

  it("paths relative to the including file, in any folder and notation", async () => {
    const { desired, diagnostics } = await read(
      { "x/y/main.yaml": `${MAIN}"incl\\x75de": ../clients/a.yaml\n`, "x/clients/a.yaml": site("a") },
      ["y/main.yaml"],
      "x",
    );
    expect(diagnostics).toEqual([]);
    expect(desired?.files).toEqual(["x/y/main.yaml", "x/clients/a.yaml"]);
  });

  it("no file if it is empty", async () => {
    expect((await read({ "hosting.yaml": "project: p\ninclude:\n" })).desired?.files).toEqual(["hosting.yaml"]);
  });
});

describe("an include is rejected", () => {
  const refused = async (include: string) => {
    const { desired, diagnostics, opened, backend } = await read({
      "hosting.yaml": `project: p\ninclude: ${include}\n`,
      "clients/acme.yaml": "",
      "clients/nested.yaml": "include: acme.yaml\n",
      "other/x.md": "",
    });
    // Without the file, hostform must not plan, because it would remove the resources of the file.
    expect([desired, backend]).toEqual([undefined, "unclear"]);
    return { report: reported(diagnostics).join("\n"), opened, diagnostics };
  };

  it.each([
    [
      "clients/acm.yaml",
      '2:10 config.include: `include` of clients/acm.yaml matches no file. Did you mean "acme.yaml"?',
    ],
    ["[client/*.yaml]", '2:11 config.include: `include` of client/*.yaml matches no file. Did you mean "clients"?'],
    ["other/*.yaml", "2:10 config.include: `include` of other/*.yaml matches no file"],
    ["hosting.yaml/*.yaml", "2:10 config.include: `include` of hosting.yaml/*.yaml matches no file"],
    ["other/x.md", "2:10 config.include: `include` of other/x.md matches no YAML file"],
    ["clients", "2:10 config.include: `include` of clients matches no YAML file"],
    ["'**/*.yaml'", "2:10 config.include: `include` of **/*.yaml has `**`"],
    ["../*.yaml", "2:10 trust.file: `include` of ../*.yaml is outside the project, so it is not read"],
    ["clients/../../a.yaml", "2:10 trust.file: `include` of clients/../../a.yaml is outside the project"],
    ["/etc/a.yaml", "2:10 trust.file: `include` of /etc/a.yaml is outside the project, so it is not read"],
    ["{a: b}", "2:10 config.include: `include` must be a path or a list of paths"],
    ["[1]", "2:10 config.include: `include` must be a path or a list of paths"],
    ["''", "2:10 config.include: `include` must be a path or a list of paths"],
    ["clients/nested.yaml", "1:1 config.include: An included file cannot include other files"],
  ])("%s", async (include, message) => {
    const { report, opened } = await refused(include);
    expect(report).toContain(message);
    expect(opened.filter((file) => file.startsWith("..") || file.startsWith("/"))).toEqual([]);
  });

  it("with the names of the existing files", async () => {
    const { diagnostics } = await refused("other/*.yaml");
    expect(diagnostics[0]?.detail).toBe("*.yaml does not exist. Existing files: x.md.");
  });

  it("if it matches more than ten thousand files", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`many/${i}.yaml`, ""]));
    const { diagnostics, opened } = await read({ "hosting.yaml": "project: p\ninclude: many/*.yaml", ...many });
    expect(diagnostics[0]?.summary).toBe("`include` matches more than 10000 files and folders");
    expect(opened).toEqual(["hosting.yaml"]);
  });
});

it("a path pattern matches the same names as its regular expression", async () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(part, fc.uniqueArray(part, { minLength: 1, maxLength: 8 }), async (pattern, parts) => {
      fc.pre(!pattern.includes("**"));
      const names = parts.map((name) => `${name.replaceAll("*", "c")}.yaml`);
      const files = Object.fromEntries(names.map((name) => [`d/${name}`, ""]));
      const step = `${pattern}.yaml`;
      const { diagnostics, opened } = await read({ "hosting.yaml": `project: p\ninclude: "d/${step}"`, ...files });
      const source = step.split("*").map((text) => text.replaceAll(".", "\\."));
      const like = new RegExp(`^${step.startsWith("*") ? "(?!\\.)" : ""}${source.join(".*")}$`);
      const expected = Object.keys(files)
        .filter((file) => like.test(file.slice(2)))
        .sort();
      expect(opened).toEqual(["hosting.yaml", ...expected]);
      expect(diagnostics.length).toBe(expected.length > 0 ? 0 : 1);
    }),
    { numRuns: 50 },
  );
});
