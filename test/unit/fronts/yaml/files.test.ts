import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { list, read as readFile } from "../../../../src/core/files/index.ts";
import { type DeclarationFiles, readDeclaration } from "../../../../src/fronts/yaml/index.ts";
import { fixOf } from "../../../support/remedies.ts";
import { kinds, reported } from "./fakes.ts";

/** Creates a folder in memory. A `null` file is unreadable. */
function folder(files: Record<string, string | Uint8Array | null>, dir = "."): DeclarationFiles {
  const failure = (code: string) => Object.assign(new Error(`${code}: secret words of the system`), { code });
  return {
    list: async (path) => {
      if (path !== dir) throw failure("ENOENT");
      return Object.keys(files).toReversed();
    },
    read: async (path, limit) => {
      const content = files[path];
      if (content === undefined) throw failure("ENOENT");
      if (content === null) throw failure("EACCES");
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      return bytes.subarray(0, limit);
    },
  };
}

const read = (fs: DeclarationFiles, files: string[] = [], dir = ".") =>
  readDeclaration({ dir, files, fs, kinds, env: {} });

describe("files of a declaration", () => {
  it("are hosting.yaml, then *.hosting.yaml by name", async () => {
    const project = "project: p";
    const { desired } = await read(
      folder({
        "b.hosting.yaml": "",
        "a.hosting.yaml": "",
        "hosting.yaml": project,
        ".x.hosting.yaml": "[",
        "other.yaml": "[",
        "myhosting.yaml": "[",
      }),
    );
    expect(desired?.files).toEqual(["hosting.yaml", "a.hosting.yaml", "b.hosting.yaml"]);
  });

  it("exclude files with similar names: a warning names each with the fix, and no other file", async () => {
    const site = "services:\n  a: {domain: a.example}\n";
    const files = {
      "hosting.yaml": "project: p",
      "hosting.yml": site,
      "shop.hosting.yml": "",
      "clients.yaml": site,
      "docker-compose.yaml": "services:\n  web: {image: nginx, depends_on: [db]}\n",
      "broken.yml": "services: [",
      "list.yaml": "- services\n",
      "unreadable.yaml": null,
      ".hidden.yaml": site,
      "large.yaml": `${site}#${"x".repeat(300_000)}`,
    };
    const { desired, diagnostics } = await read(folder(files));
    expect(desired).toBeDefined();
    expect(diagnostics.map((one) => [one.severity, one.code, one.summary.split(" ")[0], fixOf(one)])).toEqual([
      ["warning", "config.unread", "clients.yaml", expect.stringContaining("clients.hosting.yaml")],
      ["warning", "config.unread", "hosting.yml", expect.stringContaining("NAME.hosting.yaml")],
      ["warning", "config.unread", "shop.hosting.yml", expect.stringContaining("shop.hosting.yaml")],
    ]);
    expect((await read(folder(files), ["hosting.yaml"])).diagnostics).toEqual([]);
  });

  it("are the named files instead, relative to the folder, each once", async () => {
    const { desired } = await read(
      folder({ "x/a.yaml": "project: p", "x/b.yaml": "" }, "x"),
      ["b.yaml", "./a.yaml", "a.yaml"],
      "x",
    );
    expect(desired?.files).toEqual(["x/b.yaml", "x/a.yaml"]);
  });

  it.each([
    ["an empty folder", {}, "No hosting.yaml and no *.hosting.yaml was found in this folder", "hostform init"],
    [
      "another ending",
      { "hosting.yml": "" },
      "No hosting.yaml and no *.hosting.yaml was found in this folder",
      "Rename hosting.yml",
    ],
  ])("%s: no file is found", async (_, files, summary, fix) => {
    const { diagnostics } = await read(folder(files));
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code: "config.missing", summary });
    expect(fixOf(diagnostics[0])).toContain(fix);
  });

  it("in a missing folder cause an error", async () => {
    expect(reported((await read(folder({}), [], "nowhere")).diagnostics)).toEqual([
      "- config.unreadable: nowhere cannot be read: there is no such file or folder",
    ]);
  });

  it("that are unreadable hide no error of other files, and cause no further error", async () => {
    const { desired, partial, diagnostics } = await read(
      folder({
        "a.hosting.yaml": null,
        "b.hosting.yaml": "services:\n  a: {domian: x, provider: beta, depends_on: [hosting_service.b]}\n",
      }),
    );
    expect([desired, partial]).toEqual([undefined, undefined]);
    expect(reported(diagnostics)).toEqual([
      "- config.unreadable: a.hosting.yaml cannot be read: its permissions do not allow it",
      '2:7 config.unknown_key: A service has no attribute "domian". Did you mean "domain"?',
    ]);
  });

  it("larger than 1 MiB are not read completely", async () => {
    const endless: DeclarationFiles = {
      list: async () => ["hosting.yaml"],
      read: async (_, limit) => new Uint8Array(limit),
    };
    expect(reported((await read(endless)).diagnostics)).toEqual([
      "- config.too_large: hosting.yaml is larger than 1 MiB",
    ]);
  });

  it.each([
    [
      "Latin-1",
      [...new TextEncoder().encode("project: p\nx-a: caf"), 0xe9, 0x0a],
      "2:9 config.syntax: hosting.yaml is not valid UTF-8",
    ],
    ["UTF-16", [0xff, 0xfe, 0x70, 0x00], "1:1 config.syntax: hosting.yaml is not valid UTF-8, but in UTF-16"],
  ])("in %s are rejected", async (_, bytes, expected) => {
    expect(reported((await read(folder({ "hosting.yaml": Uint8Array.from(bytes) }))).diagnostics)).toEqual([expected]);
  });

  describe("on the disk", () => {
    const systemFiles: DeclarationFiles = { list: (at) => list(at), read: (file, limit) => readFile(file, { limit }) };
    let dir = "";
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "hostform-declare-"));
      await writeFile(join(dir, "hosting.yaml"), "project: p\n");
    });
    afterAll(() => rm(dir, { recursive: true }));

    it("are read, at most to the limit", async () => {
      expect((await read(systemFiles, [], dir)).desired?.project).toBe("p");
      expect(String(await systemFiles.read(join(dir, "hosting.yaml"), 4))).toBe("proj");
      const long = Array.from({ length: 30_000 }, (_, line) => `# ${line}\n`).join("");
      await writeFile(join(dir, "long.yaml"), long);
      for (const limit of [100_000, long.length, long.length + 1])
        expect(String(await systemFiles.read(join(dir, "long.yaml"), limit))).toBe(long.slice(0, limit));
    });

    it("that are folders cause an error", async () => {
      expect((await read(systemFiles, ["."], dir)).diagnostics[0]?.summary).toMatch(/cannot be read: it is a folder$/);
    });
  });
});
