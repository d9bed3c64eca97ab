import { describe, expect, it } from "vitest";
import { renderListing } from "../../../src/report/listings.ts";
import { changeLines } from "../../../src/report/plan-changes.ts";
import { paint as painter } from "../../../src/report/text-style.ts";
import { order } from "./builders.ts";

const BOTH = "m\u00fcnchen.example (xn--mnchen-3ya.example)";

describe("an international domain is shown in both of its forms", () => {
  it.each(["m\u00fcnchen.example", "xn--mnchen-3ya.example"])("in a plan that declares it as %s", (domain) => {
    const lines = changeLines(order({ after: { plan_id: 101, currency: "USD", domain } }), painter(false));
    expect(lines.join("\n")).toContain(`domain   = "${domain}" # ${BOTH}`);
  });

  it("in a list", () => {
    const domains = renderListing("domains", [{ domain: "xn--mnchen-3ya.example", available: true }], { color: false });
    expect(domains).toContain(BOTH);
  });

  it("while a name in ASCII stays alone", () => {
    const lines = changeLines(order({ after: { plan_id: 101, currency: "USD", domain: "a.example" } }), painter(false));
    expect(lines.join("\n")).toMatch(/domain +(?:=) "a\.example"$/m);
  });
});
