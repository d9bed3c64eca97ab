import { describe, expect, it } from "vitest";
import { endpoints, HostingClient } from "../../../../src/core/api/index.ts";
import { networkFailure } from "../../../../src/core/api/network-failure.ts";
import { createRedact } from "../../../../src/core/api/token.ts";
import { fixOf } from "../../../support/remedies.ts";
import { api, failureOf, setUp, TOKEN, textOf, useNock } from "./support.ts";

useNock();

const page = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head><body>…</body></html>`;

describe("each failure gives a clear sentence", () => {
  const table: { status: number; body: string; headers?: Record<string, string>; code: string; says: string[] }[] = [
    {
      status: 401,
      body: '{"message":"Unauthenticated."}',
      code: "api.unauthenticated",
      says: ["did not accept the token", "The server says: Unauthenticated.", "dashboard"],
    },
    {
      status: 403,
      body: '{"message":"Token lacks the ability."}',
      code: "api.forbidden",
      says: ['needs the ability "view"', "The server says: Token lacks the ability."],
    },
    {
      status: 404,
      body: '{"message":""}',
      code: "api.not_found",
      says: ["does not know the object", "GET /api/v1/services/7", "The answer holds no message"],
    },
    // Only the API's own word says that an object is gone: a page is none, whatever it calls itself, nor is a line of text.
    { status: 404, body: page("Not Found"), code: "api.malformed", says: ['an HTML page titled "Not Found"'] },
    { status: 404, body: "404 page not found\n", code: "api.malformed", says: ["404 page not found"] },
    { status: 404, body: "", code: "api.not_found", says: ["does not know the object"] },
    { status: 410, body: '{"error":"gone"}', code: "api.not_found", says: ["gone"] },
    { status: 410, body: "", code: "api.not_found", says: ["(410)", "The answer is empty"] },
    {
      status: 500,
      body: '{"message":"Server Error"}',
      code: "api.server",
      says: ["The API failed (500)", "Server Error"],
    },
    {
      status: 502,
      body: page("Bad Gateway"),
      headers: { "content-type": "text/html" },
      code: "api.server",
      says: ["(502)", "Bad Gateway", "proxy"],
    },
    { status: 503, body: "down for maintenance", code: "api.server", says: ["down for maintenance"] },
    { status: 504, body: '{"error":{"message":"upstream"}}', code: "api.server", says: ["upstream"] },
    {
      status: 302,
      body: "",
      headers: { location: "https://login.example/secret-path?x=1" },
      code: "api.redirect",
      says: ["redirect (302) to https://login.example,", "not followed"],
    },
    {
      status: 301,
      body: "",
      headers: { location: "/relative" },
      code: "api.redirect",
      says: ["redirect (301), which"],
    },
    { status: 418, body: '{"error":"teapot"}', code: "api.rejected", says: ["(418)", "teapot"] },
    { status: 200, body: "", code: "api.malformed", says: ["an empty answer", "GET /api/v1/services/{id}"] },
    { status: 200, body: '{"data":{"id":', code: "api.malformed", says: ["not JSON, only a part of it"] },
    { status: 200, body: page("Welcome"), code: "api.malformed", says: ['an HTML page titled "Welcome"', "base URL"] },
    {
      status: 200,
      body: '{"data":{}}',
      code: "api.malformed",
      says: ["Expected a service with an id", 'an object with "data"'],
    },
    { status: 204, body: "", code: "api.inconclusive", says: ["status 204 and no content"] },
  ];
  for (const { status, body, headers, code, says } of table) {
    it(`${status} ${body.slice(0, 30)}`, async () => {
      api().get("/services/7").times(1).reply(status, body, headers);
      const error = await failureOf(setUp({ maxAttempts: 1 }).client.services.get("7"));
      expect(error.diagnostics[0]?.code).toBe(code);
      for (const words of says) expect(textOf(error)).toContain(words);
      expect(textOf(error)).not.toContain("secret-path");
      expect(fixOf(error.diagnostics[0])).toBeTruthy();
    });
  }

  it("404 that is a page leaves open whether an order was placed", async () => {
    api().post("/services").reply(404, page("Not Found"));
    const { client } = setUp({ maxAttempts: 1 });
    const error = await failureOf(client.services.create({ plan_id: 11, currency: "USD" }, { idempotencyKey: "k" }));
    expect(error).toMatchObject({ status: 404, reached: "maybe" });
  });

  it("404 on an address without an id points to the base URL: the object is not gone", async () => {
    // Pages may be counted from 0.
    for (const number of [1, 0]) api().get(`/services?page=${number}&per_page=100`).reply(404, page("Not Found"));
    const error = await failureOf(setUp().client.services.list().all());
    expect(textOf(error)).toContain("A web page came in place of the API's answer (404)");
    expect(textOf(error)).toContain("base URL");
  });
});

describe("an account that the caller names", () => {
  const account = "Provider staging: api.example, token from STAGING_TOKEN.";
  it.each([
    [401, true],
    [403, true],
    [500, true],
    [404, false],
    [422, false],
  ])("is named by a %i: %s", async (status, isNamed) => {
    api().get("/services/7").reply(status, { message: "No." });
    const error = await failureOf(setUp({ account, maxAttempts: 1 }).client.services.get("7"));
    expect(error.status).toBe(status);
    expect(textOf(error).includes(account)).toBe(isNamed);
  });
});

describe("403 names the ability that the endpoint needs (§4, §5)", () => {
  const calls: Record<string, (client: HostingClient) => Promise<unknown>> = {
    listInvoices: (client) => client.invoices.list().all(),
    listGrants: (client) => client.grants.list("7").all(),
    createAccount: (client) => client.accounts.create({ name: "x" }),
    registerDomain: (client) => client.domains.register({}),
    listAccounts: (client) => client.accounts.list().all(),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(name, async () => {
      const { method, path, ability } = endpoints[name as keyof typeof endpoints];
      const filled = path.replace("{id}", "7");
      api()
        .intercept((uri) => uri.startsWith(`/api/v1${filled}`), method)
        .reply(403, { message: "Wrong account." });
      const error = await failureOf(call(setUp().client));
      expect(error.diagnostics[0]?.summary).toContain(`${method} /api/v1${path}`);
      expect(fixOf(error.diagnostics[0])).toContain(`needs the ability "${ability}"`);
      expect(error).toMatchObject({ status: 403, reached: "answered", serverMessage: "Wrong account." });
    });
  }
});

describe("the token is in no message", () => {
  const echoes: [why: string, body: string, headers: Record<string, string>][] = [
    ["in the message", JSON.stringify({ message: `Token ${TOKEN} is revoked` }), {}],
    ["its part after the bar", JSON.stringify({ message: `No token ${TOKEN.split("|")[1]}` }), {}],
    ["URL-encoded", JSON.stringify({ message: `?key=${encodeURIComponent(TOKEN)}` }), {}],
    ["as a header", `Authorization: Bearer ${TOKEN}`, { "content-type": "text/plain" }],
    [
      "in a field error",
      JSON.stringify({ message: "m", errors: { [TOKEN]: [TOKEN], nested: { [TOKEN]: TOKEN } } }),
      {},
    ],
    [
      "in the field of a listed error",
      JSON.stringify({ message: "m", errors: [{ field: TOKEN, message: TOKEN }] }),
      {},
    ],
    ["in a page's title", page(TOKEN), {}],
    ["in the address of a redirect", "", { location: `https://x.example/?t=${TOKEN}` }],
    ["beyond where texts are shortened", JSON.stringify({ message: `${"x".repeat(395)}${TOKEN}` }), {}],
  ];
  for (const [why, body, headers] of echoes) {
    for (const status of [200, 302, 400, 401, 403, 404, 422, 500]) {
      it(`${status}: ${why}`, async () => {
        api().post("/services/7/suspend").reply(status, body, headers);
        const { client, events } = setUp({ maxAttempts: 1 });
        const outcome = await client.services.suspend("7").then(
          () => "",
          (error) => textOf(error) + error.stack + JSON.stringify(error),
        );
        expect(outcome + JSON.stringify(events)).not.toMatch(/canary-token|Zq81/);
      });
    }
  }

  it("nor is it there URL-encoded, or escaped as JSON does it", () => {
    const redactOdd = createRedact('a/b"c');
    expect(redactOdd('?t=a%2Fb%22c and a/b\\"c and a/b"c')).toBe("?t=[redacted] and [redacted] and [redacted]");
  });

  it.each(["a-", "token", 'secret="', "bearer "])("a server that says %j for long takes no time", (word) => {
    // Without a bound on what is looked through, 200 kB took minutes.
    const text = createRedact(TOKEN)(`${word.repeat(200_000 / word.length)}${TOKEN}`);
    expect(text.length).toBeLessThan(500);
    expect(text).not.toContain(TOKEN);
  });

  it("nor is it in what a client shows of itself", () => {
    const { client } = setUp();
    expect(JSON.stringify(client) + String(client)).not.toContain("canary");
  });

  it("nor in the refusal of a bad token", () => {
    const make = () => new HostingClient({ baseUrl: "https://a.example", token: "canary token\n", env: {} });
    expect(make).toThrow(/characters that no token has/);
  });
});

describe("secrets of the body are in no message", () => {
  it("a password that the server echoes", async () => {
    const body = { message: "hunter2-hunter2 is too common", errors: { password: ["hunter2-hunter2 was leaked"] } };
    api().post("/services/7/password").reply(422, body);
    const error = await failureOf(setUp().client.services.resetPassword("7", { password: "hunter2-hunter2" }));
    expect(textOf(error)).not.toContain("hunter2");
    expect(error.fieldErrors).toEqual({ password: ["[redacted] was leaked"] });
  });

  it.each(['{"data":{"password":"Gen-12345', '{"secret":"Gen-12345"', "Gen-12345 is it"])(
    "an answer with a generated one that is not understood: %s",
    async (text) => {
      api().post("/services/7/password").reply(200, text);
      // It was reset: that is no failure of the request, which would be sent again.
      expect(await setUp().client.services.resetPassword("7")).toEqual({ password: null });
    },
  );

  const redact = createRedact("tok");
  const table: [text: string, shown: string][] = [
    ['{"signing_secret": "abc", "url": "u"}', '{"signing_secret": [redacted], "url": "u"}'],
    ["api_key=abc&x=1", "api_key=[redacted]&x=1"],
    ["The password field is required.", "The password field is required."],
    ["line\r\none\u001b[31m two", "line one [31m two"],
    ["my tok here", "my [redacted] here"],
  ];
  for (const [text, shown] of table) {
    it(`${JSON.stringify(text)} is shown as ${shown}`, () => {
      expect(redact(text)).toBe(shown);
    });
  }
});

describe("whether a request can have reached the server", () => {
  const error = (code: string, more: object = {}, message = "x") =>
    Object.assign(new Error(message), { code, ...more });
  const table: [why: string, error: unknown, reached: "no" | "maybe", transient: boolean][] = [
    ["connection refused", error("ECONNREFUSED"), "no", true],
    ["name not found", error("ENOTFOUND"), "no", true],
    ["name lookup down", error("EAI_AGAIN"), "no", true],
    ["no connection in time", error("UND_ERR_CONNECT_TIMEOUT"), "no", true],
    [
      "all addresses refused",
      new AggregateError([error("ECONNREFUSED"), error("ENETUNREACH", { syscall: "connect" })]),
      "no",
      true,
    ],
    [
      "one address of several lost later",
      new AggregateError([error("ECONNREFUSED"), error("ECONNRESET")]),
      "maybe",
      true,
    ],
    ["certificate expired", error("CERT_HAS_EXPIRED"), "no", false],
    ["certificate for another name", error("ERR_TLS_CERT_ALTNAME_INVALID"), "no", false],
    ["self-signed certificate", error("DEPTH_ZERO_SELF_SIGNED_CERT"), "no", false],
    ["https to an http port", error("ERR_SSL_WRONG_VERSION_NUMBER"), "no", false],
    [
      "closed in the handshake",
      error("ECONNRESET", {}, "Client network socket disconnected before secure TLS connection was established"),
      "no",
      true,
    ],
    ["network unreachable while connecting", error("ENETUNREACH", { syscall: "connect" }), "no", true],
    ["timed out while connecting", error("ETIMEDOUT", { syscall: "connect" }), "no", true],
    ["timed out while reading", error("ETIMEDOUT", { syscall: "read" }), "maybe", true],
    ["reset", error("ECONNRESET", { syscall: "read" }), "maybe", true],
    ["other side closed", error("UND_ERR_SOCKET"), "maybe", true],
    ["broken pipe", error("EPIPE"), "maybe", true],
    ["something unheard of", error("EWHATEVER"), "maybe", true],
    ["not even an error", "boom", "maybe", true],
    [
      "proxy asks for a password",
      error("UND_ERR_ABORTED", {}, "Proxy response (407) !== 200 when HTTP Tunneling"),
      "no",
      false,
    ],
    ["proxy refuses", error("UND_ERR_ABORTED", {}, "Proxy response (403) !== 200 when HTTP Tunneling"), "no", false],
    [
      "proxy cannot connect",
      error("UND_ERR_ABORTED", {}, "Proxy response (502) !== 200 when HTTP Tunneling"),
      "no",
      true,
    ],
  ];
  for (const [why, cause, reached, transient] of table) {
    it(`${why}: ${reached}`, () => {
      expect(networkFailure(cause)).toMatchObject({ reached, transient });
    });
  }
});
