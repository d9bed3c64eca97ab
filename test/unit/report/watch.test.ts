import { describe, expect, it } from "vitest";
import { errorOf } from "../../../src/core/model/index.ts";
import { yamlRemedies } from "../../../src/fronts/yaml/remedies.ts";
import { foundText, watchLine, watchNotes } from "../../../src/report/index.ts";
import { change, diagnostic, drift, order, plan, reason, update } from "./builders.ts";

const AT = Date.parse("2026-11-21T10:00:00.123Z");
const plain = { color: false };

describe("what watch says of an object", () => {
  it("is nothing for what is as declared and as recorded", () => {
    expect(watchNotes(plan([change()])).size).toBe(0);
  });

  it("is what would be done and why", () => {
    const why = [reason("drift", "suspended is true, declared: false", "suspended")];
    const { text, isChange } =
      watchNotes(plan([update({ suspended: false }, { reasons: why })])).get("hosting_service.acme") ?? {};
    expect(text).toBe(
      "  ~ hosting_service.acme will be updated in-place: changed outside of hostform: suspended is true, declared: false",
    );
    expect(isChange).toBe(true);
    expect(watchNotes(plan([order()])).get("hosting_service.acme")?.text).toMatch(/^ {2}\+ .* will be ordered: /);
  });

  it("is what has moved on, for what needs no change; a secret is not shown", () => {
    const moved = drift({ status: "suspended", generated_password: "hunter2-hunter2" });
    const known = change({ sensitive: ["generated_password"] });
    const note = watchNotes(plan([known], { drift: [moved] })).get("hosting_service.acme");
    expect(note).toEqual({
      text: '    hosting_service.acme: status "active" -> "suspended", generated_password has changed',
      isChange: false,
    });
    expect(watchNotes(plan([], { drift: [moved] })).get("hosting_service.acme")?.text).toBe(
      "    hosting_service.acme: status has changed, generated_password has changed",
    );
  });

  it("is short, however much has moved", () => {
    const much = { status: "x".repeat(100), plan: "b", price: 1, term: 2, domain: "c", billing_cycle: "d" };
    const { text = "" } = watchNotes(plan([change()], { drift: [drift(much)] })).get("hosting_service.acme") ?? {};
    expect(text).toMatch(/ and 2 more attributes$/);
    expect(text.length).toBeLessThan(220);
  });

  it("is that it is gone, or that something waits", () => {
    expect(watchNotes(plan([change()], { drift: [drift(null)] })).get("hosting_service.acme")?.text).toContain(
      "no longer exists",
    );
    expect(watchNotes(plan([change({ deferred: ["suspended"] })])).get("hosting_service.acme")?.text).toContain(
      "suspended waits until the service is live",
    );
  });
});

describe("what a look found", () => {
  it.each([
    ["nothing declared", plan(), "Nothing is declared."],
    ["all in order", plan([change(), change({ address: "hosting_service.b" })]), "2 resources as declared."],
    [
      "something to do",
      plan([order(), change({ address: "hosting_service.b" })]),
      "Plan: 1 to add, 0 to change, 0 to destroy.",
    ],
    [
      "a pending create",
      plan([change()], { pending: ["hosting_domain.a"] }),
      "1 create without known outcome. `hostform resolve` lists the pending creates.",
    ],
    [
      "something that cannot be done",
      plan([change()], { diagnostics: [diagnostic({ severity: "warning", code: "plan.unknown_status" })] }),
      "hostform cannot make all declared changes now.",
    ],
  ])("%s", (_, made, text) => {
    expect(foundText(made, yamlRemedies)).toBe(text);
  });

  it("says first that a plan has errors", () => {
    const diagnostics = [errorOf("plan.immutable", "no", { address: "hosting_service.a" })];
    expect(foundText({ ...plan([]), diagnostics }, yamlRemedies)).toBe("The plan has 1 error and is not applied.");
    expect(foundText({ ...plan([order()]), diagnostics }, yamlRemedies)).toBe(
      "The plan has 1 error. Plan: 1 to add, 0 to change, 0 to destroy. Skipped: 1 resource.",
    );
    const guard = [errorOf("guard.orders", "no")];
    expect(foundText({ ...plan([order()]), diagnostics: guard }, yamlRemedies)).toBe(
      "The plan has 1 error and is not applied.",
    );
  });
});

describe("the line of a look", () => {
  it("says when it was, what led to it, what was found and what is next", () => {
    const events = ["invoice.paid", "service.suspended", "invoice.paid"];
    expect(watchLine({ at: AT, events, found: "2 resources as declared.", nextMs: 90_000 }, plain)).toBe(
      "2026-11-21T10:00:00Z After invoice.paid, service.suspended: 2 resources as declared. Next check in 1 min 30 s.",
    );
    expect(watchLine({ at: AT, found: "", nextMs: 300_000 }, plain)).toBe("2026-11-21T10:00:00Z Next check in 5 min.");
    expect(watchLine({ at: AT, found: "Done.", nextMs: 0 }, plain)).toBe("2026-11-21T10:00:00Z Done.");
    expect(watchLine({ at: AT, found: "Done." }, plain)).toBe("2026-11-21T10:00:00Z Done.");
  });

  it("shows what would act on a terminal", () => {
    const line = watchLine({ at: AT, events: ["a\u001b[2Jb\nc"], found: "Done." }, plain);
    expect(line).not.toContain("\u001b");
    expect(line).not.toContain("\n");
  });
});
