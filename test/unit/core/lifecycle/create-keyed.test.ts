// Responses to an order: a new service, the service of an earlier order, a service of another owner, or an ended service.
import { describe, expect, it } from "vitest";
import type { PlanRecord } from "../../../../src/core/api/index.ts";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import { create } from "../../../../src/core/lifecycle/create.ts";
import { usesUpKey } from "../../../../src/core/lifecycle/intents.ts";
import { withoutRequests } from "../../../../src/core/lifecycle/pending-create.ts";
import type { Progress } from "../../../../src/core/lifecycle/perform.ts";
import {
  ApiError,
  type Change,
  type Code,
  HostformError,
  type Intent,
  type JsonObject,
  type Reached,
} from "../../../../src/core/model/index.ts";
import { type Context, changeOf, fakeRun } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import { failure, fakeAccount, fakeWriter, kindOf, liveService, remote } from "../../../support/subjects.ts";

const PLANNED: JsonObject = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const at = (ms: number) => new Date(START + ms).toISOString();
const BILL = { id: "31", raw: {}, status: "unpaid", total: 500, currency: "USD", paid_at: null };

interface Situation {
  readonly live?: readonly Remote[];
  /** Services that no list shows and a GET returns. */
  readonly hidden?: readonly Remote[];
  readonly change?: Partial<Change>;
  readonly context?: Context;
  readonly planned?: JsonObject;
  /** Service in the response. Default: a new service. */
  readonly answer?: JsonObject;
  readonly fails?: readonly [Reached, number?, string?];
  readonly plans?: readonly Partial<PlanRecord>[];
  /** Fields that replace fields of the kind. */
  readonly kind?: Partial<Kind>;
  /** Additional services in the list after the response. */
  readonly appears?: readonly Remote[];
  /** The list was read during the plan. */
  readonly listed?: true;
}

async function order({
  live = [],
  hidden = [],
  change = {},
  context: more = {},
  answer = {},
  fails,
  planned = PLANNED,
  plans = [],
  kind: unusual = {},
  appears = [],
  listed,
}: Situation = {}) {
  const fake = fakeAccount(kindOf("hosting_service"), ...live);
  const { account, kind, asked, objects } = fake;
  fake.plans = plans;
  if (listed) await account.list(kind);
  const happened: string[] = [];
  const withHidden = {
    ...kind,
    get: async (...args: Parameters<NonNullable<typeof kind.get>>) =>
      hidden.find(({ id }) => id === args[1]) ?? (await (kind.get as NonNullable<typeof kind.get>)(...args)),
    ...unusual,
  };
  const writer = fakeWriter(async () => {
    happened.push("sent");
    for (const one of appears) objects.set(one.id, one);
    if (fails) throw failure(fails[0], fails[1], undefined, fails[2]);
    return { service: { ...liveService, raw: {}, plan_id: null, created_at: at(0), ...answer }, invoice: BILL };
  });
  const { context } = fakeRun(account, writer, {
    save: async ({ attributes: { id }, private: { pending, generation, created } }) => {
      const [from, again] = [pending?.since, pending?.resent].map((text) => text && Date.parse(text) - START);
      if (pending !== undefined)
        happened.push(from === 0 && again === undefined ? "marked" : `marked ${from} again ${again ?? "not"}`);
      else if (generation !== undefined && created === undefined) happened.push(`gone ${id} ${generation}`);
    },
    drop: async () => void happened.push("unmarked"),
    ...more,
  });
  const one = changeOf("hosting_service", planned, { address: "hosting_service.a", ...change });
  const progress: Progress = {
    kind: withHidden as typeof kind,
    change: one,
    config: planned,
    context,
    diagnostics: [],
    attributes: {},
    mark: withoutRequests(one.private),
  };
  let summary: string | undefined;
  const withdraw = async (next?: number) =>
    void happened.push(next === undefined ? "unmarked" : `unmarked, next ${next}`);
  const ended = await create(progress, withdraw).then(
    ({ mayBeGone: _, ...made }) => made,
    (error: unknown) => {
      if (!(error instanceof HostformError)) throw error;
      summary = error.diagnostics[0]?.summary;
      return error.diagnostics.map(({ severity, code }) => `${severity} ${code}`);
    },
  );
  return { ended, summary, happened, account, asked };
}

const SENT = ["marked", "sent"];
const PENDING: Intent = { since: at(-3_600_000), operation: "createService", idempotencyKey: "k", body: {} };
const old = (over: JsonObject = {}, phase: Remote["phase"] = "live") =>
  remote({ ...liveService, created_at: at(-86_400_000), ...over }, phase);
/**
 * Returns an existing service that differs from the declaration, so the order is not a duplicate. The response
 * names this service.
 */
const other = (over: JsonObject = {}, phase: Remote["phase"] = "live") => old({ domain: null, ...over }, phase);

const NOTHING = Object.fromEntries(Object.keys(liveService).map((name) => [name, null]));
const naming = (id: string): Situation => ({ answer: { ...NOTHING, id } });

describe("the response to an order", () => {
  it("contains a new service and its invoice; the other values are ignored", async () => {
    const { ended, happened, account } = await order();
    expect(ended).toMatchObject({ id: "1001", invoice: { id: "31" }, attributes: { domain: "www.acme.example" } });
    expect(ended).not.toHaveProperty("replayed");
    expect(ended).not.toHaveProperty("warning");
    expect(happened).toEqual(SENT);
    expect(account.isNew("1001")).toBe(true);
  });

  it("contains a new service even if the host's clock is wrong, as long as the service exists", async () => {
    const { ended, happened } = await order({ answer: { created_at: at(-86_400_000) }, hidden: [old()] });
    expect(ended).toMatchObject({ id: "1001" });
    expect(happened).toEqual(SENT);
  });

  it.each<[string, Situation]>([
    ["old, and does not exist", { answer: { created_at: at(-300_000) } }],
    ["old, and has ended", { answer: { created_at: at(-300_000) }, hidden: [old({}, "gone")] }],
    ["listed as ended", { live: [old({}, "gone")] }],
  ])("belongs to an old order if the service is %s, and its key is used up", async (_, situation) => {
    const { ended, happened } = await order({ ...situation, change: { private: { generation: 3 } } });
    expect(ended).toEqual(["error apply.replayed"]);
    expect(happened).toEqual([...SENT, "gone 1001 3"]);
  });

  it("is not checked again for a young service", async () => {
    const { asked, ended } = await order({ answer: { created_at: at(-299_999) } });
    expect(asked.filter((look) => look.startsWith("get"))).toEqual([]);
    expect(ended).toMatchObject({ id: "1001" });
  });

  it.each<[string, NonNullable<Context["confirm"]>, string[]]>([
    ["exists", async () => true, []],
    ["is not seen", async () => false, ["get 1001"]],
    ["cannot be looked for", async () => Promise.reject(failure("answered", 500)), ["get 1001"]],
  ])(
    "with an old creation time is searched among the results of other orders: its service %s",
    async (_, confirm, looks) => {
      const { asked, ended, happened } = await order({
        answer: { created_at: at(-300_000) },
        context: { confirm },
      });
      expect(asked.filter((look) => look.startsWith("get"))).toEqual(looks);
      if (looks.length === 0) expect(ended).toMatchObject({ id: "1001", invoice: { id: "31" } });
      else expect(happened).toEqual([...SENT, "gone 1001 1"]);
    },
  );

  it("with a service of another address is no order", async () => {
    const { ended, happened } = await order({ context: { claimId: () => "hosting_service.b" } });
    expect(ended).toEqual(["error apply.replayed"]);
    expect(happened).toEqual([...SENT, "unmarked"]);
  });

  it("with an existing service of unknown origin is adopted, and nothing else is sent yet", async () => {
    const { ended, happened, asked } = await order({
      live: [old({ status: "suspended", price: 700 }, "suspended")],
      answer: { created_at: at(-86_400_000) },
      context: { replaces: () => true },
    });
    expect(ended).toMatchObject({
      id: "1001",
      phase: "suspended",
      invoice: null,
      replayed: true,
      attributes: { status: "suspended", price: 700, plan: "Shared Start", invoice_id: "31" },
      warning: { severity: "warning", code: "apply.replayed" },
    });
    expect(happened).toEqual(SENT);
    expect(asked, "the list has said that it is there").toEqual(["list"]);
  });

  it("with an existing service belongs to the earlier attempt, if there was one: adopted, with its invoice", async () => {
    const { ended, happened } = await order({
      live: [other()],
      change: { private: { pending: { ...PENDING, known: ["1001"] } }, anyway: true },
      context: { adoptsOrders: false },
    });
    expect(ended).toMatchObject({ id: "1001", invoice: { id: "31" }, warning: { code: "apply.replayed" } });
    expect(ended).not.toHaveProperty("replayed");
    expect(happened).toEqual(["marked -3600000 again 0", "sent"]);
  });

  it.each<[string, Situation]>([
    ["a service like it that was there", { ...naming("1001"), live: [old()], context: { replaces: () => true } }],
    ["a new service like it", { ...naming("1001"), appears: [old()] }],
    ["a new service like it, with a list from before", { ...naming("1001"), appears: [old()], listed: true }],
  ])("with only the id of %s is matched to it", async (_, situation) => {
    const { ended, account } = await order(situation);
    const isNew = situation.live === undefined;
    expect(ended).toMatchObject(isNew ? { id: "1001", invoice: { id: "31" } } : { id: "1001", replayed: true });
    expect(account.isNew("1001")).toBe(isNew);
  });

  it.each<[string, Situation]>([
    ["if orders are not adopted", { live: [old()], context: { adoptsOrders: false, replaces: () => true } }],
    ["if the user insists on another order", { change: { anyway: true } }],
  ])("with an existing service is rejected %s", async (_, situation) => {
    const { ended, summary, happened } = await order({ live: [other()], ...situation });
    expect(ended).toEqual([situation.context ? "error plan.exists" : "error apply.replayed"]);
    expect(summary).toContain("1001");
    expect(happened).toEqual([...SENT, "unmarked"]);
  });

  it("with a service that differs from the declaration is rejected", async () => {
    const { ended, happened } = await order({ live: [old({ domain: "b.example" })] });
    expect(ended).toEqual(["error apply.replayed"]);
    expect(happened).toEqual([...SENT, "unmarked"]);
  });

  it.each<[string, readonly [Reached, number?, string?], string[]]>([
    ["that never left", ["no"], [...SENT, "unmarked"]],
    ["that the API refused with 422, which uses up the key", ["answered", 422], [...SENT, "unmarked, next 2"]],
    [
      "whose key the API refused: another order has it",
      ["answered", 422, "Idempotency-Key in use"],
      [...SENT, "unmarked"],
    ],
    ["that was lost", ["maybe"], SENT],
  ])("%s", async (_, fails, happened) => {
    expect(await order({ fails })).toMatchObject({ ended: ["error api.server"], happened, asked: ["list"] });
  });
});

describe("the key of an order that is rejected with 422", () => {
  const refusal = (code: Code, serverMessage?: string, fieldErrors = {}) =>
    new ApiError({
      code,
      summary: "refused",
      endpoint: "POST /services",
      reached: "answered",
      status: 422,
      serverMessage,
      fieldErrors,
    });

  it.each<[string, ApiError, boolean]>([["in words that the message does not repeat", refusal("api.rejected"), false]])(
    "that names it %s",
    (_, error, isUsedUp) => expect(usesUpKey(error)).toBe(isUsedUp),
  );
});

describe("a response with only an id", () => {
  it.each<[string, Situation]>([
    ["that has ended", { appears: [old({}, "gone")] }],
    ["that another address has", { appears: [old()], context: { claimId: () => "hosting_service.b" } }],
    ["that is another one", { appears: [old({ domain: "b.example" })] }],
    ["that no list shows", {}],
  ])("of a service %s stays pending", async (_, situation) => {
    const { ended, happened } = await order({ ...naming("1001"), ...situation });
    expect(ended).toEqual(["error plan.pending"]);
    expect(happened).toEqual(["marked", "sent", "marked"]);
  });
});

describe("an order that is repeated after a lost response", () => {
  const change = { private: { pending: PENDING } };

  it.each<[string, readonly [Reached, number?], string[], string[]]>([
    ["and is refused is as open as before", ["answered", 422], ["error api.server", "error plan.pending"], []],
    [
      "and does not leave is as open as before, from the time of the last sending",
      ["no"],
      ["error api.server"],
      ["marked -3600000 again not"],
    ],
  ])("%s", async (_, fails, ended, after) => {
    const result = await order({ change, fails });
    expect(result.ended).toEqual(ended);
    expect(result.happened).toEqual(["marked -3600000 again 0", "sent", ...after]);
  });
});

describe("a check before an order", () => {
  const SERVER = { plan_id: 11, currency: "USD" };
  const PLANS = [
    { plan_id: 11, name: "Root S", product_type: "vps" },
    { plan_id: 12, name: "Root M", product_type: "vps" },
  ] as const;
  const server = (plan: string) => other({ plan, id: "999", product_type: "vps" });

  it.each<[string, Situation, boolean]>([
    ["one of its plan by the list of plans", { live: [server("Root S")] }, false],
  ])(
    "finds a server, %s: the order is sent only if the server is another product (%#)",
    async (_, situation, leaves) => {
      const { ended, happened } = await order({ planned: SERVER, plans: PLANS, ...situation });
      expect(happened).toEqual(leaves ? SENT : []);
      if (!leaves) expect(ended).toEqual(["error plan.lookalike"]);
    },
  );

  it.each<[string, Situation, string[]]>([["one with its name is there", { live: [old()] }, ["error plan.exists"]]])(
    "%s: it does not leave",
    async (_, situation, ended) => {
      expect(await order(situation)).toMatchObject({ ended, happened: [] });
    },
  );
});
