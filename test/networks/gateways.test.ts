/** Responses of a gateway in place of the API. A web page is never a response of the API, with any status. */
import { describe, expect, it } from "vitest";
import { answering, builtClient, failureOf, jsonAnswer, workplace } from "./support.ts";

const HTML = "<!doctype html><html><head><title>Acme Web Gateway</title></head><body>Access denied</body></html>";
const page = (status: number) =>
  `HTTP/1.1 ${status} Gateway\r\ncontent-type: text/html\r\ncontent-length: ${HTML.length}\r\n\r\n${HTML}`;
const clientOf = (port: number) => builtClient({ baseUrl: `http://127.0.0.1:${port}`, maxAttempts: 1 });

describe("a web page in place of an API response", () => {
  it.each([400, 401, 403, 404, 405, 408, 409, 410, 422, 451, 500, 502, 503])(
    "with status %i is reported as a gateway error, not as a token error, and the create stays pending",
    async (status) => {
      const { port } = await answering(page(status));
      const client = await clientOf(port);
      const listed = await failureOf(client.services.list().all());
      const ordered = await failureOf(
        client.services.create({ plan_id: 11, currency: "USD" }, { idempotencyKey: "k" }),
      );
      const webhook = await failureOf(client.webhooks.create({ url: "https://x.example", events: ["invoice.paid"] }));
      for (const { text } of [listed, ordered, webhook]) {
        expect(text).toContain(`The response is a web page, not an API response (${status})`);
        expect(text).toContain('an HTML page titled "Acme Web Gateway"');
        expect(text).toContain("no proxy or gateway responds in its place");
        expect(text).not.toMatch(/ability|token may not|did not accept the token|values/);
      }
      expect([ordered.reached, webhook.reached]).toEqual(["maybe", "maybe"]);
    },
  );

  it("is reported by the command line", async () => {
    const { port } = await answering(page(403));
    const { code, text } = await workplace({ HOSTING_BASE_URL: `http://127.0.0.1:${port}` }).runHere(["services"]);
    expect(code).toBe(1);
    expect(text).toContain("The response is a web page, not an API response (403)");
  });
});

describe("a 403 in JSON", () => {
  it.each([
    ["The sandbox answers to 127.0.0.1 and localhost only.", "The API rejected GET /api/v1/services (403)"],
    ["Invalid ability provided.", "The token lacks permission for GET /api/v1/services (403)"],
    ["This action is unauthorized.", "The token lacks permission for GET /api/v1/services (403)"],
  ])("that says %j", async (message, says) => {
    const { port } = await answering(jsonAnswer({ message }, "HTTP/1.1 403 Forbidden"));
    const { text, code } = await failureOf((await clientOf(port)).services.list().all());
    expect(text).toContain(says);
    expect(text).toContain(`The server says: ${message}`);
    expect(code).toBe("api.forbidden");
  });
});

describe("a 429 response with a pause of 24 hours", () => {
  const MINUTE = /\d{4}-\d\d-\d\d \d\d:\d\d UTC/;
  it.each([
    ["Retry-After", "retry-after: 86400", "24 hours"],
    ["X-RateLimit-Reset", "x-ratelimit-reset: 1800", "30 minutes"],
  ])("by %s is reported for the rejected request", async (_, header, pause) => {
    const { port, asked } = await answering(jsonAnswer({ message: "Later." }, "HTTP/1.1 429 Too Many", header));
    const client = await clientOf(port);
    const { text, reached } = await failureOf(
      client.services.create({ plan_id: 11, currency: "USD" }, { idempotencyKey: "k" }),
    );
    expect(text).toContain("The API rejected the request: the rate limit is exceeded (429)");
    expect(text).toContain("The API did not carry out the request.");
    expect(text).toContain(`The API asks for a pause of ${pause}, until 20`);
    expect(text).not.toMatch(/was not sent|attempt/);
    expect([reached, asked.length]).toEqual(["no", 1]);
  });

  it("stops a later command, which names the times and a fix", async () => {
    const { port, asked } = await answering(
      jsonAnswer({ message: "Later." }, "HTTP/1.1 429 Too Many", "retry-after: 86400"),
    );
    const { runHere: run } = workplace({ HOSTING_BASE_URL: `http://127.0.0.1:${port}` });
    await run(["plans"]);
    const text = (await run(["plans"])).text.replace(/\s+/g, " ");
    const times = text.match(new RegExp(MINUTE, "g")) ?? [];
    expect(text).toContain("GET /api/v1/plans was not sent. The API rejected a request at 20");
    expect(text).toContain("Until then, no request with this token is sent");
    expect(text).toContain("set HOSTFORM_STORE=memory for one command");
    expect(new Set(times).size).toBe(3);
    expect(asked.length).toBe(1);
    await run(["plans"], { HOSTFORM_LEDGER: "memory" });
    expect(asked.length).toBe(2);
  });
});
