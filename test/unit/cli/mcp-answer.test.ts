import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answer, dataOf } from "../../../src/cli/mcp/answer.ts";
import { ExactNumber } from "../../../src/core/model/index.ts";
import { Redaction } from "../../../src/project/redaction.ts";

const plain = new Redaction();

describe("the data of an answer", () => {
  it("keeps small values as they are, and exact numbers", () => {
    const value = {
      list: [1, "two\n", null, { three: true }],
      empty: [],
      none: {},
      exact: new ExactNumber("0.1000000000000000000001"),
    };
    expect(dataOf(value, plain)).toEqual(value);
    expect(answer("plan", dataOf(value, plain)).content[0]?.text).toContain('"exact":0.1000000000000000000001}');
  });

  it("has no secrets and no control characters, also in names", () => {
    const redaction = new Redaction();
    redaction.learn("env.TOKEN", "secret-0123456789");
    const data = dataOf({ "a\u202eb": "x\u001b[2J secret-0123456789" }, redaction);
    expect(data).toEqual({ "a\\u202eb": "x\\u001b[2J (sensitive: env.TOKEN)" });
  });

  it("halves the largest list or text, and counts the items and characters that it loses", () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => ({ name: `row ${at} ${"x".repeat(50)}` }));
    const data = dataOf({ small: [1, 2, 3], rows, nested: { text: "word ".repeat(20_000) } }, plain);
    const {
      small,
      rows: kept,
      nested,
      left_out,
    } = data as Record<string, never> & {
      rows: unknown[];
      nested: { text: string };
      left_out: Record<string, number>;
    };
    expect(small).toEqual([1, 2, 3]);
    expect(kept).toEqual(rows.slice(0, kept.length));
    expect(left_out).toEqual({ rows: 1_000 - kept.length, "nested.text": expect.any(Number) });
    expect(nested.text.length).toBeGreaterThan(1_000);
  });

  it("halves a text in the only item of a list, and drops what has only too many names", () => {
    expect(dataOf({ changes: [{ file: "a", diff: "line\n".repeat(10_000) }] }, plain)).toMatchObject({
      changes: [{ file: "a", diff: expect.stringContaining("line") }],
      left_out: { "changes.0.diff": expect.any(Number) },
    });
    const names = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`name-${at}`, at]));
    expect(dataOf({ names }, plain)).toEqual({ left_out: { "": expect.any(Number) } });
  });

  it("is bounded for any value, and no answer closes its own lines", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
        fc.integer({ min: 1, max: 400 }),
        (value, count) => {
          const { content, structuredContent } = answer(
            "plan",
            dataOf({ value, many: Array(count).fill(value) }, plain),
          );
          const [, open = "", json = "", close, ...rest] = (content[0]?.text ?? "").split("\n");
          expect([close, rest]).toEqual([open, []]);
          expect(json).not.toContain(open);
          expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(structuredContent)));
          expect(JSON.stringify({ content, structuredContent }).length).toBeLessThan(60_000);
        },
      ),
      { numRuns: 40, seed: 7 },
    );
  });
});
