// A pending create through the whole provider: refresh, plan, apply and destroy decide the same.
import { describe, expect, it } from "vitest";
import type { Intent, JsonObject } from "../../../../../src/core/model/index.ts";
import { privateMark } from "../../../../../src/core/record/instance.ts";
import { applyResource } from "../../../../../src/fronts/terraform/resource/apply.ts";
import { decodeMark, encodeMark } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { planDeclared } from "../../../../../src/fronts/terraform/resource/plan.ts";
import { readResource } from "../../../../../src/fronts/terraform/resource/read.ts";
import { planDestroy } from "../../../../../src/fronts/terraform/resource/remove.ts";
import { START } from "../../../../support/clock.ts";
import { complete, failure, kindOf, liveWebhook, recorded, remote } from "../../../../support/subjects.ts";
import { ask, HOOK, LONG_AGO, pendingOf } from "./apply-cases.ts";
import { asHeld, fakeScope, type Options } from "./fake-scope.ts";

const SECRET = { ...HOOK, secret: "whsec_1" };
const PENDING: Intent = { ...pendingOf("createWebhook"), knowsAll: true };
const at = new Date(START - 3_599_000).toISOString();
const hook = (id: string, over: JsonObject = {}) => remote({ ...liveWebhook, id, created_at: at, ...over });

const codes = (found: readonly { readonly severity: string; readonly code: string }[]) =>
  found.map(({ severity, code }) => `${severity} ${code}`);

/** A state with a pending webhook, and the steps of Terraform on it. */
function pendingHook(attributes: JsonObject, options: Options, pending = PENDING) {
  const place = fakeScope("hosting_webhook", options);
  const { kind, front, fake } = place;
  const prior = asHeld(kind, { ...complete(kind, attributes), id: null });
  const config = asHeld(kind, HOOK);
  const mark = { pending };
  const plan = () => planDeclared(kind, { prior, config, mark }, front);
  return {
    ...place,
    refresh: () => readResource(kind, prior, mark, front),
    plan,
    destroy: () => planDestroy(kind, prior, mark, front),
    async apply(meanwhile: () => void = () => undefined) {
      const { planned } = await plan();
      meanwhile();
      fake.account.refresh();
      return applyResource(kind, { prior, planned, config, mark }, front);
    },
  };
}

describe("a pending webhook whose secret an answer contained", () => {
  it("is not created if the adopted object is gone by the apply: the state would keep the planned id", async () => {
    const one = pendingHook(SECRET, { objects: [hook("201")] });
    const { state, diagnostics } = await one.apply(() => one.fake.objects.delete("201"));
    expect(one.sent).toEqual([]);
    expect(state).toMatchObject({ id: null });
    expect(codes(diagnostics)).toEqual(["error plan.pending"]);
  });
});

describe("the removal of a pending webhook", () => {
  it.each<[string, Intent, JsonObject[]]>([
    ["that the API accepted and no list shows", { ...PENDING, accepted: true }, []],
    ["that the host lists under another URL", PENDING, [{ url: "https://hooks.acme.example/v2" }]],
  ])("%s is refused", async (_, pending, others) => {
    const objects = others.map((over) => hook("201", over));
    const { destroy } = pendingHook(HOOK, { objects }, pending);
    await expect(destroy()).rejects.toMatchObject({ diagnostics: [{ severity: "error", code: "plan.pending" }] });
  });
});

describe("a create that an interrupted run began with other attributes", () => {
  it("is finished first: the declaration of now is refused", async () => {
    const config = { service_id: "1001", email: "dev@acme.example", permission: "manage" };
    const attributes = complete(kindOf("hosting_grant"), { ...config, permission: "view", id: null });
    const pending: Intent = { ...pendingOf("createGrant"), since: LONG_AGO };
    const { answer, sent } = await ask("hosting_grant", config, {
      note: {
        name: "1001 dev@acme.example",
        note: { ...recorded("hosting_grant.a", attributes), private: { pending } },
      },
    }).catch((error: unknown) => ({ answer: error, sent: [] }));
    expect(sent).toEqual([]);
    expect(answer).toMatchObject({ diagnostics: [{ code: "plan.exists" }] });
  });
});

describe("a pending create of a state that moves between YAML and Terraform", () => {
  it.each<[string, () => never, object]>([
    [
      "whose answer is lost again",
      () => {
        throw failure("maybe");
      },
      { resent: expect.any(String) },
    ],
    [
      "which does not leave",
      () => {
        throw failure("no");
      },
      {},
    ],
  ])("%s keeps its id and what an earlier version reads", async (_, answer, more) => {
    // The state passes through its text in both directions, as in hostform's own state.
    const given = { ...PENDING, id: "intent-1", since: LONG_AGO, known: ["150"] };
    const { pending } = decodeMark(Buffer.from(JSON.stringify({ pending: given })));
    const { state, mark } = await pendingHook(HOOK, { answer }, pending).apply();
    expect(state).toMatchObject({ id: null });
    const read = privateMark.parse(JSON.parse(Buffer.from(encodeMark(mark)).toString()));
    expect(read.pending).toMatchObject({ ...given, ...more });
  });
});
