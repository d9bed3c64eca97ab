import { describe, expect, it } from "vitest";
import { normalizeBaseUrl } from "../../../../src/core/api/address.ts";
import { buildRequest } from "../../../../src/core/api/exchange.ts";
import { endpoints, HostingClient } from "../../../../src/core/api/index.ts";
import fc from "../../../support/fc.ts";
import { api, failureOf, service, setUp, useNock } from "./support.ts";

useNock();

describe("the base URL", () => {
  const accepted: [given: string, used: string][] = [
    ["https://a.example", "https://a.example/api/v1"],
    ["https://a.example/", "https://a.example/api/v1"],
    ["  https://a.example/api/v1 ", "https://a.example/api/v1"],
    ["https://a.example/api/v1//", "https://a.example/api/v1"],
    ["https://a.example/tenant/7", "https://a.example/tenant/7/api/v1"],
    ["https://a.example:8443/tenant/api/v1/", "https://a.example:8443/tenant/api/v1"],
    ["http://localhost:8080", "http://localhost:8080/api/v1"],
    ["http://127.8.9.1", "http://127.8.9.1/api/v1"],
    ["http://[::1]:80", "http://[::1]/api/v1"],
  ];
  for (const [given, used] of accepted) {
    it(`${given} -> ${used}`, () => expect(normalizeBaseUrl(given).href).toBe(used));
  }

  const refused: [given: string, why: RegExp][] = [
    ["", /not a URL/],
    ["a.example", /not a URL/],
    ["ftp://a.example", /must begin with https/],
    ["https://user:hunter2@a.example", /user name or password/],
    ["https://a.example?x=1", /query/],
    ["https://a.example#x", /fragment/],
    ["https://a.example/api/v2", /another version/],
    ["http://a.example", /Plain http/],
    ["http://localhost.a.example", /Plain http/],
    ["http://127.0.0.1.a.example", /Plain http/],
    ["http://10.0.0.1", /Plain http/],
  ];
  for (const [given, why] of refused) {
    it(`refuses ${JSON.stringify(given)}`, () => {
      const make = () => new HostingClient({ baseUrl: given, token: "t", env: {} });
      expect(make).toThrow(why);
      expect(make).not.toThrow(/hunter2/);
    });
  }

  it("receives all requests", async () => {
    api().get("/services/7").reply(200, { data: service() });
    await setUp({ baseUrl: "https://api.hosting.example/api/v1/" }).client.services.get("7");
  });
});

describe("ids in the path", () => {
  for (const id of ["", " ", ".", "..", "7\n8", "../accounts", "a/..", "a/./b", "..\\b"]) {
    it(`${JSON.stringify(id)} is refused before anything is sent`, async () => {
      const { client } = setUp();
      for (const call of [
        client.services.get(id),
        client.webhooks.delete(id),
        client.grants.revoke("7", id),
        client.grants.list(id).all(),
      ]) {
        expect(await failureOf(call)).toMatchObject({ reached: "no", diagnostics: [{ code: "api.argument" }] });
      }
      expect(client.requests).toBe(0);
    });
  }

  it.each(["a/b", "/", "a\\b", "urn:x:7", "a@b", "a?b#c", "100%", "%2F", "a b", "ü", "...", "a..b"])(
    "%j is opaque: one segment, escaped",
    async (id) => {
      const { client } = setUp();
      api()
        .delete(`/services/7/grants/${encodeURIComponent(id)}`)
        .reply(204);
      await client.grants.revoke("7", id);
    },
  );

  it("never leave their path segment, whatever is accepted", () => {
    fc.assert(
      fc.property(fc.string(), (id) => {
        let path: string;
        try {
          path = buildRequest("deleteWebhook", { params: { id } }).path;
        } catch {
          return;
        }
        const url = new URL(`https://a.example/api/v1${path}`);
        expect(url.pathname.split("/").length).toBe(5);
        expect(url.pathname.startsWith("/api/v1/webhooks/")).toBe(true);
        expect(decodeURIComponent(url.pathname.slice("/api/v1/webhooks/".length))).toBe(id);
        expect(url.search + url.hash).toBe("");
      }),
    );
  });
});

describe("a request that is rejected before it is sent", () => {
  it("an order without a usable Idempotency-Key (§4: required)", async () => {
    const { client } = setUp();
    for (const idempotencyKey of [undefined, "", "two words", "line\nbreak", "ключ", "x".repeat(256)]) {
      const call = client.request({
        endpoint: "createService",
        body: {},
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      expect(await failureOf(call)).toMatchObject({ reached: "no", diagnostics: [{ code: "api.argument" }] });
    }
    const untyped: (body: object) => Promise<unknown> = client.services.create as never;
    expect(await failureOf(untyped({}))).toMatchObject({ reached: "no", diagnostics: [{ code: "api.argument" }] });
    expect(client.requests).toBe(0);
  });

  it("an Idempotency-Key for an endpoint without keys", async () => {
    const call = setUp().client.request({
      endpoint: "createGrant",
      params: { id: "7" },
      body: {},
      idempotencyKey: "k",
    });
    expect(await failureOf(call)).toMatchObject({ reached: "no" });
  });

  it("a password of fewer than 8 characters (§8), which is not repeated", async () => {
    const error = await failureOf(setUp().client.services.resetPassword("7", { password: "seven77" }));
    expect(error).toMatchObject({ reached: "no", diagnostics: [{ code: "api.argument" }] });
    expect(JSON.stringify(error.diagnostics)).not.toContain("seven77");
  });

  for (const name of ["", "no-dot", "a b.example", "a.example/x", "a.example?x", "user@a.example"]) {
    it(`${JSON.stringify(name)} as a domain`, async () => {
      expect(await failureOf(setUp().client.domains.check([name]))).toMatchObject({ reached: "no" });
    });
  }
});

describe("options", () => {
  const refused: [string, object][] = [
    ["requestsPerMinute", { requestsPerMinute: 6_001 }],
    ["requestsPerMinute", { requestsPerMinute: 0 }],
    ["pageSize", { pageSize: 101 }],
    ["maxAttempts", { maxAttempts: 1.5 }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
  ];
  for (const [name, options] of refused) {
    it(`${JSON.stringify(options)} is refused by name`, () => expect(() => setUp(options)).toThrow(new RegExp(name)));
  }

  it("an empty token is rejected", () => expect(() => setUp({ token: " " })).toThrow("The API token is empty"));

  it("requestsPerMinute limits requests, and each request is reported with the remaining requests", async () => {
    api().get("/services/7").times(3).reply(200, { data: service() });
    const { client, events } = setUp({ requestsPerMinute: 2 });
    for (let i = 0; i < 3; i++) await client.services.get("7");
    expect(events.map(({ waitedMs, left, status, attempt }) => ({ waitedMs, left, status, attempt }))).toEqual([
      { waitedMs: 0, left: 1, status: 200, attempt: 1 },
      { waitedMs: 0, left: 0, status: 200, attempt: 1 },
      { waitedMs: 61_000, left: 1, status: 200, attempt: 1 },
    ]);
    expect(client.requests).toBe(3);
  });
});

describe("the table of endpoints", () => {
  it("contains the 24 endpoints of §4, each once", () => {
    const lines = Object.values(endpoints).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(lines).size).toBe(24);
  });

  it("marks every GET as safe, every DELETE as idempotent, and only service orders as keyed", () => {
    for (const [name, { method, repeat }] of Object.entries(endpoints)) {
      if (method === "GET") expect([name, repeat]).toEqual([name, "safe"]);
      if (method === "DELETE") expect([name, repeat]).toEqual([name, "idempotent"]);
      expect(repeat === "keyed").toBe(name === "createService");
    }
  });
});
