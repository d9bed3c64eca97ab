// The provider's journal, entry by entry: who sees what, when it goes, and what a process remembers that cannot write.
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Diagnostic } from "../../../src/model/index.ts";
import type { Note } from "../../../src/terraform/contract.ts";
import { openJournal } from "../../../src/terraform/journal.ts";
import { JournalFile } from "../../../src/terraform/journal-file.ts";
import { START, testClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/ledgers.ts";

const DAY_MS = 24 * 3_600_000;
const note = (id: string): Note =>
  ({
    address: "hosting_webhook.a",
    provider: "default",
    schemaVersion: 0,
    attributes: { id },
    sensitive: [],
    private: {},
    dependencies: [],
  }) as Note;
const idOf = (found: Note | undefined) => found?.attributes.id;

function open(folder: string | undefined, over: { project?: string; token?: string; at?: number } = {}) {
  const warnings: Diagnostic[] = [];
  const clock = testClock();
  if (over.at !== undefined) clock.now = () => over.at ?? 0;
  const journal = openJournal({
    folder,
    baseUrl: "https://api.hosting.example",
    token: over.token ?? "token",
    project: over.project,
    clock,
    onWarning: (warning) => warnings.push(warning),
  });
  onTestFinished(() => journal.close());
  return Object.assign(journal, { warnings });
}

/** A file of entries, by itself. */
function fileIn(folder: string, now = START) {
  const file = new JournalFile(path.join(folder, "creates.journal"), { account: "a", project: "p" }, now, () => {});
  onTestFinished(() => file.close());
  return file;
}

describe("an entry that is put where there is none", () => {
  it("is there for this process and the next; where there is one, that one stays and is given", () => {
    const folder = temporaryFolder();
    const journal = open(folder);
    expect(journal.insert("hosting_webhook", "a", note("1"))).toBeUndefined();
    expect(idOf(journal.insert("hosting_webhook", "a", note("2")))).toBe("1");
    expect(idOf(open(folder).insert("hosting_webhook", "a", note("3")))).toBe("1");
    expect(idOf(journal.get("hosting_webhook", "a"))).toBe("1");
    expect(journal.insert("hosting_webhook", "b", note("4")), "another name").toBeUndefined();
    expect(journal.insert("hosting_grant", "a", note("5")), "another type").toBeUndefined();
    expect(
      open(folder, { project: "other" }).insert("hosting_webhook", "a", note("6")),
      "another project",
    ).toBeUndefined();
    expect(
      open(folder, { token: "other" }).insert("hosting_webhook", "a", note("7")),
      "another account",
    ).toBeUndefined();
    expect(journal.list().map(({ type, name }) => `${type} ${name}`)).toEqual([
      "hosting_grant a",
      "hosting_webhook a",
      "hosting_webhook b",
    ]);
  });

  it("takes the place of one that is on its way out", () => {
    const file = fileIn(temporaryFolder());
    file.put("t", "a", note("1"), START);
    file.remove("t", "a");
    expect(file.insert("t", "a", note("2"), START)).toBeUndefined();
    expect(idOf(file.get("t", "a"))).toBe("2");
  });

  it("is remembered by this process where it cannot be written, with one warning", () => {
    const journal = open(undefined);
    expect(journal.insert("hosting_webhook", "a", note("1"))).toBeUndefined();
    expect(idOf(journal.get("hosting_webhook", "a"))).toBe("1");
    journal.put("hosting_webhook", "b", note("2"));
    expect(journal.list().map(({ name }) => name)).toEqual(["a", "b"]);
    expect(journal.warnings).toHaveLength(1);
    expect(journal.warnings[0]?.detail).toMatch(/^The journal: no home folder is known\. /);
    journal.remove("hosting_webhook", "a");
    expect(journal.get("hosting_webhook", "a")).toBeUndefined();
  });
});

describe("that Terraform went on after the answer", () => {
  const answeredOf = (journal: ReturnType<typeof open>) =>
    journal.list().map(({ name, resource }) => `${name} ${(resource as { answered?: boolean }).answered === true}`);

  it("is noted of what this process has put, of nothing else", () => {
    const folder = temporaryFolder();
    open(folder).put("hosting_webhook", "earlier", note("0"));
    const journal = open(folder);
    journal.put("hosting_webhook", "put", note("1"));
    journal.insert("hosting_webhook", "inserted", note("2"));
    journal.insert("hosting_webhook", "earlier", note("9"));
    journal.put("hosting_webhook", "removed", note("3"));
    journal.remove("hosting_webhook", "removed");
    journal.answered();
    expect(answeredOf(journal)).toEqual(["earlier false", "inserted true", "put true"]);
    expect(idOf(journal.get("hosting_webhook", "put")), "and the rest of it stays").toBe("1");
    expect(answeredOf(open(folder)), "one that is removed goes later").toEqual([
      "earlier false",
      "inserted true",
      "put true",
      "removed false",
    ]);
  });

  it("is noted once: what is put later is not answered by that", () => {
    const journal = open(temporaryFolder());
    journal.put("hosting_webhook", "a", note("1"));
    journal.answered();
    journal.put("hosting_webhook", "a", note("2"));
    expect(answeredOf(journal)).toEqual(["a false"]);
    journal.answered();
    expect(answeredOf(journal)).toEqual(["a true"]);
  });

  it("leaves no trace where nothing was put", () => {
    const folder = temporaryFolder();
    open(folder).answered();
    expect(existsSync(path.join(folder, "creates.journal"))).toBe(false);
  });
});

describe("an entry that is removed", () => {
  it("is gone at once for who removed it, and for others when two hundred are, or at the end", () => {
    const folder = temporaryFolder();
    const [file, other] = [fileIn(folder), fileIn(folder)];
    for (let at = 0; at < 201; at++) file.put("t", `n${at}`, note(String(at)), START);
    for (let at = 0; at < 199; at++) file.remove("t", `n${at}`);
    expect([file.list().length, other.list().length]).toEqual([2, 201]);
    file.remove("t", "n199");
    expect([file.list().length, other.list().length]).toEqual([1, 1]);
    file.remove("t", "n200");
    expect([file.list().length, other.list().length]).toEqual([0, 1]);
    file.remove("t", "nothing");
    file.close();
    expect(other.list()).toEqual([]);
  });

  it("goes with the next one that is put, and does not hide that", () => {
    const folder = temporaryFolder();
    const [file, other] = [fileIn(folder), fileIn(folder)];
    file.put("t", "a", note("1"), START);
    file.remove("t", "a");
    file.put("t", "b", note("2"), START);
    expect(other.list().map(({ name }) => name)).toEqual(["b"]);
    file.put("t", "a", note("3"), START);
    expect(file.list().map(({ name }) => name)).toEqual(["a", "b"]);
  });
});

describe("what nobody asks for", () => {
  it.each<[string, number, number]>([
    ["is kept for ninety days", 90 * DAY_MS, 1],
    ["and not longer", 90 * DAY_MS + 1, 0],
  ])("%s", (_, age, count) => {
    const folder = temporaryFolder();
    const first = fileIn(folder);
    first.put("t", "a", note("1"), START);
    first.close();
    expect(fileIn(folder, START + age).list()).toHaveLength(count);
  });
});

it("a journal that cannot be read says so once, and has nothing", () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "creates.journal"));
  const journal = open(folder);
  expect(journal.get("hosting_webhook", "a")).toBeUndefined();
  expect(journal.list()).toEqual([]);
  expect(journal.warnings.map(({ code, summary }) => `${code} ${summary}`)).toEqual([
    "provider.journal What the Terraform provider has noted of its creates cannot be read",
  ]);
  expect(journal.warnings[0]?.detail).toContain(path.join(folder, "creates.journal"));
});

it("a journal that is closed can be opened again", () => {
  const journal = open(temporaryFolder());
  journal.put("hosting_webhook", "a", note("1"));
  journal.close();
  expect(idOf(journal.get("hosting_webhook", "a"))).toBe("1");
});
