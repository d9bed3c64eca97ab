// Creates of Terraform: sent once, whatever the result of an earlier request was, and only if this state owns the create.
import { describe, expect, it } from "vitest";
import type { Reader } from "../../../../../src/core/api/index.ts";
import { Account } from "../../../../../src/core/lifecycle/index.ts";
import { MemoryStore, MemoryTables } from "../../../../../src/core/local/index.ts";
import type { JsonObject } from "../../../../../src/core/model/index.ts";
import { readResource } from "../../../../../src/fronts/terraform/resource/read.ts";
import { noteReplacing, replacesOf } from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { accountElsewhere } from "../../../../support/changes.ts";
import { START } from "../../../../support/clock.ts";
import { complete, kindOf, liveGrant, liveService, recorded, remote } from "../../../../support/subjects.ts";
import {
  type Asked,
  answering,
  ask,
  DOMAIN,
  HOOK,
  hookMade,
  LONG_AGO,
  lost,
  ORDER,
  ordered,
  pendingOf,
  refused,
} from "./apply-cases.ts";
import { codesOf, memoryEntries } from "./fake-scope.ts";

const LIVE = { ...liveService, plan_id: 11 };
const SERVER = { plan_id: 11, currency: "USD", reference: "db" };
const HOOK_NAME = "https://hooks.acme.example/ invoice.paid";

describe("an order", () => {
  it.each<[string, JsonObject, Asked, string[]]>([
    ["has no project", ORDER, { session: { project: undefined } }, ["error terraform.project"]],
    ["has no name", { plan_id: 11, currency: "USD" }, {}, ["error terraform.reference"]],
    [
      "has neither",
      { plan_id: 11, currency: "USD" },
      { session: { project: undefined } },
      ["error terraform.project", "error terraform.reference"],
    ],
    [
      "was placed for another state",
      ORDER,
      {
        objects: [remote(LIVE)],
        note: { name: ORDER.domain, note: { attributes: LIVE, place: "another folder" } },
      },
      ["error plan.exists"],
    ],
    ["is that of a service that is there", ORDER, { objects: [remote(LIVE)] }, ["error plan.exists"]],
    [
      "is answered with a server that was there before",
      SERVER,
      {
        objects: [remote({ ...LIVE, domain: null })],
        answer: ordered("active", { domain: null, created_at: LONG_AGO }),
      },
      ["error plan.exists"],
    ],
  ])("that %s is an error, and the state contains no object", async (_, config, asked, said) => {
    const { answer, sent, entries } = await ask("hosting_service", config, asked);
    expect(codesOf(answer.diagnostics)).toEqual(said);
    expect(answer).toMatchObject({ state: null, mark: {} });
    expect(sent).toEqual(asked.answer === undefined ? [] : ["createService"]);
    if (asked.note === undefined) expect(await entries.get("hosting_service", "db")).toBeUndefined();
  });

  it("of a server that resembles another server is placed, because its name differs", async () => {
    const other = remote({ ...LIVE, id: "900", domain: null });
    const { answer, sent } = await ask("hosting_service", SERVER, {
      objects: [other],
      answer: ordered("active", { domain: null }),
    });
    expect(answer.state).toMatchObject({ id: "1001", reference: "db" });
    expect(sent).toEqual(["createService"]);
  });

  it("whose answer differs from it is held as ordered, and the difference is a warning", async () => {
    const { answer } = await ask("hosting_service", ORDER, { answer: ordered("active", { currency: "EUR" }) });
    expect(answer.state).toMatchObject({ id: "1001", currency: "USD" });
    expect(answer.diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "api.form",
        summary: 'The API returns "currency" of service www.acme.example as "EUR"; the request had "USD"',
        attribute: ["currency"],
      },
    ]);
    expect(answer.mark, "no apply changes it").not.toHaveProperty("waiting");
  });

  it("is recorded with the attributes that only Terraform has", async () => {
    const own = { timeouts: { create: "20m" }, replace_on_change: true };
    const { answer } = await ask("hosting_service", { ...ORDER, ...own }, { answer: ordered() });
    expect(answer.state).toMatchObject({ id: "1001", ...own });
  });

  it("replaces another service once", async () => {
    const old = remote({ ...LIVE, id: "900" });
    const config = { ...ORDER, reference: "second" };
    const { kind, front, sent } = await ask("hosting_service", config, {
      objects: [old],
      answer: ordered(),
      prepare: (place) =>
        noteReplacing(place.kind, "second", { replacing: { id: "900", name: "first" } }, place.session),
    });
    expect(sent).toEqual(["createService"]);
    expect((await replacesOf(kind, "second", config, front))(old)).toBe(false);
  });
});

describe("a create that two processes start at the same time", () => {
  it("is sent by the process that has written its entry", async () => {
    const store = new MemoryStore();
    const entries = memoryEntries(store);
    await entries.put("hosting_webhook", HOOK_NAME, {
      ...recorded("hosting_webhook.other", HOOK),
      owner: "a living process",
    });
    // Neither process has read the entry of the other when it starts.
    const blind = Object.assign(memoryEntries(store), { get: async () => undefined });
    const session = { entries: blind };
    const { answer, sent } = await ask("hosting_webhook", HOOK, { session });
    expect(codesOf(answer.diagnostics)).toEqual(["error config.duplicate"]);
    expect({ sent, state: answer.state }).toEqual({ sent: [], state: null });
    expect((await entries.get("hosting_webhook", HOOK_NAME))?.owner).toBe("a living process");
  });

  it("without an answer has one id in Terraform's mark, in its entry and among the intents of the store", async () => {
    const tables = new MemoryTables();
    const store = new MemoryStore({ tables });
    const reader = { hostNow: () => START } as Reader;
    const session = {
      account: new Account(reader, { statusWords: {} }, undefined, store),
      entries: memoryEntries(store),
    };
    const { answer, sent } = await ask("hosting_webhook", HOOK, { session, answer: lost });
    expect(sent).toEqual(["createWebhook", "createWebhook"]);
    const { id } = answer.mark.pending ?? {};
    expect(id).toEqual(expect.any(String));
    expect((await session.entries.get("hosting_webhook", HOOK_NAME))?.private.pending?.id).toBe(id);
    expect(new Set([...tables.intents.values()].map((intent) => intent.id))).toEqual(new Set([id]));
  });

  it.each(["made", "unknown"] as const)("is not sent for a domain that another run here has %s", async (outcome) => {
    const session = { account: accountElsewhere(outcome) };
    const { answer, sent } = await ask("hosting_domain", DOMAIN, { session });
    expect(codesOf(answer.diagnostics)).toEqual(["error plan.exists"]);
    expect({ sent, state: answer.state }).toEqual({ sent: [], state: null });
  });
});

describe("an order whose response was lost", () => {
  const THEN = {
    ...pendingOf("createService"),
    body: { plan_id: 11, currency: "USD", domain: "www.acme.example", coupon_code: "THEN" },
    idempotencyKey: "the key of then",
  };
  const made = remote({ ...LIVE, created_at: LONG_AGO });
  const noted: Asked = { note: { name: ORDER.domain, note: { private: { pending: THEN } } } };
  const held: Asked = { prior: { ...ORDER, suspended: true }, mark: { host: "here", pending: THEN } };

  it.each([
    ["the store", noted],
    ["Terraform's state", held],
  ])("and that %s holds is sent again as it was then, when the list shows nothing of it", async (_, from) => {
    const { answer, mutations, entries } = await ask("hosting_service", ORDER, { ...from, answer: ordered() });
    expect(mutations).toMatchObject([
      { endpoint: "createService", body: THEN.body, idempotencyKey: "the key of then" },
    ]);
    expect(mutations).toHaveLength(1);
    expect(answer.state).toMatchObject({ id: "1001" });
    expect(answer.mark).toMatchObject({ host: "here", made: "www.acme.example" });
    expect(answer.mark).not.toHaveProperty("pending");
    expect(await entries.get("hosting_service", "www.acme.example")).toMatchObject({ attributes: { id: "1001" } });
  });

  it.each([
    ["the store", noted],
    ["Terraform's state", held],
  ])("and that %s holds is adopted, not sent, when the list shows what it made", async (_, from) => {
    const { answer, sent } = await ask("hosting_service", ORDER, { ...from, objects: [made] });
    expect(sent).toEqual([]);
    expect(answer.state).toMatchObject({ id: "1001", status: "active" });
    expect(answer.mark).not.toHaveProperty("pending");
    expect(codesOf(answer.diagnostics)).toEqual(["warning apply.replayed"]);
  });

  it.each([
    ["the store", noted],
    ["Terraform's state", held],
  ])(
    "and that %s holds is an error when two may be what it made: none is sent, and the state keeps it",
    async (_, from) => {
      const objects = [made, remote({ ...LIVE, id: "1002", created_at: LONG_AGO })];
      const { answer, sent } = await ask("hosting_service", ORDER, { ...from, objects });
      expect(sent).toEqual([]);
      expect(codesOf(answer.diagnostics)).toEqual(["error plan.pending"]);
      expect(answer).toMatchObject({ state: ORDER, mark: { pending: THEN } });
    },
  );

  it.each(["hosting_service", "hosting_webhook"])("of a %s is not sent to another host", async (type) => {
    const config = type === "hosting_service" ? ORDER : HOOK;
    const mark = { host: "elsewhere", pending: THEN };
    const { answer, sent } = await ask(type, config, { prior: config, mark });
    expect(sent).toEqual([]);
    expect(answer).toMatchObject({ state: config, mark });
    expect(answer.diagnostics).toMatchObject([
      {
        severity: "error",
        code: "state.stranger",
        summary: expect.stringMatching(/^The create request of \w+ \S+acme/),
      },
    ]);
  });

  it.each([
    ["", {}],
    [" of a second generation", { generation: 2 }],
  ])("and%s is answered with the service of another resource is over, and nothing of it is held", async (_, more) => {
    const { answer, sent, entries, kind, front } = await ask("hosting_service", ORDER, {
      prior: ORDER,
      mark: { host: "here", pending: THEN, ...more },
      answer: ordered(),
      prepare: (place) => place.front.addRecorded(place.kind, { id: "1001", domain: "other.example" }),
    });
    expect(sent).toEqual(["createService"]);
    expect(codesOf(answer.diagnostics)).toEqual(["error apply.replayed"]);
    expect(answer.mark).toEqual({ host: "here", ...more });
    expect(await entries.get("hosting_service", ORDER.domain)).toBeUndefined();
    const read = await readResource(kind, answer.state ?? {}, answer.mark, front);
    expect(read).toEqual({ state: null, mark: {}, diagnostics: [] });
  });

  it("leaves to be done what the new service does not show as done", async () => {
    const { answer, sent } = await ask(
      "hosting_service",
      { ...ORDER, suspended: true },
      { ...held, answer: ordered("Odd") },
    );
    expect(sent).toEqual(["createService"]);
    expect(answer.mark.waiting).toEqual(["suspended"]);
  });

  it("is an error when a later step is refused: Terraform taints only what it holds nothing of", async () => {
    const { answer, sent } = await ask(
      "hosting_service",
      { ...ORDER, suspended: true },
      { ...held, answer: answering({ createService: ordered(), suspendService: refused }) },
    );
    expect(sent).toEqual(["createService", "suspendService"]);
    expect(codesOf(answer.diagnostics)).toEqual(["error api.server", "warning apply.skipped"]);
    expect(answer.state).toMatchObject({ id: "1001" });
  });
});

describe("a service of an interrupted run", () => {
  const live = remote({ ...LIVE, created_at: LONG_AGO });
  const note = { attributes: { ...complete(kindOf("hosting_service"), LIVE) }, private: { generation: 2 } };

  it("is adopted with its recorded mark and its pending attributes", async () => {
    const { answer, sent } = await ask(
      "hosting_service",
      { ...ORDER, suspended: true, deletion_policy: "forget" },
      { objects: [live], note: { name: ORDER.domain, note } },
    );
    expect(sent).toEqual([]);
    expect(answer.state).toMatchObject({ id: "1001", suspended: true, deletion_policy: "forget" });
    expect(answer.mark).toEqual({ generation: 2, waiting: ["suspended"], host: "here", made: "www.acme.example" });
    // Only the state contains the policy, so no value differs.
    expect(codesOf(answer.diagnostics)).toEqual(["warning apply.replayed"]);
  });

  it("is adopted with the domain from the host", async () => {
    const named = { ...LIVE, reference: "db", domain: "vps-1.host.example", created_at: LONG_AGO };
    const { answer, sent } = await ask("hosting_service", SERVER, {
      objects: [remote(named)],
      note: { name: "db", note: { attributes: complete(kindOf("hosting_service"), named) } },
    });
    expect(sent).toEqual([]);
    expect(answer.state).toMatchObject({ id: "1001", domain: "vps-1.host.example" });
    expect(codesOf(answer.diagnostics)).toEqual(["warning apply.replayed"]);
  });

  it("by an earlier version is adopted although its note lacks attributes, and lists do not show it yet", async () => {
    const attributes = { ...HOOK, id: "201", secret: "whsec_kept" };
    const earlier = { attributes, private: { created: new Date(START - 1_000).toISOString() } };
    const { answer, sent } = await ask("hosting_webhook", HOOK, { note: { name: HOOK_NAME, note: earlier } });
    expect(sent).toEqual([]);
    expect(answer.state).toMatchObject({ id: "201", secret: "whsec_kept" });
    expect(codesOf(answer.diagnostics)).toEqual(["warning apply.replayed"]);
  });
});

describe("a defect", () => {
  const ours = () => {
    throw new TypeError("whsec_1 is not what was expected");
  };

  it("after the request left is an error that repeats no value, and the request is recorded", async () => {
    const { answer } = await ask("hosting_webhook", HOOK, { answer: ours });
    expect(answer.diagnostics).toMatchObject([
      { severity: "error", code: "internal", detail: "TypeError" },
      { severity: "error", code: "plan.pending" },
    ]);
    expect(JSON.stringify(answer)).not.toContain("whsec_1");
    expect(answer.mark).toMatchObject({ pending: { operation: "createWebhook" }, host: "here", made: HOOK_NAME });
  });

  it("before anything was written down is thrown", async () => {
    const session = { entries: Object.assign(memoryEntries(), { insert: ours }) };
    await expect(ask("hosting_webhook", HOOK, { session })).rejects.toThrow("is not what was expected");
  });
});

describe("after a create", () => {
  it.each<[string, JsonObject, () => unknown, string | undefined]>([
    ["hosting_webhook", HOOK, hookMade, undefined],
    [
      "hosting_grant",
      { service_id: "1001", email: "dev@acme.example", permission: "view" },
      () => ({ ...liveGrant, raw: {} }),
      "1001",
    ],
  ])("data sources list the collection of a %s again", async (type, config, made, parent) => {
    const { front, kind, fake } = await ask(type, config, { answer: made });
    await front.account.list(kind, parent);
    const before = fake.asked.length;
    await front.account.list(kind, parent);
    expect(fake.asked.length, "as it was read").toBe(before);
    front.collections.upToDate(kind, parent);
    await front.account.list(kind, parent);
    expect(fake.asked.slice(before)).toEqual([parent === undefined ? "list" : `list ${parent}`]);
  });

  it.each([
    ["refused", refused, undefined],
    ["lost", lost, "createWebhook"],
  ])("that was %s the journal says so", async (_, answer, operation) => {
    const { entries } = await ask("hosting_webhook", HOOK, { answer });
    expect((await entries.get("hosting_webhook", HOOK_NAME))?.private.pending?.operation).toBe(operation);
  });
});
