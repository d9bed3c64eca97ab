import { beforeAll, describe, expect, test } from "vitest";
import { HostformError } from "../../../../src/core/model/index.ts";
import { saying } from "../../../support/remedies.ts";
import { countingUuids, diagnosticOf, resource } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";
import { idsOf, idsOn, journalPath, openOn, readOn, statePath } from "./journal-harness.ts";

/** Changes of a run that is then killed. Each change is one line of the journal. */
const steps: readonly [address: string, id: string | undefined][] = [
  ["hosting_service.a", "1"],
  ['hosting_grant.a["häns@x.example"]', "7"],
  ["hosting_service.old", undefined],
  ["hosting_service.a", "1b"],
];

let state = "";
let journal = Buffer.from("");
/** The recorded ids after each number of lines, without the head. */
const after: Record<string, unknown>[] = [];

beforeAll(async () => {
  const disk = new FakeDisk();
  const before = await openOn(disk, countingUuids("before"));
  await before.put(resource("hosting_service.old", "0"));
  await before.close();
  state = disk.text(statePath) ?? "";
  const run = await openOn(disk);
  after.push(await idsOn(disk));
  for (const [address, id] of steps) {
    await (id === undefined
      ? run.remove(address)
      : run.put(resource(address, id, { attributes: { note: "ü".repeat(9) } })));
    after.push(await idsOn(disk));
  }
  journal = Buffer.from(disk.text(journalPath) ?? "");
});

const left = (bytes: Buffer) => new FakeDisk({ [statePath]: state, [journalPath]: bytes.toString("utf8") });

const linesIn = (bytes: Buffer) => bytes.filter((byte) => byte === 0x0a).length;

describe("a journal that a crash cut off", () => {
  test("at any byte gives exactly what was whole before the cut", async () => {
    expect(linesIn(journal)).toBe(steps.length + 1);
    for (let length = 0; length <= journal.length; length++) {
      const bytes = journal.subarray(0, length);
      const found = await readOn(left(bytes));
      expect(idsOf(found), `cut at byte ${length}`).toEqual(after[Math.max(0, linesIn(bytes) - 1)]);
      const torn = length - bytes.lastIndexOf(0x0a) - 1;
      const end = length === 0 ? "is empty" : `ends with ${torn} bytes of an incomplete line`;
      const expected = length === 0 || torn > 0 ? [`${journalPath} ${end}`] : [];
      expect(found.warnings.map(({ detail }) => detail?.split(". ")[0])).toEqual(expected);
    }
  });

  test("or left a hole in, before a line break that is there, is read the same way", async () => {
    const last = journal.lastIndexOf(0x0a, journal.length - 2) + 1;
    const head = journal.subarray(0, journal.indexOf(0x0a) + 1);
    const holed = (bytes: Buffer, from: number) => Buffer.from(bytes).fill(0, from, from + 20);
    expect(await idsOn(left(holed(journal, last + 30)))).toEqual(after[steps.length - 1]);
    expect(await idsOn(left(holed(journal, last)))).toEqual(after[steps.length - 1]);
    expect(await idsOn(left(holed(head, 30)))).toEqual(after[0]);
  });

  test("is reported once, as a warning that says what was left out", async () => {
    const { warnings } = await openOn(left(journal.subarray(0, -3)));
    expect(warnings).toEqual([
      {
        severity: "warning",
        code: "state.journal",
        summary: "The incomplete end of the journal of the state was ignored",
        detail: expect.stringContaining(`${journalPath} ends with `),
        remedies: saying(expect.stringContaining("If another program wrote the file")),
      },
    ]);
    expect((await openOn(left(journal))).warnings).toEqual([]);
  });

  test("with what a disk may put in place of the part that was not synced", async () => {
    const start = journal.lastIndexOf(0x0a, journal.length - 2) + 1;
    for (const fill of [0x00, 0xff, 0x20]) {
      for (let from = start; from < journal.length; from += 7) {
        const torn = Buffer.concat([journal.subarray(0, from), Buffer.alloc(journal.length - from, fill)]);
        expect(await idsOn(left(torn)), `from byte ${from}`).toEqual(after[steps.length - 1]);
      }
    }
  });
});

describe("a journal that was changed", () => {
  const outcome = (bytes: Buffer) =>
    idsOn(left(bytes)).catch((error: unknown) => {
      if (error instanceof HostformError) return error.diagnostics[0]?.code;
      throw error;
    });

  test("in any bit is refused; only a last line without its line break, or with a NUL, is taken for torn", async () => {
    const last = journal.lastIndexOf(0x0a, journal.length - 2) + 1;
    for (let index = 0; index < journal.length; index++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(journal);
        changed[index] = (changed[index] ?? 0) ^ (1 << bit);
        const torn = index >= last && (index === journal.length - 1 || changed[index] === 0);
        const allowed = torn ? ["state.journal", after[steps.length - 1]] : ["state.journal"];
        expect(allowed, `byte ${index}, bit ${bit}`).toContainEqual(await outcome(changed));
      }
    }
  });

  test.each([
    ["a line is missing", (lines: string[]) => lines.toSpliced(2, 1)],
    ["two lines changed places", ([head, a, b, ...rest]: string[]) => [head, b, a, ...rest]],
    ["a line occurs twice", ([head, a, ...rest]: string[]) => [head, a, a, ...rest]],
    ["the first line is missing", ([, ...rest]: string[]) => rest],
    ["an empty line was added", ([head, ...rest]: string[]) => [head, "", ...rest]],
    ["an empty line was added at the end", (lines: string[]) => [...lines, ""]],
    ["a line of something else was added", (lines: string[]) => [...lines, "garbage"]],
    ["a line of something else took its place", () => ["garbage"]],
    ["nothing but its first line is there, and was changed", ([head = ""]: string[]) => [head.replace(":1", ":3")]],
    ["line breaks were converted", (lines: string[]) => lines.map((line) => `${line}\r`)],
  ])("because %s, is refused", async (_reason, change) => {
    const lines = journal.toString("utf8").split("\n").slice(0, -1);
    const text = change(lines).map((line) => `${line}\n`);
    expect(await outcome(Buffer.from(text.join("")))).toBe("state.journal");
  });

  test.each([
    ["no line", "this is not a journal"],
    ["of JSON", '{"a": 1}'],
    ["the beginning of a line, but not of a first one", `${"a".repeat(22)} 40 {"put":[`],
  ])("because something without a line break took its place (%s), is refused", async (_, text) => {
    expect(await outcome(Buffer.from(text))).toBe("state.journal");
  });

  test("is left as it is, by readers and writers, and what can be read of it is named", async () => {
    const changed = Buffer.from(journal);
    const second = journal.indexOf(0x0a) + 40;
    changed[second] = (changed[second] ?? 0) ^ 1;
    const disk = left(changed);
    const diagnostic = await diagnosticOf(() => openOn(disk));
    expect(diagnostic).toMatchObject({
      code: "state.journal",
      summary: "The journal of the state is corrupted",
      detail: expect.stringMatching(
        /Line 2 of .* was changed.*hosting_service\.a \(id 1b\).*the removal of hosting_service\.old/,
      ),
      remedies: saying(expect.stringContaining("Restore the file from a copy")),
    });
    expect(diagnostic?.detail).not.toContain("ü");
    expect(disk.text(journalPath)).toBe(changed.toString("utf8"));
  });

  test("is distinguished from one of a newer version", async () => {
    const { chainLine } = await import("../../../../src/core/record/journal-lines.ts");
    const head = chainLine("", '{"journal":2,"lineage":"l","serial":1}');
    const text = head.line + chainLine(head.sum, '{"put":[]}').line;
    expect(await diagnosticOf(() => idsOn(left(Buffer.from(text))))).toMatchObject({
      code: "state.journal",
      summary: expect.stringContaining("unknown form"),
      detail: expect.stringContaining("newer version"),
    });
  });
});
