import { describe, expect, it } from "vitest";
import { type Column, type Listing, renderListing, renderTable, requestEventLine } from "../../../src/report/index.ts";
import { cut, flow, flowText, pad, takeEnd, takeStart, widthOf, wrap } from "../../../src/report/text-style.ts";
import fc from "../../support/fc.ts";
import { expectFit } from "./fits.ts";
import { listingRows } from "./listing-rows.ts";

interface Row {
  readonly id: number | null;
  readonly name: string | null;
}
const columns: readonly Column<Row>[] = [
  { header: "ID", cell: (row) => row.id, whole: true },
  { header: "NAME", cell: (row) => row.name },
];
const plain = { color: false, empty: "Nothing here." };

describe("renderTable", () => {
  it("aligns columns, numbers to the right, a dash for nothing, no space at the end", () => {
    const rows = [
      { id: 7, name: "a" },
      { id: 1234, name: null },
      { id: null, name: "" },
    ];
    expect(renderTable(rows, columns, plain)).toBe("  ID  NAME\n   7  a\n1234  -\n   -  -\n");
  });

  it("breaks cells at words on a terminal, an id or a number nowhere, and nothing when piped", () => {
    const rows = [{ id: 123456789, name: "Shared hosting for small shops" }];
    expect(renderTable(rows, columns, plain)).toContain("Shared hosting for small shops");
    expect(renderTable(rows, columns, { ...plain, width: 30 })).toBe(
      `       ID  NAME\n123456789  Shared hosting for\n           small shops\n`,
    );
  });

  it("cuts no word that is longer than its column: the rest of the row stands below it", () => {
    const three = [columns[1] ?? [], columns[0] ?? [], { header: "PLAN", cell: () => "Shared S" }] as Column<Row>[];
    const rows = [
      { id: 7, name: "www.acme.example" },
      { id: 8, name: "a-long-name-of-a-shop.acme.example" },
    ];
    expect(renderTable(rows, three, { ...plain, width: 34 })).toBe(
      [
        "NAME                  ID  PLAN",
        "www.acme.example       7  Shared S",
        "a-long-name-of-a-shop.acme.example",
        "                       8  Shared S",
        "",
      ].join("\n"),
    );
  });

  it("puts below what no terminal has room for beside the rest", () => {
    expect(renderTable([{ id: 123456789, name: "abcdefghijkl" }], columns, { ...plain, width: 5 })).toBe(
      "       ID\n  NAME\n123456789\n  abcdefghijkl\n",
    );
  });

  it("leaves out spare columns where breaking is not enough, the last of them first", () => {
    const wide: Column<Row>[] = [
      { header: "ID", cell: (row) => row.id, whole: true },
      { header: "TYPE", cell: () => "spare type", spare: true },
      { header: "TOTAL", cell: () => "4,900 USD", align: "right", whole: true },
      { header: "PAID", cell: () => "2026-12-05", spare: true },
    ];
    const at = (width: number) =>
      renderTable([{ id: 1, name: null }], wide, { ...plain, width })
        .split("\n")
        .slice(1);
    expect(at(38)).toEqual([" 1  spare type  4,900 USD  2026-12-05", ""]);
    expect(at(33)).toEqual([" 1  spare   4,900 USD  2026-12-05", "    type", ""]);
    expect(at(28)).toEqual([" 1  spare type  4,900 USD", ""]);
    expect(at(18)).toEqual([" 1  4,900 USD", ""]);
  });

  it("fits every terminal of a sensible width", () => {
    const rows = fc.array(fc.record({ id: fc.nat(), name: fc.string({ unit: "grapheme", maxLength: 90 }) }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(rows, fc.integer({ min: 24, max: 120 }), (some, width) => {
        expectFit(renderTable(some, columns, plain), renderTable(some, columns, { ...plain, width }), width);
      }),
    );
  });
});

describe("renderListing", () => {
  const names = Object.keys(listingRows) as Listing[];

  it("shows every listing as a table", async () => {
    const text = names.map((name) =>
      renderListing(name, listingRows[name] as readonly never[], {
        color: false,
        moneyScale: (c) => (c === "GEL" ? 2 : undefined),
      }),
    );
    await expect(text.join("\n")).toMatchFileSnapshot("../../golden/report/listings.txt");
  });

  it.each([60, 80])("never shortens an amount or an id at %d columns", (width) => {
    const text = names
      .map((name) => renderListing(name, listingRows[name] as readonly never[], { color: false, width }))
      .join("");
    for (const whole of ["2000 USD", "1800 USD", "900 USD / 2400 GEL", "(API)", "INV-2026-000123", "1001", "c-1"]) {
      expect(text).toContain(whole);
    }
    for (const line of text.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });
});

describe("requestEventLine", () => {
  const request = { method: "GET", path: "/api/v1/services?page=1", status: 200, ms: 34.4, attempt: 1 };
  it.each([
    [request, "GET /api/v1/services?page=1 → 200 in 34 ms"],
    [{ ...request, budgetLeft: 57, budget: 60 }, "GET /api/v1/services?page=1 → 200 in 34 ms (57 of 60 left)"],
    [
      { ...request, attempt: 2, waitedMs: 12_000, budgetLeft: 3 },
      "GET /api/v1/services?page=1 → 200 in 34 ms (attempt 2, waited 12 s, 3 left)",
    ],
    [
      { ...request, status: undefined, error: "ECONNRESET", ms: 1234 },
      "GET /api/v1/services?page=1 → failed (ECONNRESET) in 1.2 s",
    ],
    [{ ...request, status: undefined, waitedMs: 0.2 }, "GET /api/v1/services?page=1 → failed (no response) in 34 ms"],
  ])("%j", (event, line) => expect(requestEventLine(event)).toBe(line));
});

describe("widths", () => {
  it.each([
    ["abc", 3],
    ["日本", 4],
    ["e\u0301", 1],
    ["🚀", 2],
    ["ანა", 3],
    ["👩‍💻", 2],
    ["👍🏽", 2],
    ["🇬🇪🇫🇷", 4],
    ["❤️", 2],
    ["1️⃣", 2],
    ["한글", 4],
    ["ｶﾞ", 2],
    ["กำ", 2],
    ["\u001b[1m\u001b[31mred\u001b[0m", 3],
  ])("%s takes %d columns", (text, width) => expect(widthOf(text)).toBe(width));

  it("cuts to the width and no wider, marking what was cut", () => {
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(cut("abc", 3)).toBe("abc");
    expect(cut("abc", 0)).toBe("");
    expect(cut("👩‍💻👩‍💻", 3)).toBe("👩‍💻…");
    expect(cut("👩‍💻👩‍💻", 2)).toBe("…");
    expect(cut("cafe\u0301s", 5)).toBe("cafe\u0301s");
    expect(pad("日", 4, "right")).toBe("  日");
    expect(pad("🇬🇪", 4)).toBe("🇬🇪  ");
  });

  it("takes from either end as much as fits, and never a part of a character", () => {
    const text = fc.string({ unit: fc.constantFrom("a", " ", "日", "e\u0301", "🚀", "👩‍💻", "🇬🇪") });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 20 }), (whole, width) => {
        const [start, end] = [takeStart(whole, width), takeEnd(whole, width)];
        expect(whole.startsWith(start) && whole.endsWith(end)).toBe(true);
        for (const taken of [start, end]) {
          expect(widthOf(taken)).toBeLessThanOrEqual(width);
          expect(widthOf(taken)).toBeGreaterThanOrEqual(Math.min(width - 1, widthOf(whole)));
        }
        expect(widthOf(start) + widthOf(whole.slice(start.length))).toBe(widthOf(whole));
        expect(widthOf(end) + widthOf(whole.slice(0, whole.length - end.length))).toBe(widthOf(whole));
      }),
    );
  });

  it("goes on below the beginning of a line: in a list, in a remark, in colours", () => {
    expect(flow("  a list of words", 10, 2)).toEqual(["  a list", "    of", "    words"]);
    expect(flow("  # a remark of words", 12)).toEqual(["  # a remark", "  # of words"]);
    expect(flow('x = "a b c" and more', 11)).toEqual(['x = "a b c"', "and more"]);
    expect(flow("\u001b[2mdim words\u001b[22m here", 9)).toEqual(["\u001b[2mdim words\u001b[22m", "here"]);
    expect(flow('5" wide', 4)).toEqual(['5"', "wide"]);
    expect(flow("billed now 4.50 USD", 16)).toEqual(["billed now", "4.50 USD"]);
    expect(flow("as it is", undefined)).toEqual(["as it is"]);
  });

  it("wraps at spaces, keeps long words and indented lines, loses no word", () => {
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("see https://a.example/very/long now", 10)).toEqual(["see", "https://a.example/very/long", "now"]);
    expect(wrap("  an indented example stays", 10)).toEqual(["  an indented example stays"]);
    expect(wrap("one two\nthree", undefined)).toEqual(["one two", "three"]);
    fc.assert(
      fc.property(fc.lorem({ maxCount: 30 }), fc.integer({ min: 5, max: 60 }), (text, width) => {
        expect(wrap(text, width).join(" ")).toBe(text);
      }),
    );
  });
});

it("a command with a blank in quotes stays on one line, so that it can be copied", () => {
  const text =
    "Next: `hostform terraform install`, `terraform '-chdir=my dir' init`, `terraform '-chdir=my dir' plan`.";
  for (const width of [20, 40, 60, 80])
    expect(
      flowText(text, width)
        .split("\n")
        .join(" ")
        .match(/`[^`]*`/g),
    ).toEqual(text.match(/`[^`]*`/g));
  const lines = flowText(text, 40).split("\n");
  expect(lines.some((line) => line.includes("`terraform '-chdir=my dir' init`"))).toBe(true);
});
