import { describe, expect, it } from "vitest";
import {
  type Column,
  type Listing,
  type Listings,
  renderListing,
  renderTable,
  requestEventLine,
} from "../../../src/report/index.ts";
import { cut, pad, takeEnd, takeStart, widthOf, wrap } from "../../../src/report/text-style.ts";
import fc from "../../support/fc.ts";

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

  it("measures wide characters", () => {
    const three: Column<Row>[] = [{ header: "NAME", cell: (row) => row.name }, ...columns.slice(0, 1)];
    expect(
      renderTable(
        [
          { id: 1, name: "日本語" },
          { id: 2, name: "abc" },
        ],
        three,
        plain,
      ),
    ).toBe("NAME    ID\n日本語   1\nabc      2\n");
  });

  it("says in a sentence that there is nothing", () => expect(renderTable([], columns, plain)).toBe("Nothing here.\n"));

  it("cuts nothing when piped, and the widest column but never an id on a terminal", () => {
    const rows = [{ id: 123456789, name: "x".repeat(60) }];
    expect(renderTable(rows, columns, plain)).toContain("x".repeat(60));
    expect(renderTable(rows, columns, { ...plain, width: 30 })).toBe(
      `       ID  NAME\n123456789  ${"x".repeat(18)}…\n`,
    );
  });

  it("leaves a terminal that is too narrow at the least width that shows something", () => {
    expect(renderTable([{ id: 123456789, name: "abcdefghijkl" }], columns, { ...plain, width: 5 })).toContain(
      "123456789  abcdefg…",
    );
  });

  it("leaves out spare columns where cutting is not enough, the last of them first", () => {
    const wide: Column<Row>[] = [
      { header: "ID", cell: (row) => row.id, whole: true },
      { header: "TYPE", cell: () => "spare type", spare: true },
      { header: "TOTAL", cell: () => "4,900 USD", align: "right", whole: true },
      { header: "PAID", cell: () => "2026-12-05", spare: true },
    ];
    const at = (width: number) => renderTable([{ id: 1, name: null }], wide, { ...plain, width }).split("\n")[1];
    expect(at(38)).toBe(" 1  spare type  4,900 USD  2026-12-05");
    expect(at(33)).toBe(" 1  spare t…  4,900 USD  2026-12…");
    expect(at(30)).toBe(" 1  spare type  4,900 USD");
    expect(at(20)).toBe(" 1  4,900 USD");
    expect(at(5)).toBe(" 1  4,900 USD");
  });

  it("fits every terminal of a sensible width", () => {
    const rows = fc.array(fc.record({ id: fc.nat(), name: fc.string({ unit: "grapheme", maxLength: 90 }) }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(rows, fc.integer({ min: 24, max: 120 }), (some, width) => {
        for (const line of renderTable(some, columns, { ...plain, width }).split("\n"))
          expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("renderListing", () => {
  const rows: { readonly [L in Listing]: readonly Listings[L][] } = {
    plans: [
      {
        plan_id: 101,
        name: "Shared S",
        product_type: "shared",
        billing_cycle: "monthly",
        currency: "USD",
        price: 2000,
        prices: {},
        manage_discount_percent: 10,
        price_after_discount: 1800,
      },
      {
        plan_id: 7,
        name: "VPS",
        product_type: null,
        billing_cycle: null,
        currency: null,
        price: null,
        prices: { USD: 900, GEL: 2400 },
        manage_discount_percent: null,
        price_after_discount: null,
      },
      {
        plan_id: 8,
        name: "Desk",
        product_type: null,
        billing_cycle: null,
        currency: null,
        price: null,
        prices: {},
        manage_discount_percent: null,
        price_after_discount: null,
      },
    ],
    services: [
      {
        id: "1001",
        plan: "Shared S",
        product_type: "shared",
        status: "active",
        provisioning_status: "provisioned",
        domain: "www.acme.example",
        billing_cycle: "annually",
        currency: "USD",
        price: 2000,
        next_due_date: "2027-11-21",
      },
    ],
    invoices: [
      {
        id: "501",
        invoice_number: "INV-2026-000123",
        status: "unpaid",
        currency: "USD",
        total: 1800,
        due_date: "2026-12-05",
        paid_at: null,
        order_id: "1001",
      },
    ],
    grants: [{ id: "7", email: "dev@acme.example", permission: "manage", expires_at: null }],
    webhooks: [{ id: "31", url: "https://hooks.acme.example", events: ["invoice.paid", "service.activated"] }],
    accounts: [
      {
        id: "c-1",
        name: "Ana",
        company_name: "Acme",
        company_number: null,
        vat_number: "GE1",
        currency: "GEL",
        created_at: "2026-11-21T10:00:00Z",
      },
    ],
    migrations: [{ id: "3", domain: "blog.acme.example", order_id: "1001", status: "draft", created_at: null }],
    domains: [
      { domain: "acme.example", available: true },
      { domain: "taken.example", available: false },
      { domain: "odd.example", available: null },
    ],
    state: [
      { address: "hosting_service.acme", id: "1001", provider: "default" },
      { address: 'hosting_grant.acme["dev@acme.example"]', id: 7, provider: "beta" },
    ],
  };
  const names = Object.keys(rows) as Listing[];

  it("shows every listing as a table", async () => {
    const text = names.map((name) =>
      renderListing(name, rows[name] as readonly never[], {
        color: false,
        moneyScale: (c) => (c === "GEL" ? 2 : undefined),
      }),
    );
    await expect(text.join("\n")).toMatchFileSnapshot("../../golden/report/listings.txt");
  });

  it.each([60, 80])("never shortens an amount or an id at %d columns", (width) => {
    const text = names
      .map((name) => renderListing(name, rows[name] as readonly never[], { color: false, width }))
      .join("");
    for (const whole of ["2000 USD", "1800 USD", "900 USD / 2400 GEL", "(API)", "INV-2026-000123", "1001", "c-1"]) {
      expect(text).toContain(whole);
    }
    for (const line of text.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });

  it.each(names)("has a sentence for no %s", (name) => {
    expect(renderListing(name, [], { color: false })).toMatch(/^[A-Z][^\n]+\.\n$/);
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
    [{ ...request, status: undefined, waitedMs: 0.2 }, "GET /api/v1/services?page=1 → failed (no answer) in 34 ms"],
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
