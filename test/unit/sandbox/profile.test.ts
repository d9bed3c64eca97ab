import { describe, expect, test } from "vitest";
import { PROFILE_SWITCHES, type Profile, parseProfile, SandboxOptionError } from "../../../src/sandbox/index.ts";
import { activeService, ORDER, type Running, start } from "./harness.ts";

describe("parseProfile", () => {
  test("fills in the defaults, the first value of each switch", () => {
    const defaults = Object.fromEntries(Object.entries(PROFILE_SWITCHES).map(([name, values]) => [name, values[0]]));
    expect(parseProfile("")).toEqual(defaults);
    expect(parseProfile(" envelope=items_pagination , status=capitalised,")).toEqual({
      ...defaults,
      envelope: "items_pagination",
      status: "capitalised",
    });
  });

  test.each([
    ["colour=red", "envelope, status"],
    ["envelope=soap", "laravel, data_meta"],
    ["envelope", "switch=value"],
    ["envelope=flat=array", "switch=value"],
    ["envelope=flat,envelope=array", "twice"],
    ["constructor=x", "no profile switch"],
  ])("refuses %j and says what there is", (text, hint) => {
    expect(() => parseProfile(text)).toThrow(SandboxOptionError);
    expect(() => parseProfile(text)).toThrow(hint);
  });

  test("so does a sandbox that is started with an unknown value", async () => {
    await expect(start({ profile: { money: "gold" } as unknown as Partial<Profile> })).rejects.toThrow("minor, major");
  });
});

/** A sandbox with that profile, three services and the agency's first one. */
async function running(profile: Partial<Profile>): Promise<Running & { id: number }> {
  const started = await start({ profile });
  const id = activeService(started);
  started.sandbox.control.seedServices({ count: 2 });
  return { ...started, id };
}

describe("envelope", () => {
  const shapes: { envelope: Profile["envelope"]; keys: string[]; items: string | null }[] = [
    { envelope: "laravel", keys: ["data", "links", "meta"], items: "data" },
    { envelope: "data_meta", keys: ["data", "meta"], items: "data" },
    { envelope: "items_pagination", keys: ["items", "pagination"], items: "items" },
    { envelope: "named_has_more", keys: ["services", "has_more"], items: "services" },
    {
      envelope: "flat",
      keys: ["current_page", "data", "from", "next_page_url", "path", "per_page", "prev_page_url", "to"],
      items: "data",
    },
    { envelope: "data_only", keys: ["data"], items: "data" },
    { envelope: "array", keys: ["0", "1"], items: null },
  ];
  test("each value is tried", () => expect(shapes.map((one) => one.envelope)).toEqual(PROFILE_SWITCHES.envelope));

  test.each(shapes)("$envelope", async ({ envelope, keys, items }) => {
    const { send, id } = await running({ envelope });
    const { body } = await send("GET", "/services?per_page=2");
    expect(Object.keys(body)).toEqual(keys);
    const rows = items === null ? body : body[items];
    expect(rows.map((row: { id: number }) => row.id)).toEqual([id + 2, id + 1]);
    const last = (await send("GET", "/services?per_page=2&page=2")).body;
    if (envelope === "items_pagination") expect(last.pagination).toEqual({ page: 2, per_page: 2, total_pages: 2 });
    if (envelope === "named_has_more") expect([body.has_more, last.has_more]).toEqual([true, false]);
    if (envelope === "flat") {
      expect(body.next_page_url).toContain("/api/v1/services?page=2&per_page=2");
      expect([last.next_page_url, last.prev_page_url]).toEqual([null, expect.stringContaining("page=1")]);
    }
  });

  test("laravel in full", async () => {
    const { send, sandbox } = await running({});
    const { body } = await send("GET", "/services?per_page=2&page=2");
    const path = `${sandbox.url}/api/v1/services`;
    const at = (page: number): string => `${path}?page=${page}&per_page=2`;
    expect(body.links).toEqual({ first: at(1), last: at(2), prev: at(1), next: null });
    expect(body.meta).toEqual({ current_page: 2, from: 3, last_page: 2, path, per_page: 2, to: 3, total: 3 });
  });

  test("named after the resource in every list", async () => {
    const { send, id } = await running({ envelope: "named_has_more" });
    for (const [path, name] of [
      ["/plans", "plans"],
      ["/invoices", "invoices"],
      [`/services/${id}/grants`, "grants"],
      ["/webhooks", "webhooks"],
      ["/accounts", "accounts"],
      ["/migration-requests", "migration_requests"],
    ] as const) {
      expect(Object.keys((await send("GET", path)).body)).toEqual([name, "has_more"]);
    }
  });
});

test.each([
  { status: "lower", words: ["pending", "suspended", "active", "unpaid", "provisioned"] },
  { status: "capitalised", words: ["Pending", "Suspended", "Active", "Unpaid", "Provisioned"] },
  { status: "upper_snake", words: ["PENDING_PAYMENT", "SUSPENDED_BY_CLIENT", "ACTIVE", "UNPAID", "PROVISIONED"] },
] as const)("status=$status", async ({ status, words }) => {
  const { send, sandbox, id } = await running({ status });
  const ordered = (await send("POST", "/services", { key: "k", body: ORDER })).body.data;
  sandbox.control.change("services", id, { status: "suspended" });
  const suspended = (await send("GET", `/services/${id}`)).body.data;
  const active = (await send("GET", `/services/${id + 1}`)).body.data;
  expect([ordered.status, suspended.status, active.status, ordered.invoice.status, active.provisioning_status]).toEqual(
    words,
  );
});

test("ids=string: every id is a text, and texts are taken back", async () => {
  const { send, id } = await running({ ids: "string" });
  const plan = (await send("GET", "/plans")).body.data.at(-1);
  expect(plan.plan_id).toBe("11");
  const { data } = (await send("POST", "/services", { key: "k", body: { ...ORDER, plan_id: plan.plan_id } })).body;
  expect([data.id, data.invoice.id, data.invoice.order_id]).toEqual([String(id + 3), expect.any(String), data.id]);
  const bound = await send("POST", "/migration-requests", { body: { domain: "x.example", order_id: data.id } });
  expect(bound.body.data).toMatchObject({ id: "501", order_id: data.id });
  const grant = await send("POST", `/services/${data.id}/grants`, {
    body: { email: "a@x.example", permission: "view" },
  });
  expect(grant.body.data.id).toBe("301");
});

test("bodies=empty204: nothing to read where there is nothing to say", async () => {
  const { send, id } = await running({ bodies: "empty204" });
  await send("POST", `/services/${id}/grants`, { body: { email: "a@x.example", permission: "view" } });
  await send("POST", "/webhooks", { body: { url: "https://x.example/", events: ["invoice.paid"] } });
  for (const [method, path, body] of [
    ["POST", `/services/${id}/suspend`, undefined],
    ["POST", `/services/${id}/unsuspend`, undefined],
    ["POST", `/services/${id}/password`, { password: "12345678" }],
    ["DELETE", `/services/${id}/grants/301`, undefined],
    ["DELETE", "/webhooks/201", undefined],
  ] as const) {
    const answer = await send(method, path, { body });
    expect([path, answer.status, answer.text]).toEqual([path, 204, ""]);
  }
});

describe("creation", () => {
  const service = { id: expect.anything(), plan: "Shared Start" };
  const invoice = { id: expect.anything(), invoice_number: expect.any(String) };
  test.each([
    { creation: "nested", unwrapped: "no", keys: ["data"], body: { data: { ...service, invoice } } },
    { creation: "beside", unwrapped: "no", keys: ["data", "invoice"], body: { data: service, invoice } },
    { creation: "split", unwrapped: "no", keys: ["data"], body: { data: { service, invoice } } },
    {
      creation: "invoice_wrapped",
      unwrapped: "no",
      keys: ["data", "invoice"],
      body: { data: service, invoice: { data: invoice } },
    },
    { creation: "nested", unwrapped: "yes", keys: null, body: { ...service, invoice } },
    { creation: "beside", unwrapped: "yes", keys: null, body: { ...service, invoice } },
    { creation: "split", unwrapped: "yes", keys: ["service", "invoice"], body: { service, invoice } },
    { creation: "invoice_wrapped", unwrapped: "yes", keys: null, body: { ...service, invoice: { data: invoice } } },
  ] as const)("$creation, unwrapped: $unwrapped", async ({ creation, unwrapped, keys, body }) => {
    const { send } = await running({ creation, unwrapped });
    const answer = await send("POST", "/services", { key: "k", body: ORDER });
    expect(answer.status).toBe(201);
    if (keys !== null) expect(Object.keys(answer.body)).toEqual(keys);
    expect(answer.body).toMatchObject(body);
    expect((await send("POST", "/services", { key: "k", body: ORDER })).text).toBe(answer.text);
  });
});

test("unwrapped=yes: single objects stand alone, lists keep their envelope", async () => {
  const { send, id } = await running({ unwrapped: "yes" });
  expect((await send("GET", `/services/${id}`)).body.id).toBe(id);
  expect((await send("GET", `/services/${id}/panel-sso`)).body.url).toContain("/panel/sign-on/");
  expect((await send("POST", "/accounts", { body: { name: "Client" } })).body.name).toBe("Client");
  expect((await send("GET", "/domains/check?domain=free.com")).body).toEqual([{ domain: "free.com", available: true }]);
  expect((await send("GET", "/services")).body.data).toHaveLength(3);
});

test.each([
  ["offset", "2026-11-21T10:00:00+00:00"],
  ["micros_z", "2026-11-21T10:00:00.000000Z"],
  ["date", "2026-11-21"],
] as const)("timestamps=%s, while dates stay dates", async (timestamps, created_at) => {
  const { send, id } = await running({ timestamps });
  expect((await send("GET", `/services/${id}`)).body.data).toMatchObject({ created_at, next_due_date: "2026-12-21" });
});

test.each([
  ["minor", { price: 500, subtotal: 500, total: 450, discounted: 450 }],
  ["major", { price: 5, subtotal: 5, total: 5, discounted: 5 }],
] as const)("money=%s: integers still", async (money, { price, subtotal, total, discounted }) => {
  const { send } = await running({ money });
  const { data } = (await send("POST", "/services", { key: "k", body: ORDER })).body;
  expect(data).toMatchObject({ price, invoice: { subtotal, total } });
  const plan = (await send("GET", "/plans")).body.data.at(-1);
  expect(plan).toMatchObject({ price, price_after_discount: discounted, prices: { USD: price } });
});
