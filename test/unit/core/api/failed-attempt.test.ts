import { describe, expect, it } from "vitest";
import { HostingClient } from "../../../../src/core/api/index.ts";
import { networkFailure } from "../../../../src/core/api/network-failure.ts";
import { createRedact } from "../../../../src/core/api/token.ts";
import { fixOf } from "../../../support/remedies.ts";
import { api, failureOf, setUp, TOKEN, textOf, useNock } from "./support.ts";

useNock();

const page = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head><body>…</body></html>`;

describe("a 2xx response that is no success has a clear message", () => {
  it.each<[status: number, body: string, code: string, says: readonly string[]]>([
    [200, "", "api.malformed", ["an empty response", "GET /api/v1/services/{id}"]],
    [200, '{"data":{"id":', "api.malformed", ["not JSON, incomplete JSON"]],
    [200, page("Welcome"), "api.malformed", ['an HTML page titled "Welcome"', "base URL"]],
    [200, '{"data":{}}', "api.malformed", ["Expected a service with an id", 'an object with "data"']],
    [204, "", "api.inconclusive", ["status 204 and no content"]],
  ])("%i %j", async (status, body, code, says) => {
    api().get("/services/7").reply(status, body);
    const error = await failureOf(setUp({ maxAttempts: 1 }).client.services.get("7"));
    expect(error.diagnostics[0]?.code).toBe(code);
    for (const words of says) expect(textOf(error)).toContain(words);
    expect(fixOf(error.diagnostics[0])).toBeTruthy();
  });

  it.each(['{"data":{"password":"Gen-12345', '{"secret":"Gen-12345"', "Gen-12345 is it"])(
    "%s is no failure of a password reset, which would be sent again",
    async (text) => {
      api().post("/services/7/password").reply(200, text);
      expect(await setUp().client.services.resetPassword("7")).toEqual({ password: null });
    },
  );
});

describe("the account of a request in an error", () => {
  const account = "Provider staging: api.example, token from STAGING_TOKEN.";
  it.each([
    [401, true],
    [403, true],
    [500, true],
    [404, false],
    [422, false],
  ])("is named for a %i: %s", async (status, isNamed) => {
    api().get("/services/7").reply(status, { message: "No." });
    const error = await failureOf(setUp({ account, maxAttempts: 1 }).client.services.get("7"));
    expect(error.status).toBe(status);
    expect(textOf(error).includes(account)).toBe(isNamed);
  });
});

describe("a token in an error", () => {
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

  it.each(["a-", "token", 'secret="', "bearer "])("is searched in linear time in a repeated %j", (word) => {
    // Without a limit on the searched text, redacting 200 kB took minutes.
    const text = createRedact(TOKEN)(`${word.repeat(200_000 / word.length)}${TOKEN}`);
    expect(text.length).toBeLessThan(500);
    expect(text).not.toContain(TOKEN);
  });

  it("is not in the printed form of a client", () => {
    const { client } = setUp();
    expect(JSON.stringify(client) + String(client)).not.toContain("canary");
  });

  it("is not in the rejection of an invalid token", () => {
    const make = () => new HostingClient({ baseUrl: "https://a.example", token: "canary token\n", env: {} });
    expect(make).toThrow(/contains invalid characters/);
  });
});

describe("the estimate whether a request reached the server", () => {
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
