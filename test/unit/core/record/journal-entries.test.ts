// Text of a journal: the written form of each entry, and the texts that the reader refuses.
import { describe, expect, it } from "vitest";
import { fail, HostformError, type JsonObject, type ResourceState } from "../../../../src/core/model/index.ts";
import {
  chainLine,
  decodeEntry,
  decodeHead,
  digestOf,
  isTornHead,
  JournalLines,
  readChain,
} from "../../../../src/core/record/journal-lines.ts";
import { type Journal, readJournal, refuseForeign, relationOf } from "../../../../src/core/record/opening.ts";
import { fixOf } from "../../../support/remedies.ts";

const HEAD = { lineage: "7a1e7a1e-0000-4000-8000-000000000001", serial: 4 };
const bare: ResourceState = {
  address: "hosting_webhook.a",
  provider: "default",
  schemaVersion: 0,
  attributes: { id: "1" },
  sensitive: [],
  private: {},
  dependencies: [],
};
const full: ResourceState = {
  ...bare,
  address: "hosting_service.b",
  provider: "beta",
  schemaVersion: 1,
  attributes: { id: "2", name: "ü💶" },
  sensitive: ["secret"],
  private: { generation: 2 },
  dependencies: ["hosting_webhook.a"],
};
const lines = () => new JournalLines(HEAD, undefined);
const payloads = (text: string) => readChain(text).payloads.map((payload) => JSON.parse(payload));

describe("an entry is written as", () => {
  it.each([
    ["what is removed alone", { remove: ["hosting_webhook.a"], put: [] }, { remove: ["hosting_webhook.a"] }],
    [
      "what is put alone",
      { remove: [], put: [bare] },
      { put: [{ address: "hosting_webhook.a", attributes: { id: "1" } }] },
    ],
    [
      "all that is not as most often",
      { remove: [], put: [full] },
      {
        put: [
          {
            address: "hosting_service.b",
            provider: "beta",
            schema: 1,
            attributes: { id: "2", name: "ü💶" },
            sensitive: ["secret"],
            private: { generation: 2 },
            dependencies: ["hosting_webhook.a"],
          },
        ],
      },
    ],
  ])("%s, and read again", (_, changes, expected) => {
    const journal = lines();
    const text = journal.head() + journal.entry(changes);
    expect(payloads(text)[1]).toEqual(expected);
    expect(decodeEntry(JSON.stringify(expected), undefined, 1, undefined)).toEqual(changes);
    expect(text, "ASCII alone: a length is one of bytes").toMatch(/^[\n\x20-\x7e]*$/);
  });

  it("characters beyond ASCII by their number, in four digits", () => {
    const journal = lines();
    expect(journal.head() + journal.entry({ remove: ["é\u0080€"], put: [] })).toContain('["\\u00e9\\u0080\\u20ac"]');
  });

  it("the changes that are folded, if there are any, and the states they are folded into", () => {
    expect(payloads(lines().folding({ remove: ["x"], put: [] }, ["d1"])).slice(1)).toEqual([
      { remove: ["x"] },
      { fold: ["d1"] },
    ]);
    expect(payloads(lines().folding({ remove: [], put: [] }, ["d1", "d2"])).slice(1)).toEqual([{ fold: ["d1", "d2"] }]);
    expect(payloads(lines().folding({ remove: [], put: [] }, []))[0]).toEqual({ journal: 1, ...HEAD });
  });

  it.each([
    ["no JSON", "{"],
    ["a record without attributes", '{"put":[{"address":"hosting_webhook.a"}]}'],
    ["a record without an address", '{"put":[{"address":"x","attributes":{}}]}'],
    ["a schema below zero", '{"put":[{"address":"hosting_webhook.a","attributes":{},"schema":-1}]}'],
    ["something else", '{"puts":[]}'],
    ["a number", "1"],
  ])("and nothing else: %s", (_, payload) => expect(decodeEntry(payload, undefined, 1, undefined)).toBeUndefined());

  it("and a name that means something to JavaScript stays a name", () => {
    const payload = '{"put":[{"address":"hosting_webhook.a","attributes":{"__proto__":1}}]}';
    const entry = decodeEntry(payload, undefined, 1, undefined) as unknown as { put: ResourceState[] };
    expect(Object.hasOwn(entry.put[0]?.attributes ?? {}, "__proto__")).toBe(true);
  });
});

describe("the first line", () => {
  it.each<[string, unknown, unknown]>([
    ["of the first state", { journal: 1, lineage: "x", serial: 0 }, { lineage: "x", serial: 0 }],
    ["of a later one", { journal: 1, lineage: "x", serial: 7 }, { lineage: "x", serial: 7 }],
    [
      "with what it is sealed with",
      { journal: 1, lineage: "x", serial: 0, seal: { k: 1 } },
      { lineage: "x", serial: 0, seal: { k: 1 } },
    ],
    ["of another version is none", { journal: 2, lineage: "x", serial: 0 }, undefined],
    ["without a lineage is none", { journal: 1, lineage: "", serial: 0 }, undefined],
    ["with a serial below zero is none", { journal: 1, lineage: "x", serial: -1 }, undefined],
    ["with more than that is none", { journal: 1, lineage: "x", serial: 0, more: 1 }, undefined],
  ])("%s", (_, payload, expected) => expect(decodeHead(JSON.stringify(payload))).toEqual(expected));

  it("that was torn is known by how it begins", () => {
    const whole = lines().head();
    for (let cut = 0; cut < whole.length - 1; cut++) expect(isTornHead(whole.slice(0, cut)), `${cut}`).toBe(true);
    for (const other of [
      "hello world",
      `${whole.slice(0, 22)} 12 {"other":1`,
      `${whole.slice(0, 23)}x`,
      `${"a".repeat(23)}`,
    ])
      expect(isTornHead(other), other).toBe(false);
    expect(isTornHead(`some${"\0"}hole`)).toBe(true);
  });
});

describe("a journal", () => {
  /** Returns a journal of these payloads with correct checksums. */
  const textOf = (...parts: unknown[]) => {
    let [text, sum] = ["", ""];
    for (const part of parts) {
      const next = chainLine(sum, JSON.stringify(part));
      [text, sum] = [text + next.line, next.sum];
    }
    return text;
  };
  const head = { journal: 1, ...HEAD };
  const put = { put: [{ address: "hosting_webhook.a", attributes: { id: "1" } }] };
  const remove = { remove: ["hosting_webhook.b"] };
  const read = (text: string) =>
    readJournal(text, "x.journal", undefined).then(
      ({ journal, warnings }) => ({ journal, warnings: warnings.map(({ code }) => code), refused: undefined }),
      (error: unknown) => {
        if (!(error instanceof HostformError)) throw error;
        return {
          journal: undefined,
          warnings: [],
          refused: error.diagnostics.map(({ summary, detail }) => `${summary}\n${detail}`).join(),
        };
      },
    );

  it("is what was recorded since, in its order", async () => {
    const { journal, warnings } = await read(textOf(head, put, remove, { fold: ["d"] }));
    expect(warnings).toEqual([]);
    expect(journal).toEqual({
      name: "x.journal",
      ...HEAD,
      changes: [
        { remove: [], put: [bare] },
        { remove: ["hosting_webhook.b"], put: [] },
      ],
      fold: ["d"],
    });
    expect((await read(textOf(head, put))).journal?.fold).toEqual([]);
  });

  it.each<[string, string, string[]]>([
    ["is nothing without a change", textOf(head), []],
    ["is nothing with a state alone", textOf(head, { fold: ["d"] }), []],
    ["is nothing when it is empty: its first line was torn", "", ["state.journal"]],
    ["is nothing when its first line is torn", textOf(head).slice(0, 30), ["state.journal"]],
  ])("%s", async (_, text, warnings) => {
    expect(await read(text)).toMatchObject({ journal: undefined, warnings: warnings.map(() => expect.any(String)) });
    expect((await read(text)).warnings).toHaveLength(warnings.length);
  });

  it.each<[string, string, RegExp]>([
    ["line 1, which is something else", "hello\n", /line 1\b/i],
    ["line 1, which is something else without an end", "hello world", /line 1\b/i],
    ["line 2, of a schema below 0", textOf(head, { put: [{ ...put.put[0], schema: -1 }] }), /line 2\b/i],
    ["line 2, which is no entry", textOf(head, { odd: 1 }, put), /line 2\b/i],
    ["line 3, which is no entry", textOf(head, put, { odd: 1 }), /line 3\b/i],
    ["line 3, which comes after the end", textOf(head, { fold: [] }, put), /line 3\b/i],
    ["line 2, which was changed", textOf(head, put, remove).replace('"id":"1"', '"id":"9"'), /line 2\b/i],
    ["line 3, which was changed", textOf(head, put, remove).replace("webhook.b", "webhook.c"), /line 3\b/i],
  ])("is refused with damage in %s", async (_, text, where) => {
    expect((await read(text)).refused).toMatch(where);
  });

  it("says with its damage what can still be read, before and after it", async () => {
    const text = textOf(head, put, remove, { put: [{ address: "hosting_service.z", attributes: { id: 42 } }] });
    const { refused } = await read(text.replace("webhook.b", "webhook.c"));
    expect(refused).toContain("hosting_webhook.a (id 1)");
    expect(refused).toContain("the removal of hosting_webhook.c");
    expect(refused).toContain("hosting_service.z (id 42)");
    expect((await read(textOf(head, { odd: 1 }))).refused, "and that it is nothing, where it is").toContain("nothing");
  });

  it("of another version is refused, whatever else is in it", async () => {
    expect((await read(textOf({ ...head, journal: 2 }, put))).refused).toContain("has an unknown format");
  });

  it("takes a schema of 0 that is named for the one that is left out", async () => {
    const { journal } = await read(textOf(head, { put: [{ ...put.put[0], schema: 0 }] }));
    expect(journal?.changes).toEqual([{ remove: [], put: [bare] }]);
  });

  it.each([
    ["what was changed since is damage", () => fail("state.unreadable", "It does not open"), { code: "state.journal" }],
    [
      "what goes wrong with the machine is not",
      () => {
        throw new RangeError("no memory");
      },
      undefined,
    ],
  ])("that is sealed does not open: %s", async (_, open, diagnostic) => {
    const from = async (header: JsonObject) => ({ header, seal: () => "", open });
    const sealing = { from, checkClear: () => undefined };
    const reading = readJournal(textOf({ ...head, seal: { k: 1 } }, put), "x.journal", sealing);
    if (diagnostic) await expect(reading).rejects.toMatchObject({ diagnostics: [diagnostic] });
    else await expect(reading).rejects.toBeInstanceOf(RangeError);
  });

  it("that is sealed is refused without a key", async () => {
    await expect(readJournal(textOf({ ...head, seal: { k: 1 } }, put), "x.journal", undefined)).rejects.toMatchObject({
      diagnostics: [{ code: "state.key" }],
    });
  });
});

describe("a journal and the state beside it", () => {
  const journal: Journal = {
    name: "x.journal",
    ...HEAD,
    changes: [{ remove: [], put: [bare] }],
    fold: [digestOf("folded")],
  };
  const state = (text: string, over = {}) => ({ text, ...HEAD, ...over });

  it.each<[string, Journal, Parameters<typeof relationOf>[1], string]>([
    ["goes on where the state ends", journal, state("any"), "open"],
    ["is in it already", journal, state("folded", { serial: 5 }), "folded"],
    ["is of another serial", journal, state("any", { serial: 5 }), "foreign"],
    ["is of another lineage", journal, state("any", { lineage: "other" }), "foreign"],
    ["is without its state", journal, undefined, "foreign"],
    ["begins the first state", { ...journal, serial: 0 }, undefined, "open"],
  ])("%s", (_, one, beside, expected) => expect(relationOf(one, beside)).toBe(expected));

  const refusal = (one: Journal, beside: Parameters<typeof refuseForeign>[2]) => {
    try {
      refuseForeign(one, "hosting.tfstate", beside);
    } catch (error) {
      const [first] = (error as HostformError).diagnostics;
      return `${first?.code}\n${first?.detail}\n${fixOf(first)}`;
    }
    return "not refused";
  };

  it("that do not belong together are named with their serials, and how to go on", () => {
    const said = refusal(journal, { lineage: "other", serial: 9 });
    expect(said).toContain("state.journal");
    expect(said).toContain(
      `x.journal continues serial 4 of lineage ${HEAD.lineage}. hosting.tfstate has serial 9 of lineage other`,
    );
    expect(said).toContain("The journal holds: hosting_webhook.a (id 1).");
    expect(said).toContain("Restore the state with serial 4, possibly from hosting.tfstate.backup");
    expect(refusal(journal, "unreadable")).toContain("hosting.tfstate is unreadable");
    expect(refusal({ ...journal, serial: 0 }, "absent")).toContain(
      "Remove that state if it belongs to another project",
    );
  });
});
