/** Failures of a create: the number of attempts, the records and the messages. */
import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../../src/core/api/index.ts";
import type { ReadSettings } from "../../../../src/core/kinds/kind.ts";
import { refreshed } from "../../../../src/core/lifecycle/attributes.ts";
import { idempotencyKey } from "../../../../src/core/lifecycle/index.ts";
import {
  ApiError,
  type Change,
  HostformError,
  type JsonObject,
  type Reached,
} from "../../../../src/core/model/index.ts";
import { type Context, changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import { fixOf } from "../../../support/remedies.ts";
import {
  complete,
  type FakeAccount,
  failure,
  fakeAccountWith,
  fakeWriter,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  remote,
} from "../../../support/subjects.ts";

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

/** Applies the creation of one resource against a fake account. Returns the requests, the records and the outcome. */
async function run(
  type: string,
  config: JsonObject,
  answer: (mutation: Mutation, nth: number, fake: FakeAccount) => unknown,
  over: Partial<Change> & {
    readonly live?: readonly JsonObject[];
    readonly phase?: "gone" | "live";
    /** Id of an object that this run created earlier. */
    readonly made?: string;
    readonly settings?: Partial<ReadSettings>;
    /** Called after each wait with the time since the start, in ms. Simulates lists that lag. */
    readonly appears?: (ms: number, fake: FakeAccount) => void;
    readonly context?: Context;
  } = {},
) {
  const { live = [], phase = "live", made, settings = {}, appears, context: more, ...changed } = over;
  const kind = kindOf(type);
  const fake = fakeAccountWith(settings, kind, ...live.map((attributes) => remote(attributes, phase)));
  if (made !== undefined) fake.account.noteNew(made);
  const writer = fakeWriter((mutation, nth) => answer(mutation, nth, fake));
  let time = START;
  fake.now = () => time;
  const { context, records } = fakeRun(fake.account, writer, {
    pause: async (ms) => {
      expect(ms, "nothing to wait for is not waited for").toBeGreaterThan(0);
      time += ms;
      appears?.(time - START, fake);
    },
    ...more,
  });
  const outcome = await outcomeOf(fake.kind, changeOf(type, config, changed), context);
  const last = records.at(-1);
  return {
    ...(outcome instanceof HostformError ? { codes: outcome.diagnostics.map(({ code }) => code) } : outcome),
    details: outcome.diagnostics.map((one) => [one.detail, fixOf(one)].filter(Boolean).join("\n")),
    sent: writer.sent.length,
    mutations: writer.sent,
    records,
    id: last === undefined || last === "dropped" ? undefined : last.attributes.id,
    pending: last === undefined || last === "dropped" ? undefined : last.private.pending,
    asked: fake.asked,
    /** Total wait, in milliseconds. */
    waited: time - START,
  };
}

/** Wait before a retry, in milliseconds, with a list lag of one minute. */
const WAIT = 80_000;

const grantRecord = { ...liveGrant, raw: {} };
const hookRecord = { ...liveWebhook, raw: {}, secret: "whsec_1" };
const serviceRecord = { ...liveService, plan_id: null, raw: {} };
const ordered = (id = "1001") => ({ service: { ...serviceRecord, id }, invoice: null });

/** Applies a create that gets its response at once. */
const made = async (type: string, config: JsonObject, answer: unknown) => {
  const { records, ...rest } = await run(type, config, () => answer);
  return { records, diagnostics: "diagnostics" in rest ? rest.diagnostics : [] };
};

/**
 * Fails the first `times` attempts with `reached`. The object exists after a later attempt, or from the first if
 * `made` is true.
 */
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
    ["may have been carried out, and was: adopted", "maybe", 1, true, { sent: 1, id: "301", waited: 0 }],
    ["may have been carried out, and was not: sent again", "maybe", 1, false, { sent: 2, id: "301", waited: WAIT }],
    [
      "may have been carried out twice, and was not: given up, and left pending",
      "maybe",
      9,
      false,
      { sent: 2, id: null, codes: ["api.server"], waited: 2 * WAIT },
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

  it.each([["another address is to make the same", 0, "hosting_grant.other"]])(
    "when %s is sent %d times",
    async (_, sent, other) => {
      const result = await run("hosting_grant", GRANT, () => grantRecord, { context: { claim: () => other } });
      expect(result).toMatchObject(other ? { sent, codes: ["config.duplicate"], records: [] } : { sent });
    },
  );

  const since = "2026-11-21T09:00:00.000Z";
  const pending = { since, operation: "createGrant", params: { id: "1001" } };
  const at = (ms: number) => new Date(START + ms).toISOString();
  const [now, later] = [at(0), at(WAIT)];

  // The object of the first request may still appear, even if the API rejects the next request.
  it.each<[string, object | undefined, Reached[], string[], object]>([
    ["of an earlier run: refused", pending, ["answered"], ["api.server", "plan.pending"], { since, resent: now }],
    [
      "of this run: refused",
      undefined,
      ["maybe", "answered"],
      ["api.server", "plan.pending"],
      { since: now, resent: later },
    ],
  ])("sent again after a lost response %s, and stays pending", async (_, earlier, reaches, codes, left) => {
    const parentKind = { ...kindOf("hosting_service"), get: async () => remote(liveService, "pending") };
    const result = await run(
      "hosting_grant",
      GRANT,
      (_mutation, nth) => {
        const reached = reaches[nth - 1] ?? "maybe";
        throw failure(reached, reached === "maybe" ? 500 : 409);
      },
      { ...(earlier && { private: { pending } }), context: { parentKind } },
    );
    expect(result).toMatchObject({ sent: reaches.length, codes });
    const { since: first, resent, ...rest } = result.pending ?? { since: "none" };
    expect({ since: first, ...(resent && { resent }) }).toEqual(left);
    expect(rest).toMatchObject({ operation: "createGrant", params: { id: "1001" } });
    if (codes.length > 1) expect(result.details?.at(-1)).toMatch(/The body of the request: \{.*\}\.$/);
  });

  it("that fails because of a defect in hostform is not sent again, and stays pending", async () => {
    const result = await run("hosting_grant", GRANT, () => {
      throw new HostformError([{ severity: "error", code: "internal", summary: "a mistake" }]);
    });
    expect(result).toMatchObject({ sent: 1, codes: ["internal"], pending: { operation: "createGrant" } });
  });

  it("sent again keeps the objects from before the first attempt", async () => {
    const mark = { since, operation: "createWebhook", body: HOOK, known: ["150"] };
    const result = await run(
      "hosting_webhook",
      HOOK,
      ({ endpoint }, nth) => (endpoint === "deleteWebhook" ? null : { ...hookRecord, secret: nth === 1 ? null : "s" }),
      { private: { pending: mark }, live: [{ ...liveWebhook, id: "150" }] },
    );
    const marks = result.records.flatMap((record) => (record === "dropped" ? [] : (record.private.pending ?? [])));
    expect(marks.map(({ known }) => known)).toEqual([["150"], ["150"], ["150"]]);
    expect(
      marks.map((mark) => mark.since),
      "the last one is a request of its own",
    ).toEqual([since, since, now]);
    expect(result).toMatchObject({ sent: 3, id: "201", pending: undefined });
  });

  it("that an earlier run began, and whose response contained no id, is searched and never sent again", async () => {
    const mark = { private: { pending: { ...pending, accepted: true as const } } };
    expect(await run("hosting_grant", GRANT, () => grantRecord, mark)).toMatchObject({
      sent: 0,
      codes: ["plan.pending"],
      records: [],
    });
  });

  const isReplaced: Context = { replaces: () => true };
  it.each<[string, JsonObject, Parameters<typeof run>[3]]>([
    ["the object that it replaces", {}, { context: isReplaced }],
    ["an object that it replaces and whose events are unreadable", { events: [] }, { context: isReplaced }],
  ])("is not rejected because of %s", async (_, hidden, over) => {
    const live = [{ ...liveWebhook, id: "150", ...hidden }];
    const result = await run("hosting_webhook", HOOK, () => hookRecord, { ...over, live });
    expect(result.mutations[0]?.endpoint).toBe("createWebhook");
  });

  it.each([
    ["what the list says", "2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z"],
    ["what the answer said, where the list says nothing", null, "2026-11-21T10:00:09Z"],
  ])("with a response without an id records %s", async (_, listed, recorded) => {
    const result = await run("hosting_webhook", HOOK, (_mutation, _nth, fake) => {
      fake.objects.set("201", remote({ ...liveWebhook, created_at: listed }));
      return { ...hookRecord, id: "job-7", url: null, events: [], created_at: "2026-11-21T10:00:09Z" };
    });
    expect(result.records.at(-1)).toMatchObject({ attributes: { id: "201", created_at: recorded, secret: "whsec_1" } });
  });

  it("records the request and the existing objects before it is sent", async () => {
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
        pending: {
          since: new Date(START).toISOString(),
          operation: "createWebhook",
          body: HOOK,
          known: ["150", "151"],
          knowsAll: true,
        },
      },
    });
  });

  it.each([["made nothing: sent", false, { sent: 1, id: "301" }]] as const)(
    "that an earlier run began and that %s",
    async (_, made, expected) => {
      const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createGrant", params: { id: "1001" } };
      const result = await run("hosting_grant", GRANT, () => grantRecord, {
        private: { pending },
        live: made ? [liveGrant] : [],
      });
      expect(result).toMatchObject({ ...expected, pending: undefined });
      expect(result.waited).toBe(made ? 0 : WAIT);
    },
  );

  it("that an earlier run began is rejected if another address has the object with its natural key", async () => {
    const pending = { since: "2026-11-21T09:00:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const result = await run("hosting_grant", GRANT, () => ({ ...grantRecord, id: "302" }), {
      private: { pending },
      live: [liveGrant],
      context: { ownerOf: () => "hosting_grant.other" },
    });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.exists"], records: [] });
  });

  it.each([
    ["and its object exists", [liveGrant]],
    ["and it created nothing", []],
  ])("that an earlier run began is left to the run that holds the lock of the state (%s)", async (_, live) => {
    const pending = { since: "2026-11-21T09:00:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const lost = new HostformError([{ severity: "error", code: "state.lost_lock", summary: "taken over" }]);
    const result = await run("hosting_grant", GRANT, () => grantRecord, {
      private: { pending },
      live,
      context: { lostLock: () => lost },
    });
    expect(result).toMatchObject({ sent: 0, codes: ["state.lost_lock"], records: [], waited: 0 });
  });

  it("that the plan adopts is rejected if the account shows another object by now", async () => {
    const pending = { since: "2026-11-21T10:00:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const adopting = { ...GRANT, id: "301" };
    const options = { private: { pending }, live: [{ ...liveGrant, id: "302" }] };
    const result = await run("hosting_grant", adopting, () => grantRecord, options);
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"], records: [] });
    const same = await run("hosting_grant", adopting, () => grantRecord, { ...options, live: [liveGrant] });
    expect(same).toMatchObject({ sent: 0, id: "301", pending: undefined });
  });
});

const liveServer = { ...liveService, domain: null, product_type: "vps", plan: "Root S", plan_id: 31 };

describe("a keyed create", () => {
  // The response was lost. The retry then waited for the rate limit until the host may have dropped the Idempotency-Key.
  it.each<[string, JsonObject, readonly string[], object]>([
    ["adopts the service that the list shows", ORDER, ["1001"], { id: "1001", pending: undefined }],
    ["stays pending if the list shows no service", ORDER, [], { id: null, codes: ["api.too_late"], waited: WAIT }],
  ])("whose retry waited too long is not sent again: %s", async (_, config, ids, expected) => {
    const live = config === ORDER ? liveService : liveServer;
    const result = await run(
      "hosting_service",
      config,
      () => Promise.reject(failure("maybe", undefined, "api.too_late")),
      {
        appears: (ms, { objects }) => {
          if (ms >= 30_000) for (const id of ids) objects.set(id, remote({ ...live, id }));
        },
      },
    );
    expect(result).toMatchObject({ sent: 1, ...expected });
    expect(result.pending === undefined).toBe(result.id !== null);
  });

  it("sends the key of the order, and records the id", async () => {
    const result = await run("hosting_service", ORDER, () => ordered());
    expect(result).toMatchObject({ sent: 1, id: "1001" });
    expect(result.mutations[0]?.idempotencyKey).toBe(idempotencyKey("acme", "hosting_service.acme", 1));
  });

  it("rejected in a later generation keeps the generation, so that the key of the deleted service is not repeated", async () => {
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

  it("whose response contains a different service is rejected, and that service stays unchanged", async () => {
    const config = { ...ORDER, password: "long enough", password_version: 1 };
    const other = { ...liveService, domain: "www.other.example" };
    const result = await run("hosting_service", config, () => ordered(), { live: [other] });
    expect(result).toMatchObject({ sent: 1, codes: ["apply.replayed"] });
    expect(result.records.at(-1)).toBe("dropped");
  });

  // The account's objects outrank the clock, because a host may forget keys in seconds, and clocks may be wrong.
  const SINCE: readonly (readonly [string, string])[] = [
    ["a second ago", new Date(START - 1_000).toISOString()],
    ["an hour ago", "2026-11-21T09:00:00.000Z"],
    ["a day ago", "2026-11-20T10:00:00.000Z"],
    ["in the future", "2026-11-22T08:00:00.000Z"],
    ["at no time at all", "yesterday"],
  ];

  it.each(SINCE)("first sent %s, whose service exists since then, is adopted and not sent", async (_, since) => {
    const pending = { since, operation: "createService", idempotencyKey: "the-first-key" };
    const made = { ...liveService, created_at: since };
    const result = await run("hosting_service", ORDER, () => ordered(), { private: { pending }, live: [made] });
    if (since === "yesterday") return expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
    expect(result).toMatchObject({ sent: 0, id: "1001", pending: undefined, waited: 0 });
    expect("diagnostics" in result && result.diagnostics.map(({ code }) => code)).toEqual(["apply.replayed"]);
  });

  it.each([
    ["two of its domain", [liveService, { ...liveService, id: "1002" }]],
    ["one of its domain and of another plan", [{ ...liveService, plan_id: 12 }]],
    ["one of its domain and in another currency", [{ ...liveService, currency: "EUR" }]],
    ["one of its domain that was made before", [{ ...liveService, created_at: "2026-11-21T09:00:00Z" }]],
  ])("first sent a minute ago, with %s in the account, is decided by the user", async (_, live) => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createService", idempotencyKey: "the-first-key" };
    const result = await run("hosting_service", ORDER, () => ordered(), { private: { pending }, live });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it.each([["odd", []]])("with the status %j continues with %j", async (status, expected) => {
    const answer = { service: { ...serviceRecord, status }, invoice: null };
    const result = await run("hosting_service", { ...ORDER, suspended: true }, () => answer);
    expect(result.mutations.slice(1).map(({ endpoint }) => endpoint)).toEqual(expected);
  });

  it("records the order before the password is set, so a failure of the password loses nothing", async () => {
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

describe("a create whose response is a job", () => {
  const made = { ...liveService, created_at: new Date(START).toISOString() };
  const accepted = (): never => {
    throw new ApiError({ code: "api.accepted", summary: "no service", endpoint: "POST /x", reached: "maybe" });
  };
  const bare = (id: string) => {
    const blank = Object.fromEntries(Object.keys(serviceRecord).map((name) => [name, null]));
    return { service: { ...blank, id, status: "queued", raw: {} }, invoice: null };
  };
  const after =
    (ms: number, ...objects: readonly JsonObject[]) =>
    (waited: number, fake: FakeAccount) => {
      for (const object of objects) if (waited >= ms) fake.objects.set(String(object.id), remote(object));
    };
  const answers: readonly (readonly [string, () => unknown])[] = [
    ["that names nothing", accepted],
    ["whose id no service has", () => bare("7")],
    ["whose id another service has", () => bare("1009")],
  ];
  const other = { ...liveService, id: "1009", domain: "other.example" };

  it.each(answers)("%s: the list shows the created object, and nothing is sent again", async (_, answer) => {
    const result = await run("hosting_service", ORDER, answer, { live: [other], appears: after(20_000, made) });
    expect(result).toMatchObject({ sent: 1, id: "1001", pending: undefined, waited: 35_000 });
    expect(result).toMatchObject({ diagnostics: [] });
    expect(result.records.at(-1)).toMatchObject({ attributes: { status: "active", domain: ORDER.domain } });
    expect(result.records).toContainEqual(
      expect.objectContaining({
        private: expect.objectContaining({ pending: expect.objectContaining({ accepted: true }) }),
      }),
    );
  });
});

describe("an object with an unreadable natural key", () => {
  const hidden = { ...liveWebhook, id: "150", events: [] };

  it("stops a create of the same kind, because it may be the declared object", async () => {
    const result = await run("hosting_webhook", HOOK, () => hookRecord, { live: [hidden] });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.unreadable"] });
  });
});

describe("a blind create", () => {
  it("that an earlier run began is never sent again: the user decides", async () => {
    const pending = { since: "2026-11-20T10:00:00.000Z", operation: "registerDomain" };
    const result = await run("hosting_domain", DOMAIN, () => null, { private: { pending } });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it("that may have succeeded stays pending, is sent once, and the error names the fix", async () => {
    const result = await run("hosting_domain", DOMAIN, () => {
      throw failure("maybe");
    });
    expect(result).toMatchObject({
      sent: 1,
      codes: ["api.server", "plan.pending"],
      pending: { since: new Date(START).toISOString(), operation: "registerDomain" },
    });
  });
});

describe("a host that changes the form of values", () => {
  const CLIENT = { name: "Client One", currency: "USD" };
  const client = (name: string) => ({
    id: "701",
    name,
    currency: "USD",
    created_at: liveService.created_at ?? null,
    raw: {},
  });
  const order = (domain: string) => ({ ...liveService, domain, raw: {} });
  const CASES: readonly [string, JsonObject, JsonObject, unknown][] = [
    ["hosting_client_account", CLIENT, client("client-one"), client("client-one")],
    ["hosting_service", ORDER, order("acme.example"), { service: order("acme.example"), invoice: null }],
    [
      "hosting_grant",
      GRANT,
      { ...liveGrant, email: "d.ev@acme.example" },
      { ...grantRecord, email: "d.ev@acme.example" },
    ],
  ];

  it.each(CASES)("%s is not created again after a lost response, nor by the next run", async (type, config, shows) => {
    const lost = (_: Mutation, __: number, fake: FakeAccount) => {
      fake.objects.set(String(shows.id), remote(shows));
      throw failure("maybe");
    };
    const first = await run(type, config, lost);
    // An order follows another rule: it repeats within seconds with the same key. This intent contains the objects
    // before the create.
    const kept = first.records.find((record) => record !== "dropped")?.private;
    expect(kept?.pending, "what was there is known").toMatchObject({ knowsAll: true });
    const second = await run(type, config, lost, { live: [shows], private: kept ?? {} });
    expect(second).toMatchObject({ sent: 0, codes: ["plan.pending"] });
    expect(second.details.join()).toMatch(/ is new, but its .* is ".*" and the request had ".*"\./);
  });

  it("an e-mail address of another person is recorded as the host returns it, and does not count as the sent one", async () => {
    const other = { ...grantRecord, email: "d.ev@acme.example" };
    const { records, diagnostics } = await made("hosting_grant", GRANT, other);
    expect(records.at(-1)).toMatchObject({
      attributes: { email: "d.ev@acme.example" },
      private: { shown: { email: { sent: GRANT.email, is: "d.ev@acme.example", times: 1 } } },
    });
    expect(diagnostics).toMatchObject([
      { code: "api.form", detail: expect.stringContaining("cost more or expose more") },
    ]);
  });

  it.each(CASES.filter(([type]) => type !== "hosting_grant"))(
    "%s is recorded as it was sent, with a word, and what the host shows is no difference",
    async (type, config, shows, answer) => {
      const { records, diagnostics } = await made(type, config, answer);
      const state = records.at(-1);
      if (state === undefined || state === "dropped") throw new Error("nothing was recorded");
      expect(state.attributes).toMatchObject(config);
      const { shown: forms = {} } = state.private;
      const [[name = "", form] = []] = Object.entries(forms);
      expect(form).toEqual({ sent: config[name], is: shows[name], times: 1 });
      const both = `as ${JSON.stringify(form?.is)}; the request had ${JSON.stringify(config[name])}`;
      const summary = `The API returns "${name}" of ${type}.acme ${both}`;
      expect(diagnostics).toMatchObject([{ code: "api.form", summary, attribute: [name] }]);
      expect(state.private, "and that it is new").toHaveProperty("created");
      expect(refreshed(kindOf(type), state.attributes, remote(shows), forms)).toEqual(state.attributes);
      const others = remote({
        ...shows,
        ...Object.fromEntries(Object.keys(forms).map((name) => [name, "other.example"])),
      });
      expect(refreshed(kindOf(type), state.attributes, others, forms)).not.toEqual(state.attributes);
    },
  );
});
