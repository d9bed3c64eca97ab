/** A create in all its ways of going wrong: how often it is sent, what is recorded, what is said. */
import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../src/api/index.ts";
import { type ApplyContext, applyChange, idempotencyKey } from "../../../src/lifecycle/index.ts";
import {
  type Change,
  HostformError,
  type JsonObject,
  type Reached,
  type ResourceState,
  type ValueObject,
} from "../../../src/model/index.ts";
import { START } from "../../support/clock.ts";
import {
  complete,
  type FakeAccount,
  failure,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  remote,
} from "../../support/subjects.ts";

const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const GRANT = { service_id: "1001", email: "dev@acme.example", permission: "view" };
const DOMAIN = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {},
};

/** Applies the creation of one resource against a fake account; says what was sent, recorded, and how it ended. */
async function run(
  type: string,
  config: JsonObject,
  answer: (mutation: Mutation, nth: number, fake: FakeAccount) => unknown,
  over: Partial<Change> & {
    readonly live?: readonly JsonObject[];
    readonly phase?: "gone" | "live";
    /** The id of an object that this run has made. */
    readonly made?: string;
  } = {},
) {
  const { live = [], phase = "live", made, ...changed } = over;
  const kind = kindOf(type);
  const fake = fakeAccount(kind, ...live.map((attributes) => remote(attributes, phase)));
  if (made !== undefined) fake.account.noteNew(made);
  const writer = fakeWriter((mutation, nth) => answer(mutation, nth, fake));
  const records: (ResourceState | "dropped")[] = [];
  let time = START;
  const context: ApplyContext = {
    account: fake.account,
    writer,
    project: "acme",
    now: () => time,
    pause: async (ms) => {
      time += ms;
    },
    save: async (resource) => void records.push(structuredClone(resource)),
    drop: async () => void records.push("dropped"),
    wait: async () => undefined,
  };
  const change: Change = {
    address: `${type}.acme`,
    type,
    provider: "default",
    actions: ["create"],
    before: null,
    after: complete(kind, config),
    after_unknown: {},
    sensitive: [],
    config,
    reasons: [],
    deferred: [],
    private: {},
    dependsOn: [],
    requests: 1,
    ...changed,
  };
  const outcome = await applyChange(fake.kind, change, config as ValueObject, context).catch((error: unknown) => {
    if (error instanceof HostformError) return { codes: error.diagnostics.map(({ code }) => code) };
    throw error;
  });
  const last = records.at(-1);
  return {
    ...outcome,
    sent: writer.sent.length,
    mutations: writer.sent,
    records,
    id: last === undefined || last === "dropped" ? undefined : last.attributes.id,
    pending: last === undefined || last === "dropped" ? undefined : last.private.pending,
    asked: fake.asked,
    /** How long it waited, in milliseconds. */
    waited: time - START,
  };
}

const grantRecord = { ...liveGrant, raw: {} };
const hookRecord = { ...liveWebhook, raw: {}, secret: "whsec_1" };
const serviceRecord = { ...liveService, plan_id: null, raw: {} };
const ordered = (id = "1001") => ({ service: { ...serviceRecord, id }, invoice: null });

/** Fails with this reach the first `times`; after that (or `made` beforehand) the object is there. */
const failing =
  (reached: Reached, times: number, made: boolean, record: JsonObject) =>
  (_: Mutation, nth: number, fake: FakeAccount) => {
    if (nth > times) {
      fake.objects.set(String(record.id), remote(record));
      return record;
    }
    if (made) fake.objects.set(String(record.id), remote(record));
    throw failure(reached);
  };

describe("a listable create", () => {
  it.each([
    ["never left: reported, sent once", "no", 9, false, { sent: 1, id: undefined, codes: ["api.server"], waited: 0 }],
    [
      "was refused: reported, sent once",
      "answered",
      9,
      false,
      { sent: 1, id: undefined, codes: ["api.server"], waited: 0 },
    ],
    ["may have been carried out, and was: adopted", "maybe", 1, true, { sent: 1, id: "301", waited: 5_000 }],
    ["may have been carried out, and was not: sent again", "maybe", 1, false, { sent: 2, id: "301", waited: 5_000 }],
    [
      "may have been carried out twice, and was not: given up, and left in doubt",
      "maybe",
      9,
      false,
      { sent: 2, id: null, codes: ["api.server"], waited: 10_000 },
    ],
  ] as const)(
    "that %s",
    async (_, reached, times, made, {
      codes,
      ...expected
    }: { sent: number; id: string | null | undefined; waited: number; codes?: readonly string[] }) => {
      const result = await run("hosting_grant", GRANT, failing(reached, times, made, grantRecord));
      expect(result).toMatchObject(expected);
      expect("codes" in result ? result.codes : undefined).toEqual(codes);
      expect(result.pending !== undefined).toBe(expected.id === null);
    },
  );

  it("writes down the request and what was there like it, before it is sent", async () => {
    const older = { ...liveWebhook, id: "150" };
    const other = { ...liveWebhook, id: "151", url: "https://other.example" };
    const { records } = await run("hosting_webhook", HOOK, () => hookRecord, {
      live: [older, other],
      actions: ["create", "delete"],
      before: complete(kindOf("hosting_webhook"), older),
    });
    expect(records[0]).toMatchObject({
      attributes: { id: null, url: HOOK.url },
      private: {
        pending: { since: new Date(START).toISOString(), operation: "createWebhook", body: HOOK, known: ["150"] },
      },
    });
  });

  it("whose secret was lost with the answer is deleted and made anew, with a word", async () => {
    let made = 200;
    const result = await run("hosting_webhook", HOOK, ({ endpoint }, nth, fake) => {
      if (endpoint === "deleteWebhook") return void fake.objects.clear();
      made += 1;
      const record = { ...hookRecord, id: String(made), secret: `whsec_${made}` };
      fake.objects.set(record.id, remote({ ...liveWebhook, id: record.id }));
      if (nth === 1) throw failure("maybe");
      return record;
    });
    expect(result.mutations.map(({ endpoint }) => endpoint)).toEqual([
      "createWebhook",
      "deleteWebhook",
      "createWebhook",
    ]);
    expect(result.mutations[1]?.params).toEqual({ id: "201" });
    expect(result).toMatchObject({ id: "202", pending: undefined });
    expect(result.records.at(-1)).toMatchObject({ attributes: { secret: "whsec_202" } });
    expect("diagnostics" in result && result.diagnostics.map(({ code }) => code)).toEqual(["secret.lost"]);
  });

  it("does not delete in place of a lost one what says that it is much older", async () => {
    const result = await run("hosting_webhook", HOOK, (_, __, fake) => {
      fake.objects.set("150", remote({ ...liveWebhook, id: "150", created_at: "2026-11-20T10:00:00Z" }));
      throw failure("maybe");
    });
    expect(result).toMatchObject({ sent: 1, codes: ["plan.pending"] });
  });

  it.each([
    ["made something: adopted, nothing is sent", true, { sent: 0, id: "301" }],
    ["made nothing: sent", false, { sent: 1, id: "301" }],
  ] as const)("that an earlier run began and that %s", async (_, made, expected) => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const result = await run("hosting_grant", GRANT, () => grantRecord, {
      private: { pending },
      live: made ? [liveGrant] : [],
    });
    expect(result).toMatchObject({ ...expected, pending: undefined, waited: 0 });
  });

  it("answered without a body is found in the list", async () => {
    const result = await run("hosting_grant", GRANT, (_, __, fake) => {
      fake.objects.set("301", remote(liveGrant));
      return null;
    });
    expect(result).toMatchObject({ sent: 1, id: "301" });
  });

  it("whose answers never hold the secret is made anew once, and then recorded with a warning", async () => {
    let made = 200;
    const result = await run("hosting_webhook", HOOK, ({ endpoint, params }, _, fake) => {
      if (endpoint === "deleteWebhook") return void fake.objects.delete(String(params?.id));
      made += 1;
      fake.objects.set(String(made), remote({ ...liveWebhook, id: String(made) }));
      return null;
    });
    expect(result.mutations.map(({ endpoint }) => endpoint)).toEqual([
      "createWebhook",
      "deleteWebhook",
      "createWebhook",
    ]);
    expect(result).toMatchObject({ id: "202", pending: undefined });
    expect("diagnostics" in result && result.diagnostics.map(({ code }) => code)).toEqual([
      "secret.lost",
      "api.malformed",
    ]);
  });

  it("answered without a body and not in the list is an error, not a second try", async () => {
    expect(await run("hosting_webhook", HOOK, () => null)).toMatchObject({
      sent: 1,
      codes: ["api.malformed"],
      id: null,
      waited: 0,
    });
  });

  it("answered with a secret and without an id, and then the list fails: the secret and the doubt are kept", async () => {
    const result = await run("hosting_webhook", HOOK, (_, __, fake) => {
      fake.broken = true;
      return { ...hookRecord, id: null };
    });
    expect(result).toMatchObject({ sent: 1, id: null, codes: ["api.server"] });
    expect(result.records.at(-1)).toMatchObject({
      attributes: { secret: "whsec_1" },
      private: { pending: { operation: "createWebhook" } },
    });
  });

  it("that finds one which the plan did not see sends nothing", async () => {
    const result = await run("hosting_webhook", HOOK, () => hookRecord, { live: [{ ...liveWebhook, id: "150" }] });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.exists"] });
  });

  it("never takes for its own what was there before, as what it replaces was", async () => {
    const older = { ...liveWebhook, id: "150" };
    const result = await run("hosting_webhook", HOOK, failing("maybe", 1, false, hookRecord), {
      live: [older],
      actions: ["create", "delete"],
      before: complete(kindOf("hosting_webhook"), older),
    });
    // Sent twice, and what was replaced is deleted.
    expect(result.mutations.map(({ endpoint }) => endpoint)).toEqual([
      "createWebhook",
      "createWebhook",
      "deleteWebhook",
    ]);
    expect(result.mutations[2]?.params).toEqual({ id: "150" });
    expect(result).toMatchObject({ id: "201" });
  });

  it("never takes for its own what is something else", async () => {
    const result = await run("hosting_webhook", HOOK, (_, nth, fake) => {
      fake.objects.set("202", remote({ ...liveWebhook, id: "202", url: "https://other.example" }));
      if (nth === 1) throw failure("maybe");
      return hookRecord;
    });
    expect(result).toMatchObject({ sent: 2, id: "201" });
  });

  it("that could be either of two stops and asks", async () => {
    const result = await run("hosting_webhook", HOOK, (_, __, fake) => {
      for (const id of ["201", "202"]) fake.objects.set(id, remote({ ...liveWebhook, id }));
      throw failure("maybe");
    });
    expect(result).toMatchObject({ sent: 1, codes: ["plan.pending"], id: null });
  });

  it("of a new parent does not list what cannot be there yet", async () => {
    const unknown = { after_unknown: { service_id: true } };
    const result = await run("hosting_grant", GRANT, () => grantRecord, { ...unknown, made: "1001" });
    expect(result).toMatchObject({ sent: 1, id: "301", asked: [] });
  });

  it("of a parent that was to be made, and was there all the time, does not make a second one", async () => {
    const unknown = { after_unknown: { service_id: true } };
    const result = await run("hosting_grant", GRANT, () => grantRecord, { ...unknown, live: [liveGrant] });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.exists"] });
  });
});

const SERVER = { plan_id: 31, currency: "USD" };
const liveServer = { ...liveService, domain: null, product_type: "vps", plan: "Root S", plan_id: 31 };

describe("a keyed create", () => {
  it.each([
    ["is not in the list any more: a replay of one that is gone", [], { codes: ["apply.replayed"] }],
    ["lives: a clock is wrong, or a page was shifted", [liveServer], { id: "1001" }],
  ])("answered with a service that says it was made long ago and %s", async (_, there, expected) => {
    const service = { ...serviceRecord, ...liveServer, created_at: "2026-11-01T10:00:00+00:00" };
    const result = await run("hosting_service", SERVER, (_mutation, __, fake) => {
      for (const attributes of there) fake.objects.set("1001", remote(attributes));
      return { service, invoice: null };
    });
    expect(result).toMatchObject({ sent: 1, ...expected, pending: undefined });
    // That it is gone is confirmed by the list.
    expect(result.asked).toEqual(["list", "get 1001", ...(there.length === 0 ? ["list"] : [])]);
  });

  it("sends the key of the order, and records the id", async () => {
    const result = await run("hosting_service", ORDER, () => ordered());
    expect(result).toMatchObject({ sent: 1, id: "1001" });
    expect(result.mutations[0]?.idempotencyKey).toBe(idempotencyKey("acme", "hosting_service.acme", 1));
  });

  it.each([
    ["a reference", { ...ORDER, reference: "main" }, {}, idempotencyKey("acme", "main", 1)],
    ["the third generation", ORDER, { generation: 3 }, idempotencyKey("acme", "hosting_service.acme", 3)],
  ])("of %s has its own", async (_, config, mark, key) => {
    const { mutations } = await run("hosting_service", config, () => ordered(), { private: mark });
    expect(mutations[0]?.idempotencyKey).toBe(key);
  });

  it.each([
    ["no", "dropped", undefined],
    ["answered", "dropped", undefined],
    ["maybe", expect.objectContaining({ address: "hosting_service.acme" }), "createService"],
  ] as const)(
    "that failed (%s) is not sent again here: the mark made before it says what is known",
    async (reached, last, operation) => {
      const result = await run("hosting_service", ORDER, () => {
        throw failure(reached);
      });
      expect(result).toMatchObject({ sent: 1, codes: ["api.server"] });
      expect(result.records[0]).toMatchObject({
        private: { pending: { idempotencyKey: idempotencyKey("acme", "hosting_service.acme", 1) } },
        attributes: { id: null, plan_id: ORDER.plan_id },
      });
      expect(result.records.at(-1)).toEqual(last);
      expect(result.pending?.operation).toBe(operation);
    },
  );

  it("refused in a later generation keeps the generation, so that the key of the gone service is not repeated", async () => {
    const result = await run(
      "hosting_service",
      ORDER,
      () => {
        throw failure("answered");
      },
      { private: { generation: 2 } },
    );
    expect(result.records.at(-1)).toMatchObject({ private: { generation: 2 }, attributes: { id: null } });
    expect(result.pending).toBeUndefined();
  });

  it.each([
    ["of the same domain", ORDER, liveService, "plan.exists"],
    ["of the same plan, where no domain tells", SERVER, { ...liveServer }, "plan.lookalike"],
  ])("that finds a service %s which the plan did not see sends nothing", async (_, config, live, code) => {
    const result = await run("hosting_service", config, () => ordered(), { live: [live] });
    expect(result).toMatchObject({ sent: 0, codes: [code] });
  });

  // The user has said that it is another one: it may belong to another state, whose site a later destroy would suspend.
  it("that is insisted on, answered with a service that was there before, is refused, and that one is not recorded", async () => {
    const answer = { service: { ...serviceRecord, ...liveServer }, invoice: null };
    const result = await run("hosting_service", SERVER, () => answer, { live: [liveServer], anyway: true });
    expect(result).toMatchObject({ sent: 1, codes: ["apply.replayed"] });
    expect(result.records.at(-1)).toBe("dropped");
  });

  it("answered with a service that is gone records nothing and names the way", async () => {
    const result = await run("hosting_service", ORDER, () => ordered(), { live: [liveService], phase: "gone" });
    expect(result).toMatchObject({ sent: 1, codes: ["apply.replayed"] });
    // Its key is used up: --reorder goes on from here.
    expect(result.records.at(-1)).toMatchObject({ attributes: { id: "1001" }, private: { generation: 1 } });
    expect(result.pending).toBeUndefined();
  });

  it("answered with a service that is another one is refused, and nothing is done to that", async () => {
    const config = { ...ORDER, password: "long enough", password_version: 1 };
    const other = { ...liveService, domain: "www.other.example" };
    const result = await run("hosting_service", config, () => ordered(), { live: [other] });
    expect(result).toMatchObject({ sent: 1, codes: ["apply.replayed"] });
    expect(result.records.at(-1)).toBe("dropped");
  });

  it("sent again has the key and the time of the first sending, whatever was renamed since", async () => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createService", idempotencyKey: "the-first-key" };
    const result = await run("hosting_service", ORDER, () => ordered(), { private: { pending } });
    expect(result.mutations[0]?.idempotencyKey).toBe("the-first-key");
    expect(result.records[0]).toMatchObject({ private: { pending } });
    expect(result.pending).toBeUndefined();
  });

  it("refused when it is sent again leaves the doubt about the first sending", async () => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createService", idempotencyKey: "the-first-key" };
    const result = await run(
      "hosting_service",
      ORDER,
      () => {
        throw failure("answered", 403);
      },
      { private: { pending } },
    );
    expect(result.pending).toEqual(pending);
  });

  it.each([
    ["too long ago", "2026-11-21T08:00:00.000Z"],
    ["in the future", "2026-11-22T08:00:00.000Z"],
    ["at no time at all", "yesterday"],
  ])("first sent %s, with a twin in sight, is not sent", async (_, since) => {
    const pending = { since, operation: "createService", idempotencyKey: "the-first-key" };
    const result = await run("hosting_service", ORDER, () => ordered(), {
      private: { pending },
      live: [{ ...liveService }],
    });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it.each([
    ["odd", []],
    ["pending", []],
    ["active", ["suspendService"]],
  ])("whose status is %j goes on with %j", async (status, expected) => {
    const answer = { service: { ...serviceRecord, status }, invoice: null };
    const result = await run("hosting_service", { ...ORDER, suspended: true }, () => answer);
    expect(result.mutations.slice(1).map(({ endpoint }) => endpoint)).toEqual(expected);
  });

  it("records the order before the password is set: a failure there loses nothing", async () => {
    const config = { ...ORDER, password: "long enough", password_version: 1 };
    const result = await run(
      "hosting_service",
      config,
      ({ endpoint }) => {
        if (endpoint === "createService") return ordered();
        throw failure("answered");
      },
      { after: complete(kindOf("hosting_service"), ORDER) },
    );
    expect(result).toMatchObject({ sent: 2, id: "1001", codes: ["api.server"] });
    expect(JSON.stringify(result.records)).not.toContain("long enough");
  });
});

describe("a blind create", () => {
  it("is marked as pending before it is sent, and no longer when it was answered", async () => {
    let marked: unknown;
    const result = await run("hosting_domain", DOMAIN, () => {
      marked = true;
      return { id: "1003", status: "pending", invoice: null, raw: {} };
    });
    expect(marked).toBe(true);
    expect(result.records.map((record) => record !== "dropped" && record.private.pending !== undefined)).toEqual([
      true,
      false,
    ]);
    expect(result).toMatchObject({ sent: 1, id: "1003" });
  });

  it.each([
    ["no", "the mark goes"],
    ["answered", "the mark goes"],
  ] as const)("that certainly did not happen (%s): %s", async (reached, _what) => {
    const result = await run("hosting_domain", DOMAIN, () => {
      throw failure(reached);
    });
    expect(result.records.at(-1)).toBe("dropped");
    expect(result).toMatchObject({ sent: 1, codes: ["api.server"] });
  });

  it("that may have happened stays marked, is sent once, and says what to do", async () => {
    const result = await run("hosting_domain", DOMAIN, () => {
      throw failure("maybe");
    });
    expect(result).toMatchObject({
      sent: 1,
      codes: ["api.server", "plan.pending"],
      pending: { since: new Date(START).toISOString(), operation: "registerDomain" },
    });
  });

  it("answered without a body is known by its name", async () => {
    expect(await run("hosting_domain", DOMAIN, () => null)).toMatchObject({
      sent: 1,
      id: "acme.example",
      pending: undefined,
    });
  });
});
