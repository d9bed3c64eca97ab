/**
 * What an answer other than 2xx says of a create: only a refusal in the API's own shape (§7) says that nothing was made. All
 * statuses, all shapes, all classes of create; and the clock of the host, which is read from answers.
 */
import nock from "nock";
import { MockAgent } from "undici";
import { describe, expect, it } from "vitest";
import type { HostingClient } from "../../../../src/core/api/index.ts";
import { api, failureOf, setUp, useNock } from "./support.ts";

useNock();

const creates = {
  keyed: { path: "/services", send: (c: HostingClient) => c.services.create({ plan_id: 1 }, { idempotencyKey: "k" }) },
  blind: { path: "/domains", send: (c: HostingClient) => c.domains.register({ domain: "acme.example" }) },
  webhook: { path: "/webhooks", send: (c: HostingClient) => c.webhooks.create({ url: "https://a.example" }) },
  grant: { path: "/services/7/grants", send: (c: HostingClient) => c.grants.create("7", { email: "a@b.example" }) },
  account: { path: "/accounts", send: (c: HostingClient) => c.accounts.create({ name: "Acme" }) },
  migration: {
    path: "/migration-requests",
    send: (c: HostingClient) => c.migrationRequests.create({ domain: "a.ge" }),
  },
} as const;

/** Three thousand answers: by undici itself, since sockets and TLS that nock imitates would cost more than all the rest. */
const PLAIN = "http://127.0.0.1:9";

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

/** Whether the answer says that nothing was made. */
function isKnown(status: number, shape: Shape): boolean {
  if (shape.startsWith("own")) return PRECLUDING.includes(status) || status === 429;
  return shape === "fields alone" && status === 422;
}

describe.each(Object.entries(creates))("a refused create (%s)", (name, { path, send }) => {
  for (const shape of Object.keys(shapes) as Shape[]) {
    it(`with ${shape}: says by the status whether nothing was made`, async () => {
      for (const status of STATUSES) {
        const dispatcher = new MockAgent();
        const answer = dispatcher.get(PLAIN).intercept({ method: "POST", path: `/api/v1${path}` });
        answer.reply(status, shapes[shape]).persist();
        const { client } = setUp({ maxAttempts: 1, baseUrl: PLAIN, dispatcher });
        const error = await failureOf(send(client));
        expect(error.reached === "maybe", `${status} ${shape}`).toBe(!isKnown(status, shape));
        if (name !== "keyed" && error.reached === "maybe") expect(client.requests, `${status} ${shape}`).toBe(1);
      }
    });
  }

  it.each([
    ["Retry-After", "", { "retry-after": "3" }, true],
    ["Retry-After", "slow down", { "retry-after": "3" }, true],
    ["nothing left", "", { "x-ratelimit-remaining": "0" }, true],
    ["something left", "", { "x-ratelimit-remaining": "12" }, false],
    ["Retry-After", HTML, { "retry-after": "3" }, false],
    ["nothing left", HTML, { "x-ratelimit-remaining": "0" }, false],
    ["a page by its type", "<i>no</i>", { "retry-after": "3", "content-type": "text/html" }, false],
    ["no header", "", {}, false],
  ])(
    "by the rate limit (429, %s, %j) was not carried out where the answer speaks of the budget",
    async (_, body, headers, known) => {
      api().post(path).reply(429, body, headers).persist(!known);
      if (known) api().post(path).reply(422, shapes.own);
      const { client } = setUp();
      // What is known not to be carried out is sent again when its time has come.
      expect(await failureOf(send(client))).toMatchObject(
        known ? { status: 422, reached: "answered" } : { reached: "maybe" },
      );
      // An order may be repeated under its key, for some seconds.
      if (known || name !== "keyed") expect(client.requests).toBe(known ? 2 : 1);
      nock.cleanAll();
    },
  );

  it("by a proxy on the way was not carried out (407)", async () => {
    api().post(path).reply(407, HTML);
    expect(await failureOf(send(setUp().client))).toMatchObject({ reached: "no" });
  });
});

describe("what makes nothing new", () => {
  it.each([
    ["a suspension", "POST", "/services/7/suspend", (c: HostingClient) => c.services.suspend("7")],
    ["a DELETE", "DELETE", "/webhooks/3", (c: HostingClient) => c.webhooks.delete("3")],
  ] as const)("takes any refusal at its word: %s", async (_, method, path, send) => {
    api().intercept(path, method).reply(403, "");
    expect(await failureOf(send(setUp().client))).toMatchObject({ status: 403, reached: "answered" });
    api().intercept(path, method).reply(429, "");
    api().intercept(path, method).reply(204);
    expect(await send(setUp().client)).toBeNull();
  });
});

describe("the time at the host", () => {
  const HOUR = 3_600_000;
  /** The difference, in ms, after an answer that took `took` ms and said that it is `ahead` ms later than when it was sent. */
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
  ])("is what its answer says: %s", async (_, ahead, expected) => {
    expect(await offsetAfter(ahead)).toBe(expected);
  });

  it("is the local time as far as that can be: the header has seconds, and answers take time", async () => {
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
  ])("is the local time where the header %s", async (_, date, more) => {
    expect(await offsetAfter(date, more)).toBe(0);
  });

  it("is what the latest answer says", async () => {
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
