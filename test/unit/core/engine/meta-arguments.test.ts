import { describe, expect, it } from "vitest";
import { kindsOf, type PlanOptions, plan } from "../../../../src/core/engine/index.ts";
import { removedErrors } from "../../../../src/core/engine/meta-arguments.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Observation } from "../../../../src/core/lifecycle/index.ts";
import type { Desired, DesiredResource, JsonObject, State } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import {
  complete,
  declared,
  desiredOf,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  recorded,
  stateOf,
} from "../../../support/subjects.ts";

const HOOK = "hosting_webhook.billing";
const WWW = "hosting_service.www";
const GRANT = "hosting_grant.dev";

function planOf(desired: Desired, state: State, over: Partial<PlanOptions> = {}) {
  const observations = new Map<string, Observation>(
    [...state.resources.values()].map(({ address, attributes }) => [
      address,
      { status: "present", attributes, phase: "live" },
    ]),
  );
  for (const { address } of desired.resources)
    if (!observations.has(address)) observations.set(address, { status: "absent", matches: [] });
  const observed = { observations, plans: new Map() };
  return plan({
    desired,
    state,
    observed,
    kinds,
    env: {},
    mode: "apply",
    reorder: new Set(),
    now: START,
    readRequests: 0,
    ...over,
  });
}

const hookState = stateOf(recorded(HOOK, complete(kindOf("hosting_webhook"), liveWebhook)));
const serviceState = (policy: string) =>
  stateOf(recorded(WWW, { ...liveService, plan_id: 11, deletion_policy: policy }));
const hook = (config: JsonObject, lifecycle: NonNullable<DesiredResource["lifecycle"]>) =>
  declared(HOOK, { url: "https://hooks.acme.example", events: ["invoice.paid"], ...config }, { lifecycle });

const PROTECTED = { resource: HOOK };

describe("prevent_destroy", () => {
  it("rejects a replacement", () => {
    const made = planOf(
      { ...desiredOf(hook({ events: ["invoice.created"] }, {})), preventDestroy: [PROTECTED] },
      hookState,
    );
    expect(made.diagnostics).toMatchObject([{ severity: "error", code: "plan.prevented", address: HOOK }]);
  });

  it("rejects a destroy, and the removal of an instance whose block still exists", () => {
    const none = { ...desiredOf(), preventDestroy: [PROTECTED] };
    expect(planOf(none, hookState, { mode: "destroy" }).diagnostics).toMatchObject([{ code: "plan.prevented" }]);
    const instance = stateOf(recorded("hosting_webhook.billing[1]", liveWebhook));
    expect(planOf(none, instance).diagnostics).toMatchObject([{ code: "plan.prevented" }]);
  });

  // By their deletion policies alone, the service would stay, and the grants and webhooks would be deleted.
  it("rejects a destroy of a resource that its policy would keep", () => {
    const none = { ...desiredOf(), preventDestroy: [{ resource: WWW }] };
    expect(planOf(none, serviceState("prevent"), { mode: "destroy" }).diagnostics).toEqual([
      expect.objectContaining({ severity: "error", summary: expect.stringContaining("prevent_destroy") }),
    ]);
  });

  it("ignores resources that stay, change in place, or no longer exist", () => {
    const same = planOf({ ...desiredOf(hook({}, {})), preventDestroy: [PROTECTED] }, hookState);
    expect(same.diagnostics).toEqual([]);
    const gone = new Map<string, Observation>([[HOOK, { status: "gone", how: "no longer exists", matches: [] }]]);
    const none = { ...desiredOf(), preventDestroy: [{ resource: HOOK }] };
    expect(planOf(none, hookState, { observed: { observations: gone, plans: new Map() } }).diagnostics).toEqual([]);
  });
});

describe("ignore_changes", () => {
  it("treats the live value as the declared value", () => {
    const one = hook({ events: ["invoice.created"] }, { ignoreChanges: ["events"] });
    expect(planOf(desiredOf(one), hookState).changes).toMatchObject([{ actions: ["no-op"] }]);
    const all = hook({ events: ["invoice.created"], url: "https://other.example" }, { ignoreChanges: "all" });
    expect(planOf(desiredOf(all), hookState).changes).toMatchObject([{ actions: ["no-op"] }]);
  });

  it("does not apply to other attributes, nor to a create", () => {
    const one = hook({ url: "https://other.example" }, { ignoreChanges: ["events"] });
    expect(planOf(desiredOf(one), hookState).changes).toMatchObject([{ actions: ["create", "delete"] }]);
    const made = planOf(desiredOf(hook({}, { ignoreChanges: "all" })), stateOf());
    expect(made.changes).toMatchObject([{ actions: ["create"], after: { events: ["invoice.paid"] } }]);
  });

  // An agency suspends sites outside hostform. The initial value of `suspended` must not change a live site.
  it("leaves a suspended site suspended", () => {
    const suspended = stateOf(
      recorded(WWW, { ...liveService, plan_id: 11, deletion_policy: "prevent", suspended: true, status: "suspended" }),
    );
    const config = { plan_id: 11, currency: "USD", domain: "www.acme.example", suspended: false };
    const kept = declared(WWW, config, { lifecycle: { ignoreChanges: ["suspended"] } });
    expect(planOf(desiredOf(kept), suspended).changes).toMatchObject([{ actions: ["no-op"] }]);
  });
});

it("create_before_destroy causes an error for a kind whose objects cannot coexist", () => {
  const config = { service_id: "1001", email: "dev@acme.example", permission: "manage" };
  const grant = declared(GRANT, config, { lifecycle: { createBeforeDestroy: true } });
  const made = planOf(desiredOf(grant), stateOf(recorded(GRANT, liveGrant)));
  expect(made.changes).toMatchObject([{ actions: ["delete", "create"] }]);
  expect(made.diagnostics).toMatchObject([{ severity: "warning", code: "config.unsupported", address: GRANT }]);
});

describe("removed", () => {
  it("removes a resource from the state without a request if the block keeps the object, whatever the policy", () => {
    const desired = { ...desiredOf(), removed: [{ from: WWW, destroy: false }] };
    for (const policy of ["prevent", "suspend", "forget"]) {
      const { changes, diagnostics } = planOf(desired, serviceState(policy));
      expect(changes).toMatchObject([{ address: WWW, actions: ["forget"], removal: "forget", requests: 0 }]);
      expect(diagnostics).toEqual([]);
    }
    expect(planOf({ ...desired, removed: [{ from: HOOK, destroy: false }] }, hookState).changes).toMatchObject([
      { actions: ["forget"] },
    ]);
  });

  it("otherwise follows the policy", () => {
    const desired = { ...desiredOf(), removed: [{ from: WWW, destroy: true }] };
    expect(planOf(desired, serviceState("prevent")).diagnostics).toMatchObject([{ code: "plan.prevented" }]);
  });

  it("prefers a block that names an instance", () => {
    const grant = recorded('hosting_grant.www["dev@acme.example"]', liveGrant);
    const removed = [
      { from: "hosting_grant.www", destroy: false },
      { from: grant.address, destroy: true },
    ];
    expect(planOf({ ...desiredOf(), removed }, stateOf(grant)).changes).toMatchObject([{ actions: ["delete"] }]);
  });

  it("is an error beside the declared resource", () => {
    const desired = { ...desiredOf(hook({}, {})), removed: [{ from: HOOK, destroy: false }] };
    expect(removedErrors(desired)).toMatchObject([{ severity: "error", address: HOOK }]);
  });
});

it("an order is named by its address, or by its domain if the address is unknown", () => {
  const named = (by: "address" | "domain") =>
    kindsOf({ ordersNamedBy: by }, kinds).get("hosting_service")?.orderReference?.({ domain: "www.acme.example" });
  expect(named("address")).toBeUndefined();
  expect(named("domain")).toBe("www.acme.example");
});

describe("an order with an unknown address", () => {
  const order = (config: JsonObject, project: string) =>
    planOf(
      { ...desiredOf(declared(WWW, { plan_id: 31, currency: "USD", ...config })), project, ordersNamedBy: "domain" },
      stateOf(),
    );

  it("requires a project and its own name", () => {
    expect(order({}, "").diagnostics.map(({ code }) => code)).toEqual(["terraform.project", "terraform.reference"]);
    expect(order({ domain: "www.acme.example" }, "acme").diagnostics).toEqual([]);
    expect(order({ reference: "vps-1" }, "acme").diagnostics).toEqual([]);
  });

  it("requires neither if it was placed before", () => {
    const desired = { ...desiredOf(declared(WWW, { plan_id: 11, currency: "USD" })), project: "" };
    expect(planOf({ ...desired, ordersNamedBy: "domain" }, serviceState("prevent")).diagnostics).toEqual([]);
  });
});
