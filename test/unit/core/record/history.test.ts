import { describe, expect, it } from "vitest";
import type { HistoryEntry } from "../../../../src/core/model/index.ts";
import { Encryption } from "../../../../src/core/record/encryption.ts";
import { History, type HistoryLines, linesInFile } from "../../../../src/core/record/history.ts";
import { everyLuck, FakeDisk } from "./fake-disk.ts";

const entry = (day: number): HistoryEntry => ({
  at: `2026-11-0${day}T10:00:00.000Z`,
  command: "apply",
  commit: null,
  plan: null,
  orders: [
    {
      key: `k${day}`,
      id: `${day}`,
      provider: "default",
      type: "hosting_service",
      currency: "USD",
      quote: 450,
      invoice: null,
    },
  ],
  requests: day,
  errors: [],
  details: { salt: "s", who: "ann@acme.example", run: null, effects: [{ address: "a.b", text: "Bob gets access." }] },
});

/** Lines in memory that a test can change. */
function inMemory(lines: string[] = []) {
  const replace = async (all: readonly string[]) => void lines.splice(0, lines.length, ...all);
  const place: HistoryLines = {
    name: "memory",
    read: async () => lines,
    append: async (line) => void lines.push(line),
    replace,
    prove: async () => {},
  };
  return { lines, place };
}

const byKey = (fill: number) =>
  new Encryption({ key: { from: "key", variable: "K", bytes: Buffer.alloc(32, fill) } as never });
const clear = { current: async () => undefined, from: () => Promise.reject(new Error("no key")) };
const sealing = (encryption: Encryption) => ({
  current: () => encryption.fresh(),
  from: encryption.from.bind(encryption),
});

async function written(use: ConstructorParameters<typeof History>[1] = clear) {
  const { lines, place } = inMemory();
  const history = new History(place, use);
  for (const day of [1, 2, 3]) await history.append(entry(day));
  return { lines, history, place };
}

describe("the chain", () => {
  it("is intact after appends", async () => {
    const { history } = await written();
    expect(await history.read()).toEqual({ name: "memory", entries: [1, 2, 3].map(entry) });
  });

  it("does not detect a removed end", async () => {
    const { history, lines } = await written();
    lines.pop();
    expect((await history.read()).broken).toBeUndefined();
  });

  const changed = (from: string, to: string) => (lines: string[]) => {
    lines[1] = lines[1]?.replace(from, to) ?? "";
  };
  it.each<[reason: string, change: (lines: string[]) => void, line: number]>([
    ["a changed sum breaks the next line", changed('"quote":450', '"quote":1'), 3],
    ["a changed name breaks its own line", changed("ann@", "eve@"), 2],
    ["added details break their own line", changed('"details":{', '"details":{"more":1,'), 2],
    ["a removed line", (lines) => void lines.splice(1, 1), 2],
    ["a removed beginning", (lines) => void lines.shift(), 1],
    ["exchanged lines", (lines) => void lines.reverse(), 1],
    ["a line cut off", (lines) => void lines.splice(2, 1, lines[2]?.slice(0, 40) ?? ""), 3],
    ["a repeated line", (lines) => void lines.push(lines[2] ?? ""), 4],
    [
      "a value of another type",
      (lines) => void lines.push(lines.pop()?.replace('"requests":3', '"requests":"3"') ?? ""),
      3,
    ],
  ])("%s", async (_, change, line) => {
    const { history, lines } = await written();
    change(lines);
    expect((await history.read()).broken).toBe(line);
    // A later append does not hide the broken line.
    await history.append(entry(4));
    expect((await history.read()).broken).toBe(line);
  });
});

describe("a pruned history", () => {
  it.each([
    ["in clear text", clear],
    ["encrypted", sealing(byKey(1))],
  ])("%s keeps the sums and the chain, and no person", async (_, use) => {
    const { history, lines, place } = await written(use);
    const before = Date.parse(entry(3).at);
    expect(await history.prune(before)).toBe(2);
    const { entries, broken } = await history.read();
    expect(broken).toBeUndefined();
    expect(entries).toEqual([{ ...entry(1), details: null }, { ...entry(2), details: null }, entry(3)]);
    expect(lines.slice(0, 2).join()).not.toMatch(/ann@|Bob/);
    place.replace = () => Promise.reject(new Error("nothing changes"));
    expect(await history.prune(before)).toBe(0);
    await history.append(entry(4));
    expect((await history.read()).broken).toBeUndefined();
  });
});

describe("an encrypted history", () => {
  it("shows nothing without the key, and rejects a changed line and a forged history in clear text", async () => {
    const { history, lines, place } = await written(sealing(byKey(1)));
    expect(lines.join()).not.toMatch(/ann@|450|apply/);
    await expect(new History(place, sealing(byKey(2))).read()).rejects.toThrow(/key/);
    const sealed = lines[1] ?? "";
    lines[1] = sealed.replace(/"data":"...../, '"data":"AAAAA');
    expect((await history.read()).broken).toBe(2);
    lines.splice(0, lines.length, ...(await written()).lines);
    expect(await history.read()).toEqual({ name: "memory", entries: [], broken: 1 });
  });

  it("takes a first key, another key and clear text again, and keeps an unreadable line", async () => {
    const { place, lines } = await written();
    lines.push("unreadable");
    // The state has its key before its history.
    await new History(place, sealing(byKey(1))).convert(await byKey(1).fresh());
    expect(lines.pop()).toBe("unreadable");
    expect(lines.join()).not.toContain("ann@");
    await new History(place, sealing(byKey(1))).convert(await byKey(2).fresh());
    const other = new History(place, sealing(byKey(2)));
    expect(await other.read()).toEqual({ name: "memory", entries: [1, 2, 3].map(entry) });
    await other.convert(undefined);
    expect(lines.join()).toContain("ann@");
    expect((await new History(place, clear).read()).broken).toBeUndefined();
    const empty = { ...inMemory().place, replace: () => Promise.reject(new Error("nothing changes")) };
    await new History(empty, clear).convert(undefined);
  });
});

describe("a history in a file", () => {
  const FILE = "/srv/acme/hosting.tfstate.history";

  it.each(everyLuck)("has each appended line after a power failure: %o", async (luck) => {
    const disk = new FakeDisk();
    const lines = linesInFile(FILE, disk);
    await lines.append("one");
    await lines.append("two");
    await lines.prove();
    expect(await linesInFile(FILE, disk.afterPowerFailure(luck)).read()).toEqual(["one", "two"]);
  });
});

describe("a copy of a history", () => {
  it.each([
    ["that is empty", 3, 0, true],
    ["with the first entries", 3, 2, true],
    ["with all entries", 3, 3, false],
    ["with later entries", 2, 3, false],
    ["if there is nothing to copy", 0, 3, false],
  ])("is needed at a place %s: %i entries to %i is %s", async (_, given, own, isNeeded) => {
    const { lines } = await written();
    const { place } = inMemory(lines.slice(0, own));
    expect(await new History(place, clear).isContinuedBy(lines.slice(0, given))).toBe(isNeeded);
  });

  it("ignores pruned details, and rejects other entries with their line", async () => {
    const { lines } = await written();
    const pruned = inMemory([...lines]);
    await new History(pruned.place, clear).prune(Date.parse("2026-11-03"));
    expect(await new History(pruned.place, clear).isContinuedBy(lines)).toBe(false);
    const other = inMemory(lines.map((line, at) => (at === 1 ? line.replace('"requests":2', '"requests":9') : line)));
    await expect(new History(other.place, clear).isContinuedBy(lines)).rejects.toMatchObject({
      diagnostics: [{ code: "state.history", detail: "Line 2 of memory is another entry." }],
    });
  });

  it("is read again: a place that stores other lines is an error", async () => {
    const { lines } = await written();
    const lossy = { ...inMemory().place, replace: async () => {} };
    await expect(new History(lossy, clear).copy(lines)).rejects.toThrow("The history cannot be read or written");
    const { place } = inMemory();
    await new History(place, clear).copy(lines);
    expect((await new History(place, clear).read()).broken).toBeUndefined();
  });
});
