import { describe, expect, it } from "vitest";
import { START } from "../support/clock.ts";
import { startProject } from "../support/project.ts";

const DAY_MS = 86_400_000;
const tomorrow = new Date(START + DAY_MS).toISOString();

const shared = (grants: object) => ({
  project: "grants",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants } },
});

describe("a grant that has expired", () => {
  const guest = { "guest@acme.example": { permission: "view", expires_at: tomorrow } };

  it.each(["still listed", "not listed any more"])("(%s) is not created in a loop", async (listed) => {
    const project = await startProject({ declare: shared(guest) });
    await project.apply();
    project.clock.advance(2 * DAY_MS);
    if (listed !== "still listed") project.control.remove("grants", 301);
    project.sent();
    await project.apply();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    const { diagnostics } = await project.plan();
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual(
      listed === "still listed" ? [] : [["warning", "plan.expired"]],
    );
  });

  it("is granted anew with a later end", async () => {
    const project = await startProject({ declare: shared(guest) });
    await project.apply();
    project.clock.advance(2 * DAY_MS);
    const later = new Date(START + 30 * DAY_MS).toISOString();
    await project.declare(shared({ "guest@acme.example": { permission: "view", expires_at: later } }));
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual(["DELETE /services/1003/grants/301", "POST /services/1003/grants"]);
    await project.expectNoChanges();
  });

  it("that was never made is left out, with a word", async () => {
    const project = await startProject({
      declare: shared({
        "guest@acme.example": { permission: "view", expires_at: "2020-01-01" },
        "dev@acme.example": "view",
      }),
    });
    const ran = await project.apply();
    expect(ran.text).toContain("it expired at 2020-01-01");
    expect(project.control.list("grants").map(({ email }) => email)).toEqual(["dev@acme.example"]);
  });
});

describe("grants", () => {
  it("of two services are told apart, whatever the case of the address", async () => {
    const project = await startProject({
      declare: {
        project: "grants",
        services: Object.fromEntries(
          ["a", "b"].map((name) => [
            name,
            { plan_id: 11, currency: "USD", domain: `${name}.acme.example`, grants: { "Dev@Acme.example": "manage" } },
          ]),
        ),
      },
    });
    await project.apply();
    for (const { id } of project.control.list("grants")) {
      project.control.change("grants", id, { email: "dev@acme.example" });
    }
    const plan = await project.plan();
    expect(plan.changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);
    expect(plan.drift).toEqual([]);
    expect(
      project.control
        .list("grants")
        .map(({ service_id }) => service_id)
        .sort(),
    ).toEqual([1003, 1004]);
  });

  it("are revoked when their block goes, and the service stays", async () => {
    const project = await startProject({ declare: shared({ "dev@acme.example": "view", "two@acme.example": "view" }) });
    await project.apply();
    await project.declare(shared({ "two@acme.example": "view" }));
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual(["DELETE /services/1003/grants/301"]);
    await project.expectNoChanges();
  });
});
