import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Diagnostic, JsonObject, ResourceState } from "../../../src/model/index.ts";
import { openDatabase } from "../../../src/model/sqlite.ts";
import { type JournalOptions, openJournal } from "../../../src/terraform/journal.ts";
import { testClock } from "../../support/clock.ts";
import fc from "../../support/fc.ts";
import { temporaryFolder } from "../../support/ledgers.ts";

const BASE_URL = "https://api.hosting.example";
const TOKEN = "7|canary-token-Zq81xYp4";
const SECRET = "whsec_canary_5Kd0";
const DAY_MS = 86_400_000;
const PROCESS = path.resolve(import.meta.dirname, "../../support/journal-process.ts");

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

function noted(attributes: JsonObject, type = "hosting_service"): ResourceState {
  return {
    address: `${type}.acme`,
    provider: "default",
    schemaVersion: 0,
    attributes,
    sensitive: ["secret"],
    private: { pending: { since: "2026-11-21T10:00:00Z", operation: "createService", known: ["1"] } },
    dependencies: [],
  };
}

const names = (journal: ReturnType<typeof openJournal>) => journal.list().map(({ name }) => name);
const fileIn = (folder: string) => path.join(folder, "creates.journal");

describe("what a create has come to", () => {
  it("is found by the next process, as it was noted", () => {
    const folder = temporaryFolder();
    const resource = noted({ id: "1001", domain: "acme.example", secret: SECRET });
    open({ folder }).put("hosting_service", "acme.example", resource);
    const next = open({ folder });
    expect(next.get("hosting_service", "acme.example")).toEqual(resource);
    expect(next.get("hosting_webhook", "acme.example")).toBeUndefined();
    expect(next.get("hosting_service", "other.example")).toBeUndefined();
  });

  it("is what was noted last", () => {
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
      journal.recorded("hosting_service", "1001");
      journal.close();
    }
    expect(names(open({ folder, baseUrl: `${BASE_URL}/api/v1/` }))).toEqual(["acme"]);
  });

  it("is seen by a process that was there before", () => {
    const folder = temporaryFolder();
    const [early, late] = [open({ folder }), open({ folder })];
    late.put("hosting_service", "acme", noted({ id: "1001" }));
    expect(early.get("hosting_service", "acme")?.attributes.id).toBe("1001");
    early.recorded("hosting_service", "1001");
    early.close();
    expect(late.get("hosting_service", "acme")).toBeUndefined();
  });
});

describe("an entry goes", () => {
  it.each([
    ["when Terraform has recorded the object", (journal) => journal.recorded("hosting_service", "1001")],
    ["when it is removed", (journal) => journal.remove("hosting_service", "acme")],
  ] as [string, (journal: ReturnType<typeof openJournal>) => void][])(
    "%s: for this process at once, for others when this one ends",
    (_, act) => {
      const folder = temporaryFolder();
      open({ folder }).put("hosting_service", "acme", noted({ id: "1001", secret: SECRET }));
      const journal = open({ folder });
      journal.put("hosting_service", "stays", noted({ id: "1002" }));
      act(journal);
      expect(names(journal)).toEqual(["stays"]);
      expect(journal.get("hosting_service", "acme")).toBeUndefined();
      journal.close();
      expect(names(open({ folder }))).toEqual(["stays"]);
      for (const name of readdirSync(folder))
        expect(readFileSync(path.join(folder, name), "latin1"), "not even in a free page").not.toContain(SECRET);
    },
  );

  it("not when an object of another type has that id", () => {
    const journal = open({ folder: temporaryFolder() });
    journal.put("hosting_service", "acme", noted({ id: "7" }));
    journal.recorded("hosting_webhook", "7");
    expect(names(journal)).toEqual(["acme"]);
  });

  it("not while it has no id: nothing of it can have been recorded", () => {
    const folder = temporaryFolder();
    open({ folder }).put("hosting_service", "acme", noted({ id: null }));
    const journal = open({ folder });
    journal.recorded("hosting_service", "null");
    journal.recorded("hosting_service", "");
    expect(names(journal)).toEqual(["acme"]);
  });

  it("after ninety days, whoever's it is", () => {
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

  it("late, and another process has noted something new under the name meanwhile: that one stays", () => {
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
  it("is made when something is first noted, for its owner alone", () => {
    const folder = path.join(temporaryFolder(), "made", "here");
    const journal = open({ folder });
    journal.recorded("hosting_service", "1");
    journal.remove("hosting_service", "acme");
    expect(journal.get("hosting_service", "acme")).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    journal.put("hosting_service", "acme", noted({ id: "1" }));
    if (process.platform === "win32") return;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o777, name).toBe(0o600);
  });

  it("tells nothing of the token", () => {
    const folder = temporaryFolder();
    open({ folder }).put("hosting_service", "acme", noted({ id: "1" }));
    const text = readdirSync(folder).map((name) => name + readFileSync(path.join(folder, name), "latin1"));
    expect(text.join()).not.toContain("canary-token");
  });

  it("that was damaged is begun anew, with a warning, and kept", () => {
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

  it("holds an entry that is not whole: it counts for nothing", () => {
    const folder = temporaryFolder();
    open({ folder }).put("hosting_service", "acme", noted({ id: "1" }));
    for (const text of ["{", "null", "[]", '{"address":"x"}', '{"address":1,"attributes":{},"private":{}}']) {
      const database = openDatabase(fileIn(folder));
      database.prepare("UPDATE creates SET resource = ?").run(text);
      database.close();
      const journal = open({ folder });
      expect(journal.list(), text).toEqual([]);
      expect(journal.get("hosting_service", "acme"), text).toBeUndefined();
    }
  });
});

describe("without a file that can be used, this process remembers, and says that once", () => {
  const unusable = [
    ["no home folder is known", () => undefined],
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
    journal.recorded("hosting_service", "1");
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
  /** Notes as told, and is killed with nothing closed. */
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
    journal.recorded("hosting_service", "a-0");
    expect(journal.get("hosting_service", "a0")).toBeUndefined();
    expect(journal.get("hosting_service", "b39")?.attributes.id).toBe("b-39");
  });
});

describe("any course of notes by three processes", () => {
  const [type, name, id] = [
    fc.constantFrom("t1", "t2"),
    fc.constantFrom("x", "y", "z"),
    fc.constantFrom("1", "2", null),
  ];
  const who = fc.nat({ max: 2 });
  const step = fc.oneof(
    fc.record({ what: fc.constant("put" as const), who, type, name, id }),
    fc.record({ what: fc.constant("remove" as const), who, type, name }),
    fc.record({ what: fc.constant("recorded" as const), who, type, id: fc.constantFrom("1", "2") }),
    fc.record({ what: fc.constant("restart" as const), who }),
  );

  it("ends with what was put and neither removed nor recorded since", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const folder = temporaryFolder();
        const journals = [open({ folder }), open({ folder }), open({ folder })];
        const model = new Map<string, string | null>();
        for (const one of steps) {
          const journal = journals[one.who] as ReturnType<typeof open>;
          if (one.what === "put") {
            journal.put(one.type, one.name, noted({ id: one.id }, one.type));
            model.set(`${one.type} ${one.name}`, one.id);
          } else if (one.what === "remove") {
            journal.remove(one.type, one.name);
            model.delete(`${one.type} ${one.name}`);
          } else if (one.what === "recorded") {
            // By a process that starts after all that: one that was there before need not know of the others' notes.
            const seen = open({ folder });
            seen.recorded(one.type, one.id);
            seen.close();
            for (const [key, noted] of model) if (key.startsWith(one.type) && noted === one.id) model.delete(key);
          } else {
            journal.close();
            journals[one.who] = open({ folder });
          }
        }
        for (const journal of journals) journal.close();
        const left = open({ folder })
          .list()
          .map((entry) => [`${entry.type} ${entry.name}`, entry.resource.attributes.id]);
        expect(new Map(left as [string, string | null][])).toEqual(model);
      }),
      { numRuns: 30 },
    );
  });
});
