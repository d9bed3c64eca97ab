/** The file that an adoption keeps beside the state: a later run uses it only if nobody can have changed it. */
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Encryption } from "../../../src/core/record/index.ts";
import { openKept } from "../../../src/project/adopt/kept.ts";
import { quickFolder } from "../../support/folder.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const MINUTE = 60_000;
const keyOf = (byte: number) =>
  new Encryption({ key: { from: "key", variable: "KEY", bytes: Buffer.alloc(32, byte) } });
const clear = () => new Encryption({ key: undefined });

/** A file with two lists, and a function that reads it again after a change. */
async function keptFile(encryption = clear()) {
  const dir = await mkdtemp(quickFolder("kept"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const options = { file: path.join(dir, "hosting.tfstate.adopt"), account: "an account", now: NOW, encryption };
  const kept = await openKept(options);
  await Promise.all([
    kept.add("services", [{ id: "1", raw: { domain: "a.example" } }]),
    kept.add("grants of 1", [{ id: "2", raw: { email: "dev@a.example" } }]),
  ]);
  await kept.close();
  const found = async (over: Partial<Parameters<typeof openKept>[0]> = {}) => {
    const again = await openKept({ ...options, now: NOW + MINUTE, ...over });
    onTestFinished(() => again.close());
    const names = ["services", "grants of 1", "webhooks"].filter((name) => again.get(name) !== undefined);
    return { again, names };
  };
  const edit = async (change: (text: string) => string) =>
    writeFile(options.file, change(await readFile(options.file, "utf8")));
  return { ...options, dir, found, edit };
}

describe.each([
  ["in the clear", clear],
  ["with a key", () => keyOf(7)],
])("kept lists %s", (_, encryption) => {
  it("are read again, and further lists are appended", async () => {
    const { file, found } = await keptFile(encryption());
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { again, names } = await found();
    expect([names, again.found, again.since]).toEqual([["services", "grants of 1"], 2, NOW]);
    expect(again.get("grants of 1")).toEqual([{ id: "2", raw: { email: "dev@a.example" } }]);
    await again.add("webhooks", []);
    await again.close();
    const { again: third, names: all } = await found();
    expect(all).toEqual(["services", "grants of 1", "webhooks"]);
    await third.close();
    await third.remove();
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("end before the half line of a killed run, and continue there", async () => {
    const { found, edit } = await keptFile(encryption());
    await edit((text) => `${text}{"list":"webh`);
    const { again, names } = await found();
    expect(names).toEqual(["services", "grants of 1"]);
    await again.add("webhooks", []);
    await again.close();
    expect((await found()).names).toEqual(["services", "grants of 1", "webhooks"]);
  });

  it.each<[what: string, over: object]>([
    ["an hour later", { now: NOW + 61 * MINUTE }],
    ["from the future", { now: NOW - MINUTE }],
    ["of another account", { account: "another" }],
    ["with another key", { encryption: keyOf(8) }],
  ])("are ignored %s", async (_, over) => {
    const { found } = await keptFile(encryption());
    expect((await found(over)).names).toEqual([]);
  });

  it("are ignored through a link", async () => {
    const { file, dir, found } = await keptFile(encryption());
    const elsewhere = path.join(dir, "elsewhere");
    const text = await readFile(file, "utf8");
    await writeFile(elsewhere, text);
    await rm(file);
    await symlink(elsewhere, file);
    expect((await found()).names).toEqual([]);
    expect(await readFile(elsewhere, "utf8")).toBe(text);
  });
});

describe("lists that were kept with a key", () => {
  it.each<[what: string, change: (lines: string[]) => string[]]>([
    ["exchanged", ([head = "", first = "", second = ""]) => [head, second, first, ""]],
    ["repeated", ([head = "", first = ""]) => [head, first, first, ""]],
    ["changed", ([head = "", first = ""]) => [head, first.replace(/^..../, "AAAA"), ""]],
    ["in the clear", ([head = ""]) => [head, '{"list":"services","records":[]}', ""]],
  ])("are read up to the first line that was %s", async (_, change) => {
    const { found, edit } = await keptFile(keyOf(7));
    await edit((text) => change(text.split("\n")).join("\n"));
    const { names } = await found();
    expect(names.length).toBeLessThan(2);
    expect(names).not.toContain("grants of 1");
  });

  it("are ignored without the key", async () => {
    const { found } = await keptFile(keyOf(7));
    expect((await found({ encryption: clear() })).names).toEqual([]);
  });
});
