/** A create in all its ways of going wrong: how often it is sent, what is recorded, what is said. */
import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../../src/core/api/index.ts";
import type { ReadSettings } from "../../../../src/core/kinds/kind.ts";
import { formsOf, refreshed } from "../../../../src/core/lifecycle/attributes.ts";
import { idempotencyKey, type PendingCreate } from "../../../../src/core/lifecycle/index.ts";
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
  freeTicket,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  recorded,
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
    readonly settings?: Partial<ReadSettings>;
    /** Called after each wait, with the time since the start in ms: lists that lag. */
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
    /** How long it waited, in milliseconds. */
    waited: time - START,
  };
}

/** How long nothing is sent again where lists may lag for a minute: longer than that. */
const WAIT = 80_000;

const grantRecord = { ...liveGrant, raw: {} };
const hookRecord = { ...liveWebhook, raw: {}, secret: "whsec_1" };
const serviceRecord = { ...liveService, plan_id: null, raw: {} };
const ordered = (id = "1001") => ({ service: { ...serviceRecord, id }, invoice: null });

/** A create that is answered at once. */
const made = async (type: string, config: JsonObject, answer: unknown) => {
  const { records, ...rest } = await run(type, config, () => answer);
  return { records, diagnostics: "diagnostics" in rest ? rest.diagnostics : [] };
};

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

  it.each([
    ["another address is to make the same", 0, "hosting_grant.other"],
    ["no other address is", 1, undefined],
  ])("when %s is sent %d times", async (_, sent, other) => {
    const result = await run("hosting_grant", GRANT, () => grantRecord, { context: { claim: () => other } });
    expect(result).toMatchObject(other ? { sent, codes: ["config.duplicate"], records: [] } : { sent });
  });

  const since = "2026-11-21T09:00:00.000Z";
  const pending = { since, operation: "createGrant", params: { id: "1001" } };
  const at = (ms: number) => new Date(START + ms).toISOString();
  const [now, later] = [at(0), at(WAIT)];

  // What a request of before has made may still come to light, whatever becomes of the next one.
  it.each<[string, object | undefined, Reached[], string[], object]>([
    ["of an earlier run: refused", pending, ["answered"], ["api.server", "plan.pending"], { since, resent: now }],
    ["of an earlier run: does not leave", pending, ["no"], ["api.server"], { since }],
    [
      "of this run: refused",
      undefined,
      ["maybe", "answered"],
      ["api.server", "plan.pending"],
      { since: now, resent: later },
    ],
    ["of this run: does not leave", undefined, ["maybe", "no"], ["api.server"], { since: now }],
    ["of both: does not leave", pending, ["maybe", "no"], ["api.server"], { since, resent: now }],
  ])("sent again after a lost answer %s, and stays pending", async (_, earlier, reaches, codes, left) => {
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

  it("that fails by a mistake of ours is not sent again, and stays pending", async () => {
    const result = await run("hosting_grant", GRANT, () => {
      throw new HostformError([{ severity: "error", code: "internal", summary: "a mistake" }]);
    });
    expect(result).toMatchObject({ sent: 1, codes: ["internal"], pending: { operation: "createGrant" } });
  });

  it("refused in place of one that was deleted is over: nothing is pending", async () => {
    const mark = { since: now, operation: "createWebhook", body: HOOK };
    const result = await run(
      "hosting_webhook",
      HOOK,
      ({ endpoint }) => {
        if (endpoint === "createWebhook") throw failure("answered", 422);
        return null;
      },
      { private: { pending: mark }, live: [{ ...liveWebhook, created_at: now }] },
    );
    expect(result).toMatchObject({ sent: 2, codes: ["api.server"] });
    expect(result.records.at(-1)).toBe("dropped");
  });

  it("sent again remembers what was there before the first sending", async () => {
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

  it("that an earlier run began, and whose answer named nothing, is looked for and never sent again", async () => {
    const mark = { private: { pending: { ...pending, accepted: true as const } } };
    expect(await run("hosting_grant", GRANT, () => grantRecord, mark)).toMatchObject({
      sent: 0,
      codes: ["plan.pending"],
      records: [],
    });
  });

  const isReplaced: Context = { replaces: () => true };
  it.each<[string, JsonObject, Parameters<typeof run>[3]]>([
    ["what it takes the place of", {}, { context: isReplaced }],
    ["what it takes the place of, and what cannot be read", { events: [] }, { context: isReplaced }],
    [
      "what cannot be read, in a replacement: it may be what is replaced",
      { events: [] },
      { actions: ["create", "delete"], before: { id: "150" } },
    ],
  ])("does not stop at %s", async (_, hidden, over) => {
    const live = [{ ...liveWebhook, id: "150", ...hidden }];
    const result = await run("hosting_webhook", HOOK, () => hookRecord, { ...over, live });
    expect(result.mutations[0]?.endpoint).toBe("createWebhook");
  });

  it.each([
    ["what the list says", "2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z"],
    ["what the answer said, where the list says nothing", null, "2026-11-21T10:00:09Z"],
  ])("answered without an id records %s", async (_, listed, recorded) => {
    const result = await run("hosting_webhook", HOOK, (_mutation, _nth, fake) => {
      fake.objects.set("201", remote({ ...liveWebhook, created_at: listed }));
      return { ...hookRecord, id: "job-7", url: null, events: [], created_at: "2026-11-21T10:00:09Z" };
    });
    expect(result.records.at(-1)).toMatchObject({ attributes: { id: "201", created_at: recorded, secret: "whsec_1" } });
  });

  it("writes down the request and what was there, before it is sent", async () => {
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

  it.each([
    ["a service that was there", undefined, ["300"]],
    ["a service that is new, which has nothing", "1001", undefined],
  ])("of what belongs to %s writes down what there is", async (_, made, known) => {
    const live = [{ ...liveGrant, id: "300", email: "other@acme.example" }];
    const { records } = await run("hosting_grant", GRANT, () => grantRecord, { live, ...(made && { made }) });
    expect(records[0]).toMatchObject({ private: { pending: { knowsAll: true, ...(known && { known }) } } });
    if (known === undefined) expect(records[0]).not.toHaveProperty("private.pending.known");
  });

  it("whose secret was lost with the answer is deleted and created again, with a warning", async () => {
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
    expect(result).toMatchObject({ ...expected, pending: undefined });
    expect(result.waited).toBe(made ? 0 : WAIT);
  });

  it.each([
    ["a list that lags", {}, 61_000],
    ["a list that lags longer than others, as its user says", { listLagMs: 300_000 }, 310_000],
    ["a list that lags by no more than requests take", { listLagMs: 0 }, 4_000],
  ])("whose answer was lost is found in %s, and not sent again", async (_, settings, after) => {
    const result = await run("hosting_grant", GRANT, () => Promise.reject(failure("maybe")), {
      settings,
      appears: (ms, { objects }) => void (ms >= after && objects.set("301", remote(liveGrant))),
    });
    expect(result).toMatchObject({ sent: 1, id: "301" });
  });

  it("that was sent again long after it was first sent waits once more, counted from the last time", async () => {
    const [since, resent] = ["2026-11-20T10:00:00.000Z", "2026-11-21T09:59:50.000Z"];
    const pending = { since, resent, operation: "createGrant", params: { id: "1001" } };
    const result = await run("hosting_grant", GRANT, () => grantRecord, {
      private: { pending },
      appears: (ms, { objects }) => void (ms >= 65_000 && objects.set("301", remote(liveGrant))),
    });
    expect(result).toMatchObject({ sent: 0, id: "301", waited: WAIT });
  });

  it("that is sent again keeps the time of the first sending, and writes down that of the last", async () => {
    const since = "2026-11-21T09:00:00.000Z";
    const pending = { since, operation: "createGrant", params: { id: "1001" }, known: ["9"] };
    const result = await run("hosting_grant", GRANT, () => grantRecord, { private: { pending } });
    const resent = new Date(START).toISOString();
    expect(result.records[0]).toMatchObject({ private: { pending: { since, resent, known: ["9"] } } });
  });

  it.each([
    ["the id of its intent", { id: "intent-1" }, "intent-1"],
    ["a digest, if an earlier version recorded it", {}, expect.stringMatching(/^[0-9a-f]{64}$/)],
  ])("that is sent again keeps %s", async (_, more, id) => {
    const pending = { ...more, since: "2026-11-21T09:00:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const result = await run("hosting_grant", GRANT, () => Promise.reject(failure("maybe")), { private: { pending } });
    expect(result.pending).toMatchObject({ id });
    const accepted = await run("hosting_webhook", HOOK, () => null, {
      private: { pending: { ...pending, operation: "createWebhook" } },
    });
    expect(accepted.pending).toMatchObject({ id, accepted: true });
  });

  it("has an id of its own", async () => {
    const ids = [];
    for (let nth = 0; nth < 2; nth++) {
      const { records } = await run("hosting_grant", GRANT, () => grantRecord);
      const [first] = records;
      ids.push(first === "dropped" ? undefined : first?.private.pending?.id);
    }
    expect(ids).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set(ids).size).toBe(2);
  });

  it("that an earlier run began is refused if another address has the object with its natural key", async () => {
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

  it("that an earlier run began is sent if the only new object is that of another pending create", async () => {
    const pending = { since: "2026-11-21T09:00:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const other = { ...liveGrant, id: "303", email: "ops@acme.example" };
    const sibling = recorded("hosting_grant.b", { ...other, id: null }, { private: { pending } }) as PendingCreate;
    const options = { private: { pending: { ...pending, knowsAll: true as const } }, live: [other] };
    const send = () => ({ ...grantRecord, id: "302" });
    expect(await run("hosting_grant", GRANT, send, options)).toMatchObject({ sent: 0, codes: ["plan.pending"] });
    const context = { siblings: () => [sibling] };
    expect(await run("hosting_grant", GRANT, send, { ...options, context })).toMatchObject({ sent: 1, id: "302" });
  });

  it("of a webhook keeps the object if an earlier answer contained its secret", async () => {
    const pending = { since: "2026-11-21T10:00:00.000Z", operation: "createWebhook", knowsAll: true as const };
    const prior = recorded("hosting_webhook.a", { ...HOOK, secret: "whsec-1" }, { private: { pending } });
    const result = await run("hosting_webhook", HOOK, () => ({}), {
      private: { pending },
      live: [liveWebhook],
      context: { prior },
    });
    expect(result).toMatchObject({ sent: 0, id: "201", diagnostics: [], pending: undefined });
    expect(result.records.at(-1)).toMatchObject({ attributes: { id: "201", secret: "whsec-1" } });
  });

  it("that the plan adopts is refused if the account shows another object by now", async () => {
    const pending = { since: "2026-11-21T10:00:00.000Z", operation: "createGrant", params: { id: "1001" } };
    const adopting = { ...GRANT, id: "301" };
    const options = { private: { pending }, live: [{ ...liveGrant, id: "302" }] };
    const result = await run("hosting_grant", adopting, () => grantRecord, options);
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"], records: [] });
    const same = await run("hosting_grant", adopting, () => grantRecord, { ...options, live: [liveGrant] });
    expect(same).toMatchObject({ sent: 0, id: "301", pending: undefined });
  });

  it("looks at the list before it waits, when requests must have arrived, and at the end", async () => {
    const pending = { since: new Date(START).toISOString(), operation: "createGrant", params: { id: "1001" } };
    const result = await run("hosting_grant", GRANT, () => grantRecord, { private: { pending } });
    // At once, after 5, 15, 35 and 80 seconds.
    expect(result.asked).toEqual(Array.from({ length: 5 }, () => "list 1001"));
    const old = { ...pending, since: "2026-11-21T09:00:00.000Z" };
    const later = await run("hosting_grant", GRANT, () => grantRecord, { private: { pending: old } });
    expect(later).toMatchObject({ asked: ["list 1001"], waited: 0 });
  });

  it.each([
    ["no longer than requests take", { listLagMs: 0 }, 5_000],
    ["some seconds", { listLagMs: 8_000 }, 15_000],
    ["a minute, unless it is said", {}, WAIT],
  ])("is sent again when lists that may lag for %s are believed, and not later", async (_, settings, waited) => {
    const mark = { private: { pending: { ...pending, since: now } } };
    const result = await run("hosting_grant", GRANT, () => grantRecord, { ...mark, settings });
    expect(result).toMatchObject({ sent: 1, waited });
  });

  it("answered without a body is found in the list", async () => {
    const result = await run("hosting_grant", GRANT, (_, __, fake) => {
      fake.objects.set("301", remote(liveGrant));
      return null;
    });
    expect(result).toMatchObject({ sent: 1, id: "301" });
  });

  it("whose answers never hold the secret is created again once, and then recorded with an error", async () => {
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
    expect(result).toMatchObject({ id: "202", pending: undefined, codes: ["secret.lost", "secret.lost"] });
    // What was answered is deleted, not pending: nothing is looked for before the second sending.
    expect(result.waited).toBe(0);
  });

  it("answered without a body and not in the list stays pending, and is not sent a second time", async () => {
    expect(await run("hosting_webhook", HOOK, () => null)).toMatchObject({
      sent: 1,
      codes: ["plan.pending"],
      id: null,
      waited: WAIT,
      pending: { accepted: true },
    });
  });

  it("answered without a body by a host whose lists lag is found in the end", async () => {
    const result = await run("hosting_grant", GRANT, () => null, {
      appears: (ms, { objects }) => void (ms >= 30_000 && objects.set("301", remote(liveGrant))),
    });
    expect(result).toMatchObject({ sent: 1, id: "301", pending: undefined });
  });

  it("answered with a secret and without an id, and then the list fails: the secret and the pending create are kept", async () => {
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

  it("sends nothing either when it is a replacement, and what is there is not what it replaces", async () => {
    const result = await run("hosting_webhook", HOOK, () => hookRecord, {
      live: [{ ...liveWebhook, id: "150" }],
      actions: ["create", "delete"],
      before: complete(kindOf("hosting_webhook"), { ...liveWebhook, id: "149", url: "https://old.example" }),
    });
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

  it("never takes for its own what is something else, nor sends it again beside it: it may be shown in another form", async () => {
    const result = await run("hosting_webhook", HOOK, (_, __, fake) => {
      fake.objects.set("202", remote({ ...liveWebhook, id: "202", url: "https://other.example" }));
      throw failure("maybe");
    });
    expect(result).toMatchObject({ sent: 1, codes: ["plan.pending"], id: null });
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

  // The answer was lost, and the next attempt waited for its turn in the rate limit for longer than the key is trusted.
  it.each<[string, JsonObject, readonly string[], object]>([
    ["what it made is adopted", ORDER, ["1001"], { id: "1001", pending: undefined }],
    ["nothing is there: it stays pending", ORDER, [], { id: null, codes: ["api.too_late"], waited: WAIT }],
    ["two may be it: it stays pending", ORDER, ["1001", "1002"], { id: null, codes: ["plan.pending"] }],
    ["a server may be it: it stays pending", SERVER, ["1001"], { id: null, codes: ["plan.pending"] }],
  ])("held too long in its own run is looked for and not sent again: %s", async (_, config, ids, expected) => {
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

  it("held too long that never left was not made: nothing is looked for", async () => {
    const result = await run("hosting_service", ORDER, () => Promise.reject(failure("no", undefined, "api.too_late")));
    expect(result).toMatchObject({ sent: 1, codes: ["api.too_late"], pending: undefined, waited: 0 });
  });

  it("that was held and found is gone on with: what is declared for the live service follows", async () => {
    const config = { ...ORDER, suspended: true };
    const result = await run(
      "hosting_service",
      config,
      ({ endpoint }) =>
        endpoint === "createService" ? Promise.reject(failure("maybe", undefined, "api.too_late")) : null,
      { appears: (_, { objects }) => void objects.set("1001", remote(liveService)) },
    );
    expect(result.mutations.map(({ endpoint }) => endpoint)).toEqual(["createService", "suspendService"]);
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
    ["of the same plan, where no domain decides", SERVER, { ...liveServer }, "plan.lookalike"],
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
    expect(result.records[0]).toMatchObject({
      private: { pending: { resent: new Date(START + WAIT).toISOString() } },
    });
    expect(result.pending).toBeUndefined();
    // Not before lists certainly show what there is.
    expect(result.waited).toBe(WAIT);
  });

  // What the account shows outranks the clock: a host may forget keys in seconds, and clocks may be wrong.
  const SINCE: readonly (readonly [string, string])[] = [
    ["a second ago", new Date(START - 1_000).toISOString()],
    ["an hour ago", "2026-11-21T09:00:00.000Z"],
    ["a day ago", "2026-11-20T10:00:00.000Z"],
    ["in the future", "2026-11-22T08:00:00.000Z"],
    ["at no time at all", "yesterday"],
  ];

  it.each(SINCE)("first sent %s, and its service is there since: adopted, not sent", async (_, since) => {
    const pending = { since, operation: "createService", idempotencyKey: "the-first-key" };
    const made = { ...liveService, created_at: since };
    const result = await run("hosting_service", ORDER, () => ordered(), { private: { pending }, live: [made] });
    if (since === "yesterday") return expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
    expect(result).toMatchObject({ sent: 0, id: "1001", pending: undefined, waited: 0 });
    expect("diagnostics" in result && result.diagnostics.map(({ code }) => code)).toEqual(["apply.replayed"]);
  });

  it.each(SINCE)("first sent %s, and its service appears while it waits: adopted, not sent", async (_, since) => {
    const pending = { since, operation: "createService", idempotencyKey: "the-first-key" };
    const made = remote({ ...liveService, created_at: since });
    const result = await run("hosting_service", ORDER, () => ordered(), {
      private: { pending },
      appears: (ms, { objects }) => void (ms >= 61_000 && objects.set("1001", made)),
    });
    const isYoung = START - Date.parse(since) < WAIT || Number.isNaN(Date.parse(since));
    const sure = !Number.isNaN(Date.parse(since));
    if (!isYoung) expect(result).toMatchObject({ sent: 1, waited: 0 });
    else
      expect(result).toMatchObject({
        sent: 0,
        waited: WAIT,
        ...(sure && { id: "1001" }),
      });
  });

  it.each([
    ["two of its domain", [liveService, { ...liveService, id: "1002" }]],
    ["one of its domain and of another plan", [{ ...liveService, plan_id: 12 }]],
    ["one of its domain and in another currency", [{ ...liveService, currency: "EUR" }]],
    ["one of its domain that was made before", [{ ...liveService, created_at: "2026-11-21T09:00:00Z" }]],
  ])("first sent a minute ago, and the account shows %s: the user decides", async (_, live) => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createService", idempotencyKey: "the-first-key" };
    const result = await run("hosting_service", ORDER, () => ordered(), { private: { pending }, live });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it("of a server first sent a minute ago, with a new one of its plan in sight, is left to the user", async () => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createService", idempotencyKey: "the-first-key" };
    const mark = { private: { pending } };
    const result = await run("hosting_service", SERVER, () => ordered(), { ...mark, live: [liveServer] });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
    // One that was there before, or is another's, is none that it made.
    const known = { private: { pending: { ...pending, known: ["1001"] } } };
    const answer = { service: { ...serviceRecord, ...liveServer, id: "1002" }, invoice: null };
    expect(await run("hosting_service", SERVER, () => answer, { ...known, live: [liveServer] })).toMatchObject({
      sent: 1,
      id: "1002",
    });
    const context = { ownerOf: () => "hosting_service.other" };
    expect(await run("hosting_service", SERVER, () => answer, { ...mark, live: [liveServer], context })).toMatchObject({
      sent: 1,
      id: "1002",
    });
  });

  it("is repeated within the run as long as its user says that the host remembers keys", async () => {
    const options: unknown[] = [];
    const request = async (_: unknown, given: unknown) => {
      options.push(given);
      return ordered() as never;
    };
    const writer = { request, reserve: async () => freeTicket() };
    await run("hosting_service", ORDER, () => ordered(), { context: { writer } });
    const settings = { keyLifetimeMs: 600_000 };
    await run("hosting_service", ORDER, () => ordered(), { settings, context: { writer } });
    expect(options[0]).not.toHaveProperty("repeatWithinMs");
    expect(options[1]).toMatchObject({ repeatWithinMs: 540_000 });
  });

  it("writes down when it was created, by the host's clock, for lists that lag", async () => {
    const result = await run("hosting_service", ORDER, () => ordered());
    expect(result.records.at(-1)).toMatchObject({ private: { created: new Date(START).toISOString() } });
    // What nothing lists needs none.
    const domain = await run("hosting_domain", DOMAIN, () => null);
    expect(domain.records.at(-1)).toHaveProperty("private", {});
    const pending = { since: new Date(START).toISOString(), operation: "createService" };
    const adopted = await run("hosting_service", ORDER, () => null, { private: { pending }, live: [liveService] });
    expect(adopted.records.at(-1)).toHaveProperty("private", {});
  });

  it("refused when it is sent again leaves the first sending pending", async () => {
    const pending = { since: "2026-11-21T09:59:00.000Z", operation: "createService", idempotencyKey: "the-first-key" };
    const result = await run(
      "hosting_service",
      ORDER,
      () => {
        throw failure("answered", 403);
      },
      { private: { pending } },
    );
    expect(result.pending).toEqual({
      ...pending,
      id: expect.any(String),
      resent: new Date(START + WAIT).toISOString(),
    });
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

describe("a create that is answered with a job", () => {
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

  it.each(answers)("%s: the list shows what it made, and nothing is sent again", async (_, answer) => {
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

  it.each(answers)("%s, and no list shows it in time: pending, with a sentence that says so", async (_, answer) => {
    const result = await run("hosting_service", ORDER, answer, { live: [other] });
    expect(result).toMatchObject({ sent: 1, codes: ["plan.pending"], pending: { accepted: true }, waited: WAIT });
  });

  it("of an earlier run is looked for again, never sent again, however long ago", async () => {
    const pending = { since: "2026-11-20T10:00:00.000Z", operation: "createService", accepted: true as const };
    const result = await run("hosting_service", ORDER, () => ordered(), { private: { pending } });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"], records: [] });
    const live = [{ ...liveService, created_at: "2026-11-20T10:03:00Z" }];
    expect(await run("hosting_service", ORDER, () => ordered(), { private: { pending }, live })).toMatchObject({
      sent: 0,
      id: "1001",
      pending: undefined,
    });
  });

  it("that names the new service by its id alone is that service, also where no domain decides", async () => {
    const result = await run("hosting_service", SERVER, (_m, _n, fake) => {
      fake.objects.set("1002", remote({ ...liveServer, id: "1002" }));
      return bare("1002");
    });
    expect(result).toMatchObject({ sent: 1, id: "1002", pending: undefined, waited: 0 });
    expect(result.records.at(-1)).toMatchObject({ attributes: { plan: "Root S" } });
  });

  it("of a server that no answer names, with one of its plan in sight, is left to the user", async () => {
    const result = await run("hosting_service", SERVER, accepted, { appears: after(5_000, liveServer) });
    expect(result).toMatchObject({ sent: 1, codes: ["plan.pending"], pending: { accepted: true } });
  });

  it.each([
    ["hosting_grant", GRANT, { ...grantRecord, email: null, permission: null }, liveGrant],
    ["hosting_client_account", { name: "Acme" }, { name: null }, { id: "301", name: "Acme" }],
    ["hosting_migration_request", { domain: "a.example" }, { domain: null }, { id: "301", domain: "a.example" }],
  ] as const)("%s: its id is that of the list, not of the job", async (type, config, given, live) => {
    const answer = { ...given, id: "job-7", order_id: null, status: "queued", raw: {} };
    const result = await run(type, config, () => answer, { appears: after(20_000, live) });
    expect(result).toMatchObject({ sent: 1, id: "301", pending: undefined });
  });

  it("of a webhook keeps the secret that it contained", async () => {
    const answer = { ...hookRecord, id: "job-7", url: null, events: [] };
    const result = await run("hosting_webhook", HOOK, () => answer, { appears: after(20_000, liveWebhook) });
    expect(result).toMatchObject({ sent: 1, id: "201" });
    expect(result.records.at(-1)).toMatchObject({ attributes: { secret: "whsec_1", url: HOOK.url } });
  });
});

describe("an object whose natural key cannot be read", () => {
  const hidden = { ...liveWebhook, id: "150", events: [] };

  it("stops a create beside it: it may be the declared one", async () => {
    const result = await run("hosting_webhook", HOOK, () => hookRecord, { live: [hidden] });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.unreadable"] });
  });

  it.each([
    ["that another address holds", [hidden], { context: { ownerOf: () => "hosting_webhook.other" } }],
    ["that certainly is another by what can be read", [{ ...hidden, url: "https://other.example" }], {}],
    ["that the user insists is another", [hidden], { anyway: true }],
  ] as const)("does not stop it %s", async (_, live, over) => {
    expect(await run("hosting_webhook", HOOK, () => hookRecord, { live, ...over })).toMatchObject({
      sent: 1,
      id: "201",
    });
  });

  it("may be what a create without known outcome made: the user decides", async () => {
    const pending = { since: "2026-11-21T09:00:00.000Z", operation: "createWebhook", body: HOOK };
    const result = await run("hosting_webhook", HOOK, () => hookRecord, { private: { pending }, live: [hidden] });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
    const known = { ...pending, known: ["150"] };
    expect(
      await run("hosting_webhook", HOOK, () => hookRecord, { private: { pending: known }, live: [hidden] }),
    ).toMatchObject({ sent: 1 });
  });
});

describe("a blind create", () => {
  it("that an earlier run began is never sent again: the user decides", async () => {
    const pending = { since: "2026-11-20T10:00:00.000Z", operation: "registerDomain" };
    const result = await run("hosting_domain", DOMAIN, () => null, { private: { pending } });
    expect(result).toMatchObject({ sent: 0, codes: ["plan.pending"] });
  });

  it("whose answer of success names nothing of a registration stays pending", async () => {
    const silent = { id: null, status: null, invoice: null, raw: {} };
    const result = await run("hosting_domain", DOMAIN, () => silent);
    expect(result).toMatchObject({ sent: 1, codes: ["plan.pending"], pending: { operation: "registerDomain" } });
  });

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

describe("a host that shows what it made in a form of its own", () => {
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

  it.each(CASES)(
    "%s is not made a second time after a lost answer, nor by the next run",
    async (type, config, shows) => {
      const lost = (_: Mutation, __: number, fake: FakeAccount) => {
        fake.objects.set(String(shows.id), remote(shows));
        throw failure("maybe");
      };
      const first = await run(type, config, lost);
      // An order is sent again within seconds, with its key: that is another rule. What is known then is what was there before.
      const kept = first.records.find((record) => record !== "dropped")?.private;
      expect(kept?.pending, "what was there is known").toMatchObject({ knowsAll: true });
      const second = await run(type, config, lost, { live: [shows], private: kept ?? {} });
      expect(second).toMatchObject({ sent: 0, codes: ["plan.pending"] });
      expect(second.details.join()).toMatch(/ is new, but its .* is ".*" and the request had ".*"\./);
    },
  );

  it("an address of another person is recorded as the host shows it, and does not count as the one that was sent", async () => {
    const other = { ...grantRecord, email: "d.ev@acme.example" };
    const { records, diagnostics } = await made("hosting_grant", GRANT, other);
    expect(records.at(-1)).toMatchObject({
      attributes: { email: "d.ev@acme.example" },
      private: { shown: { email: { sent: GRANT.email, is: "d.ev@acme.example", times: 1 } } },
    });
    expect(diagnostics).toMatchObject([{ code: "api.form", detail: expect.stringContaining("cost or expose more") }]);
  });

  it.each(CASES.filter(([type]) => type !== "hosting_grant"))(
    "%s is recorded as it was sent, with a word, and what the host shows is no difference",
    async (type, config, shows, answer) => {
      const { records, diagnostics } = await made(type, config, answer);
      const state = records.at(-1);
      if (state === undefined || state === "dropped") throw new Error("nothing was recorded");
      expect(state.attributes).toMatchObject(config);
      const forms = formsOf(state.private, state.attributes);
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

  it("what another address has, or a lost create of the same run has made, is nobody's twice", async () => {
    const sibling: JsonObject = { ...liveWebhook, id: "202", url: "https://b.example" };
    const pending = { since: new Date(START).toISOString(), operation: "createWebhook" };
    const prior = recorded("hosting_webhook.b", { ...HOOK, url: "https://b.example" }, { private: { pending } });
    const contexts: Context[] = [
      { siblings: () => [prior as PendingCreate] },
      { ownerOf: (_, { id }) => (id === "202" ? "hosting_webhook.b" : undefined) },
    ];
    for (const context of contexts) {
      const answer = (_: Mutation, nth: number, fake: FakeAccount) => {
        fake.objects.set("202", remote(sibling));
        if (nth === 1) throw failure("maybe");
        return hookRecord;
      };
      expect(await run("hosting_webhook", HOOK, answer, { context })).toMatchObject({ sent: 2, id: "201" });
    }
  });
});
