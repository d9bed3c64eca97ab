import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { dataSources } from "../../../../../src/fronts/terraform/data/index.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { planDeclared } from "../../../../../src/fronts/terraform/resource/plan.ts";
import { importResource } from "../../../../../src/fronts/terraform/resource/read.ts";
import { schemaOf } from "../../../../../src/fronts/terraform/schema/of-kind.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { liveService, remote } from "../../../../support/subjects.ts";
import { asHeld, fakeScope, refusalOf } from "./fake-scope.ts";

const readable = [...kinds.values()].filter(({ list }) => list !== undefined);

describe("an import", () => {
  it("has every attribute of the schema: what the account shows, defaults, and null for what it never shows", async () => {
    const { kind, front } = fakeScope("hosting_service", { objects: [remote(liveService)] });
    const state = await importResource(kind, "1001", front);
    expect(Object.keys(state).sort()).toEqual(Object.keys(schemaOf(kind).attributes).sort());
    expect(state).toMatchObject({
      id: "1001",
      domain: "www.acme.example",
      deletion_policy: "prevent",
      coupon_code: null,
    });
  });

  it("of a row that has ended is refused, and says so", async () => {
    const objects = [{ ...remote(liveService, "gone"), end: "was deleted on 2026-11-20" }];
    const { kind, front } = fakeScope("hosting_service", { objects });
    const { summary, detail } = await refusalOf(importResource(kind, "1001", front));
    expect(summary).toBe("service 1001 was deleted on 2026-11-20");
    expect(detail).toMatch(/^The API lists the object as ended, so Terraform cannot manage it\./);
  });

  it.each([false, true])("of another plan than is declared is refused; replace_on_change: %s", async (replace) => {
    const { kind, front, fake } = fakeScope("hosting_service", { objects: [remote(liveService)] });
    fake.plans = [
      { plan_id: 11, name: "Shared Start" },
      { plan_id: 12, name: "Shared Pro" },
    ];
    const prior = await importResource(kind, "1001", front);
    expect(prior).toMatchObject({ plan_id: 11 });
    const declared = { plan_id: 12, currency: "USD", domain: "www.acme.example", replace_on_change: replace };
    const config = { ...asHeld(kind, {}), ...declared, ...(replace && { reference: "second" }) };
    const { diagnostics, requiresReplace } = await planDeclared(kind, { prior, config, mark: {} }, front);
    expect(diagnostics.map(({ severity, code, summary }) => ({ severity, code, summary }))).toContainEqual({
      severity: "error",
      code: "plan.mismatch",
      summary: 'service www.acme.example cannot adopt service 1001: the API cannot change "plan_id"',
    });
    expect(requiresReplace, "nothing is ordered in its place").toEqual([]);
  });

  it.each(["301", "/301", "1001/", ""])("of a grant by %j says which two ids it takes", async (id) => {
    const { kind, front, fake } = fakeScope("hosting_grant");
    const refusal = await refusalOf(importResource(kind, id, front));
    expect(refusal.code).toBe("usage");
    expect(refusal.summary).toContain("service_id/ID");
    expect(fixOf(refusal)).toMatch(/terraform import hosting_grant\.NAME '\d+\/\S+@\S+'/);
    expect(fake.asked).toEqual([]);
  });

  it("by a domain that no service has names both forms of the import id, and the list of ids", async () => {
    const { kind, front } = fakeScope("hosting_service", { objects: [remote(liveService)] });
    const refusal = await refusalOf(importResource(kind, "shop.acme.example", front));
    expect(refusal).toMatchObject({ code: "plan.gone", summary: "service shop.acme.example does not exist" });
    expect(refusal.detail).toContain("its `id` or its `domain`");
    expect(fixOf(refusal)).toContain("data source `hosting_services`");
  });

  it.each(readable.map(({ type }) => type))("of a %s names an existing data source", async (type) => {
    const { kind, front } = fakeScope(type);
    const fix = fixOf(await refusalOf(importResource(kind, kind.parent === undefined ? "9" : "1/9", front)));
    const [, named] = /data source `(\w+)`/.exec(fix ?? "") ?? [];
    expect(dataSources.map(({ name }) => name)).toContain(named);
  });

  it("of what the API does not show accepts the id without a request", async () => {
    const { kind, front, fake } = fakeScope("hosting_domain");
    expect(await importResource(kind, "acme.example", front)).toEqual(
      asHeld(terraformKind("hosting_domain"), { id: "acme.example", deletion_policy: "prevent" }),
    );
    expect(fake.asked).toEqual([]);
  });

  it("is refused if another address of the state has the object: an object has one address", async () => {
    const { kind, front } = fakeScope("hosting_service", { objects: [remote(liveService)] });
    front.addRecorded(kind, liveService);
    expect(await refusalOf(importResource(kind, "1001", front))).toMatchObject({
      code: "plan.exists",
      summary: "service 1001 (www.acme.example) already belongs to another address of this state",
      remedies: [{ do: "move", when: "it was renamed" }, expect.stringContaining("terraform state rm")],
    });
  });
});
