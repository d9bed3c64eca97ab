import { describe, expect, it } from "vitest";
import { type Diagnostic, HostformError, type JsonObject } from "../../../../../src/core/model/index.ts";
import { type Mark, nameOf } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { GONE } from "../../../../../src/fronts/terraform/resource/read.ts";
import { destroyResource, planDestroy } from "../../../../../src/fronts/terraform/resource/remove.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { liveGrant, liveService, liveWebhook, recorded, remote } from "../../../../support/subjects.ts";
import { pendingOf } from "./apply-cases.ts";
import { asHeld, codesOf, fakeScope, type Options, refusalOf } from "./fake-scope.ts";

const SERVICE = { ...liveService, plan_id: 11, deletion_policy: "forget" };
const PENDING = { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } };

const held = (type: string, attributes: JsonObject, options: Options = {}) => {
  const place = fakeScope(type, options);
  return { ...place, prior: asHeld(place.kind, attributes) };
};

/** Returns the diagnostics of a plan, including those of a rejected destroy. */
async function saidBy(work: Promise<{ readonly diagnostics: readonly Diagnostic[] }>): Promise<readonly Diagnostic[]> {
  try {
    return (await work).diagnostics;
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  }
}

describe("the plan of a destroy", () => {
  const GET = ["get 1001"];
  it.each([
    // The object may belong to another account now: the destroy forgets it.
    ["prevent", "live", ["error plan.prevented"], ["list"]],
    [null, "live", ["error plan.prevented"], ["list"]],
    ["forget", "live", ["warning plan.stays"], []],
    ["suspend", "live", ["warning plan.offline"], []],
    ["suspend", "suspended", ["warning plan.stays"], []],
    // Terraform has not refreshed an instance whose removal it plans.
    ["suspend", "pending", ["error plan.prevented"], [...GET, "list"]],
    ["suspend", "a word that nobody knows", ["error plan.prevented"], [...GET, "list"]],
    // A status proves the end of an object; a 404 does not.
    ["prevent", "terminated", [], []],
    ["prevent", GONE, ["error plan.prevented"], [...GET, "list"]],
    ["forget", GONE, [], []],
  ] as const)("under deletion_policy %j of what is %s says %j after %j", async (policy, status, says, asked) => {
    const attributes = {
      ...SERVICE,
      deletion_policy: policy,
      status: status === "live" ? "active" : status,
      suspended: status === "suspended",
    };
    const phase = status === "pending" ? "pending" : "unknown";
    const objects = status === GONE ? [] : [remote({ ...liveService, status }, phase)];
    const { kind, front, prior, fake, sent } = held("hosting_service", attributes, { objects });
    expect(codesOf(await saidBy(planDestroy(kind, prior, {}, front)))).toEqual(says);
    expect({ asked: fake.asked, sent }).toEqual({ asked, sent: [] });
  });

  it.each([
    ["forget", "service 1001 (www.acme.example) stays in the account, and the host still bills it"],
    ["suspend", "The apply suspends service 1001 (www.acme.example), and the service goes offline"],
  ])("under deletion_policy %s warns, in the plan and in the apply: %s", async (policy, summary) => {
    const attributes = { ...SERVICE, deletion_policy: policy };
    const suspended = remote({ ...liveService, status: "suspended", suspended: true }, "suspended");
    const { kind, front, prior } = held("hosting_service", attributes, { objects: [suspended], answer: () => ({}) });
    expect((await planDestroy(kind, prior, {}, front)).diagnostics).toMatchObject([{ severity: "warning", summary }]);
    expect((await destroyResource(kind, prior, {}, front)).diagnostics).toMatchObject([
      { severity: "warning", summary },
    ]);
  });

  it("of an unpaid object reports that it stays, and mentions no money", async () => {
    const { kind, front, prior } = held("hosting_client_account", {
      id: "401",
      name: "Acme",
      deletion_policy: "forget",
    });
    const { diagnostics } = await planDestroy(kind, prior, {}, front);
    expect(diagnostics.map(({ summary }) => summary)).toEqual(["client account 401 (Acme) stays in the account"]);
  });

  it("of what has no id and no word of why is refused: a request of it may be out", async () => {
    const { kind, front, prior } = held("hosting_service", { ...SERVICE, id: null });
    const refusal = await refusalOf(planDestroy(kind, prior, {}, front));
    expect(codesOf([refusal])).toEqual(["error plan.pending"]);
    expect(fixOf(refusal)).not.toContain("hostform");
  });

  it("of a pending create is refused where nothing shows what became of it", async () => {
    const { kind, front, prior } = held("hosting_domain", {
      id: null,
      domain: "acme.example",
      deletion_policy: "forget",
    });
    expect(codesOf([await refusalOf(planDestroy(kind, prior, PENDING, front))])).toEqual(["error plan.pending"]);
  });
});

describe("a destroy", () => {
  it.each([
    ["forget", []],
    ["suspend", ["suspendService"]],
  ])("by deletion_policy %s sends %j", async (policy, expected) => {
    const waiting = { ...SERVICE, deletion_policy: policy, timeouts: { delete: "0s" } };
    const { kind, front, prior, sent } = held("hosting_service", waiting, { answer: () => ({}) });
    const outcome = destroyResource(kind, prior, {}, front);
    // The object stays in the state until the suspension job is complete.
    const { diagnostics, left } = await outcome;
    expect(codesOf(diagnostics)).toEqual(policy === "suspend" ? ["error apply.waiting"] : ["warning plan.stays"]);
    expect(left?.mark.job?.toward).toBe(policy === "suspend" ? "suspended" : undefined);
    expect(left?.state.timeouts).toEqual(policy === "suspend" ? { delete: "0s" } : undefined);
    expect(sent.map(({ endpoint }) => endpoint)).toEqual(expected);
  });

  it.each(["hosting_grant", "hosting_service"])("of a %s does nothing on an id of another host", async (type) => {
    const attributes = type === "hosting_grant" ? liveGrant : { ...SERVICE, deletion_policy: "suspend" };
    const { kind, front, prior, sent } = held(type, attributes);
    const mark = { host: "another" };
    expect(await refusalOf(destroyResource(kind, prior, mark, front))).toMatchObject({ code: "state.stranger" });
    expect(sent).toEqual([]);
  });

  it.each([
    ["of this host", { host: "here" }],
    ["of before hosts were noted", {}],
  ])("of an object %s continues", async (_, mark) => {
    const { kind, front, prior, sent } = held("hosting_grant", liveGrant, { answer: () => null });
    expect(await destroyResource(kind, prior, mark, front)).toEqual({ diagnostics: [] });
    expect(sent.map(({ endpoint, params }) => ({ endpoint, params }))).toEqual([
      { endpoint: "revokeGrant", params: { id: "1001", grantId: "301" } },
    ]);
  });

  it("releases the name for the create of a replacement", async () => {
    const { kind, front, prior } = held("hosting_service", SERVICE);
    const claim = (label: string) => front.claim({ label }, kind, "www.acme.example", SERVICE);
    claim("the old one");
    expect(claim("the new one")).toBe("the old one");
    await destroyResource(kind, prior, {}, front);
    expect(claim("the new one")).toBeUndefined();
    expect(front.isReleased(kind, { id: "1001" })).toBe(true);
  });
});

describe("a suspension before Terraform lets go", () => {
  const attributes = { ...SERVICE, deletion_policy: "suspend", timeouts: { delete: "1m" } };
  const mark: Mark = { host: "here", made: "www.acme.example", attempt: pendingOf("suspendService") };

  it.each([
    ["is not done in time", "active", "live", "apply.waiting"],
    ["ends with a status that is not understood", "PARKED", "unknown", "plan.unknown_status"],
  ] as const)("that %s is an error, and the service stays in the state with its marks", async (...one) => {
    const [, status, phase, code] = one;
    const objects = [remote({ ...liveService, status }, phase)];
    const { kind, front, prior, entries } = held("hosting_service", attributes, { objects, answer: () => ({}) });
    const { diagnostics, left } = await destroyResource(kind, prior, mark, front);
    expect(codesOf(diagnostics)).toEqual([`error ${code}`]);
    expect(left?.state).toMatchObject({ id: "1001", timeouts: { delete: "1m" }, deletion_policy: "suspend" });
    const job = expect.objectContaining({ toward: "suspended", before: "active" });
    const suspended = expect.objectContaining({ declared: true });
    expect(left?.mark).toEqual({ host: "here", made: "www.acme.example", job, suspended });
    expect(await entries.get("hosting_service", "www.acme.example"), "nothing was created").toBeUndefined();
  });
});

it("the removal of the old object leaves the entry of the new one, which Terraform has not recorded yet", async () => {
  const { kind, front, prior, entries } = held("hosting_webhook", liveWebhook, { answer: () => null });
  const created = { ...recorded("hosting_webhook.x", { ...liveWebhook, id: "202" }), place: "this folder" };
  const name = String(nameOf(kind, liveWebhook));
  await entries.put(kind.type, name, created);
  await destroyResource(kind, prior, { host: "here" }, front);
  expect(await entries.get(kind.type, name)).toEqual(created);
});

it("after a destroy the store has no entry of the object, and data sources list its collection again", async () => {
  const { kind, front, prior, fake, entries } = held("hosting_grant", liveGrant, { answer: () => null });
  const name = "1001 dev@acme.example";
  await entries.put(kind.type, name, { ...recorded("hosting_grant.x", liveGrant), place: "this folder" });
  await front.account.list(kind, "1001");
  await destroyResource(kind, prior, { host: "here" }, front);
  front.collections.upToDate(kind, "1001");
  await front.account.list(kind, "1001");
  expect(fake.asked).toEqual(["list 1001", "list 1001"]);
  expect(await entries.get(kind.type, name)).toBeUndefined();
});
