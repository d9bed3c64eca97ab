// What the answer to an order may mean: a new service, one from an earlier order, somebody else's, or one that is gone.
import { describe, expect, it } from "vitest";
import type { Remote } from "../../../src/kinds/kind.ts";
import { createKeyed } from "../../../src/lifecycle/create-keyed.ts";
import type { CreateContext } from "../../../src/lifecycle/creating.ts";
import { type Change, HostformError, type JsonObject, type Reached } from "../../../src/model/index.ts";
import { START } from "../../support/clock.ts";
import { failure, fakeAccount, fakeWriter, kindOf, liveService, remote } from "../../support/subjects.ts";

const PLANNED: JsonObject = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const at = (ms: number) => new Date(START + ms).toISOString();
const BILL = { id: "31", raw: {}, status: "unpaid", total: 500, currency: "USD", paid_at: null };

interface Situation {
  readonly live?: readonly Remote[];
  /** What the list does not show, and a GET does. */
  readonly hidden?: readonly Remote[];
  readonly change?: Partial<Change>;
  readonly context?: Partial<CreateContext>;
  readonly planned?: JsonObject;
  /** The service of the answer; default: a new one. */
  readonly answer?: JsonObject;
  readonly fails?: readonly [Reached, number?];
}

async function order({
  live = [],
  hidden = [],
  change = {},
  context: more = {},
  answer = {},
  fails,
  planned = PLANNED,
}: Situation = {}) {
  const { account, kind, asked } = fakeAccount(kindOf("hosting_service"), ...live);
  const happened: string[] = [];
  const withHidden = {
    ...kind,
    get: async (...args: Parameters<NonNullable<typeof kind.get>>) =>
      hidden.find(({ id }) => id === args[1]) ?? (await (kind.get as NonNullable<typeof kind.get>)(...args)),
  };
  const writer = fakeWriter(async () => {
    happened.push("sent");
    if (fails) throw failure(...fails);
    return { service: { ...liveService, raw: {}, plan_id: null, created_at: at(0), ...answer }, invoice: BILL };
  });
  const context = {
    account,
    writer,
    project: "acme",
    pause: async () => undefined,
    markPending: async () => void happened.push("marked"),
    unmark: async () => void happened.push("unmarked"),
    markGone: async (id: string, generation: number) => void happened.push(`gone ${id} ${generation}`),
    ...more,
  } as unknown as CreateContext;
  const one = { address: "hosting_service.a", private: {}, actions: ["create"], ...change } as Change;
  const ended = await createKeyed(withHidden as typeof kind, one, planned, context).then(
    (made) => made,
    (error: unknown) => {
      if (error instanceof HostformError) return error.diagnostics.map(({ severity, code }) => `${severity} ${code}`);
      throw error;
    },
  );
  return { ended, happened, account, asked };
}

const SENT = ["marked", "sent"];
const old = (over: JsonObject = {}, phase: Remote["phase"] = "live") =>
  remote({ ...liveService, created_at: at(-86_400_000), ...over }, phase);
/** Not like what is declared, so that it is no twin before the order; the answer names it. */
const other = (over: JsonObject = {}, phase: Remote["phase"] = "live") => old({ domain: null, ...over }, phase);

describe("the answer to an order", () => {
  it("is a new service, with its invoice; nothing else is taken from it", async () => {
    const { ended, happened, account } = await order();
    expect(ended).toMatchObject({ id: "1001", invoice: { id: "31" }, attributes: { domain: "www.acme.example" } });
    expect(ended).not.toHaveProperty("replayed");
    expect(ended).not.toHaveProperty("warning");
    expect(happened).toEqual(SENT);
    expect(account.isNew("1001")).toBe(true);
  });

  it("is a new one also when its clock is wrong, as long as it exists", async () => {
    const { ended, happened } = await order({ answer: { created_at: at(-86_400_000) }, hidden: [old()] });
    expect(ended).toMatchObject({ id: "1001" });
    expect(happened).toEqual(SENT);
  });

  it.each<[string, Situation]>([
    ["old, and does not exist", { answer: { created_at: at(-300_000) } }],
    ["old, and has ended", { answer: { created_at: at(-300_000) }, hidden: [old({}, "gone")] }],
    ["listed as ended", { live: [old({}, "gone")] }],
  ])("is that of an order from long ago, whose service is %s: its key is used up", async (_, situation) => {
    const { ended, happened } = await order({ ...situation, change: { private: { generation: 3 } } });
    expect(ended).toEqual(["error apply.replayed"]);
    expect(happened).toEqual([...SENT, "gone 1001 3"]);
  });

  it("is not looked at again when it is young", async () => {
    const { asked, ended } = await order({ answer: { created_at: at(-299_999) } });
    expect(asked.filter((look) => look.startsWith("get"))).toEqual([]);
    expect(ended).toMatchObject({ id: "1001" });
  });

  it("about a service that another address has is no order", async () => {
    const { ended, happened } = await order({ context: { take: () => "hosting_service.b" } });
    expect(ended).toEqual(["error apply.replayed"]);
    expect(happened).toEqual([...SENT, "unmarked"]);
  });

  it("about a service that was there, and of which nothing was known, is adopted, and nothing is done to it yet", async () => {
    const { ended, happened } = await order({
      live: [old({ status: "suspended", price: 700 }, "suspended")],
      context: { replaces: () => true },
    });
    expect(ended).toMatchObject({
      id: "1001",
      phase: "suspended",
      invoice: null,
      replayed: true,
      attributes: { status: "suspended", price: 700, plan: "Shared Start" },
      warning: { severity: "warning", code: "apply.replayed" },
    });
    expect(happened).toEqual(SENT);
  });

  it.each<[string, Situation]>([
    ["where orders are not adopted", { live: [old()], context: { adoptsOrders: false, replaces: () => true } }],
    ["where another one was insisted on", { change: { anyway: true } }],
  ])("about a service that was there is refused %s", async (_, situation) => {
    const { ended, happened } = await order({ live: [other()], ...situation });
    expect(ended).toEqual([situation.context ? "error plan.exists" : "error apply.replayed"]);
    expect(happened).toEqual([...SENT, "unmarked"]);
  });

  it("about a service that is another one than declared is refused", async () => {
    const { ended, happened } = await order({ live: [old({ domain: "b.example" })] });
    expect(ended).toEqual(["error apply.replayed"]);
    expect(happened).toEqual([...SENT, "unmarked"]);
  });

  it.each<[string, readonly [Reached, number?], string[]]>([
    ["that never left", ["no"], [...SENT, "unmarked"]],
    ["that was refused", ["answered", 422], [...SENT, "unmarked"]],
    ["that was lost", ["maybe"], SENT],
  ])("%s", async (_, fails, happened) => {
    expect(await order({ fails })).toMatchObject({ ended: ["error api.server"], happened });
  });
});

describe("before an order leaves", () => {
  it.each<[string, Situation, string[]]>([
    ["one with its name is there", { live: [old()] }, ["error plan.exists"]],
    [
      "a server that may be it is there",
      { live: [other({ plan_id: 11 })], planned: { plan_id: 11, currency: "USD" } },
      ["error plan.lookalike"],
    ],
  ])("%s: it does not leave", async (_, situation, ended) => {
    expect(await order(situation)).toMatchObject({ ended, happened: [] });
  });

  it.each<[string, Situation]>([
    ["one with its name has ended", { live: [old({ id: "999" }, "gone")] }],
    [
      "the one with its name is what it takes the place of",
      { live: [old({ id: "999" })], context: { replaces: () => true } },
    ],
    [
      "a server that may be it was insisted not to be",
      {
        live: [other({ id: "999", plan_id: 11 })],
        planned: { plan_id: 11, currency: "USD" },
        change: { anyway: true },
      },
    ],
  ])("%s: it leaves", async (_, situation) => {
    expect((await order(situation)).happened).toEqual(SENT);
  });
});
