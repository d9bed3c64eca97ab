/**
 * Error responses to create requests, for each status, form and create. Only a rejection in the API's own error
 * format (§7) proves that nothing was created.
 * The last tests check the host's clock, which the client reads from responses.
 */
import { describe, expect, it } from "vitest";
import { refusal } from "../../../../src/core/api/classify.ts";
import { type EndpointName, endpoints } from "../../../../src/core/api/endpoints.ts";
import type { ApiReply, ApiRequest } from "../../../../src/core/api/exchange.ts";
import { START, testClock } from "../../../support/clock.ts";
import { hostOf, TwoClocks, WATCHDOG_MS } from "../../../support/two-clocks.ts";
import { api, setUp, useNock } from "./support.ts";

useNock();

const CREATES: readonly EndpointName[] = [
  ...(["createService", "registerDomain", "createWebhook"] as const),
  ...(["createGrant", "createAccount", "createMigrationRequest"] as const),
];

/** Returns the failure that the client derives from this response. */
function refused(endpoint: EndpointName, status: number, text: string, headers: ApiReply["headers"] = {}) {
  const { method, path } = endpoints[endpoint];
  const request = { endpoint, method, path, headers: {}, secrets: [], attempt: 1, waitedMs: 0, left: 0 } as ApiRequest;
  return refusal(request, { status, headers, text }, { redact: (words) => words, clock: testClock(START) });
}

const HTML = "<!DOCTYPE html><html><head><title>Oh no</title></head></html>";
const shapes = {
  own: '{"message":"No."}',
  "own, with fields": '{"message":"Invalid.","errors":{"domain":["is taken"]}}',
  "fields alone": '{"errors":{"domain":["is taken"]}}',
  "a message without words": '{"message":" "}',
  "a message that is no text": '{"message":{"en":"No."}}',
  "another JSON": '{"error":"no"}',
  "a list": '["no"]',
  "half of one": '{"message":"No.',
  text: "no",
  HTML,
  empty: "",
} as const;
type Shape = keyof typeof shapes;

const PRECLUDING = [400, 401, 403, 404, 422];
const STATUSES = [
  ...[300, 301, 302, 303, 304, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418],
  ...[421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499, 500, 502, 503, 504, 520, 599],
];

/** Returns true if the response proves that nothing was created. */
function isKnown(status: number, shape: Shape): boolean {
  if (shape.startsWith("own")) return PRECLUDING.includes(status) || status === 429;
  return shape === "fields alone" && status === 422;
}

describe.each(CREATES)("a rejected %s", (endpoint) => {
  it.each(Object.keys(shapes) as Shape[])(
    "with %s: the status decides whether the create is proved absent",
    (shape) => {
      for (const status of STATUSES) {
        const isOpen = refused(endpoint, status, shapes[shape]).reached === "maybe";
        expect(isOpen, `${status}`).toBe(!isKnown(status, shape));
      }
    },
  );

  it.each([
    ["", { "retry-after": "3" }, true],
    ["slow down", { "retry-after": "3" }, true],
    ["", { "x-ratelimit-remaining": "0" }, true],
    ["", { "x-ratelimit-remaining": "12" }, false],
    [HTML, { "retry-after": "3" }, false],
    [HTML, { "x-ratelimit-remaining": "0" }, false],
    ["<i>no</i>", { "retry-after": "3", "content-type": "text/html" }, false],
    ["", {}, false],
  ])(
    "by the rate limit (429, %j, %j): nothing was created if the headers contain the budget",
    (body, headers, known) => {
      const { reached, transient } = refused(endpoint, 429, body, headers);
      expect(reached).toBe(known ? "no" : "maybe");
      // The client may repeat an order with the same key.
      expect(transient).toBe(known || endpoint === "createService");
    },
  );

  it("by a proxy: nothing was created (407)", () => {
    expect(refused(endpoint, 407, HTML).reached).toBe("no");
  });
});

it.each(["suspendService", "deleteWebhook"] as const)(
  "%s creates nothing, so any error response counts as a rejection",
  (endpoint) => {
    expect(refused(endpoint, 403, "")).toMatchObject({ status: 403, reached: "answered" });
    expect(refused(endpoint, 429, "")).toMatchObject({ reached: "no", transient: true });
  },
);

describe("the host's clock", () => {
  const HOUR = 3_600_000;
  /**
   * Returns the clock offset in ms after a response that took `took` ms. The host's clock is `ahead` ms ahead when
   * the request is sent.
   */
  async function offsetAfter(ahead: number | string, { took = 0, status = 200, more = {} } = {}): Promise<number> {
    const { client, clock } = setUp({ maxAttempts: 1 });
    const date = typeof ahead === "string" ? ahead : new Date(clock.now() + ahead).toUTCString();
    api()
      .get("/services/7")
      .reply(() => {
        clock.advance(took);
        return [status, { data: { id: 7 } }, { date, ...more }];
      });
    await client.services.get("7").catch(() => undefined);
    return client.hostNow() - clock.now();
  }

  it.each([
    ["an hour ahead", HOUR, HOUR],
    ["three hours behind", -3 * HOUR, -3 * HOUR + 1_000],
    ["the same", 0, 0],
  ])("is read from the response: %s", async (_, ahead, expected) => {
    expect(await offsetAfter(ahead)).toBe(expected);
  });

  it("equals the local clock within the header's precision of a second and the response time", async () => {
    expect(await offsetAfter(-900)).toBe(0);
    expect(await offsetAfter(4_000, { took: 5_000 })).toBe(0);
    expect(await offsetAfter(6_000, { took: 5_000 })).toBe(1_000);
  });

  it.each([
    ["is no date", "soon", {}],
    ["is a number", "1700000000", {}],
    ["lies more than a year away", "Thu, 01 Jan 1970 00:00:00 GMT", {}],
    ["is that of a cache", HOUR, { more: { age: "30" } }],
    ["is that of a failure, which a proxy may have made", HOUR, { status: 502 }],
  ])("equals the local clock if the header %s", async (_, date, more) => {
    expect(await offsetAfter(date, more)).toBe(0);
  });

  it.each<[string, (clock: TwoClocks) => void]>([
    ["the wall clock is set back", (clock) => clock.step(-HOUR)],
    ["the machine sleeps", (clock) => clock.suspend(HOUR)],
  ])("is kept if %s, during a request or after it", async (_, happens) => {
    for (const isDuring of [true, false]) {
      const clock = new TwoClocks();
      const answeredAt = clock.now() - 3 * HOUR;
      const headers = { date: new Date(answeredAt).toUTCString() };
      const dispatcher = hostOf(
        () => {},
        () => {
          if (isDuring) happens(clock);
          return { status: 200, json: { data: { id: 7 } }, headers };
        },
      );
      const { client } = setUp({ clock, dispatcher, timeoutMs: WATCHDOG_MS });
      await client.services.get("7");
      if (!isDuring) happens(clock);
      expect(client.hostNow(), `${isDuring}`).toBe(answeredAt + 1_000 + clock.passed);
      expect(client.answeredAt()).toBe(answeredAt);
    }
  });

  it("is read from the latest response", async () => {
    const { client, clock } = setUp();
    for (const ahead of [HOUR, 2 * HOUR, 0]) {
      api()
        .get("/services/7")
        .reply(200, { data: { id: 7 } }, { date: new Date(clock.now() + ahead).toUTCString() });
      await client.services.get("7");
      expect(client.hostNow() - clock.now()).toBe(ahead);
    }
  });
});
