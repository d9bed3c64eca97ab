import { describe, expect, it } from "vitest";
import { renderPlan, renderPlanHtml, renderPlanMarkdown } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { order, plain, plan } from "./builders.ts";

const names = Array.from({ length: 500 }, (_, at) => `hooks-${at}.example`);
const newNames = names.map((name) => ({ what: "receives events", name, addresses: ["hosting_webhook.a"] }) as const);
/** More changes than a comment can hold. */
const changes = Array.from({ length: 3000 }, (_, at) =>
  order({ address: `hosting_service.s${at}`, client: "x".repeat(60) }),
);
const full = plan(changes, { newNames });

describe("hosts and domains that are new to the project", () => {
  it.each([
    ["text", renderPlan(full, { color: false, remedies: fixOf })],
    ["comment", renderPlanMarkdown(full, plain)],
    ["page", renderPlanHtml(full, plain)],
  ])("are all in the %s, before what the plan does", (_, text) => {
    expect(names.filter((name) => !text.includes(`${name}`))).toEqual([]);
    expect(text.indexOf("New to this project")).toBeGreaterThan(-1);
    const first = text.search(/hosting_service\.s0\b|www\.acme\.example/);
    expect(text.lastIndexOf("hooks-499.example")).toBeLessThan(first);
  });

  it("leave a comment that fits, and says how many names it has no room for", () => {
    const many = Array.from(
      { length: 20_000 },
      (_, at) => ({ ...newNames[0], name: `hooks-${at}.example` }) as (typeof newNames)[number],
    );
    const text = renderPlanMarkdown(plan([order()], { newNames: many }), plain);
    expect(Buffer.byteLength(text)).toBeLessThan(65_000);
    expect(text).toMatch(/#### New to this project: 20,000[\s\S]*and [\d,]+ more names/);
  });
});
