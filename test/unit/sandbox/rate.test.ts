import { describe, expect, test } from "vitest";
import { START, start } from "./harness.ts";

/** Starts a sandbox and uses up the rate limit of the agency's token. */
async function exhausted(options: Parameters<typeof start>[0] = {}): Promise<Awaited<ReturnType<typeof start>>> {
  const running = await start({ rateLimit: 60, ...options });
  for (let at = 0; at < 60; at += 1) await running.send("GET", "/services/1");
  return running;
}

describe("the request limit (§8)", () => {
  test("accepts 60 requests a minute by default, whatever their status; the 61st is 429", async () => {
    const { send } = await exhausted();
    const refused = await send("GET", "/plans");
    expect(refused).toMatchObject({ status: 429, body: { message: "Too Many Attempts." } });
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "0",
      "retry-after": "60",
      "x-ratelimit-reset": String(START / 1000 + 60),
    });
  });

  test("a rejected order creates nothing", async () => {
    const { send, sandbox } = await exhausted();
    const body = { plan_id: 11, currency: "USD", domain: "acme.example" };
    expect((await send("POST", "/services", { key: "k", body })).status).toBe(429);
    sandbox.control.advanceClock({ minutes: 1 });
    expect((await send("GET", "/services")).body.meta.total).toBe(0);
  });

  test("the window is fixed: it starts with the first request and ends 60 s later", async () => {
    const { send, sandbox } = await start({ rateLimit: 2 });
    const remaining = async (): Promise<string | null> =>
      (await send("GET", "/plans")).headers.get("x-ratelimit-remaining");
    expect(await remaining()).toBe("1");
    sandbox.control.advanceClock({ seconds: 59 });
    expect(await remaining()).toBe("0");
    const refused = await send("GET", "/plans");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    sandbox.control.advanceClock({ seconds: 1 });
    expect(await remaining()).toBe("1");
  });

  test("each token has its own window; an unknown token has none", async () => {
    const { send, sandbox } = await exhausted();
    expect((await send("GET", "/plans", { token: sandbox.tokens.viewer })).status).toBe(200);
    const unknown = await send("GET", "/plans", { token: "nobody" });
    expect([unknown.status, unknown.headers.get("x-ratelimit-limit")]).toEqual([401, null]);
  });

  test("every response to a known token contains the remaining requests: 200, 403, 404, 405, 422", async () => {
    const { send, sandbox } = await start({ rateLimit: 60 });
    const token = sandbox.tokens.viewer;
    let left = 60;
    for (const [method, path, status] of [
      ["GET", "/plans", 200],
      ["GET", "/webhooks", 403],
      ["GET", "/nowhere", 404],
      ["PUT", "/plans", 405],
      ["GET", "/plans?page=0", 422],
    ] as const) {
      const answer = await send(method, path, { token });
      left -= 1;
      expect([answer.status, answer.headers.get("x-ratelimit-remaining")]).toEqual([status, String(left)]);
    }
  });

  test("0 disables the limit", async () => {
    const { send } = await exhausted({ rateLimit: 0 });
    const answer = await send("GET", "/plans");
    expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([200, null]);
  });

  test.each([
    // Limit of three a minute, requests at 0, 10 and 20 s: wait in seconds, and remaining requests after the wait.
    ["fixed", 40, "2"],
    ["sliding", 40, "0"],
    ["bucket", 1, "0"],
  ] as const)("profile: rate=%s has correct headers", async (rate, wait, left) => {
    const { send, sandbox } = await start({ rateLimit: 3, profile: { rate } });
    const ask = async (seconds: number) => {
      if (seconds > 0) sandbox.control.advanceClock({ seconds });
      const { status, headers } = await send("GET", "/plans");
      const header = (name: string): string | null => headers.get(name);
      return {
        status,
        left: header("x-ratelimit-remaining"),
        after: header("retry-after"),
        reset: header("x-ratelimit-reset"),
      };
    };
    await ask(0);
    await ask(10);
    await ask(10);
    // In these 20 seconds, a bucket of three refills by one.
    if (rate === "bucket") expect(await ask(19)).toMatchObject({ status: 200, left: "0" });
    const at = START / 1000 + (rate === "bucket" ? 39 : 20);
    expect(await ask(0)).toEqual({ status: 429, left: "0", after: String(wait), reset: String(at + wait) });
    if (wait > 1) expect((await ask(wait - 1)).status).toBe(429);
    expect(await ask(1)).toMatchObject({ status: 200, left });
  });

  test("profile: Retry-After is a date or missing; other headers are missing", async () => {
    const dated = await exhausted({ profile: { retry_after: "date" } });
    expect((await dated.send("GET", "/plans")).headers.get("retry-after")).toBe("Sat, 21 Nov 2026 10:01:00 GMT");
    const bare = await exhausted({ profile: { retry_after: "none", rate_headers: "none" } });
    const refused = await bare.send("GET", "/plans");
    expect(refused.status).toBe(429);
    expect([...refused.headers.keys()].filter((name) => /rate|retry/.test(name))).toEqual([]);
  });
});
