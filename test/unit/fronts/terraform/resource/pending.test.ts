// The legs of a pending create's replacement, and the entry that connects them.
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../../../src/core/local/index.ts";
import type { Intent, JsonObject } from "../../../../../src/core/model/index.ts";
import type { Entry } from "../../../../../src/fronts/terraform/entries.ts";
import { applyResource } from "../../../../../src/fronts/terraform/resource/apply.ts";
import type { Mark } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { planDeclared } from "../../../../../src/fronts/terraform/resource/plan.ts";
import { readResource } from "../../../../../src/fronts/terraform/resource/read.ts";
import { destroyResource } from "../../../../../src/fronts/terraform/resource/remove.ts";
import { START, testClock } from "../../../../support/clock.ts";
import { complete, kindOf, liveWebhook, recorded, remote } from "../../../../support/subjects.ts";
import { HOOK, hookMade, lost, pendingOf } from "./apply-cases.ts";
import { asHeld, codesOf, type FakeScope, fakeScope, memoryEntries, type Options, refusalOf } from "./fake-scope.ts";

const TYPE = "hosting_webhook";
const NAME = String(kindOf(TYPE).naturalKey(HOOK));
const OTHER = { ...HOOK, url: "https://other.acme.example" };
const PENDING: Intent = { ...pendingOf("createWebhook"), id: "intent-1", knowsAll: true };
const MARK: Mark = { host: "here", pending: PENDING };

const entryOf = (config: JsonObject, more: Partial<Entry> = {}): Entry => ({
  ...recorded(`${TYPE}.a`, complete(kindOf(TYPE), { ...config, id: null })),
  private: { pending: PENDING },
  place: "this folder",
  ...more,
});

async function place(options: Options = {}, entries: Readonly<Record<string, Entry>> = {}) {
  const scope = fakeScope(TYPE, options);
  for (const [name, entry] of Object.entries(entries)) await scope.entries.put(TYPE, name, entry);
  const prior = asHeld(scope.kind, { ...HOOK, id: null });
  const config = asHeld(scope.kind, HOOK);
  return { ...scope, prior, config };
}

async function createLeg({ kind, front, config }: FakeScope & { readonly config: JsonObject }) {
  const { planned, mark, diagnostics } = await planDeclared(kind, { prior: null, config, mark: {} }, front);
  return {
    said: codesOf(diagnostics),
    answer: await applyResource(kind, { prior: null, planned, config, mark }, front),
  };
}

describe("the refresh of a pending instance", () => {
  it("writes its intent into the store, adopts nothing, and keeps the state", async () => {
    const { kind, front, prior, entries } = await place({ objects: [remote({ ...liveWebhook, secret: "whsec_1" })] });
    expect(await readResource(kind, prior, MARK, front)).toEqual({ state: prior, mark: MARK, diagnostics: [] });
    expect(await entries.get(TYPE, NAME)).toMatchObject({ inState: true, place: "this folder", private: MARK });
  });

  it("is an error if the request was sent to another host", async () => {
    const { kind, front, prior, entries } = await place();
    const refusal = await refusalOf(readResource(kind, prior, { ...MARK, host: "elsewhere" }, front));
    expect(refusal.code).toBe("state.stranger");
    expect(await entries.get(TYPE, NAME)).toBeUndefined();
  });

  it("adopts the entry of a state that has moved, and keeps the entry of another state", async () => {
    for (const [id, expected] of [
      ["intent-1", "this folder"],
      ["intent-2", "elsewhere"],
    ] as const) {
      const entry = entryOf(HOOK, { place: "elsewhere", private: { pending: { ...PENDING, id } } });
      const { kind, front, prior, entries } = await place({}, { [NAME]: entry });
      await readResource(kind, prior, MARK, front);
      expect(await entries.get(TYPE, NAME)).toMatchObject({ place: expected });
    }
  });

  it("drops an instance that hostform resolve settled as absent, and the next create is sent", async () => {
    const resolved = { [NAME]: entryOf(HOOK, { resolved: "absent" }) };
    const scope = await place({ answer: hookMade }, resolved);
    expect((await readResource(scope.kind, scope.prior, MARK, scope.front)).state).toBeNull();
    const { said, answer } = await createLeg(scope);
    expect(said).toEqual([]);
    expect(answer.state).toMatchObject({ id: "201" });
  });
});

describe("the destroy leg of a pending instance", () => {
  it("sends nothing, and gives the store the intent of the plan", async () => {
    const { kind, front, prior, entries, sent } = await place();
    expect(await destroyResource(kind, prior, { settles: { name: NAME, mark: MARK } }, front)).toEqual({
      diagnostics: [],
    });
    expect(sent).toEqual([]);
    expect(await entries.get(TYPE, NAME)).toMatchObject({ private: MARK });
  });

  it("is an error if neither the plan nor the store has the intent", async () => {
    const { kind, front, prior } = await place();
    expect(codesOf([await refusalOf(destroyResource(kind, prior, {}, front))])).toEqual(["error plan.pending"]);
  });

  it("removes the create if the declaration has another natural key", async () => {
    const created = { ...liveWebhook, id: "201", created_at: new Date(START - 3_599_000).toISOString() };
    const scope = await place({ objects: [remote(created)], answer: () => ({}) }, { [NAME]: entryOf(HOOK) });
    await destroyResource(scope.kind, scope.prior, {}, scope.front);
    expect(scope.sent.map(({ endpoint }) => endpoint)).toEqual(["deleteWebhook"]);
    expect(await scope.entries.get(TYPE, NAME)).toBeUndefined();
  });
});

describe("the deposed instance of a create that create_before_destroy settled", () => {
  it("deletes nothing after a kill: the live instance has the object", async () => {
    const made = remote({ ...liveWebhook, id: "201", created_at: new Date(START - 3_599_000).toISOString() });
    const clock = testClock();
    const shared = { answer: hookMade, objects: [made], store: new MemoryStore({ clock }) };
    const create = await place(shared, { [NAME]: entryOf(HOOK) });
    create.front.holdings.made(create.kind, { ...made.attributes, id: "201" }, "intent-1");
    create.front.holdings.add(create.kind, { ...made.attributes, id: "201" }, {});
    await create.front.holdings.flush();
    await clock.sleep(1_000);
    const session = { entries: memoryEntries() };
    const plan = await place({ ...shared, session });
    await readResource(plan.kind, asHeld(plan.kind, { ...made.attributes, id: "201" }), { host: "here" }, plan.front);
    await plan.front.holdings.end();
    const apply = await place({ ...shared, session });
    expect(await destroyResource(apply.kind, apply.prior, MARK, apply.front)).toEqual({ diagnostics: [] });
    expect(apply.sent).toEqual([]);
  });
});

describe("the create leg of a pending instance", () => {
  it("answers no state if the instance only stepped aside: Terraform puts it back", async () => {
    const { answer } = await createLeg(await place({ answer: lost }, { [NAME]: entryOf(HOOK, { inState: true }) }));
    expect(answer).toMatchObject({ state: null, mark: {} });
  });

  it("answers the marked instance again if another process ran the destroy leg and was killed", async () => {
    const session = { entries: memoryEntries() };
    const killed = await place({ session });
    await readResource(killed.kind, killed.prior, MARK, killed.front);
    await destroyResource(killed.kind, killed.prior, { settles: { name: NAME, mark: MARK } }, killed.front);
    const { answer } = await createLeg(await place({ session, answer: lost }));
    expect(answer).toMatchObject({ state: { url: HOOK.url }, mark: { pending: { id: "intent-1" } } });
  });

  it("takes no object for its own that the store has under another name", async () => {
    const made = entryOf(OTHER, { attributes: { ...OTHER, id: "202" }, private: {} });
    const objects = [remote({ ...liveWebhook, ...OTHER, id: "202" })];
    const scope = await place({ objects, answer: hookMade }, { [NAME]: entryOf(HOOK), other: made });
    const { answer } = await createLeg(scope);
    expect(answer.state).toMatchObject({ id: "201" });
  });
});

describe("the object of a recorded instance", () => {
  it("is no candidate in a process that is not shown the instance, when its entry is removed", async () => {
    const live = { ...liveWebhook, ...OTHER, id: "202", secret: "whsec_2" };
    const made = entryOf(OTHER, { attributes: complete(kindOf(TYPE), live), private: {} });
    const name = String(kindOf(TYPE).naturalKey(OTHER));
    const shared = { objects: [remote(live)], answer: hookMade, store: new MemoryStore() };
    const scope = await place(shared, { [NAME]: entryOf(HOOK), [name]: made });
    await readResource(scope.kind, asHeld(scope.kind, live), { host: "here" }, scope.front);
    await scope.front.holdings.flush();
    expect(await scope.entries.get(TYPE, name)).toBeUndefined();
    // Another process applies, and does not receive the instance.
    const apply = await place({ ...shared, session: { entries: scope.entries } });
    expect((await createLeg(apply)).answer.state).toMatchObject({ id: "201" });
  });
});
