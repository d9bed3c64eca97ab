import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Diagnostic, JsonObject } from "../../../../src/core/model/index.ts";
import type { Note } from "../../../../src/fronts/terraform/index.ts";
import { type JournalOptions, openJournal } from "../../../../src/fronts/terraform/journal.ts";
import { testClock } from "../../../support/clock.ts";
import fc from "../../../support/fc.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const BASE_URL = "https://api.hosting.example";
const TOKEN = "7|canary-token-Zq81xYp4";
const SECRET = "whsec_canary_5Kd0";
const DAY_MS = 86_400_000;
const PROCESS = path.resolve(import.meta.dirname, "../../../support/journal-process.ts");

/** A journal, closed after the test, and what it warned of. */
function open(options: Partial<JournalOptions> & Pick<JournalOptions, "folder">) {
  const warnings: Diagnostic[] = [];
  const journal = openJournal({
    baseUrl: BASE_URL,
    token: TOKEN,
    project: "acme",
    clock: testClock(),
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  onTestFinished(() => journal.close());
  return Object.assign(journal, { warnings });
}

function noted(
  attributes: JsonObject,
  { type = "hosting_service", ...more }: Partial<Note> & { type?: string } = {},
): Note {
  return {
    address: `${type}.acme`,
    provider: "default",
    schemaVersion: 0,
    attributes,
    sensitive: ["secret"],
    private: { pending: { since: "2026-11-21T10:00:00Z", operation: "createService", known: ["1"] } },
    dependencies: [],
    ...more,
  };
}

const names = (journal: ReturnType<typeof openJournal>) => journal.list().map(({ name }) => name);
const fileIn = (folder: string) => path.join(folder, "creates.journal");

describe("what a create has come to", () => {
  it("is found by the next process, as it was recorded", () => {
    const folder = temporaryFolder();
    const resource = noted({ id: "1001", domain: "acme.example", secret: SECRET });
    open({ folder }).put("hosting_service", "acme.example", resource);
    const next = open({ folder });
    expect(next.get("hosting_service", "acme.example")).toEqual(resource);
    expect(next.get("hosting_webhook", "acme.example")).toBeUndefined();
    expect(next.get("hosting_service", "other.example")).toBeUndefined();
  });

  it("comes with where Terraform ran, and with what it had recorded before", () => {
    const folder = temporaryFolder();
    const base = { generated_password: null, password_version: 2, panel: { login: SECRET } };
    const notes: Readonly<Record<string, Note>> = {
      neither: noted({ id: "1" }),
      place: noted({ id: "2" }, { place: "0123456789abcdef" }),
      base: noted({ id: "3" }, { base }),
      both: noted({ id: "4" }, { place: "", base: {} }),
    };
    const first = open({ folder });
    for (const [name, note] of Object.entries(notes)) first.put("hosting_service", name, note);
    const next = open({ folder });
    // Absent is not undefined: `place` decides whether a note is used at all.
    for (const [name, note] of Object.entries(notes)) expect(next.get("hosting_service", name)).toStrictEqual(note);
    expect(next.list().map(({ resource }) => resource)).toStrictEqual([
      notes.base,
      notes.both,
      notes.neither,
      notes.place,
    ]);
  });

  it("forgets where it was made and what was before when a later note says neither", () => {
    const folder = temporaryFolder();
    const journal = open({ folder });
    journal.put("hosting_service", "acme", noted({ id: "1" }, { place: "there", base: { secret: SECRET } }));
    journal.put("hosting_service", "acme", noted({ id: "1" }));
    expect(open({ folder }).get("hosting_service", "acme")).toStrictEqual(noted({ id: "1" }));
  });

  it("is what was recorded last", () => {
    const folder = temporaryFolder();
    const journal = open({ folder });
    journal.put("hosting_service", "acme", noted({ id: null }));
    journal.put("hosting_service", "acme", noted({ id: "1001" }));
    expect(journal.list()).toHaveLength(1);
    expect(open({ folder }).get("hosting_service", "acme")?.attributes).toEqual({ id: "1001" });
  });

  it("is another's in another project, under another token or at another address", () => {
    const folder = temporaryFolder();
    open({ folder }).put("hosting_service", "acme", noted({ id: "1001" }));
    for (const other of [
      { project: "other" },
      { project: undefined },
      { token: "8|other" },
      { baseUrl: "https://b.example" },
    ]) {
      const journal = open({ folder, ...other });
      expect(journal.list()).toEqual([]);
      expect(journal.get("hosting_service", "acme")).toBeUndefined();
      journal.remove("hosting_service", "acme");
      journal.close();
    }
    expect(names(open({ folder, baseUrl: `${BASE_URL}/api/v1/` }))).toEqual(["acme"]);
  });

  it("is seen by a process that was there before", () => {
    const folder = temporaryFolder();
    const [early, late] = [open({ folder }), open({ folder })];
    late.put("hosting_service", "acme", noted({ id: "1001" }));
    expect(early.get("hosting_service", "acme")?.attributes.id).toBe("1001");
    early.remove("hosting_service", "acme");
    early.close();
    expect(late.get("hosting_service", "acme")).toBeUndefined();
  });
});

describe("an entry goes", () => {
  it("when it is removed: for this process at once, for others when this one ends", () => {
    const folder = temporaryFolder();
    open({ folder }).put(
      "hosting_service",
      "acme",
      noted({ id: "1001", secret: SECRET }, { base: { secret: SECRET } }),
    );
    const journal = open({ folder });
    journal.put("hosting_service", "stays", noted({ id: "1002" }));
    journal.remove("hosting_service", "acme");
    expect(names(journal)).toEqual(["stays"]);
    expect(journal.get("hosting_service", "acme")).toBeUndefined();
    expect(names(open({ folder }))).toEqual(["acme", "stays"]);
    journal.close();
    expect(names(open({ folder }))).toEqual(["stays"]);
    for (const name of readdirSync(folder))
      expect(readFileSync(path.join(folder, name), "latin1"), "not even in a free page").not.toContain(SECRET);
  });

  it("not when an object of another type has that name", () => {
    const journal = open({ folder: temporaryFolder() });
    journal.put("hosting_service", "acme", noted({ id: "7" }));
    journal.remove("hosting_webhook", "acme");
    expect(names(journal)).toEqual(["acme"]);
  });

  it("after ninety days, whichever process wrote it", () => {
    const folder = temporaryFolder();
    const clock = testClock();
    open({ folder, clock, project: "given up" }).put("hosting_service", "old", noted({ id: "1", secret: SECRET }));
    clock.advance(89 * DAY_MS);
    open({ folder, clock }).put("hosting_service", "young", noted({ id: "2" }));
    expect(names(open({ folder, clock, project: "given up" }))).toEqual(["old"]);
    clock.advance(2 * DAY_MS);
    expect(names(open({ folder, clock }))).toEqual(["young"]);
    expect(names(open({ folder, clock, project: "given up" }))).toEqual([]);
    expect(readFileSync(fileIn(folder), "latin1")).not.toContain(SECRET);
  });

  it("late, and another process has recorded something new under the name meanwhile: that one stays", () => {
    const folder = temporaryFolder();
    const [slow, quick] = [open({ folder }), open({ folder })];
    slow.put("hosting_service", "acme", noted({ id: "1001" }));
    slow.remove("hosting_service", "acme");
    quick.put("hosting_service", "acme", noted({ id: "1002" }));
    expect(slow.get("hosting_service", "acme")?.attributes.id).toBe("1002");
    slow.close();
    expect(quick.get("hosting_service", "acme")?.attributes.id).toBe("1002");
  });
});

describe("the file", () => {
  it("is made when something is first recorded, for its owner alone", () => {
    const folder = path.join(temporaryFolder(), "made", "here");
    const journal = open({ folder });
    journal.remove("hosting_service", "acme");
    expect(journal.get("hosting_service", "acme")).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    journal.put("hosting_service", "acme", noted({ id: "1" }));
    if (process.platform === "win32") return;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o777, name).toBe(0o600);
  });

  it("does not reveal the token", () => {
    const folder = temporaryFolder();
    open({ folder }).put("hosting_service", "acme", noted({ id: "1" }));
    const text = readdirSync(folder).map((name) => name + readFileSync(path.join(folder, name), "latin1"));
    expect(text.join()).not.toContain("canary-token");
  });

  it("that was damaged is replaced by a new one, with a warning, and kept", () => {
    const folder = temporaryFolder();
    writeFileSync(fileIn(folder), `not a database, but ${SECRET}\n`.repeat(200));
    const journal = open({ folder });
    expect(journal.list()).toEqual([]);
    journal.put("hosting_service", "acme", noted({ id: "1" }));
    expect(names(open({ folder }))).toEqual(["acme"]);
    expect(journal.warnings).toMatchObject([
      {
        code: "provider.journal",
        summary: expect.stringContaining("damaged"),
        detail: expect.stringContaining(".damaged"),
      },
    ]);
    expect(JSON.stringify(journal.warnings)).not.toContain(SECRET);
    expect(existsSync(`${fileIn(folder)}.damaged`)).toBe(true);
  });

  it("that was deleted under the feet of a process is made again, and what leaves the old one takes nothing along", () => {
    const folder = temporaryFolder();
    const journal = open({ folder });
    journal.put("hosting_service", "first", noted({ id: "1" }));
    journal.remove("hosting_service", "first");
    rmSync(folder, { recursive: true });
    journal.put("hosting_service", "second", noted({ id: "2" }));
    journal.close();
    expect(names(open({ folder }))).toEqual(["second"]);
    expect(journal.warnings).toEqual([]);
  });
});

describe("without a file that can be used, this process remembers, and says that once", () => {
  const unusable = [
    ["there is no home folder", () => undefined],
    [
      "ENOTDIR",
      () => {
        const file = path.join(temporaryFolder(), "file");
        writeFileSync(file, "");
        return path.join(file, "hostform");
      },
    ],
  ] as const;
  it.each(unusable)("%s", (words, folder) => {
    const journal = open({ folder: folder() });
    journal.put("hosting_service", "acme", noted({ id: "1", secret: SECRET }));
    journal.put("hosting_service", "other", noted({ id: "2", secret: SECRET }));
    expect(journal.get("hosting_service", "acme")?.attributes.secret).toBe(SECRET);
    journal.remove("hosting_service", "acme");
    expect(names(journal)).toEqual(["other"]);
    journal.remove("hosting_service", "other");
    expect(journal.list()).toEqual([]);
    expect(journal.warnings).toMatchObject([
      { severity: "warning", code: "provider.journal", detail: expect.stringContaining(words) },
    ]);
    expect(JSON.stringify(journal.warnings)).not.toContain(SECRET);
  });
});

describe("two processes at once", () => {
  /** Writes the given notes, and is killed with nothing closed. */
  async function note(folder: string, prefix: string, count: number): Promise<string> {
    const child = spawn(process.execPath, [PROCESS, folder, "acme", prefix, String(count)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
    const word = String((await lines.next()).value);
    child.kill("SIGKILL");
    await ended;
    return word;
  }

  it("lose nothing of each other's, and nothing when they are killed the moment after", async () => {
    const folder = temporaryFolder();
    expect(await Promise.all(["a", "b"].map((prefix) => note(folder, prefix, 40)))).toEqual(["noted", "noted"]);
    const journal = open({ folder });
    const expected = ["a", "b"].flatMap((prefix) => Array.from({ length: 40 }, (_, i) => `${prefix}${i}`));
    expect(new Set(names(journal))).toEqual(new Set(expected));
    journal.remove("hosting_service", "a0");
    expect(journal.get("hosting_service", "a0")).toBeUndefined();
    expect(journal.get("hosting_service", "b39")?.attributes.id).toBe("b-39");
  });
});

describe("any course of notes by three processes", () => {
  const [who, type, name] = [fc.nat({ max: 2 }), fc.constantFrom("t1", "t2"), fc.constantFrom("x", "y", "z")];
  const more = fc.record(
    { place: fc.constantFrom("here", "there"), base: fc.constantFrom<JsonObject>({}, { secret: null }) },
    { requiredKeys: [] },
  );
  const id = fc.constantFrom("1", "2", null);
  const step = fc.oneof(
    fc.record({ what: fc.constant("put" as const), who, type, name, id, more }),
    fc.record({ what: fc.constant("remove" as const), who, type, name }),
    fc.record({ what: fc.constant("restart" as const), who }),
  );

  it("ends with what was put and not removed since; who puts or removes sees it at once, and all see what is put", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const folder = temporaryFolder();
        const journals = [open({ folder }), open({ folder }), open({ folder })];
        const model = new Map<string, Note>();
        for (const one of steps) {
          const journal = journals[one.who] as ReturnType<typeof open>;
          if (one.what === "put") {
            const note = noted({ id: one.id }, { type: one.type, ...one.more });
            journal.put(one.type, one.name, note);
            model.set(`${one.type} ${one.name}`, note);
            for (const each of journals) expect(each.get(one.type, one.name)).toStrictEqual(note);
          } else if (one.what === "remove") {
            journal.remove(one.type, one.name);
            model.delete(`${one.type} ${one.name}`);
            expect(journal.get(one.type, one.name)).toBeUndefined();
          } else {
            journal.close();
            journals[one.who] = open({ folder });
          }
        }
        for (const journal of journals) journal.close();
        const left = open({ folder }).list();
        expect(new Map(left.map(({ type, name, resource }) => [`${type} ${name}`, resource]))).toStrictEqual(model);
      }),
      { numRuns: 30 },
    );
  });
});
