/** Raw answers, on the way of all requests. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { MemoryLedger, type RequestEvent } from "../../../../src/core/api/index.ts";
import { Prober, probeTitle } from "../../../../src/core/api/probe.ts";
import { testClock } from "../../../support/clock.ts";
import { saying } from "../../../support/remedies.ts";

const TOKEN = "7|canary-token-Zq81xYp4";
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

interface Made {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
}

async function probing(answer: (request: IncomingMessage, nth: number) => Made) {
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    const { status = 200, headers = {}, text = "{}" } = answer(request, tokens.length);
    response.writeHead(status, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const clock = testClock();
  const events: RequestEvent[] = [];
  const ledger = new MemoryLedger();
  const prober = new Prober({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    clock,
    ledger,
    env: {},
    random: () => 0,
    onRequest: (event) => events.push(event),
  });
  ends.push(async () => {
    await prober.close();
    server.closeAllConnections();
    server.close();
  });
  return { prober, tokens, clock, events, ledger };
}

describe("a probe", () => {
  it("hands out status, headers and body as they came, whatever the client makes of them", async () => {
    const { prober } = await probing(() => ({ status: 404, headers: { "X-Own": "1" }, text: '{"message":"No."}' }));
    const answer = await prober.probe({ endpoint: "getService", params: { id: "7" } });
    expect(answer).toMatchObject({ status: 404, text: '{"message":"No."}', json: { message: "No." } });
    expect(answer.headers["x-own"]).toBe("1");
    expect(answer.refusal?.diagnostics[0]?.code).toBe("api.not_found");
  });

  it("says what the client takes for no answer, although its status is 200", async () => {
    const { prober } = await probing(() => ({ text: '{"error":"no"}' }));
    const answer = await prober.probe({ endpoint: "listServices" });
    expect(answer.status).toBe(200);
    expect(answer.refusal?.diagnostics[0]?.code).toBe("api.malformed");
  });

  it("sends no token, or a token that is nobody's, when asked to", async () => {
    const { prober, tokens } = await probing(() => ({}));
    await prober.probe({ endpoint: "listServices" });
    await prober.probe({ endpoint: "listServices", as: "none" });
    await prober.probe({ endpoint: "listServices", as: "unknown" });
    expect(tokens).toEqual([`Bearer ${TOKEN}`, undefined, "Bearer hostform-contract-check-not-a-token"]);
  });

  it("never holds the token, whatever the server echoes", async () => {
    const echo = JSON.stringify({
      authorization: `Bearer ${TOKEN}`,
      url: encodeURIComponent(TOKEN),
      part: "canary-token-Zq81xYp4",
    });
    const { prober } = await probing(() => ({ status: 403, headers: { "x-token": TOKEN }, text: echo }));
    const answer = await prober.probe({ endpoint: "listServices" });
    expect(JSON.stringify([answer, answer.refusal?.diagnostics, answer.refusal?.serverMessage])).not.toContain(
      "Zq81xYp4",
    );
    expect(answer.json).toEqual({ authorization: "Bearer [redacted]", url: "[redacted]", part: "[redacted]" });
  });

  it("follows no redirect", async () => {
    const { prober, tokens } = await probing(() => ({ status: 302, headers: { location: "/elsewhere" } }));
    const answer = await prober.probe({ endpoint: "listServices" });
    expect(answer.status).toBe(302);
    expect(answer.refusal?.diagnostics[0]?.code).toBe("api.redirect");
    expect(tokens).toHaveLength(1);
  });

  it("is repeated when it changes nothing, and counted", async () => {
    const { prober, events } = await probing((_, nth) => (nth < 3 ? { status: 503 } : {}));
    await prober.probe({ endpoint: "listServices" });
    expect([prober.requests, prober.repeated]).toEqual([3, 2]);
    expect(events.map(({ status }) => status)).toEqual([503, 503, 200]);
  });

  it("is not repeated when it changes something", async () => {
    const { prober } = await probing(() => ({ status: 503 }));
    const probe = prober.probe({ endpoint: "createWebhook", body: { url: "https://x.invalid", events: [] } });
    await expect(probe).rejects.toMatchObject({ status: 503, reached: "maybe" });
    expect(prober.requests).toBe(1);
  });

  it("waits out a refusal by the rate limit, and keeps it", async () => {
    const { prober, clock } = await probing((_, nth) =>
      nth === 1 ? { status: 429, headers: { "retry-after": "20" }, text: "slow down" } : {},
    );
    expect(prober.limited).toBeUndefined();
    await prober.probe({ endpoint: "listServices" });
    expect(clock.slept).toBeGreaterThanOrEqual(20_000);
    expect(prober.limited).toMatchObject({ status: 429, text: "slow down" });
  });

  it("keeps within 60 a minute", async () => {
    const { prober, clock } = await probing(() => ({}));
    for (let n = 0; n < 61; n += 1)
      await prober.probe({ endpoint: "listServices", as: n % 2 === 0 ? "owner" : "none" });
    expect(clock.slept).toBeGreaterThanOrEqual(60_000);
  });

  it("does not learn the token's limit from the answer to a stranger", async () => {
    const other = { "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0" };
    const { prober, clock } = await probing((request) =>
      request.headers.authorization === undefined ? { headers: other } : {},
    );
    await prober.probe({ endpoint: "listServices", as: "none" });
    for (let n = 0; n < 10; n += 1) await prober.probe({ endpoint: "listServices" });
    expect(clock.slept).toBe(0);
  });

  it("gives up a server that does not answer in time", async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const prober = new Prober({
      baseUrl,
      token: TOKEN,
      clock: testClock(),
      env: {},
      random: () => 0,
      timeoutMs: 9_000,
    });
    ends.push(async () => {
      await prober.close();
      server.closeAllConnections();
      server.close();
    });
    const probe = prober.probe({ endpoint: "listPlans" });
    await expect(probe).rejects.toMatchObject({
      diagnostics: [{ code: "api.timeout", remedies: saying(expect.any(String)) }],
    });
  });

  it("has a title without ids", () => {
    expect(probeTitle({ endpoint: "getService" })).toBe("GET /api/v1/services/{id}");
    expect(
      probeTitle({
        endpoint: "listPlans",
        query: [
          ["page", "2"],
          ["per_page", "1"],
        ],
      }),
    ).toBe("GET /api/v1/plans?page=2&per_page=1");
  });
});
