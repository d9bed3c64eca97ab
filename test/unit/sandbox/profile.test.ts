import { describe, expect, test } from "vitest";
import {
  PROFILE_SETS,
  PROFILE_SWITCHES,
  type Profile,
  type ProfileSet,
  type ProfileSwitch,
  parseProfile,
  profileText,
  SandboxOptionError,
} from "../../../src/sandbox/index.ts";
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
    ["colour=red", "envelope, pages, past_end"],
    ["envelope=soap", "laravel, data_meta"],
    ["envelope", "switch=value"],
    ["harsh", "laravel, minimal, contrary, strict, flaky"],
    ["strict,flaky", "not both strict and flaky"],
    ["strict,strict", "one set"],
    ["strict=yes", "no profile switch"],
    ["envelope=flat=array", "switch=value"],
    ["envelope=flat,envelope=array", "twice"],
    ["constructor=x", "no profile switch"],
    ["constructor", "switch=value"],
    ["__proto__=x", 'no profile switch "__proto__"'],
    ["statsu=words", 'no profile switch "statsu". Did you mean "status"?'],
    ["status=wrods", 'no value "wrods". Did you mean "words"? Its values are lower,'],
    ["contray", 'no profile set "contray". Did you mean "contrary"?'],
    ["contrary minimal", "Put commas between the parts of a profile: contrary,minimal."],
    ["status = words ids=string", "Put commas between the parts of a profile: status=words,ids=string."],
    ["ids=", 'no value ""'],
  ])("refuses %j and says what there is", (text, hint) => {
    expect(() => parseProfile(text)).toThrow(SandboxOptionError);
    expect(() => parseProfile(text)).toThrow(hint);
  });

  test("so does a sandbox that is started with an unknown value", async () => {
    await expect(start({ profile: { money: "gold" } as unknown as Partial<Profile> })).rejects.toThrow("minor, major");
    await expect(start({ profile: "money=gold" })).rejects.toThrow("minor, major");
  });

  const sets = Object.keys(PROFILE_SETS) as ProfileSet[];
  test.each(sets)("%s is what it says, and what stands beside it goes before it", (name) => {
    const differing: Partial<Profile> = PROFILE_SETS[name];
    expect(parseProfile(name)).toEqual({ ...parseProfile(""), ...differing });
    for (const text of [`${name},ids=integer,envelope=flat`, `ids=integer, envelope=flat, ${name}`]) {
      expect(parseProfile(text)).toEqual({ ...parseProfile(name), ids: "integer", envelope: "flat" });
    }
    expect(parseProfile(profileText(parseProfile(name)))).toEqual(parseProfile(name));
  });

  test("laravel is the defaults; contrary differs in everything but the background faults and lists without lag; strict gives no hints", () => {
    expect(profileText(parseProfile("laravel"))).toBe("");
    const [usual, contrary] = [parseProfile(""), parseProfile("contrary")];
    const same = Object.keys(usual).filter((name) => usual[name as ProfileSwitch] === contrary[name as ProfileSwitch]);
    expect(same).toEqual(["list_lag", "weather"]);
    expect(parseProfile("strict")).toMatchObject({
      rate_headers: "none",
      retry_after: "none",
      key_retention: "ten_minutes",
    });
    expect(profileText(parseProfile("flaky"))).toBe("weather=flaky");
  });

  test("a sandbox takes the text as well", async () => {
    const { sandbox, send } = await start({ profile: "minimal,envelope=items_pagination" });
    expect(sandbox.control.state().profile).toEqual(parseProfile("minimal,envelope=items_pagination"));
    expect(Object.keys((await send("GET", "/services")).body)).toEqual(["items", "pagination"]);
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
    { envelope: "meta_pagination", keys: ["data", "meta"], items: "data" },
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
    if (envelope === "meta_pagination") expect(last.meta).toEqual({ pagination: { current_page: 2, total_pages: 2 } });
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

describe("pages", () => {
  const asked = (page: number) => `/services?per_page=2&page=${page}`;

  test.each([
    ["from_one", 1],
    ["from_zero", 0],
  ] as const)("%s: page %i is the first", async (pages, first) => {
    const { send, sandbox, id } = await running({ pages });
    const at = (page: number): string => `${sandbox.url}/api/v1${asked(page).replace("per_page=2&", "")}&per_page=2`;
    const { body } = await send("GET", asked(first));
    expect(body.data.map((row: { id: number }) => row.id)).toEqual([id + 2, id + 1]);
    expect(body.links).toEqual({ first: at(first), last: at(first + 1), prev: null, next: at(first + 1) });
    expect(body.meta).toMatchObject({ current_page: first, from: 1, to: 2, last_page: first + 1, total: 3 });
    expect((await send("GET", "/services?per_page=2")).body).toEqual(body);
    const last = (await send("GET", asked(first + 1))).body;
    expect([last.data.length, last.meta.from]).toEqual([1, 3]);
    expect((await send("GET", asked(first + 2))).body.data).toEqual([]);
    expect((await send("GET", asked(first - 1))).status).toBe(422);
  });

  test.each(["from_one", "from_zero"] as const)("%s: how many there are is the same", async (pages) => {
    const { send } = await running({ pages, envelope: "items_pagination" });
    const body = (await send("GET", "/services?per_page=2")).body;
    expect(body.pagination).toEqual({ page: pages === "from_one" ? 1 : 0, per_page: 2, total_pages: 2 });
  });

  test("past_end=not_found, and an empty list has a first page all the same", async () => {
    const { send } = await running({ past_end: "not_found" });
    expect((await send("GET", asked(2))).status).toBe(200);
    expect((await send("GET", asked(3))).status).toBe(404);
    expect((await send("GET", "/webhooks?page=1")).body.data).toEqual([]);
  });

  test("past_end=repeats", async () => {
    const { send } = await running({ past_end: "repeats" });
    const last = (await send("GET", asked(2))).body;
    expect((await send("GET", asked(9))).body).toEqual(last);
  });
});

test.each([
  ["array", "data_only", { data: [] }],
  ["null", "data_only", { data: null }],
  ["map", "named_has_more", { webhooks: {}, has_more: false }],
  ["nothing", "laravel", {}],
  ["null", "array", null],
  ["map", "array", {}],
] as const)("empty_list=%s in the envelope %s", async (empty_list, envelope, body) => {
  const { send, id } = await running({ empty_list, envelope });
  expect((await send("GET", "/webhooks")).body).toEqual(body);
  expect(JSON.stringify((await send("GET", "/services")).body)).toContain(String(id));
});

test("items=wrapped: each of a list", async () => {
  const { send, id } = await running({ items: "wrapped" });
  const rows = (await send("GET", "/services?per_page=1")).body.data;
  expect(rows).toEqual([{ data: expect.objectContaining({ id: id + 2 }) }]);
  expect((await send("GET", `/services/${id}`)).body.data.id).toBe(id);
});

test.each([
  ["four_seconds", 4],
  ["thirty_seconds", 30],
] as const)("list_lag=%s: new records are known by their ids first", async (list_lag, seconds) => {
  const { send, sandbox } = await start({ profile: { list_lag } });
  const { data } = (await send("POST", "/services", { key: "k", body: ORDER })).body;
  const listed = async () => (await send("GET", "/services")).body.meta.total;
  expect((await send("GET", `/services/${data.id}`)).status).toBe(200);
  sandbox.control.advanceClock({ seconds: seconds - 1 });
  expect(await listed()).toBe(0);
  sandbox.control.advanceClock({ seconds: 1 });
  expect(await listed()).toBe(1);
});

test.each([
  ["instant", "2027-06-30T00:00:00+00:00"],
  ["epoch", 1_814_313_600],
  ["epoch_text", "1814313600"],
] as const)("expires_at=%s", async (expires_at, shown) => {
  const { send, id } = await running({ expires_at });
  const body = { email: "a@x.example", permission: "view", expires_at: "2027-06-30T00:00:00+00:00" };
  expect((await send("POST", `/services/${id}/grants`, { body })).body.data.expires_at).toBe(shown);
  const endless = { email: "b@x.example", permission: "view" };
  expect((await send("POST", `/services/${id}/grants`, { body: endless })).body.data.expires_at).toBeNull();
});

test.each([
  ["list", ["invoice.paid", "invoice.created"]],
  ["map", expect.objectContaining({ "invoice.paid": true, "invoice.created": true, "service.suspended": false })],
  ["objects", [{ name: "invoice.paid" }, { name: "invoice.created" }]],
  ["text", "invoice.paid,invoice.created"],
] as const)("webhook_events=%s", async (webhook_events, shown) => {
  const { send } = await running({ webhook_events });
  const body = { url: "https://x.example/", events: ["invoice.paid", "invoice.created"] };
  expect((await send("POST", "/webhooks", { body })).body.data.events).toEqual(shown);
});

test.each([
  ["domain", { domain: "x.example" }],
  ["domain_name", { domain_name: "x.example" }],
  ["hostname", { hostname: "x.example" }],
  ["nested", { domain: { name: "x.example" } }],
] as const)("domain_name=%s", async (domain_name, shown) => {
  const { send } = await running({ domain_name });
  const { data } = (await send("POST", "/migration-requests", { body: { domain: "x.example" } })).body;
  expect(data).toMatchObject(shown);
  expect("domain" in data).toBe("domain" in shown);
});

test.each([
  { status: "lower", words: ["pending", "suspended", "active", "draft", "provisioned"] },
  { status: "capitalised", words: ["Pending", "Suspended", "Active", "Draft", "Provisioned"] },
  { status: "upper_snake", words: ["PENDING_PAYMENT", "SUSPENDED_BY_CLIENT", "ACTIVE", "DRAFT", "PROVISIONED"] },
  { status: "words", words: ["Pending Payment", "Paused", "running", "new", "provisioned"] },
  { status: "digits", words: ["0", "2", "1", "10", "provisioned"] },
  { status: "numbers", words: [0, 2, 1, 10, "provisioned"] },
] as const)("status=$status", async ({ status, words }) => {
  const { send, sandbox, id } = await running({ status });
  const ordered = (await send("POST", "/services", { key: "k", body: ORDER })).body.data;
  sandbox.control.change("services", id, { status: "suspended" });
  const suspended = (await send("GET", `/services/${id}`)).body.data;
  const active = (await send("GET", `/services/${id + 1}`)).body.data;
  const migration = (await send("POST", "/migration-requests", { body: { domain: "x.example" } })).body.data;
  expect([ordered.status, suspended.status, active.status, migration.status, active.provisioning_status]).toEqual(
    words,
  );
  expect(ordered.invoice.status).toBe("unpaid");
});

test.each([
  ["words", "pending", "provisioning", "provisioned"],
  ["queued", "queued", "in_progress", "done"],
  ["active", "inactive", "inactive", "active"],
  ["empty", "", "", ""],
  ["null", null, null, null],
] as const)("provisioning=%s", async (provisioning, ...words) => {
  const { send, sandbox } = await running({ provisioning });
  const { id, invoice } = (await send("POST", "/services", { key: "k", body: ORDER })).body.data;
  const shown = async () => (await send("GET", `/services/${id}`)).body.data.provisioning_status;
  const ordered = await shown();
  sandbox.control.payInvoice(invoice.id);
  const paid = await shown();
  sandbox.control.provisionService(id);
  expect([ordered, paid, await shown()]).toEqual(words);
});

test.each([
  ["lower", "unpaid", "paid", "cancelled", "refunded"],
  ["open", "Open", "Paid", "Void", "Credited"],
  ["upper", "DUE", "SETTLED", "CANCELLED", "REFUNDED"],
] as const)("invoice_status=%s", async (invoice_status, ...words) => {
  const { send, sandbox } = await running({ invoice_status, status: "capitalised" });
  const [invoice] = sandbox.control.list("invoices").filter(({ customer_id }) => customer_id === 1);
  const shown = [];
  for (const status of ["unpaid", "paid", "cancelled", "refunded"] as const) {
    sandbox.control.change("invoices", invoice?.id ?? 0, { status });
    shown.push((await send("GET", `/invoices/${invoice?.id}`)).body.data.status);
  }
  expect(shown).toEqual(words);
});

test.each([
  ["word", ["monthly", "quarterly", "semiannually", "annually", "biennially", "triennially"]],
  ["months", ["1 month", "3 months", "6 months", "12 months", "24 months", "36 months"]],
  ["unit", ["month", "quarter", "half-year", "year", "2 years", "3 years"]],
  ["integer", [1, 3, 6, 12, 24, 36]],
] as const)("billing_cycle=%s", async (billing_cycle, words) => {
  const { send, id } = await running({ billing_cycle });
  expect((await send("GET", `/services/${id}`)).body.data.billing_cycle).toBe(words[0]);
  expect((await send("GET", "/plans")).body.data[0].billing_cycle).toBe(words[0]);
  const shown = [];
  for (const term of [1, 3, 6, 12, 24, 36]) {
    const order = { ...ORDER, domain: `t${term}.example`, term };
    shown.push((await send("POST", "/services", { key: `k${term}`, body: order })).body.data.billing_cycle);
  }
  expect(shown).toEqual(words);
});

test.each([
  ["slug", "shared", "wordpress", "vps", "virtual_desktop"],
  ["title", "Shared", "WordPress", "Root VPS", "Virtual Desktop"],
  ["other", "shared-hosting", "managed-wordpress", "root-vps", "virtual-desktop"],
] as const)("product_type=%s", async (product_type, ...words) => {
  const { send, sandbox } = await running({ product_type });
  const shown = [];
  for (const plan_id of [11, 21, 31, 41]) {
    const [service] = sandbox.control.seedServices({ plan_id });
    shown.push((await send("GET", `/services/${service?.id}`)).body.data.product_type);
  }
  expect(shown).toEqual(words);
  const plans = (await send("GET", "/plans")).body.data;
  expect(new Set(plans.map((plan: { product_type: string }) => plan.product_type))).toEqual(new Set(words));
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

test.each([
  ["newest", [3, 2, 1, 0]],
  ["oldest", [0, 1, 2, 3]],
] as const)("order=%s", async (order, places) => {
  const { send, sandbox, id } = await running({ order });
  sandbox.control.seedServices();
  const rows = (await send("GET", "/services")).body.data;
  expect(rows.map((row: { id: number }) => row.id - id)).toEqual(places);
});

test("order=scattered: neither way, across pages, and the same when others come and go", async () => {
  const { send, sandbox } = await start({ profile: { order: "scattered" } });
  const ids = sandbox.control.seedServices({ count: 30 }).map(({ id }) => id);
  const listed = async (): Promise<number[]> => {
    const pages = await Promise.all([1, 2, 3].map((page) => send("GET", `/services?per_page=10&page=${page}`)));
    return pages.flatMap(({ body }) => body.data.map((row: { id: number }) => row.id));
  };
  const before = await listed();
  expect(before.toSorted()).toEqual(ids);
  expect([ids, ids.toReversed()]).not.toContainEqual(before);
  const [gone = 0] = before.splice(4, 1);
  sandbox.control.remove("services", gone);
  expect((await listed()).filter((id) => ids.includes(id))).toEqual(before);
});

test("record_ids=uuid: those of records without specified ids, which lead back to the record in paths", async () => {
  const { send, id } = await running({ record_ids: "uuid", ids: "string" });
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
  const made = async (path: string, body: object): Promise<string> => (await send("POST", path, { body })).body.data.id;
  const grant = await made(`/services/${id}/grants`, { email: "a@x.example", permission: "view" });
  const hook = { url: "https://x.example/", events: ["invoice.paid"] };
  const [webhook, other] = [await made("/webhooks", hook), await made("/webhooks", hook)];
  const account = await made("/accounts", { name: "Client" });
  const request = await made("/migration-requests", { domain: "x.example", order_id: String(id) });
  const all = [grant, webhook, other, account, request];
  for (const one of all) expect(one).toMatch(uuid);
  expect(new Set(all).size).toBe(5);

  expect((await send("GET", `/migration-requests/${request}`)).body.data).toMatchObject({
    id: request,
    order_id: String(id),
  });
  for (const path of [`/webhooks/${grant}`, "/webhooks/201", `/webhooks/${webhook}0`]) {
    expect((await send("DELETE", path)).status).toBe(404);
  }
  expect((await send("DELETE", `/webhooks/${webhook.toUpperCase()}`)).status).toBe(200);
  expect((await send("GET", "/webhooks")).body.data.map((one: { id: string }) => one.id)).toEqual([other]);
  expect((await send("DELETE", `/services/${id}/grants/${grant}`)).status).toBe(200);
});

test("record_ids=opaque: with characters that paths, queries and templates read otherwise; they lead back as well", async () => {
  const { send, id } = await running({ record_ids: "opaque" });
  const body = { email: "a@x.example", permission: "view" };
  const grant = (await send("POST", `/services/${id}/grants`, { body })).body.data.id;
  expect(grant).toMatch(/^grant\/\d+:a@b\?c=d&e #f%2Fé$/);
  expect((await send("DELETE", `/services/${id}/grants/${encodeURIComponent(`${grant}0`)}`)).status).toBe(404);
  expect((await send("DELETE", `/services/${id}/grants/${encodeURIComponent(grant)}`)).status).toBe(200);
});

test.each([
  ["plan_id", ["billing_cycle", "currency", "name", "plan_id", "price", "prices", "product_type"]],
  ["id", ["billing_cycle", "currency", "id", "name", "price", "product_type"]],
  ["prices", ["billing_cycle", "name", "plan_id", "prices", "product_type"]],
  ["priceless", ["billing_cycle", "name", "plan_id", "product_type"]],
] as const)("plan=%s; the Manage fields, which are specified, stay", async (plan, fields) => {
  const { send, sandbox } = await running({ plan });
  const own = (await send("GET", "/plans")).body.data.at(-1);
  const manage = ["manage_discount_percent", "price_after_discount"];
  expect(Object.keys(own).sort()).toEqual([...fields, ...manage].sort());
  const other = (await send("GET", "/plans", { token: sandbox.tokens.customer })).body.data.at(-1);
  expect(Object.keys(other).sort()).toEqual(fields);
});

test.each([
  ["message", 202, { message: expect.stringContaining("queued") }],
  ["service", 200, { data: expect.objectContaining({ domain: expect.any(String), status: "active" }) }],
  ["no_content", 204, undefined],
  ["empty", 202, undefined],
] as const)("queued=%s", async (queued, status, body) => {
  const { send, sandbox, id } = await running({ queued });
  const answer = await send("POST", `/services/${id}/suspend`);
  expect([answer.status, answer.body]).toEqual([status, body]);
  sandbox.control.advanceClock({ seconds: 1 });
  expect((await send("GET", `/services/${id}`)).body.data.status).toBe("suspended");
  expect((await send("POST", `/services/${id}/unsuspend`)).status).toBe(status);
});

test.each(PROFILE_SWITCHES.password)("password=%s", async (password) => {
  const { send, sandbox } = await running({ password });
  const [vps] = sandbox.control.seedServices({ plan_id: 31 });
  expect((await send("POST", `/services/${vps?.id}/password`)).body).toEqual({
    data: { [password]: expect.stringMatching(/.{8,}/) },
  });
});

test.each([
  ["id", { id: 301, email: "a@x.example" }],
  ["grant_id", { grant_id: 301, email: "a@x.example" }],
  ["user", { id: 301, user: { email: "a@x.example" } }],
] as const)("grant=%s", async (grant, named) => {
  const { send, id } = await running({ grant });
  const body = { email: "a@x.example", permission: "view" };
  const shown = { ...named, permission: "view", expires_at: null, created_at: "2026-11-21T10:00:00+00:00" };
  expect((await send("POST", `/services/${id}/grants`, { body })).body.data).toEqual(shown);
  expect((await send("GET", `/services/${id}/grants`)).body.data).toEqual([shown]);
});

test.each([
  ["secret", (record: object) => ({ data: { ...record, secret: expect.stringMatching(/^whsec_/) } })],
  ["signing_secret", (record: object) => ({ data: { ...record, signing_secret: expect.stringMatching(/^whsec_/) } })],
  ["bare", (record: object) => ({ ...record, secret: expect.stringMatching(/^whsec_/) })],
] as const)("webhook=%s: at registration, and nothing of it later", async (webhook, answer) => {
  const { send } = await running({ webhook });
  const record = {
    id: 201,
    url: "https://x.example/",
    events: ["invoice.paid"],
    created_at: "2026-11-21T10:00:00+00:00",
  };
  const { url, events } = record;
  expect((await send("POST", "/webhooks", { body: { url, events } })).body).toEqual(answer(record));
  expect((await send("GET", "/webhooks")).body.data).toEqual([record]);
});

test.each([
  [
    "list",
    [
      { domain: "free.com", available: true },
      { domain: "taken.com", available: false },
    ],
  ],
  ["map", { "free.com": { available: true }, "taken.com": { available: false } }],
  [
    "is_available",
    [
      { domain: "free.com", is_available: true },
      { domain: "taken.com", is_available: false },
    ],
  ],
  [
    "status",
    [
      { domain: "free.com", status: "available" },
      { domain: "taken.com", status: "taken" },
    ],
  ],
] as const)("domain_check=%s, either way of asking", async (domain_check, data) => {
  const { send } = await running({ domain_check });
  const body = { domains: ["free.com", "taken.com"] };
  expect((await send("POST", "/domains/check", { body })).body).toEqual({ data });
  expect((await send("GET", "/domains/check?domain=free.com,taken.com")).body).toEqual({ data });
});

test("registrant=loose: whatever fields; an object still", async () => {
  const { send } = await running({ registrant: "loose" });
  const order = { domain: "free.com", years: 1, currency: "USD", nameserver_mode: "default" };
  const loose = { handle: "AC-1", verified: true, note: null };
  const made = await send("POST", "/domains", { body: { ...order, registrant_contact: loose } });
  expect(made.body.data.registrant_contact).toEqual({ handle: "AC-1", verified: "true", note: null });
  const refused = await send("POST", "/domains", { body: { ...order, domain: "f.com", registrant_contact: "AC-1" } });
  expect(Object.keys(refused.body.errors)).toEqual(["registrant_contact"]);
  expect(
    (await (await running({})).send("POST", "/domains", { body: { ...order, registrant_contact: loose } })).status,
  ).toBe(422);
});

test.each([
  ["flat", { source: "cpanel", mail: true }],
  ["nested", { questions: { source: "cpanel", mail: true } }],
] as const)("migration=%s", async (migration, answers) => {
  const { send } = await running({ migration });
  const made = await send("POST", "/migration-requests", {
    body: { domain: "x.example", source: "cpanel", mail: true },
  });
  const { id, domain, order_id, status, created_at, ...rest } = made.body.data;
  expect([domain, order_id, status, rest]).toEqual(["x.example", null, "draft", answers]);
});

test("bodies=empty204: nothing to read where there is nothing to say", async () => {
  const { send, id } = await running({ bodies: "empty204" });
  await send("POST", `/services/${id}/grants`, { body: { email: "a@x.example", permission: "view" } });
  await send("POST", "/webhooks", { body: { url: "https://x.example/", events: ["invoice.paid"] } });
  for (const [method, path, body] of [
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
