/** Three people's questions, answered from the text of a page alone: what is ordered for how much, which sites go offline, what is to be done by hand. */
import { describe, expect, it } from "vitest";
import type { Change, Plan } from "../../../src/core/model/index.ts";
import { escapeText, renderPlanHtml } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { proofCases } from "./proof-cases.ts";

interface Answers {
  /** Whose order, and what is billed now. */
  readonly ordered: readonly string[];
  /** The sum of each currency. */
  readonly toPay: readonly string[];
  readonly offline: readonly string[];
  /** What it is about, and the command. */
  readonly byHand: readonly string[];
}

const text = (html: string) =>
  html
    .replace(/<\/?code>/g, "`")
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|quot|#39|#96|amp);/g, (_, name: string) =>
      name.startsWith("#")
        ? String.fromCharCode(Number(name.slice(1)))
        : ({ lt: "<", gt: ">", quot: '"', amp: "&" }[name] ?? ""),
    );
const all = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}[ >].*?</${tag}>`, "gs"))].map(([found]) => found);
const sectionOf = (html: string, title: string) =>
  all(html, "section").find((one) => one.includes(`<h2>${title}</h2>`)) ?? "";
/** The rows of a table, and what stands in each: below its head, above its sums. */
const rowsOf = (html: string, title: string) =>
  all(sectionOf(html, title), "tbody")
    .flatMap((body) => all(body, "tr"))
    .map((row) => all(row, "td").map(text));

/** What a reader learns from the page. */
function answersOf(html: string, { commands }: { readonly commands: readonly string[] }): Answers {
  const tile = all(html, "div").find((one) => one.includes("<dt>Billed by this plan</dt>")) ?? "";
  return {
    ordered: rowsOf(html, "Orders").map((cells) => `${cells[0]}: ${cells[5]}`),
    toPay: all(tile, "dd").map(text),
    offline: rowsOf(html, "Sites going offline").map(([site = ""]) => site),
    byHand: all(sectionOf(html, "Needs attention"), "li")
      .map(text)
      .map((line) => commands.find((command) => command.split(" | ").every((part) => line.includes(part))) ?? line),
  };
}

const scaled = (amount: number) => (amount / 100).toFixed(2);
const siteOf = ({ before, after, client, provider }: Change) => {
  const whose = client ?? (provider === "default" ? undefined : provider);
  return escapeText(`${after?.domain ?? before?.domain}${whose === undefined ? "" : ` (${whose})`}`);
};
const byText = (texts: readonly string[]) => texts.toSorted();

/** What the plan says, read without the code of the reports. */
function expectedOf({ changes, drift, pending, diagnostics, conditions = [] }: Plan): Answers {
  const bought = changes.flatMap((change) =>
    change.actions[0] === "create" && change.quote ? [{ change, quote: change.quote }] : [],
  );
  const nowOf = ({ currency, billed, most }: (typeof bought)[number]["quote"]) => {
    if (billed !== null) return `${scaled(billed)} ${currency}`;
    return most === null ? `unknown (${currency})` : `at most ${scaled(most)} ${currency}`;
  };
  const sums = [...Map.groupBy(bought, ({ quote }) => quote.currency)].map(([currency, orders]) => {
    const known = orders.flatMap(({ quote: { billed, most } }) => billed ?? most ?? []);
    const open = orders.length - known.length;
    const missing = `${open} order${open === 1 ? "" : "s"} unknown`;
    if (known.length === 0) return `${currency}: ${missing}`;
    const bound = orders.some(({ quote: { billed, most } }) => billed === null && most !== null) ? "at most " : "";
    const sum = `${bound}${scaled(known.reduce((total, one) => total + one, 0))} ${currency}`;
    return open > 0 ? `${sum} + ${missing}` : sum;
  });
  const down = changes.filter(
    ({ before, after, removal, actions }) =>
      before?.suspended !== true &&
      (actions[0] === "forget" ? removal === "suspend" : before !== null && after?.suspended === true),
  );
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const moved = drift.flatMap(({ address, before, after }) => {
    const { config, actions, reasons } = byAddress.get(address) ?? {};
    const domain = String(before.domain);
    if (after === null) return [`No longer exists in the account | ${domain} | ${address} | hostform apply`];
    const isDeclared = Object.keys(after).some(
      (name) =>
        before[name] !== after[name] &&
        ((config?.[name] ?? null) !== null || reasons?.some(({ attribute }) => attribute === name)),
    );
    if (!isDeclared) return [];
    return [
      `Changed by hand | ${domain} | ${address} | ${actions?.[0] === "no-op" ? "Declare it, or set it back" : "hostform apply"}`,
    ];
  });
  return {
    ordered: bought.map(({ change, quote }) => `${siteOf(change)}: ${nowOf(quote)}`),
    toPay: sums.length === 0 ? ["Nothing"] : sums,
    offline: down.map(siteOf),
    byHand: [
      ...diagnostics.map(({ summary }) => escapeText(summary)),
      ...pending.map((address) => `outcome is unknown | ${address} | hostform resolve`),
      ...moved,
      ...conditions.map(({ address }) => `is not renewed | ${address} | Pay the invoice`),
    ],
  };
}

const sorted = ({ ordered, toPay, offline, byHand }: Answers): Answers => ({
  ordered: byText(ordered),
  toPay,
  offline: byText(offline),
  byHand: byText(byHand),
});

describe("three people's questions, from the page alone", () => {
  it.each(proofCases)("$name", ({ plan }) => {
    const expected = expectedOf(plan);
    const html = renderPlanHtml(plan, { remedies: fixOf, moneyScale: () => 2 });
    const read = (page: string) => sorted(answersOf(page, { commands: expected.byHand }));
    expect(read(html)).toEqual(sorted(expected));
    // A page that lacks any one of these rows, or has another sum, answers otherwise.
    const parts = ["Orders", "Sites going offline", "Needs attention"].flatMap((title) => {
      const one = sectionOf(html, title);
      return [...all(one, "tbody").flatMap((body) => all(body, "tr")), ...all(one, "li")];
    });
    expect(parts).toHaveLength(expected.ordered.length + expected.offline.length + expected.byHand.length);
    for (const part of parts) expect(read(html.replace(part, () => ""))).not.toEqual(sorted(expected));
    for (const sum of expected.toPay) expect(read(html.replace(`<dd>${sum}`, "<dd>0"))).not.toEqual(sorted(expected));
  });

  it("the golden plans have something to say to each of the three", () => {
    const answers = proofCases.map(({ plan }) => expectedOf(plan));
    for (const question of ["ordered", "toPay", "offline", "byHand"] as const)
      expect(answers.flatMap((one) => one[question]).length, question).toBeGreaterThan(5);
  });
});
