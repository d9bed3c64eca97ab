// The provider's journal, entry by entry: who sees what, when it goes, and what a process remembers that cannot write.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../src/core/local/index.ts";
import type { Diagnostic } from "../../../../src/core/model/index.ts";
import type { Note } from "../../../../src/fronts/terraform/index.ts";
import { JournalFile, openJournal } from "../../../../src/fronts/terraform/journal.ts";
import { START, testClock } from "../../../support/clock.ts";
import { temporaryFolder } from "../../../support/folder.ts";

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
const idsOf = (entries: readonly { readonly resource: Note }[]) => entries.map(({ resource }) => idOf(resource));

function open(folder: string | undefined, over: { project?: string; token?: string; baseUrl?: string } = {}) {
  const warnings: Diagnostic[] = [];
  const journal = openJournal({
    folder,
    baseUrl: over.baseUrl ?? "https://api.hosting.example",
    token: over.token ?? "token",
    project: over.project,
    clock: testClock(),
    onWarning: (warning) => warnings.push(warning),
  });
  onTestFinished(() => journal.close());
  return Object.assign(journal, { warnings });
}

const placeIn = (folder: string) => path.join(folder, "creates.journal");

/** A file of entries. */
function fileIn(folder: string, now = START, open?: (path: string) => DatabaseSync) {
  const file = new JournalFile(placeIn(folder), { account: "a", project: "p" }, now, () => {}, open);
  onTestFinished(() => file.close());
  return file;
}

/** The file as the first version wrote it, with these entries: what is released must stay readable. */
function written(folder: string, entries: Readonly<Record<string, string>>) {
  const database = openDatabase(placeIn(folder));
  onTestFinished(() => database.close());
  database.exec(`PRAGMA synchronous = OFF; BEGIN; CREATE TABLE creates (
    serial INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, project TEXT NOT NULL, type TEXT NOT NULL,
    name TEXT NOT NULL, written INTEGER NOT NULL, resource TEXT NOT NULL,
    UNIQUE (account, project, type, name)) STRICT; PRAGMA application_id = 1212566092`);
  const insert = database.prepare(
    "INSERT INTO creates (account, project, type, name, written, resource) VALUES ('a', 'p', 't', ?, ?, ?)",
  );
  for (const [name, text] of Object.entries(entries)) insert.run(name, START, text);
  database.exec("COMMIT");
  return database;
}

const textsIn = (database: DatabaseSync) =>
  Object.fromEntries(
    database
      .prepare("SELECT name, resource FROM creates")
      .all()
      .map(({ name, resource }) => [name, resource]),
  );

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

describe("what stands in the file", () => {
  it("is released when the journal is closed; one that was not used leaves none", () => {
    const opened: DatabaseSync[] = [];
    const folder = temporaryFolder();
    const file = fileIn(folder, START, (place) => {
      const database = openDatabase(place);
      opened.push(database);
      return database;
    });
    file.close();
    expect(existsSync(placeIn(folder))).toBe(false);
    file.put("t", "a", note("1"), START);
    file.close();
    expect(opened.map(({ isOpen }) => isOpen)).toEqual([false]);
  });

  const whole = { address: "x", attributes: {}, private: {} };
  const texts: Readonly<Record<string, string>> = {
    "is no JSON": "{",
    "is null": "null",
    "is a list": "[]",
    ...Object.fromEntries(
      Object.entries({
        "has no address": { ...whole, address: undefined },
        "has an address that is no text": { ...whole, address: 1 },
        "has no attributes": { ...whole, attributes: undefined },
        "has attributes that are null": { ...whole, attributes: null },
        "has attributes that are a list": { ...whole, attributes: [] },
        "has attributes that are a text": { ...whole, attributes: "id" },
        "has no mark": { ...whole, private: undefined },
        "has a place that is no text": { ...whole, place: null },
        "has a base that is a list": { ...whole, base: [] },
      }).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  };

  it("counts for nothing where it is not whole, stays as it is, and makes room for what is put", () => {
    const folder = temporaryFolder();
    const database = written(folder, { ...texts, "is whole": JSON.stringify(whole) });
    const file = fileIn(folder);
    expect(file.list().map(({ name }) => name)).toEqual(["is whole"]);
    expect(Object.keys(texts).filter((name) => file.get("t", name) !== undefined)).toEqual([]);
    file.answered(Object.keys(texts).map((name) => ["t", name]));
    expect(textsIn(database)).toMatchObject(texts);
    expect(file.insert("t", "is null", note("1"), START)).toBeUndefined();
    expect(idsOf(file.list())).toEqual(["1", undefined]);
  });

  it("can be read while another process writes", () => {
    const folder = temporaryFolder();
    const database = written(folder, { a: JSON.stringify(note("1")) });
    database.exec("BEGIN IMMEDIATE");
    expect(idsOf(fileIn(folder).list())).toEqual(["1"]);
    database.exec("ROLLBACK");
  });
});

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
    expect(journal.warnings[0]?.detail).toMatch(/^The journal: there is no home folder\. /);
    journal.remove("hosting_webhook", "a");
    expect(journal.get("hosting_webhook", "a")).toBeUndefined();
  });
});

describe("that Terraform went on after the answer", () => {
  const answeredOf = (journal: ReturnType<typeof open>) =>
    journal.list().map(({ name, resource }) => `${name} ${(resource as { answered?: boolean }).answered === true}`);

  it("is recorded of what this process has put, of nothing else", () => {
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

  it("is recorded once: what is put later is not answered by that", () => {
    const journal = open(temporaryFolder());
    journal.put("hosting_webhook", "a", note("1"));
    journal.answered();
    journal.put("hosting_webhook", "a", note("2"));
    expect(answeredOf(journal)).toEqual(["a false"]);
    journal.answered();
    expect(answeredOf(journal)).toEqual(["a true"]);
  });

  it("is not recorded again of what another process has put since", () => {
    const folder = temporaryFolder();
    const journal = open(folder);
    journal.put("hosting_webhook", "a", note("1"));
    journal.answered();
    open(folder).put("hosting_webhook", "a", note("2"));
    journal.answered();
    expect(answeredOf(journal)).toEqual(["a false"]);
  });

  it("needs no file where nothing was put", () => {
    const folder = temporaryFolder();
    open(folder).answered();
    expect(existsSync(placeIn(folder))).toBe(false);
    mkdirSync(placeIn(folder));
    const journal = open(folder);
    journal.answered();
    expect(journal.warnings).toEqual([]);
  });
});

describe("an entry that is removed", () => {
  it("is gone at once for who removed it, and for others when two hundred are, or at the end", () => {
    const folder = temporaryFolder();
    written(folder, Object.fromEntries(Array.from({ length: 202 }, (_, at) => [`n${at}`, JSON.stringify(note("1"))])));
    const [file, other] = [fileIn(folder), fileIn(folder)];
    const left = () => [file.list().length, other.list().length];
    for (let at = 0; at < 199; at++) file.remove("t", `n${at}`);
    expect(left()).toEqual([3, 202]);
    file.remove("t", "n199");
    expect(left()).toEqual([2, 2]);
    file.remove("t", "n200");
    expect(left(), "and are gathered again").toEqual([1, 2]);
    file.remove("t", "nothing");
    file.close();
    expect(other.list()).toHaveLength(1);
  });

  it("loses entries of no other process when the file is a new one meanwhile", () => {
    const folder = temporaryFolder();
    const file = fileIn(folder);
    file.put("t", "a", note("1"), START);
    file.remove("t", "a");
    rmSync(placeIn(folder));
    const other = fileIn(folder);
    // Serials begin again in a new file.
    other.put("t", "theirs", note("2"), START);
    file.put("t", "ours", note("3"), START);
    expect(other.list().map(({ name }) => name)).toEqual(["ours", "theirs"]);
    expect(file.list()).toEqual(other.list());
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

it("a journal that cannot be read is reported once, and is empty", () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "creates.journal"));
  const journal = open(folder);
  expect(journal.get("hosting_webhook", "a")).toBeUndefined();
  expect(journal.list()).toEqual([]);
  expect(journal.warnings.map(({ code, summary }) => `${code} ${summary}`)).toEqual([
    "provider.journal The Terraform provider cannot read its journal",
  ]);
  expect(journal.warnings[0]?.detail).toContain(path.join(folder, "creates.journal"));
});

it("a journal that can be written again has what is put then, not what was remembered", () => {
  const folder = path.join(temporaryFolder(), "state");
  writeFileSync(folder, "");
  const journal = open(folder);
  journal.put("hosting_webhook", "a", note("1"));
  rmSync(folder);
  journal.put("hosting_webhook", "a", note("2"));
  expect(idOf(journal.get("hosting_webhook", "a"))).toBe("2");
  open(folder).put("hosting_webhook", "a", note("3"));
  expect(idOf(journal.get("hosting_webhook", "a"))).toBe("3");
  expect(idsOf(journal.list())).toEqual(["3"]);
});

it("a journal is kept for a host whose way is protected otherwise than by https, too", () => {
  const folder = temporaryFolder();
  const plain = { baseUrl: "http://api.hosting.example" };
  open(folder, plain).put("hosting_webhook", "a", note("1"));
  expect(idsOf(open(folder, plain).list())).toEqual(["1"]);
  expect(open(folder).list()).toEqual([]);
});

it("a journal that is closed can be opened again", () => {
  const journal = open(temporaryFolder());
  journal.put("hosting_webhook", "a", note("1"));
  journal.close();
  expect(idOf(journal.get("hosting_webhook", "a"))).toBe("1");
});
