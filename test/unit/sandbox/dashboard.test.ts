import { html } from "hono/html";
import { describe, expect, it } from "vitest";
import { fromNow, money, shown, visible, when } from "../../../src/sandbox/dashboard/html.ts";
import fc, { character } from "../../support/fc.ts";

const NOW = "2026-11-21T10:00:00.000Z";

describe("texts of the dashboard", () => {
  it("escapes every text, in an element and in an attribute", () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (text) => {
        const page = String(html`<p title="${text}">${shown(text)}</p>`);
        const [, title = "", body = ""] = /^<p title="([^"<>]*)"><bdi>([^"<>]*)<\/bdi><\/p>$/u.exec(page) ?? [];
        return textOf(title) === text && textOf(body) === text;
      }),
    );
  });

  it("escapes invisible characters, and keeps the others", () => {
    const seen = /^[^\p{Cc}\p{Cs}\u2028\u2029\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]*$/u;
    fc.assert(fc.property(fc.string({ unit: character }), (text) => seen.test(visible(text).replace(/[\n\t]/g, ""))));
    expect(visible("a\u202Eb\u0000c\ud800")).toBe("a⟨U+202E⟩b⟨U+0000⟩c⟨U+D800⟩");
    for (const text of ["münchen.example", "דוגמה.example", "👩\u200d💻", "two\nlines\tand a tab"])
      expect(visible(text)).toBe(text);
  });

  it.each([
    [0, "0.00 USD"],
    [5, "0.05 USD"],
    [450, "4.50 USD"],
    [123_456_789, "1 234 567.89 USD"],
    [-5, "−0.05 USD"],
  ])("shows %d minor units as %s", (amount, text) => {
    expect(money(amount, "USD")).toBe(text);
  });

  it.each([
    ["2026-11-21T10:00:00.400Z", "now"],
    ["2026-11-21T10:00:01.000Z", "in 1 second"],
    ["2026-11-21T09:58:00.000Z", "2 minutes ago"],
    ["2026-11-22T09:59:59.000Z", "in 23 hours"],
    ["2026-11-21", "today"],
    ["2026-11-22", "in 1 day"],
    ["2026-11-01", "20 days ago"],
  ])("%s is %s", (at, text) => {
    expect(fromNow(at, NOW)).toBe(text);
  });

  it("shows times in UTC, dates as dates, and a missing value as a dash", () => {
    expect(String(when(NOW))).toContain('21 Nov 2026, <span class="nums">10:00:00</span>');
    expect(String(when("2026-01-02"))).toBe('<time datetime="2026-01-02">2 Jan 2026</time>');
    expect(String(when(null))).toContain("—");
  });
});

function textOf(text: string): string {
  const names: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", "#39": "'" };
  return text.replace(/&(quot|amp|lt|gt|#39);/g, (_, name: string) => names[name] ?? "");
}
