// `resolve`: the evidence about a pending create, and the conclusion.
import { describe, expect, it } from "vitest";
import type { PendingCreate } from "../../../../src/core/lifecycle/pending-create.ts";
import { evidence } from "../../../../src/core/lifecycle/resolve.ts";
import type { Intent, JsonObject } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import {
  failure,
  fakeAccount,
  fakeAccountWith,
  kindOf,
  liveService,
  liveWebhook,
  notFound,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const at = (ms: number) => new Date(START + ms).toISOString();
const HOUR = 3_600_000;
const HOOK = { url: liveWebhook.url ?? null, events: liveWebhook.events ?? null };
const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const DOMAIN = { domain: "acme.example", years: 1, currency: "USD" };

const invoice = (id: string, order_id: string | null) => ({
  id,
  raw: { id },
  invoice_number: `INV-${id}`,
  order_id,
  total: 500,
  currency: "USD",
  status: "unpaid",
  due_date: "2026-12-01",
});

interface Options {
  readonly live?: readonly JsonObject[];
  readonly phase?: "live" | "gone";
  readonly intent?: Partial<Intent>;
  readonly invoices?: () => unknown;
  readonly available?: boolean;
  readonly listLagMs?: number;
  readonly invoiced?: readonly JsonObject[];
  readonly held?: string;
  /** URL of another pending webhook. */
  readonly sibling?: string;
}

async function look(type: string, attributes: JsonObject, options: Options = {}) {
  const { live = [], phase = "live", intent = {}, invoices = () => [], held, sibling, listLagMs } = options;
  const settings = listLagMs === undefined ? {} : { listLagMs };
  const fake = fakeAccountWith(settings, kindOf(type), ...live.map((one) => remote(one, phase)));
  fake.now = () => START;
  const pending: Intent = { since: at(-HOUR), operation: "create", ...intent };
  const prior = recorded(`${type}.a`, attributes, { private: { pending } }) as PendingCreate;
  Object.assign(fake.account, {
    invoices: { forget: () => undefined, all: async () => invoices() },
    isAvailable: async (name: string) =>
      name === attributes.domain ? (options.available ?? null) : "asked for another",
  });
  const services = fakeAccount(kindOf("hosting_service"), ...(options.invoiced ?? []).map((one) => remote(one)));
  return evidence({
    account: fake.account,
    kind: fake.kind,
    prior,
    ...(options.invoiced && { invoiced: services.kind }),
    ...(sibling && {
      siblings: [recorded(`${type}.b`, { ...HOOK, url: sibling }, { private: { pending } }) as PendingCreate],
    }),
    ...(held && { ownerOf: ({ id }) => (id === held ? "hosting_webhook.b" : undefined) }),
  });
}

describe("the verdict", () => {
  const hook = (over: JsonObject = {}) => ({ ...liveWebhook, created_at: at(-HOUR), ...over });
  const service = (over: JsonObject = {}) => ({ ...liveService, created_at: at(-HOUR), ...over });

  it.each<[string, string, JsonObject, Options, string]>([
    ["nothing in sight: it is sent again", "hosting_webhook", HOOK, {}, "nothing"],
    ["an order with nothing in sight: sent again with its key", "hosting_service", ORDER, {}, "sent-again"],
    ["nothing in sight yet, shortly after", "hosting_webhook", HOOK, { intent: { since: at(-60_000) } }, "waiting"],
    ["nothing in sight 680 s after", "hosting_webhook", HOOK, { intent: { since: at(-680_000) } }, "nothing"],
    [
      "something else that is new: a host may show it in a form of its own",
      "hosting_webhook",
      HOOK,
      { live: [hook({ url: "https://other.example" })], intent: { knowsAll: true } },
      "unclear",
    ],
    [
      "something else that was there before",
      "hosting_webhook",
      HOOK,
      { live: [hook({ url: "https://other.example" })], intent: { knowsAll: true, known: ["201"] } },
      "nothing",
    ],
    [
      "nothing in sight, a moment before a list that may lag for eight minutes is believed",
      "hosting_webhook",
      HOOK,
      { intent: { since: at(-1_204_999) }, listLagMs: 480_000 },
      "waiting",
    ],
    [
      "nothing in sight of what was accepted: it is not sent again",
      "hosting_service",
      ORDER,
      { intent: { accepted: true } },
      "unclear",
    ],
    ["one that can only be it", "hosting_service", ORDER, { live: [service()] }, "made"],
    ["one that can only be it, whose secret is lost", "hosting_webhook", HOOK, { live: [hook()] }, "secret-lost"],
    [
      "one that can only be it, whose secret came",
      "hosting_webhook",
      { ...HOOK, secret: "s" },
      { live: [hook()] },
      "made",
    ],
    ["two that may be it", "hosting_webhook", HOOK, { live: [hook(), hook({ id: "202" })] }, "unclear"],
    [
      "one of two that another address has",
      "hosting_webhook",
      { ...HOOK, secret: "s" },
      { live: [hook(), hook({ id: "202" })], held: "202" },
      "made",
    ],
    [
      "one that was made at another time",
      "hosting_webhook",
      HOOK,
      { live: [hook({ created_at: at(-9 * HOUR) })] },
      "unclear",
    ],
    [
      "something else that another pending create requested",
      "hosting_webhook",
      HOOK,
      { live: [hook({ url: "https://b.example" })], intent: { knowsAll: true }, sibling: "https://b.example" },
      "nothing",
    ],
    ["one that another address has", "hosting_webhook", HOOK, { live: [hook()], held: "201" }, "held"],
    ["what nothing shows", "hosting_domain", DOMAIN, {}, "unknowable"],
  ])("of %s", async (_, type, attributes, options, verdict) => {
    expect((await look(type, attributes, options)).verdict).toBe(verdict);
  });

  it("names the moment from which a list proves absence, and the expected candidates", async () => {
    const [intent, live] = [{ since: at(-60_000), knowsAll: true } as const, [hook({ url: "https://other.example" })]];
    const found = await look("hosting_webhook", HOOK, { intent, live });
    expect(found).toMatchObject({ verdict: "waiting", until: at(620_000), candidates: [{ id: "201" }] });
  });

  it("names the address that owns the object", async () => {
    const found = await look("hosting_webhook", HOOK, { live: [hook()], held: "201" });
    expect(found).toMatchObject({ verdict: "held", holder: "hosting_webhook.b" });
  });
});

describe("the evidence", () => {
  it("contains the request and all its possible results", async () => {
    const intent = { idempotencyKey: "key-1", body: ORDER };
    const found = await look("hosting_service", ORDER, {
      live: [{ ...liveService, created_at: at(-HOUR) }],
      intent,
      invoices: () => [invoice("31", "1001"), invoice("32", "1002"), invoice("33", null)],
    });
    expect(found).toEqual({
      address: "hosting_service.a",
      type: "hosting_service",
      since: at(-HOUR),
      operation: "create",
      idempotency_key: "key-1",
      body: ORDER,
      key_attributes: ["domain"],
      candidates: [
        {
          id: "1001",
          natural_key: "www.acme.example",
          created_at: at(-HOUR),
          status: "active",
          domain: "www.acme.example",
          plan: "Shared Start",
        },
      ],
      invoices: [
        {
          id: "31",
          number: "INV-31",
          order_id: "1001",
          total: 500,
          currency: "USD",
          money_scale: null,
          status: "unpaid",
        },
      ],
      verdict: "made",
      because: "nothing else can have created this object",
      ruled_out: [],
      rewrites_key: "unknown",
    });
  });

  it("contains the acceptance of the API, if there was one", async () => {
    expect(await look("hosting_webhook", HOOK, { intent: { accepted: true } })).toHaveProperty("accepted", true);
  });

  it("contains null for each missing value", async () => {
    const bare = { id: "201", url: HOOK.url, events: HOOK.events } as JsonObject;
    const found = await look("hosting_webhook", HOOK, { live: [bare] });
    expect(found).toMatchObject({ idempotency_key: null, body: null, invoices: [] });
    const natural_key = "https://hooks.acme.example invoice.paid";
    const nothing = { created_at: null, status: null, domain: null, plan: null };
    expect(found.candidates).toEqual([{ id: "201", natural_key, key: "same", ...nothing }]);
  });

  it.each<[string, readonly JsonObject[] | undefined, string[]]>([["of no service there is", [liveService], ["32"]]])(
    "without candidates has the invoices of orders %s",
    async (_, invoiced, ids) => {
      const invoices = () => [invoice("31", "1001"), invoice("32", "1002"), invoice("33", null)];
      const found = await look("hosting_domain", DOMAIN, { invoices, ...(invoiced && { invoiced }) });
      expect(found.invoices?.map(({ id }) => id)).toEqual(ids);
      expect(found.candidates).toBeNull();
      const order = await look("hosting_service", ORDER, { invoices, ...(invoiced && { invoiced }) });
      expect(order.invoices?.map(({ id }) => id)).toContain("32");
    },
  );

  it.each([
    ["may not be read (403)", failure("answered", 403)],
    ["are not found", notFound()],
  ])("contains null for invoices that %s", async (_, error) => {
    const invoices = () => {
      throw error;
    };
    expect((await look("hosting_domain", DOMAIN, { invoices })).invoices).toBeNull();
  });

  it.each([failure("answered", 500), Object.assign(new Error("ours"), { status: 403 })])(
    "fails with %s",
    async (error) => {
      const invoices = () => {
        throw error;
      };
      await expect(look("hosting_domain", DOMAIN, { invoices })).rejects.toBe(error);
    },
  );

  it("of a domain contains whether it can still be registered, and of other kinds nothing", async () => {
    expect((await look("hosting_domain", DOMAIN, { available: false })).available).toBe(false);
    expect((await look("hosting_domain", DOMAIN)).available).toBeNull();
    expect(await look("hosting_service", ORDER, { available: true })).not.toHaveProperty("available");
  });
});
