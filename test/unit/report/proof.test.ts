import { describe, expect, it } from "vitest";
import { effectsOf } from "../../../src/core/model/index.ts";
import { planJson, renderPlan, renderPlanHtml, renderPlanMarkdown } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { diagnostic, order, plan, update } from "./builders.ts";
import { dangerous, liveCommands } from "./hostile.ts";
import { proofCases } from "./proof-cases.ts";

// Golden files: `vitest run test/unit/report/proof.test.ts --update` writes them again; read the difference before committing it.
const options = { remedies: fixOf, moneyScale: () => 2, color: false };
const everyFormat = (planned: (typeof proofCases)[number]["plan"]) => ({
  txt: renderPlan(planned, options),
  md: renderPlanMarkdown(planned, options),
  html: renderPlanHtml(planned, options),
  json: `${JSON.stringify(effectsOf(planned), null, 2)}\n`,
});

describe("a plan in each of its formats", () => {
  it.each(proofCases)("$name: $why", async ({ name, plan: planned }) => {
    const { html, ...texts } = everyFormat(planned);
    const files = ["agency", "attention", "hostile"].includes(name) ? { ...texts, html } : texts;
    for (const [extension, text] of Object.entries(files))
      await expect(text).toMatchFileSnapshot(`../../golden/report/proof-${name}.${extension}`);
  });

  it("lets no name of others act: on a terminal, on the agent of a CI, as HTML", () => {
    const hostile = proofCases.find(({ name }) => name === "hostile");
    if (hostile === undefined) throw new Error("the case is gone");
    const { txt, md, html } = everyFormat(hostile.plan);
    for (const text of [txt, md, html]) expect(dangerous(text, "\n")).toEqual([]);
    expect(liveCommands(md)).toEqual([]);
    expect(html).not.toMatch(/<script|<img|onerror=[^&]*>/);
    expect(md.match(/<details>/g)).toHaveLength(1);
  });

  it("with errors names their number and the errors before the other parts, in each format", () => {
    const errors = ["a", "b"].map((name) =>
      diagnostic({ code: "plan.prevented", summary: `${name} is protected`, address: `hosting_service.${name}` }),
    );
    const { txt, md, html } = everyFormat(plan([order()], { diagnostics: errors }));
    expect(md).toContain("**2 errors. Orders 1 service");
    for (const [text, next] of [
      [txt, "hostform will perform"],
      [md, "#### Orders"],
      [html, "<h2>Orders"],
    ] as const) {
      const at = [text.indexOf("a is protected"), text.indexOf(next)];
      expect(at, text).toEqual(at.toSorted((a, b) => a - b));
      expect(at).not.toContain(-1);
    }
  });

  it("the same mistake of eighty resources is one, with its number, in the comment and on the page", () => {
    const one = diagnostic({ summary: "term is not sold", detail: "It is 7.", remedies: ["Write 12."] });
    const eighty = Array.from({ length: 80 }, (_, i) => ({ ...one, address: `hosting_service.s${i}` }));
    const { md, html } = everyFormat(plan([order()], { diagnostics: eighty }));
    expect(md.match(/term is not sold/g)).toHaveLength(1);
    expect(md).toContain("(80 times)");
    expect(md).toContain("and in 77 more places");
    expect(html.match(/term is not sold/g)).toHaveLength(1);
    expect(html).toContain("and 75 more");
  });

  it("nowhere counts a removal with suspend as what leaves the account as it is", () => {
    const suspended = proofCases.find(({ name }) => name === "suspend");
    if (suspended === undefined) throw new Error("the case is gone");
    const { txt, md, html } = everyFormat(suspended.plan);
    for (const text of [txt, md, html]) {
      expect(text).not.toMatch(
        /to forget|leave the account as it is|stays in the account(?!, and the host| and is no longer)/,
      );
      expect(text).toContain("1 to suspend");
    }
    expect(txt.indexOf("1 service goes offline")).toBeGreaterThan(0);
    expect(txt.indexOf("1 service goes offline")).toBeLessThan(txt.indexOf("Plan: 0 to add"));
    expect(renderPlan(suspended.plan, { ...options, color: true })).toContain("\u001b[31m1 service goes offline");
  });
});

describe("whose a resource is", () => {
  const planned = plan([
    order({ client: "Borjomi Bakery", provider: "beta" }),
    update({ suspended: true }, { address: "hosting_service.shop", provider: "beta" }),
    order({ address: "hosting_service.own" }),
  ]);

  it("is the declared client, otherwise the alias of its provider", () => {
    const clients = effectsOf(planned).map(({ address, client }) => [address, client]);
    expect(clients).toEqual([
      ["hosting_service.shop", "beta"],
      ["hosting_service.acme", "Borjomi Bakery"],
      ["hosting_service.own", null],
    ]);
  });

  it("stands in every format, and the diff is folded by it", () => {
    const { txt, md, html } = everyFormat(planned);
    expect(txt).toContain("# (client: Borjomi Bakery)");
    expect(md).toContain("| `www.acme.example (Borjomi Bakery)` |");
    expect(html).toContain("www.acme.example (Borjomi Bakery)</td>");
    expect(html.match(/<summary>[^<]*/g)).toEqual([
      "<summary>beta: 1",
      "<summary>Borjomi Bakery: 1",
      "<summary>No client: 1",
    ]);
    const json = planJson(planned, options);
    expect(json.hostform.resources["hosting_service.acme"]).toMatchObject({ client: "Borjomi Bakery" });
    expect(json.hostform.effects.map(({ client }) => client)).toEqual(["beta", "Borjomi Bakery", null]);
  });
});
