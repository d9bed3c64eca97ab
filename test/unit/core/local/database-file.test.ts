import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { DatabaseFile, databaseTrouble, openDatabase } from "../../../../src/core/local/index.ts";
import fc, { runs } from "../../../support/fc.ts";
import { temporaryFolder } from "../../../support/folder.ts";

/** A file of numbers, in a folder that may not exist. */
function numbers(place = path.join(temporaryFolder(), "made", "numbers")) {
  let damaged = 0;
  const file = new DatabaseFile(() => place, {
    version: 1,
    applicationId: 4711,
    schema: "CREATE TABLE numbers (value INTEGER NOT NULL) STRICT",
    pragmas: "PRAGMA busy_timeout = 20; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF",
    prepare: (database) => ({
      add: database.prepare("INSERT INTO numbers VALUES (?)"),
      all: database.prepare("SELECT value FROM numbers ORDER BY value"),
    }),
    onDamaged: () => {
      damaged += 1;
    },
  });
  onTestFinished(() => file.close());
  return {
    place,
    file,
    add: (value: number) => file.change(({ add }) => void add.run(value)),
    all: () => file.use(({ all }) => all.all().map(({ value }) => value)),
    damaged: () => damaged,
  };
}

describe("a database file", () => {
  test("is created at the first use, accessible only to its owner", () => {
    const { place, add, all } = numbers();
    expect(existsSync(path.dirname(place))).toBe(false);
    add(1);
    expect(all()).toEqual([1]);
    if (process.platform === "win32") return;
    expect(statSync(path.dirname(place)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(path.dirname(place)))
      expect(statSync(path.join(path.dirname(place), name)).mode & 0o077, name).toBe(0);
  });

  test("is shared by all processes with an open handle", () => {
    const one = numbers();
    const other = numbers(one.place);
    one.add(1);
    other.add(2);
    one.add(3);
    expect(other.all()).toEqual([1, 2, 3]);
  });

  test("rolls back a failed change and frees its lock", () => {
    const one = numbers();
    const other = numbers(one.place);
    expect(() =>
      one.file.change(({ add }) => {
        add.run(1);
        throw new Error("no");
      }),
    ).toThrow("no");
    other.add(2);
    expect(one.all()).toEqual([2]);
  });

  test("is reported as busy and stays unchanged while another process holds it", () => {
    const { place, add, all } = numbers();
    add(1);
    const holder = openDatabase(place);
    holder.exec("BEGIN IMMEDIATE");
    let trouble: string | undefined;
    try {
      add(2);
    } catch (error) {
      trouble = databaseTrouble(error);
    }
    expect(trouble).toBe("busy");
    expect(all()).toEqual([1]);
    holder.close();
    add(3);
    expect(all()).toEqual([1, 3]);
  });
});

describe("a file with unexpected content is replaced with a new file and kept beside it", () => {
  const table: [what: string, spoil: (place: string) => void][] = [
    ["text", (place) => writeFileSync(place, "This is not a database.\n".repeat(100))],
    ["zeroes", (place) => writeFileSync(place, Buffer.alloc(8192))],
    ["its first page only", (place) => writeFileSync(place, readFileSync(place).subarray(0, 4096))],
    [
      "another program's database",
      (place) => {
        rmSync(place);
        const database = openDatabase(place);
        database.exec("CREATE TABLE theirs (x); PRAGMA application_id = 99");
        database.close();
      },
    ],
    [
      "a database without the table",
      (place) => {
        const database = openDatabase(place);
        database.exec("DROP TABLE numbers");
        database.close();
      },
    ],
  ];
  test.each(table)("%s", (_, spoil) => {
    const before = numbers();
    before.add(1);
    before.file.close();
    spoil(before.place);
    chmodSync(before.place, 0o600);
    const spoilt = readFileSync(before.place);
    const after = numbers(before.place);
    after.add(2);
    expect(after.all()).toEqual([2]);
    expect(after.damaged()).toBe(1);
    expect(readFileSync(`${before.place}.damaged`).equals(spoilt)).toBe(true);
  });

  test("an empty file is used as a new database", () => {
    const { place, add, all, damaged } = numbers();
    mkdirSync(path.dirname(place), 0o700);
    writeFileSync(place, "", { mode: 0o600 });
    add(1);
    expect(all()).toEqual([1]);
    expect(damaged()).toBe(0);
  });

  test("a file with any changed bytes is usable again at the second attempt", () => {
    const flips = fc.array(fc.tuple(fc.nat({ max: 8191 }), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 60,
    });
    const place = path.join(temporaryFolder(), "numbers");
    fc.assert(
      fc.property(flips, (changed) => {
        const before = numbers(place);
        before.add(1);
        before.file.close();
        const bytes = readFileSync(place);
        for (const [at, by] of changed) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ by;
        writeFileSync(place, bytes);
        const after = numbers(place);
        try {
          after.add(2);
        } catch {
          after.add(2);
        }
        expect(after.all()).toContain(2);
        after.file.close();
        for (const name of ["", ".damaged", "-journal"]) rmSync(`${place}${name}`, { force: true });
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("a file that disappears while processes have it open", () => {
  const table: [what: string, take: (place: string) => void][] = [
    ["deleted", (place) => rmSync(place)],
    ["moved", (place) => renameSync(place, `${place}.elsewhere`)],
    ["deleted with its folder", (place) => rmSync(path.dirname(place), { recursive: true })],
  ];
  test.each(table)("is recreated for all processes: %s", (_, take) => {
    const one = numbers();
    const other = numbers(one.place);
    one.add(1);
    other.add(2);
    take(one.place);
    one.add(3);
    other.add(4);
    expect(one.all()).toEqual([3, 4]);
    expect(one.damaged() + other.damaged()).toBe(0);
  });
});
