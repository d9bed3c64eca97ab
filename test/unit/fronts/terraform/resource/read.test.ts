import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../src/core/model/index.ts";
import { readResource } from "../../../../../src/fronts/terraform/resource/read.ts";
import { planDestroy } from "../../../../../src/fronts/terraform/resource/remove.ts";
import { liveService, liveWebhook, remote } from "../../../../support/subjects.ts";
import { asHeld, codesOf, fakeScope } from "./fake-scope.ts";

const SERVICE = { ...liveService, plan_id: 11, deletion_policy: "forget" };
const JOB = { since: "2026-11-21T09:00:00Z", toward: "suspended", before: "ACTIVE" } as const;

describe("a refresh", () => {
  it("warns once of a second service with the domain, where the services were listed anyway", async () => {
    const objects = ["1001", "1007"].map((id) => remote({ ...liveService, id }, "live"));
    const { kind, front, fake } = fakeScope("hosting_service", { objects });
    const read = async () => (await readResource(kind, asHeld(kind, SERVICE), {}, front)).diagnostics;
    expect(await read()).toEqual([]);
    await fake.account.list(kind);
    fake.asked.length = 0;
    const said = await read();
    expect(codesOf(said)).toEqual(["warning account.double"]);
    expect(said[0]?.summary).toBe("www.acme.example is the domain of 2 services: 1001, 1007");
    expect(await read()).toEqual([]);
    expect(fake.asked).toEqual(["get 1001"]);
  });

  it.each([
    [false, ["warning account.unlisted"]],
    [true, []],
  ])("of what was created just now says when no list shows it yet (it does: %s)", async (isListed, said) => {
    const { kind, front, clock } = fakeScope("hosting_webhook", { objects: isListed ? [remote(liveWebhook)] : [] });
    const created = new Date(clock.now()).toISOString();
    const { state, diagnostics } = await readResource(kind, asHeld(kind, liveWebhook), { created }, front);
    expect(state).toMatchObject({ id: "201" });
    expect(codesOf(diagnostics)).toEqual(said);
    for (const { summary, detail } of diagnostics) {
      // Terraform prints one warning for all warnings with the same summary.
      expect(summary).not.toContain(liveWebhook.url);
      expect(detail).toContain(`${String(liveWebhook.url)} was created at ${created}`);
    }
  });

  it("of a webhook that the host has disabled keeps the webhook, with a warning", async () => {
    const { kind, front } = fakeScope("hosting_webhook", {
      objects: [{ ...remote(liveWebhook), off: 'status is "paused"' }],
    });
    const { state, diagnostics } = await readResource(kind, asHeld(kind, liveWebhook), {}, front);
    expect(state).toMatchObject({ id: "201" });
    expect(codesOf(diagnostics)).toEqual(["warning condition.off"]);
    expect(diagnostics[0]?.summary).toMatch(/has disabled webhook 201 \(https:.+\): status is "paused"$/);
  });

  it("of a webhook with an ended entry removes it from the state, with a warning that contains the reason", async () => {
    const objects = [{ ...remote(liveWebhook, "gone"), end: "was deleted on 2026-11-20" }];
    const { kind, front } = fakeScope("hosting_webhook", { objects });
    const { state, diagnostics } = await readResource(kind, asHeld(kind, liveWebhook), {}, front);
    expect(state).toBeNull();
    expect(diagnostics.map(({ code, summary }) => [code, summary])).toEqual([
      ["plan.gone", "webhook 201 was deleted on 2026-11-20"],
    ]);
  });

  it("of a service whose row has ended keeps it as ended, whatever its last status is; its removal sends nothing", async () => {
    const objects = [{ ...remote(liveService, "gone"), end: "was deleted on 2026-11-20" }];
    const { kind, front } = fakeScope("hosting_service", { objects });
    const prior = asHeld(kind, { ...SERVICE, deletion_policy: "prevent" });
    const { state } = await readResource(kind, prior, {}, front);
    expect(state).toMatchObject({ id: "1001", status: "ended" });
    const { change } = await planDestroy(kind, state ?? {}, {}, front);
    expect([change?.actions, change?.requests]).toEqual([["forget"], 0]);
  });

  it.each<[string, JsonObject, boolean | null, boolean]>([
    ["ACTIVE", { status: "active", suspended: false }, false, true],
    ["suspended", { status: "suspended", suspended: true }, true, false],
    ["SUSPENDED_BY_OWNER", { status: "SUSPENDED_BY_OWNER" }, null, true],
  ])("of a service that is %s knows of `suspended` what the status shows", async (word, shown, suspended, asked) => {
    const { suspended: _, ...silent } = liveService;
    const phase = word === "ACTIVE" ? "live" : word === "suspended" ? "suspended" : "unknown";
    const { kind, front } = fakeScope("hosting_service", { objects: [remote({ ...silent, ...shown }, phase)] });
    const { state, mark } = await readResource(kind, asHeld(kind, SERVICE), { job: JOB }, front);
    expect(state?.suspended).toBe(suspended);
    expect(mark.job).toEqual(asked ? JOB : undefined);
  });
});
