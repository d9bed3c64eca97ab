/** Exact requests of each kind. A changed byte here changes a request to a real account. */

import { describe, expect, it } from "vitest";
import { kinds, matches, namedBy } from "../../../../src/core/kinds/index.ts";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { type JsonObject, UNKNOWN } from "../../../../src/core/model/index.ts";

const kindOf = (type: string): Kind => {
  const kind = kinds.get(type);
  if (kind === undefined) throw new Error(`no kind ${type}`);
  return kind;
};
const service = kindOf("hosting_service");
const grant = kindOf("hosting_grant");
const webhook = kindOf("hosting_webhook");
const account = kindOf("hosting_client_account");
const migration = kindOf("hosting_migration_request");
const domain = kindOf("hosting_domain");

describe("create", () => {
  it.each([
    [
      "an order with everything",
      service,
      {
        plan_id: 11,
        currency: "USD",
        domain: "www.acme.example",
        term: 12,
        coupon_code: "YEAR20",
        reference: "x",
        deletion_policy: "forget",
        suspended: true,
      },
      "key-1",
      {
        endpoint: "createService",
        body: { plan_id: 11, currency: "USD", domain: "www.acme.example", coupon_code: "YEAR20", term: 12 },
        idempotencyKey: "key-1",
      },
    ],
    [
      "the least order: a term of one month is the default and is left out",
      service,
      { plan_id: 31, currency: "GEL", domain: null, term: 1, coupon_code: null },
      "key-2",
      { endpoint: "createService", body: { plan_id: 31, currency: "GEL" }, idempotencyKey: "key-2" },
    ],
    [
      "a grant",
      grant,
      { service_id: "1001", email: "dev@acme.example", permission: "view", expires_at: "2027-01-31" },
      undefined,
      {
        endpoint: "createGrant",
        params: { id: "1001" },
        body: { email: "dev@acme.example", permission: "view", expires_at: "2027-01-31" },
      },
    ],
    [
      "a grant without an end",
      grant,
      { service_id: "1001", email: "dev@acme.example", permission: "manage", expires_at: null },
      undefined,
      { endpoint: "createGrant", params: { id: "1001" }, body: { email: "dev@acme.example", permission: "manage" } },
    ],
    [
      "a webhook: events in their declared order",
      webhook,
      { url: "https://hooks.acme.example", events: ["invoice.paid", "invoice.created"] },
      undefined,
      {
        endpoint: "createWebhook",
        body: { url: "https://hooks.acme.example", events: ["invoice.paid", "invoice.created"] },
      },
    ],
    [
      "a client account: what is not declared is not sent",
      account,
      { name: "Acme", company_name: null, currency: "GEL" },
      undefined,
      { endpoint: "createAccount", body: { name: "Acme", currency: "GEL" } },
    ],
    [
      "a migration request: order_id is an integer, questions stand beside it",
      migration,
      { domain: "old.acme.example", order_id: "1001", questions: { source: "cpanel", scope: '["mail","db"]' } },
      undefined,
      {
        endpoint: "createMigrationRequest",
        body: { source: "cpanel", scope: ["mail", "db"], domain: "old.acme.example", order_id: 1001 },
      },
    ],
    [
      "a migration request: an id that is no integer goes as it is, and a question cannot replace the domain",
      migration,
      { domain: "old.acme.example", order_id: "a-1", questions: { domain: "evil.example" } },
      undefined,
      { endpoint: "createMigrationRequest", body: { domain: "old.acme.example", order_id: "a-1" } },
    ],
    [
      "a domain",
      domain,
      {
        domain: "acme.example",
        years: 2,
        currency: "EUR",
        nameserver_mode: "custom",
        registrant_contact: { first_name: "Ana", ns: '["a","b"]', fax: null },
      },
      undefined,
      {
        endpoint: "registerDomain",
        body: {
          domain: "acme.example",
          years: 2,
          currency: "EUR",
          nameserver_mode: "custom",
          registrant_contact: { first_name: "Ana", ns: '["a","b"]' },
        },
      },
    ],
  ] as const)("of %s", (_, kind, planned, key, expected) => {
    const attributes = planned as unknown as JsonObject;
    expect(kind.create(attributes, key)).toEqual(expected);
    // The same attributes give the same bytes.
    expect(JSON.stringify(kind.create(attributes, key))).toBe(JSON.stringify(kind.create(attributes, key)));
  });
});

describe("update of a service", () => {
  const live = { id: "1001", suspended: false, password_version: null, product_type: "shared" };
  const sent = (prior: JsonObject, change: JsonObject, config: JsonObject = {}) =>
    (service.update?.({ ...live, ...prior }, { ...live, ...prior, ...change }, config) ?? []).map(
      ({ mutation }) => mutation,
    );

  it.each([
    ["nothing", {}, {}, {}, []],
    ["a suspension", {}, { suspended: true }, {}, [{ endpoint: "suspendService", params: { id: "1001" } }]],
    [
      "a restoration",
      { suspended: true },
      { suspended: false },
      {},
      [{ endpoint: "unsuspendService", params: { id: "1001" } }],
    ],
    [
      "a given password",
      {},
      { password_version: 1 },
      { password: "long enough" },
      [{ endpoint: "resetPassword", params: { id: "1001" }, body: { password: "long enough" } }],
    ],
    [
      "a generated password, without any body",
      { product_type: "Root VPS" },
      { password_version: 1 },
      {},
      [{ endpoint: "resetPassword", params: { id: "1001" } }],
    ],
    [
      "a password of an unknown product: as the declaration has one",
      { product_type: "mainframe" },
      { password_version: 1 },
      { password: "long enough" },
      [{ endpoint: "resetPassword", params: { id: "1001" }, body: { password: "long enough" } }],
    ],
    [
      "a password of an unknown product: or has none",
      { product_type: "mainframe" },
      { password_version: 1 },
      {},
      [{ endpoint: "resetPassword", params: { id: "1001" } }],
    ],
    [
      "no password when the version is taken out of the declaration",
      { password_version: 3 },
      { password_version: null },
      {},
      [],
    ],
  ] as const)("sends %s", (_, prior, change, config, expected) => {
    expect(sent(prior, change, config)).toEqual(expected);
  });

  it("restores before the password is set, and suspends after it", () => {
    const restored = sent({ suspended: true }, { suspended: false, password_version: 1 }, { password: "long enough" });
    expect(restored.map(({ endpoint }) => endpoint)).toEqual(["unsuspendService", "resetPassword"]);
    const suspended = sent({}, { suspended: true, password_version: 1 }, { password: "long enough" });
    expect(suspended.map(({ endpoint }) => endpoint)).toEqual(["resetPassword", "suspendService"]);
  });

  it("fails if a generated password is missing in the response, because the API returns it only once", () => {
    const [step] = service.update?.({ ...live, product_type: "vps" }, { ...live, password_version: 1 }, {}) ?? [];
    expect(step?.accept({ password: null, names: "data.login, data.code" } as never)).toMatchObject({
      // The state contains the new version, so no later run resets the password of a live server again.
      attributes: { password_version: 1, generated_password: null, generated_password_fingerprint: null },
      warning: {
        severity: "error",
        code: "secret.lost",
        detail: expect.stringMatching(/POST \/api\/v1\/services\/\{id\}\/password .*data\.login, data\.code/),
      },
    });
    expect(step?.accept({ password: "s3cret-word" } as never)).toEqual({
      // The recorded fingerprint belongs to an earlier password, which `secret_output` wrote.
      attributes: { password_version: 1, generated_password: "s3cret-word", generated_password_fingerprint: null },
    });
  });
});

describe("remove", () => {
  it("contains the object's id", () => {
    expect(grant.remove?.({ service_id: "1001", id: "301" })).toEqual({
      endpoint: "revokeGrant",
      params: { id: "1001", grantId: "301" },
    });
    expect(webhook.remove?.({ id: "201" })).toEqual({ endpoint: "deleteWebhook", params: { id: "201" } });
    expect(service.suspendSteps?.({ id: "1001", suspended: true })).toEqual([]);
  });
});

describe("created", () => {
  const settings = { statusWords: {} };

  it.each([["hosting_grant"], ["hosting_webhook"], ["hosting_client_account"], ["hosting_migration_request"]])(
    "%s copes with an empty answer",
    (type) => {
      const made = kindOf(type).created(null as never, { service_id: "1001", domain: "a.example" }, settings);
      expect(made).toMatchObject({ id: null, invoice: null });
    },
  );

  it("a domain whose response contains no id is identified by its name", () => {
    expect(domain.created(null as never, { domain: "acme.example" }, settings)).toMatchObject({
      id: "acme.example",
      invoice: null,
    });
  });

  it("a webhook without its secret is created, and the secret is reported as lost", () => {
    const record = { id: "201", raw: {}, url: "https://a.example", events: [], created_at: null, secret: null };
    expect(webhook.created(record as never, {}, settings)).toMatchObject({
      id: "201",
      warning: { severity: "error", code: "secret.lost" },
    });
    const { warning, attributes } = webhook.created({ ...record, secret: "whsec" } as never, {}, settings);
    expect([warning, attributes.secret]).toEqual([undefined, "whsec"]);
  });
});

describe("the events of a webhook", () => {
  it.each([
    ["of the host's own are no difference", ["invoice.paid", "ping"], ["invoice.paid"]],
    [
      "that can be declared are one",
      ["invoice.paid", "service.expiring", "ping"],
      ["invoice.paid", "service.expiring"],
    ],
    ["that are a pattern are not left out", ["invoice.paid", "invoice.*"], ["invoice.paid", "invoice.*"]],
    ["of which none is known stay as they are", ["ping"], ["ping"]],
  ])("%s", async (_, events, read) => {
    const record = { id: "201", raw: {}, url: "https://a.example", events, created_at: null, secret: "whsec" };
    const client = {
      webhooks: {
        list: async function* () {
          yield record;
        },
      },
    };
    const listed = webhook.list?.({ client, settings: { statusWords: {} } } as never, undefined) ?? [];
    for await (const { attributes } of listed) expect(attributes.events).toEqual(read);
    expect(webhook.created(record as never, {}, { statusWords: {} }).attributes.events).toEqual(read);
  });
});

describe("the natural key", () => {
  it.each([
    ["services: domains in any case", service, { domain: "WWW.acme.example" }, { domain: "www.acme.example" }, true],
    ["services: none have none", service, { domain: null }, { domain: null }, false],
    ["services: an unknown one is not compared", service, { domain: UNKNOWN }, { domain: "a.example" }, false],
    [
      "grants: the same person on the same service",
      grant,
      { service_id: "1", email: "A@b.example" },
      { service_id: "1", email: "a@B.example" },
      true,
    ],
    [
      "grants: on another service",
      grant,
      { service_id: "1", email: "a@b.example" },
      { service_id: "2", email: "a@b.example" },
      false,
    ],
    [
      "webhooks: the same events in another order",
      webhook,
      { url: "https://a.example", events: ["x", "y"] },
      { url: "https://a.example", events: ["y", "x"] },
      true,
    ],
    [
      "webhooks: a URL may have several",
      webhook,
      { url: "https://a.example", events: ["x"] },
      { url: "https://a.example", events: ["y"] },
      false,
    ],
    [
      "webhooks: unknown events are not compared",
      webhook,
      { url: "https://a.example", events: [UNKNOWN] },
      { url: "https://a.example", events: ["y"] },
      false,
    ],
    ["accounts: the same name", account, { name: "Acme" }, { name: "Acme", company_number: "1" }, true],
    [
      "accounts: of another company",
      account,
      { name: "Acme", company_number: "2" },
      { name: "Acme", company_number: "1" },
      false,
    ],
    [
      "migrations: the same domain",
      migration,
      { domain: "A.example", order_id: null },
      { domain: "a.example", order_id: "1" },
      true,
    ],
    [
      "migrations: to another service",
      migration,
      { domain: "a.example", order_id: "2" },
      { domain: "a.example", order_id: "1" },
      false,
    ],
  ] as const)("of %s", (_, kind, a, b, expected) => {
    expect(matches(kind, a, b)).toBe(expected);
    expect(matches(kind, b, a)).toBe(expected);
  });
});

describe("an import id of a grant", () => {
  it.each([
    ["1001/301", { parent: "1001", id: "301" }],
    ["1001/dev@acme.example", { parent: "1001", id: "dev@acme.example" }],
    ["1001/a/b", { parent: "1001", id: "a/b" }],
    ["eu%2F7/301", { parent: "eu/7", id: "301" }],
    ["eu%41/301", { parent: "eu%41", id: "301" }],
    ["301", { id: "301" }],
    ["/301", { id: "/301" }],
    ["1001/", { id: "1001/" }],
    ["", { id: "" }],
  ])("%j is %j", (text, expected) => {
    expect(namedBy(grant, text)).toEqual({ parent: undefined, ...expected });
  });

  it("in the block of its service contains the grant alone, unless it begins with that service", () => {
    expect(namedBy(grant, "1001/301", "1001")).toEqual({ id: "301", parent: "1001" });
    expect(namedBy(grant, "g/301", "1001")).toEqual({ id: "g/301", parent: "1001" });
    expect(namedBy(grant, "301", "1001")).toEqual({ id: "301", parent: "1001" });
  });
});
