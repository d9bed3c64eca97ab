// Hosting plan of a service compared with the ordered plan: by number, or by name in the list of hosting plans.
import { describe, expect, it, vi } from "vitest";
import { read } from "../../../../src/core/lifecycle/read.ts";
import { soldAs } from "../../../../src/core/lifecycle/sold-plan.ts";
import type { Json, JsonObject, PrivateMark } from "../../../../src/core/model/index.ts";
import { fakeAccount, kindOf, liveService, recorded, remote } from "../../../support/subjects.ts";

const PLANS = [
  { plan_id: 11, name: "Basic" },
  { plan_id: 12, name: "Pro" },
  { plan_id: 13, name: "Team" },
  { plan_id: 14, name: "Team" },
  { plan_id: 15, name: "Basic Plus" },
] as never;
const service = kindOf("hosting_service");

describe("a service that was ordered with plan 11, Basic", () => {
  it.each<[what: string, live: JsonObject, earlier: Json | undefined, is: Json | undefined]>([
    ["and that shows this name", { plan: "Basic" }, undefined, undefined],
    ["and that shows the name in other letters", { plan: "BASIC" }, undefined, undefined],
    ["and that shows this number, under any name", { plan: "Pro", plan_id: 11 }, undefined, undefined],
    ["and that shows a name of no plan", { plan: "Hosting B (monthly)" }, undefined, undefined],
    ["and that shows nothing of its plan", { plan: null }, undefined, undefined],
    ["and that shows the name of another plan", { plan: "Pro" }, undefined, 12],
    ["and that shows a longer name, which is that of another plan", { plan: "Basic Plus" }, "Basic", 15],
    ["and that shows a name of two other plans", { plan: "Team" }, undefined, null],
    ["and that shows another number", { plan: null, plan_id: 12 }, undefined, 12],
    ["and that shows another number than its name has", { plan: "Basic", plan_id: 12 }, undefined, 12],
    ["and whose earlier name became one of no plan", { plan: "Corporate" }, "Basic", null],
    ["and whose earlier name became longer", { plan: "Basic (active)" }, "Basic", undefined],
    ["and whose own name changed to that of the plan", { plan: "Basic" }, "Hosting B", undefined],
    ["and whose own name changed to that of another plan", { plan: "Pro" }, "Hosting B", 12],
  ])("%s has another plan only if the plan is certain", (_, live, earlier, is) => {
    const sold = soldAs(service, { number: 11, name: earlier }, live, PLANS);
    expect(sold.forms.plan_id?.is).toEqual(is);
    if (is !== undefined) expect(sold.forms).toMatchObject({ plan_id: { sent: 11, is }, plan: { is: live.plan } });
    if (typeof is === "number") expect(sold.live.plan_id).toBe(is);
  });

  it("has no other plan if the list of hosting plans is unknown, or lacks the ordered plan", () => {
    for (const plans of [[], [{ plan_id: 12, name: "Pro" }] as never])
      expect(soldAs(service, { number: 11 }, { plan: "Pro" }, plans).forms).toEqual({});
  });
});

describe("a read of a recorded service", () => {
  /** @param plans Hosting plans that another order of the same run has already read. */
  async function look(
    was: JsonObject,
    now: JsonObject,
    {
      mark = {},
      isRead = false,
      plans = PLANS,
    }: { mark?: PrivateMark; isRead?: boolean; plans?: never | "refused" } = {},
  ) {
    const fake = fakeAccount(service, remote({ ...liveService, ...now }));
    fake.plans = plans;
    if (isRead) await fake.account.knownPlans();
    const plansRead = vi.spyOn(fake.account, "plans");
    const prior = recorded("hosting_service.a", { ...liveService, plan_id: 11, ...was }, { private: mark });
    const seen = await read(fake.account, { kind: fake.kind, prior, config: undefined });
    if (seen.status !== "present") throw new Error(seen.status);
    const { plan_id: number, plan: name } = seen.attributes;
    return { number, name, form: seen.forms?.plan_id, reads: plansRead.mock.calls.length };
  }
  const other: PrivateMark = {
    shown: {
      plan_id: { sent: 11, is: 12, times: 1 },
      plan: { sent: "Basic", is: "Pro", times: 1 },
    },
  };

  it("reads the list of hosting plans only if the name has changed", async () => {
    const same = await look({ plan: "Basic" }, { plan: "Basic" });
    expect(same).toEqual({ number: 11, name: "Basic", form: undefined, reads: 0 });
    const changed = await look({ plan: "Basic" }, { plan: "Pro" });
    expect(changed).toMatchObject({ number: 12, name: "Pro", form: { sent: 11, is: 12 }, reads: 1 });
  });

  it("keeps an earlier finding, even if the host no longer returns a name, and drops it when the plan is the ordered one", async () => {
    for (const plan of ["Pro", null]) {
      const kept = await look({ plan: "Pro", plan_id: 11 }, { plan }, { mark: other });
      expect(kept).toMatchObject({ number: 12, name: "Pro", form: { sent: 11, is: 12 }, reads: 0 });
    }
    const back = await look({ plan: "Pro", plan_id: 12 }, { plan: "Basic" }, { mark: other });
    expect(back).toMatchObject({ number: 11, name: "Basic", form: undefined });
    const third = await look({ plan: "Pro", plan_id: 12 }, { plan: "Basic Plus" }, { mark: other });
    expect(third).toMatchObject({ number: 15, form: { sent: 11, is: 15 } });
  });

  it("uses a list of hosting plans that is read anyway for a service of an earlier version", async () => {
    expect(await look({ plan: "Pro" }, { plan: "Pro" })).toMatchObject({ number: 11, form: undefined, reads: 0 });
    const noticed = await look({ plan: "Pro" }, { plan: "Pro" }, { isRead: true });
    expect(noticed).toMatchObject({ number: 12, form: { sent: 11, is: 12 } });
  });

  it("counts another name as another hosting plan if the token may not read the list", async () => {
    const changed = await look({ plan: "Basic" }, { plan: "Pro" }, { plans: "refused" });
    expect(changed).toMatchObject({ number: 11, name: "Pro", form: { sent: 11, is: null } });
  });
});
