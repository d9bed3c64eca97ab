/** Modifies real exchanges so that they violate the document. The validator must reject each of them. */
import { beforeAll, describe, expect, it } from "vitest";
import { type Exchange, PROFILE_SETS, PROFILE_SWITCHES, type Profile } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { sampled } from "../reliability/support/long.ts";
import { validateExchange, validator } from "../support/openapi/validate.ts";
import { startSandbox, violationsOf } from "../support/sandbox.ts";
import { start } from "../unit/sandbox/harness.ts";
import { recorded } from "./recorded.ts";

/** Event types of §6. */
const EVENTS = [
  "service.provisioned",
  "invoice.paid",
  "service.suspended",
  "invoice.created",
  "service.expiring",
  "service.terminated",
  "service.transfer_accepted",
] as const;

const USUAL = completeProfile();
let exchanges: Exchange[] = [];

beforeAll(async () => {
  exchanges = await recorded();
});

/** Returns the violations of an exchange with the default profile of the sandbox. `byAny` assumes no profile. */
const violations = (exchange: Exchange, profile = USUAL) => validateExchange(exchange, { profile });
const byAny = (exchange: Exchange) => validateExchange(exchange);

const json = (exchange: Exchange): unknown => (exchange.body === undefined ? undefined : JSON.parse(exchange.body));

/** Fields of §2 and §6 with invalid values. An exchange without the field is invalid also. */
const FIELDS = {
  service: {
    id: ["1003", 1.5, null, 0],
    plan: [5, null],
    product_type: [5, null],
    status: [1, null],
    domain: [7, {}],
    billing_cycle: [1, null],
    currency: ["JPY", "usd", null],
    price: ["500", 4.5, null],
    next_due_date: ["2026-02-30", "21.11.2026", "2026-12-21T00:00:00+00:00", null],
    provisioning_status: [true, null],
    created_at: ["2026-11-21", "2026-11-21 10:00:00", "2026-11-21T10:00:00", 1_795_255_200, null],
  },
  invoice: {
    id: ["5001", null],
    invoice_number: [5001, ""],
    status: [0, null],
    currency: ["BTC"],
    subtotal: [4.5, "5"],
    total: [4.5, "5", null],
    due_date: ["soon", null],
    paid_at: ["yesterday", 0],
    order_id: ["1003", null],
  },
  plan: { plan_id: ["11", null] },
  webhook: { url: ["hooks", null], events: [5, [], ["invoice.lost"]] },
} as const satisfies Record<string, Readonly<Record<string, readonly unknown[]>>>;

type Kind = keyof typeof FIELDS;

/** Yields each specified record of a body with its kind. */
function* records(value: unknown): Generator<[Kind, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  const object = value as Record<string, unknown>;
  if ("invoice_number" in object) yield ["invoice", object];
  else if ("provisioning_status" in object) yield ["service", object];
  else if ("plan_id" in object) yield ["plan", object];
  else if ("events" in object) yield ["webhook", object];
  for (const inner of Object.values(object)) yield* records(inner);
}

/** Yields copies of the exchange. In each copy, one field of one record is missing or has an invalid value. */
function* spoiled(exchange: Exchange): Generator<[string, Exchange]> {
  const kinds = [...records(json(exchange))];
  for (const [index, [kind]] of kinds.entries()) {
    for (const [field, wrong] of Object.entries(FIELDS[kind])) {
      for (const value of [undefined, ...wrong]) {
        const body = json(exchange);
        const [, record] = [...records(body)][index] ?? [kind, {}];
        if (value === undefined) delete record[field];
        else record[field] = value;
        yield [`${kind}.${field} = ${JSON.stringify(value)}`, { ...exchange, body: JSON.stringify(body) }];
      }
    }
  }
}

const succeeded = () => exchanges.filter(({ status }) => status !== null && status < 300);
const called = ({ method, url, status }: Exchange) => `${method} ${url} ${status}`;

describe("responses", () => {
  it("of the sandbox conform, with its profile and without a profile", () => {
    expect(exchanges.length).toBeGreaterThan(60);
    expect(exchanges.flatMap((exchange) => [...violations(exchange), ...byAny(exchange)])).toEqual([]);
  });

  it("without a specified field, or with a wrong value in a field, do not conform", () => {
    const met = new Set<string>();
    const passed: string[] = [];
    for (const exchange of succeeded()) {
      for (const [what, wrong] of spoiled(exchange)) {
        met.add(what);
        if (violations(wrong).length === 0) passed.push(`${called(exchange)}: ${what}`);
        if (byAny(wrong).length === 0) passed.push(`${called(exchange)}, by any server: ${what}`);
      }
    }
    expect(passed).toEqual([]);
    const wanted = Object.values(FIELDS).flatMap((fields) => Object.values(fields).map((wrong) => wrong.length + 1));
    expect(met.size).toBe(wanted.reduce((sum, count) => sum + count));
  });

  it("that do not conform are reported with the path of the wrong value", () => {
    const order = exchanges.find(
      ({ method, url, status }) => method === "POST" && url === "/api/v1/services" && status === 201,
    );
    const body = JSON.parse(order?.body ?? "");
    body.data.invoice.total = 4.5;
    expect(violations({ ...(order as Exchange), body: JSON.stringify(body) })).toEqual([
      "POST /api/v1/services → 201: body.data.invoice.total must be integer",
    ]);
  });

  it("with a status that is not documented do not conform", () => {
    const wrong = exchanges.flatMap((exchange) => [203, 302, 418].map((status) => ({ ...exchange, status })));
    expect(wrong.filter((exchange) => byAny(exchange).length === 0).map(called)).toEqual([]);
  });

  it("without a body, with an unexpected body, or of another type do not conform", () => {
    const wrong = exchanges.flatMap((exchange) => [
      { ...exchange, body: undefined },
      { ...exchange, body: "<html>" },
      { ...exchange, status: 204 },
      { ...exchange, headers: { ...exchange.headers, "Content-Type": "text/plain" } },
    ]);
    // Only a 429 response may be plain text.
    expect(wrong.filter((exchange) => violations(exchange).length === 0).map(called)).toEqual([]);
  });

  it("of 403 and 422 have the fields of §7, with every server", () => {
    const some = (status: number) => exchanges.find((exchange) => exchange.status === status) as Exchange;
    const wrong: [number, unknown][] = [
      [403, {}],
      [403, { message: 5 }],
      [403, "No."],
      [422, { message: "No." }],
      [422, { errors: {} }],
      [422, { message: "No.", errors: ["domain"] }],
      [422, { message: "No.", errors: { domain: 5 } }],
    ];
    const passed = wrong.filter(
      ([status, body]) => byAny({ ...some(status), body: JSON.stringify(body) }).length === 0,
    );
    expect(passed).toEqual([]);
  });

  it("with a negative amount, or with an id of another kind than the profile's, do not conform", () => {
    const spoil = (path: string, change: (record: Record<string, unknown>) => void) => {
      const records = ({ body }: Exchange) => [JSON.parse(body || "{}").data ?? []].flat();
      const found = succeeded().find((one) => one.url.split("?")[0] === `/api/v1${path}` && records(one).length > 0);
      const body = JSON.parse(found?.body ?? "");
      change([body.data].flat()[0]);
      return { ...(found as Exchange), body: JSON.stringify(body) };
    };
    const negative = [
      ["/plans", "price"],
      ["/plans", "price_after_discount"],
      ["/services", "price"],
      ["/invoices", "subtotal"],
      ["/invoices", "total"],
    ] as const;
    const amounts = negative.map(([path, name]) =>
      spoil(path, (record) => {
        record[name] = -5;
      }),
    );
    expect(amounts.filter((exchange) => byAny(exchange).length === 0).map(called)).toEqual([]);
    const ids = ["/webhooks", "/accounts", "/migration-requests"].map((path) =>
      spoil(path, (record) => {
        record.id = String(record.id);
      }),
    );
    expect(ids.filter((exchange) => violations(exchange).length === 0).map(called)).toEqual([]);
    expect(ids.flatMap(byAny), "ids are opaque where the server is not known").toEqual([]);
  });

  it("of a list whose page numbers, links and items contradict each other do not conform", () => {
    const item = JSON.parse(succeeded().find(({ url }) => url === "/api/v1/services")?.body ?? "").data;
    const at = (page: number) => `http://127.0.0.1/api/v1/services?page=${page}&per_page=2`;
    const links = { first: at(1), last: at(3), prev: at(1), next: at(3) };
    const meta = { current_page: 2, from: 3, last_page: 3, path: "http://x.example/", per_page: 2, to: 4, total: 5 };
    const whole = { data: [item, { ...item, id: 1 }], links, meta };
    const list = succeeded().find(({ url }) => url.startsWith("/api/v1/services?")) as Exchange;
    const said = (body: unknown, query = "page=2&per_page=2", profile?: Partial<Profile>) =>
      violations({ ...list, url: `/api/v1/services?${query}`, body: JSON.stringify(body) }, completeProfile(profile));
    expect(said(whole)).toEqual([]);
    for (const wrong of [
      { ...whole, data: [item] },
      { ...whole, data: [item, item, item] },
      { ...whole, links: { ...links, next: null } },
      { ...whole, links: { ...links, next: at(2) } },
      { ...whole, links: { ...links, prev: null } },
      { ...whole, links: { ...links, last: "" } },
      { ...whole, links: { ...links, first: at(2) } },
      { ...whole, meta: { ...meta, from: null } },
      { ...whole, meta: { ...meta, to: 5 } },
      { ...whole, meta: { ...meta, last_page: 2 } },
      { ...whole, meta: { ...meta, path: "junk" } },
    ]) {
      expect(said(wrong), JSON.stringify(wrong)).not.toEqual([]);
    }
    expect(said(whole, "page=1&per_page=2")).not.toEqual([]);
    expect(said(whole, "page=2&per_page=1")).not.toEqual([]);
    expect(said({ services: [item], has_more: true }, "per_page=2", { envelope: "named_has_more" })).not.toEqual([]);
    expect(said({ services: [item], has_more: false }, "per_page=2", { envelope: "named_has_more" })).toEqual([]);
    expect(said([item, item], "per_page=1", { envelope: "array" })).not.toEqual([]);
  });

  it("that show a secret again do not conform", () => {
    const list = exchanges.find(
      ({ method, url }) => method === "GET" && url.startsWith("/api/v1/webhooks"),
    ) as Exchange;
    const body = JSON.parse(list.body ?? "");
    body.data[0].secret = "whsec_0000000000";
    expect(byAny({ ...list, body: JSON.stringify(body) })).toHaveLength(1);
  });

  it("that show the credentials of a migration do not conform", () => {
    const list = succeeded().find(({ url }) => url.startsWith("/api/v1/migration-requests")) as Exchange;
    for (const name of ["credentials", "password"]) {
      const body = JSON.parse(list.body ?? "");
      [body.data].flat()[0][name] = { username: "acme" };
      expect(byAny({ ...list, body: JSON.stringify(body) }), name).not.toEqual([]);
    }
  });

  it("of an agency have both Manage fields or neither", () => {
    const list = exchanges.find(({ url, status }) => url.startsWith("/api/v1/plans") && status === 200) as Exchange;
    const body = JSON.parse(list.body ?? "");
    delete body.data[0].price_after_discount;
    expect(byAny({ ...list, body: JSON.stringify(body) })).not.toEqual([]);
  });

  it("that a fault changed or cut are not checked", () => {
    const [one] = exchanges;
    expect(violations({ ...(one as Exchange), status: 418, faulty: true })).toEqual([]);
    expect(violations({ ...(one as Exchange), status: null, body: undefined })).toEqual([]);
  });
});

describe("requests", () => {
  const accepted = () => succeeded().filter(({ requestBody }) => requestBody !== undefined);

  it("that are accepted without a required field, or with a wrong value in a field, do not conform", () => {
    const required: Readonly<Record<string, readonly string[]>> = {
      "/services": ["plan_id", "currency"],
      "/webhooks": ["url", "events"],
      "/domains": ["domain", "years", "currency", "nameserver_mode", "registrant_contact"],
      "/domains/check": ["domains"],
      "/accounts": ["name"],
      "/migration-requests": ["domain"],
    };
    let tried = 0;
    for (const exchange of accepted()) {
      for (const field of required[exchange.url.replace("/api/v1", "")] ?? []) {
        for (const value of [undefined, null, []]) {
          const body = { ...JSON.parse(exchange.requestBody ?? ""), [field]: value };
          const wrong = { ...exchange, requestBody: JSON.stringify(body) };
          expect([field, value, violations(wrong).length]).not.toEqual([field, value, 0]);
          // If the server rejects the same request, the exchange is valid.
          expect(violations({ ...wrong, status: 422, body: '{"message": "No.", "errors": {"a": ["No."]}}' })).toEqual(
            [],
          );
          tried += 1;
        }
      }
    }
    // An order and its replay.
    expect(tried).toBe((2 * 2 + 2 + 5 + 1 + 1 + 1) * 3);
  });

  it.each([
    ["/services", { term: 2 }],
    ["/services", { currency: "JPY" }],
    ["/services", { plan_id: "11" }],
    ["/webhooks", { events: ["invoice.lost"] }],
    ["/webhooks", { url: "no url" }],
    ["/accounts", { currency: "JPY" }],
    ["/migration-requests", { order_id: "x" }],
  ])("to %s accepted with %j do not conform", (path, fields) => {
    const exchange = accepted().find(({ url }) => url === `/api/v1${path}`) as Exchange;
    const body = { ...JSON.parse(exchange.requestBody ?? ""), ...fields };
    expect(violations({ ...exchange, requestBody: JSON.stringify(body) })[0]).toMatch(/accepted, though body/);
  });

  const order = () => accepted().find(({ url }) => url === "/api/v1/services") as Exchange;
  const without = (exchange: Exchange, name: string): Exchange => ({
    ...exchange,
    requestHeaders: Object.fromEntries(Object.entries(exchange.requestHeaders).filter(([one]) => one !== name)),
  });

  it.each([
    ["an Idempotency-Key", () => without(order(), "idempotency-key"), /header parameter Idempotency-Key is missing/],
    ["a token", () => without(order(), "authorization"), /no bearer token/],
    ["a body", () => ({ ...order(), requestBody: undefined }), /the body is missing/],
    ["JSON in its body", () => ({ ...order(), requestBody: "{" }), /the body is not JSON/],
  ])("accepted without %s do not conform", (_, spoil, words) => {
    expect(violations(spoil()).join("\n")).toMatch(words);
  });

  it("with wrong parameters do not conform; unknown parameters are accepted", () => {
    const list = exchanges.find(({ url }) => url.startsWith("/api/v1/services?")) as Exchange;
    for (const [query, words] of [
      ["page=0", /query parameter page must be >= 1/],
      ["per_page=many", /query parameter per_page must be integer/],
    ] as const) {
      expect(violations({ ...list, status: 200, url: `/api/v1/services?${query}` }).join()).toMatch(words);
    }
    const answered = succeeded().find(({ url }) => url.startsWith("/api/v1/services?")) as Exchange;
    expect(violations({ ...answered, url: `${answered.url}&sort=id` })).toEqual([]);
  });

  it("for an unknown path conform only if the response is an error", () => {
    const [one] = exchanges;
    const lost = { ...(one as Exchange), method: "PUT", url: "/api/v1/services/1" };
    expect(violations({ ...lost, status: 405 })).toEqual([]);
    expect(violations({ ...lost, status: 200 })).toHaveLength(1);
    expect(violations({ ...lost, url: "/panel/sign-on/x", status: 200 })).toEqual([]);
  });

  it("of a client must follow more rules: no unknown fields, no page size above the maximum, JSON accepted", () => {
    const asClient = (exchange: Exchange) => validateExchange(exchange, { profile: USUAL, client: true });
    expect(accepted().flatMap(asClient)).toEqual([]);
    const body = { ...JSON.parse(order().requestBody ?? ""), colour: "red" };
    expect(asClient({ ...order(), requestBody: JSON.stringify(body) }).join()).toMatch(/colour is not documented/);
    expect(asClient(without(order(), "accept")).join()).toMatch(/does not accept application\/json/);
    expect(asClient(without(order(), "content-type")).join()).toMatch(/not declared as application\/json/);
    const list = exchanges.find(({ url }) => url.startsWith("/api/v1/services?")) as Exchange;
    expect(asClient({ ...list, url: "/api/v1/services?sort=id" }).join()).toMatch(/sort is not documented/);
    expect(asClient({ ...list, url: "/api/v1/services?per_page=101" }).join()).toMatch(/per_page is above 100/);
    expect(asClient({ ...order(), requestBody: "{}", status: 422 }).length).toBeGreaterThan(0);
  });
});

describe("a violation", () => {
  it("names no token and no secret", () => {
    const secrets = /sandbox-\w+-token|whsec_|-Aa1|correct horse/;
    const spoiledOnes = exchanges.flatMap((exchange) => [
      { ...exchange, status: 418 },
      { ...exchange, body: exchange.body?.replaceAll('"', "") },
      { ...exchange, status: 201, requestBody: exchange.requestBody?.replace("{", "") },
    ]);
    expect(spoiledOnes.some(({ body, requestBody }) => secrets.test(`${body}${requestBody}`))).toBe(true);
    expect(spoiledOnes.flatMap((exchange) => byAny(exchange)).filter((said) => secrets.test(said))).toEqual([]);
  });
});

/** Switches whose values change only words, numbers or times. No document can distinguish these values. */
const SAME_FORM = new Set([
  "order",
  "rate",
  "status",
  "provisioning=queued",
  "provisioning=active",
  "provisioning=empty",
  "invoice_status",
  "billing_cycle=months",
  "billing_cycle=unit",
  "product_type",
  "registrant",
  "money",
  "key_retention",
  "backoff",
  "deliveries",
  "weather",
  // These switches change the time at which a record is listed, and the page after the last page.
  "list_lag",
  "past_end",
  // This switch changes the reason of a rejected order.
  "refused_key",
  // This switch changes deliveries, which the tests below cover.
  "event_data",
]);

const others = Object.entries(PROFILE_SWITCHES)
  .flatMap(([name, [, ...values]]) => values.map((value: string) => ({ name, value })))
  .filter(({ name, value }) => !SAME_FORM.has(name) && !SAME_FORM.has(`${name}=${value}`));

describe("profiles", () => {
  it.each(sampled(others, 4))("the document distinguishes $name=$value from the default", async ({ name, value }) => {
    const own = completeProfile({ [name]: value });
    const came = await recorded(own, { few: true });
    expect(came.flatMap((exchange) => violations(exchange, own))).toEqual([]);
    const swapped = [
      ...came.flatMap((exchange) => violations(exchange)),
      ...exchanges.flatMap((exchange) => violations(exchange, own)),
    ];
    expect(swapped).not.toEqual([]);
  });
});

describe("profiles with names", () => {
  it("strict conforms to the document without any profile", async () => {
    const came = await recorded(PROFILE_SETS.strict);
    expect(came.flatMap(byAny)).toEqual([]);
  });

  it.each([["minimal"], ["contrary"]] as const)(
    "%s violates the document without a profile, and conforms with the profile",
    async (name) => {
      const came = await recorded(PROFILE_SETS[name], { few: true });
      expect(came.flatMap((exchange) => violations(exchange, completeProfile(name)))).toEqual([]);
      expect(came.flatMap(byAny)).not.toEqual([]);
    },
  );
});

describe("deliveries", () => {
  const payload = { event: "service.suspended", data: { service_id: 1003 }, timestamp: "2026-11-21T10:00:00+00:00" };
  const headers = { "X-Service-Signature": "0f".repeat(32) };
  const said = (body: object, given: Readonly<Record<string, string>> = headers, profile?: Profile) =>
    validator().delivery(JSON.stringify(body), given, profile);

  it("have an event, data and a timestamp, and a signature of 64 hexadecimal digits", () => {
    expect(said(payload)).toEqual([]);
    for (const field of Object.keys(payload)) expect(said({ ...payload, [field]: undefined })).toHaveLength(1);
    expect(said({ ...payload, event: "service.renamed" })).toHaveLength(1);
    expect(said({ ...payload, data: [] })).not.toEqual([]);
    expect(said({ ...payload, timestamp: "now" })).not.toEqual([]);
    expect(said(payload, {})).toEqual(["delivery: the header X-Service-Signature is missing"]);
    expect(said(payload, { "x-service-signature": "sha256=00" })).toHaveLength(1);
    expect(said(payload, headers, completeProfile({ event_data: "id" }))).toEqual([]);
    expect(said(payload, headers, USUAL)).not.toEqual([]);
  });
});

describe("the events of the sandbox", () => {
  const settings = [
    ...PROFILE_SWITCHES.event_data.map((event_data) => ({ event_data })),
    { ids: "string", timestamps: "micros_z", status: "words" },
    { event_data: "id", ids: "string", timestamps: "date" },
  ] as const;

  it.each(settings)("conform: %j", async (profile) => {
    const { sandbox } = await start({ profile });
    const { control } = sandbox;
    // No receiver listens at this URL. The test reads the sent deliveries.
    control.create("webhooks", { url: "http://127.0.0.1:9/", events: [...EVENTS] });
    const [service] = control.seedServices();
    const invoice = control.list("invoices").find(({ order_id }) => order_id === service?.id);
    const sent = EVENTS.flatMap((event) =>
      control.trigger(event, event.startsWith("invoice") ? { invoice_id: invoice?.id } : { service_id: service?.id }),
    );
    expect(sent.map(({ event }) => event)).toEqual(EVENTS);
    const own = completeProfile(profile);
    expect(sent.flatMap(({ body }) => validator().delivery(body, undefined, own))).toEqual([]);
    const other = completeProfile({ event_data: own.event_data === "id" ? "nested" : "id" });
    for (const { body } of sent) expect(validator().delivery(body, undefined, other)).not.toEqual([]);
    await control.settled();
  });
});

describe("a sandbox of the tests", () => {
  it("fails the test that closes the sandbox after a violation of the document", async () => {
    const sandbox = await startSandbox({ rateLimit: 0 });
    const [invoice] = sandbox.control.list("invoices");
    // The API never returns an empty invoice number.
    sandbox.control.change("invoices", invoice?.id ?? 0, { invoice_number: "" });
    const headers = { authorization: `Bearer ${sandbox.tokens.customer}` };
    await fetch(`${sandbox.url}/api/v1/invoices/${invoice?.id}`, { headers });
    expect(violationsOf(sandbox)).toHaveLength(1);
    await expect(sandbox.close()).rejects.toThrow(/invoice_number must NOT have fewer than 1 characters/);
  });
});
