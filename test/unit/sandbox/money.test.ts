import { describe, expect, test } from "vitest";
import { addMonths, dateOf } from "../../../src/sandbox/clock.ts";
import { amountBilled, billingCycle, discounted, TERM_MONTHS } from "../../../src/sandbox/money.ts";
import { isCountry, isDomainName, isEmail, isPhone, isWebUrl } from "../../../src/sandbox/routes/fields.ts";
import fc from "../../support/fc.ts";

const amount = fc.integer({ min: 0, max: 1_000_000_000 });
const percent = fc.integer({ min: 0, max: 100 });

describe("discounts", () => {
  test.each([
    [500, [10], 450],
    [999, [50], 500],
    [1, [50], 1],
    [1000, [12.5], 875],
    [6000, [10, 10, 20], 3888],
    [777, [100], 0],
    [777, [], 777],
  ])("%i less %j %% is %i", (from, percents, to) => expect(discounted(from, ...percents)).toBe(to));

  test("stay between zero and the list price, are whole, and do not depend on their order", () => {
    fc.assert(
      fc.property(amount, percent, percent, percent, (price, a, b, c) => {
        const total = discounted(price, a, b, c);
        expect(Number.isInteger(total)).toBe(true);
        expect(total).toBeGreaterThanOrEqual(0);
        expect(total).toBeLessThanOrEqual(price);
        expect(discounted(price, c, a, b)).toBe(total);
      }),
    );
  });

  test("a monthly order without a coupon costs the price in the list of hosting plans", () => {
    fc.assert(
      fc.property(amount, percent, (price, manage) => {
        expect(amountBilled(price, 1, manage, 0)).toBe(discounted(price, manage));
      }),
    );
  });

  test("a longer term costs less per month", () => {
    const perMonth = TERM_MONTHS.map((term) => amountBilled(12_000 * term, term, 0, 0) / term);
    expect(perMonth).toEqual([...perMonth].sort((a, b) => b - a));
    expect(TERM_MONTHS).toEqual([1, 3, 6, 12, 24, 36]);
    expect(TERM_MONTHS.map(billingCycle)).toEqual([
      "monthly",
      "quarterly",
      "semiannually",
      "annually",
      "biennially",
      "triennially",
    ]);
  });
});

test.each([
  ["2026-01-31", 1, "2026-02-28"],
  ["2028-01-31", 1, "2028-02-29"],
  ["2026-11-21", 12, "2027-11-21"],
  ["2026-11-30", 3, "2027-02-28"],
  ["2026-03-31", -1, "2026-02-28"],
])("%s and %i months is %s", (from, months, to) => expect(dateOf(addMonths(Date.parse(from), months))).toBe(to));

describe("syntax", () => {
  const table: { what: string; test: (value: string) => boolean; good: string[]; bad: string[] }[] = [
    {
      what: "domain names",
      test: isDomainName,
      good: [
        "a.ge",
        "Acme-1.example",
        "xn--e1afmkfd.xn--p1ai",
        `${"a".repeat(63)}.com`,
        "a.b.c.d.com",
        "a.com.",
        "ä.com",
      ],
      bad: [
        "",
        "com",
        ".com",
        "a..com",
        "-a.com",
        "a-.com",
        "a_b.com",
        "1.2.3.4",
        "a.c",
        `${"a".repeat(64)}.com`,
        `${"a.".repeat(126)}com`,
      ],
    },
    {
      what: "email addresses",
      test: isEmail,
      good: ["a@b.ge", "first.last+tag@sub.acme.example", "dev@ä.com"],
      bad: ["", "a", "@b.ge", "a@b", "a b@c.ge", "a@b@c.ge", `${"a".repeat(65)}@b.ge`],
    },
    {
      what: "web addresses",
      test: isWebUrl,
      good: ["https://x.example/in?a=1", "http://127.0.0.1:8080"],
      bad: ["", "x.example", "/in", "ftp://x.example", "javascript:alert(1)", "https://", "https://x y"],
    },
    {
      what: "telephone numbers",
      test: isPhone,
      good: ["+995 555 123456", "(0322) 123".slice(1), "0322-12.34"],
      bad: ["", "call", "+", "12"],
    },
    { what: "countries", test: isCountry, good: ["GE", "de"], bad: ["", "GEO", "G1"] },
  ];
  test.each(table)("$what", ({ test: accepts, good, bad }) => {
    expect(good.filter((value) => !accepts(value))).toEqual([]);
    expect(bad.filter((value) => accepts(value))).toEqual([]);
  });
});
