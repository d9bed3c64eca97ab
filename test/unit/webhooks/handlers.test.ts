/** Requirements for every handler, tested on real servers: node:http, Express 5, Hono, and fetch alone. */
import { inspect } from "node:util";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import {
  expressHandler,
  fetchHandler,
  memoryOf,
  nodeHandler,
  type ReceiverOptions,
  signatureOf,
  WebhookError,
} from "../../../src/webhooks/index.ts";
import { bodyOf, delivery, NEW_SECRET, recorder, SECRET, serve } from "./deliveries.ts";

type Send = (request: RequestInit) => Promise<Response>;
const toServer =
  (url: string): Send =>
  (request) =>
    fetch(url, request);

const SERVERS: readonly (readonly [string, (options: ReceiverOptions) => Promise<Send>])[] = [
  ["node:http", async (options) => toServer(await serve(nodeHandler(options)))],
  [
    "Express 5, unread",
    async (options) => toServer(await serve(express().use("/hooks", expressHandler(options)) as never)),
  ],
  [
    "Express 5, express.raw",
    async (options) => {
      const raw = express.raw({ type: "application/json", limit: "2mb" });
      return toServer(await serve(express().use("/hooks", raw, expressHandler(options)) as never));
    },
  ],
  [
    "Hono",
    async (options) => {
      const handler = fetchHandler(options);
      const app = new Hono().all("/hooks", (context) => handler(context.req.raw));
      return toServer(await serve(getRequestListener(app.fetch)));
    },
  ],
  [
    "fetch alone",
    async (options) => {
      const handler = fetchHandler(options);
      return (request) => handler(new Request("https://worker.example/hooks", request));
    },
  ],
];

describe.each(SERVERS)("%s", (_, start) => {
  it("accepts an event up to `maxAge` from its time, and rejects older events, younger events and events without a time", async () => {
    const { options, events, refused } = recorder();
    const at = Date.parse("2026-11-22T10:00:00Z");
    let now = at;
    const send = await start({ ...options, maxAge: 600, clock: { now: () => now } });
    const statuses: number[] = [];
    for (const seconds of [0, 600, -600, 601, -601]) {
      now = at + seconds * 1000;
      statuses.push((await send(delivery(bodyOf("invoice.paid", { id: seconds })))).status);
    }
    statuses.push((await send(delivery('{"event":"x","data":{},"timestamp":"2026-11-22T10:00:00"}'))).status);
    expect(statuses).toEqual([204, 204, 204, 400, 400, 400]);
    expect(events).toHaveLength(3);
    expect(refused).toEqual(["webhooks.too_old", "webhooks.too_old", "webhooks.too_old"]);
  });

  it("passes on genuine events with their exact bytes", async () => {
    const { options, events, refused, errors } = recorder();
    const send = await start(options);
    const body = bodyOf("service.suspended", { id: 1003, name: "Tbilisi — თბილისი" });
    const answer = await send(delivery(body));
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(events).toMatchObject([{ known: true, event: "service.suspended", data: { id: 1003 } }]);
    const [, received] = options.onEvent.mock.calls[0] as unknown as [
      unknown,
      { rawBody: Uint8Array; identity: string },
    ];
    expect(new TextDecoder().decode(received.rawBody)).toBe(body);
    expect(received.identity).toMatch(/^[0-9a-f]{64}$/);
    expect([refused, errors]).toEqual([[], []]);
  });

  it("rejects other requests, and gives the reason in a sentence", async () => {
    const { options, events, refused, errors } = recorder();
    const send = await start(options);
    const body = bodyOf();
    const unsigned = { method: "POST", body, headers: { "content-type": "application/json" } };
    const altered = { ...delivery(body), body: body.replace("5003", "5004") };
    const attempts: readonly (readonly [RequestInit, number, string])[] = [
      [unsigned, 401, "webhooks.no_signature"],
      [delivery(body, { signature: "sha256=abc" }), 401, "webhooks.no_signature"],
      [delivery(body, { secret: "another" }), 401, "webhooks.bad_signature"],
      [altered, 401, "webhooks.bad_signature"],
      // With a wrong signature, the handler reports no error about the body.
      [delivery("not json", { secret: "another" }), 401, "webhooks.bad_signature"],
      [delivery("not json"), 400, "webhooks.not_json"],
      [delivery('{"event":"invoice.paid"}'), 400, "webhooks.not_an_event"],
      [{ method: "PUT", body, headers: delivery(body).headers }, 405, "webhooks.method"],
      [{ method: "GET" }, 405, "webhooks.method"],
    ];
    for (const [request, status, code] of attempts) {
      const answer = await send(request);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text)]).toEqual([
        status,
        { code, message: expect.stringMatching(/^[A-Z].*\.$/) },
      ]);
      expect(answer.headers.get("allow")).toBe(status === 405 ? "POST" : null);
      expect(text).not.toContain(signatureOf(body, SECRET));
    }
    expect(refused).toEqual(attempts.map(([, , code]) => code));
    expect([events, errors]).toEqual([[], []]);
  });

  it("rejects a body over the limit, and accepts a body just below the limit", async () => {
    const { options, events, refused } = recorder();
    const send = await start({ ...options, maxBytes: 2_000 });
    const padded = (size: number) =>
      bodyOf("invoice.paid", { pad: "x".repeat(size - bodyOf("invoice.paid", { pad: "" }).length) });
    expect((await send(delivery(padded(2_000)))).status).toBe(204);
    expect((await send(delivery(padded(2_001)))).status).toBe(413);
    expect((await send(delivery(padded(300_000)))).status).toBe(413);
    expect([events.length, refused]).toEqual([1, ["webhooks.too_large", "webhooks.too_large"]]);
  });

  it("handles a delivery once, and again only after a failure", async () => {
    const { options, errors } = recorder();
    const send = await start(options);
    const failure = new Error("the database is down");
    options.onEvent.mockRejectedValueOnce(failure);
    const request = delivery();
    const failed = await send(request);
    expect([failed.status, await failed.json()]).toEqual([
      500,
      { code: "webhooks.failed", message: "The event could not be handled." },
    ]);
    expect(errors).toEqual([failure]);
    expect([(await send(request)).status, (await send(request)).status]).toEqual([204, 204]);
    expect(options.onEvent).toHaveBeenCalledTimes(2);
  });

  it("postpones a second attempt while the first is in progress", async () => {
    const { options, refused } = recorder();
    const send = await start(options);
    const { promise: handled, resolve: finish } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    options.onEvent.mockImplementation(() => {
      begin();
      return handled;
    });
    const first = send(delivery());
    await begun;
    const second = await send(delivery());
    expect([second.status, second.headers.get("retry-after"), refused]).toEqual([503, "10", ["webhooks.busy"]]);
    finish();
    expect((await first).status).toBe(204);
    expect((await send(delivery())).status).toBe(204);
    expect(options.onEvent).toHaveBeenCalledTimes(1);
  });

  it("reads the secrets at each delivery, so a rotation needs no restart", async () => {
    const { options, errors } = recorder();
    let secrets: readonly string[] = [SECRET];
    const send = await start({ ...options, secrets: async () => secrets });
    const statuses = async () => {
      const [old, young] = [
        bodyOf("invoice.paid", { id: Math.random() }),
        bodyOf("invoice.paid", { id: Math.random() }),
      ];
      return [(await send(delivery(old))).status, (await send(delivery(young, { secret: NEW_SECRET }))).status];
    };
    expect(await statuses()).toEqual([204, 401]);
    secrets = [SECRET, NEW_SECRET];
    expect(await statuses()).toEqual([204, 204]);
    secrets = [NEW_SECRET];
    expect(await statuses()).toEqual([401, 204]);
    secrets = [];
    expect(await statuses()).toEqual([500, 500]);
    expect(errors).toEqual(
      Array(2).fill(expect.objectContaining({ message: expect.stringMatching(/No signing secret/) })),
    );
  });

  it("responds even if a log or a memory fails", async () => {
    const { options, errors, events } = recorder();
    const down = new Error("no memory");
    const failing = {
      claim: () => "new" as const,
      settle: () => {
        throw down;
      },
    };
    const throwing = () => {
      throw new Error("no log");
    };
    const send = await start({ ...options, onRefused: throwing, duplicates: failing });
    expect((await send(delivery())).status).toBe(204);
    expect([events.length, errors]).toEqual([1, [down]]);
    expect((await send(delivery(undefined, { secret: "x" }))).status).toBe(401);

    const unclaimed = await start({ ...options, onError: throwing, duplicates: { ...failing, claim: throwing } });
    expect((await unclaimed(delivery())).status).toBe(500);
    expect(events.length).toBe(1);
  });

  it("never returns a response from the program's or the memory's own errors", async () => {
    const { options, errors, events } = recorder();
    const send = await start(options);
    const thrown = new WebhookError("webhooks.bad_signature", "of another delivery");
    options.onEvent.mockRejectedValueOnce(thrown);
    const answer = await send(delivery());
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining("another")]);
    expect(errors).toEqual([thrown]);

    const vague = { claim: () => "OK" as never, settle: () => {} };
    expect((await (await start({ ...options, duplicates: vague }))(delivery())).status).toBe(500);
    expect([errors[1], events]).toEqual([expect.objectContaining({ message: expect.stringMatching(/"busy"/) }), []]);
  });

  it("works without a memory, and shares a given memory", async () => {
    const { options, events } = recorder();
    const send = await start({ ...options, duplicates: false });
    await send(delivery());
    await send(delivery());
    expect(events.length).toBe(2);

    const duplicates = memoryOf();
    const both = [await start({ ...options, duplicates }), await start({ ...options, duplicates })];
    for (const each of both) expect((await each(delivery())).status).toBe(204);
    expect(events.length).toBe(3);
  });
});

describe.each([
  ["nodeHandler", nodeHandler],
  ["expressHandler", expressHandler],
  ["fetchHandler", fetchHandler],
] as const)("%s", (_, make) => {
  it("shows no secret when it is printed", () => {
    const handler = make({ secrets: [SECRET, NEW_SECRET], onEvent: () => {} });
    const shown = inspect(handler, { depth: 10, showHidden: true }) + String(handler) + JSON.stringify({ handler });
    expect(shown).not.toMatch(/whsec|hunter2/);
  });

  it.each<readonly [string, object, RegExp]>([
    ["no secrets", { secrets: [] }, /No signing secret/],
    ["an empty secret", { secrets: "" }, /is empty/],
    ["a secret that is not set", { secrets: undefined }, /undefined is given/],
    ["nothing to hand events to", { onEvent: undefined }, /onEvent is not a function/],
    ["nothing that may be read", { maxBytes: 0 }, /maxBytes/],
  ])("does not begin with %s", (__, wrong, words) => {
    const options = { secrets: SECRET, onEvent: () => {}, ...wrong };
    expect(() => make(options)).toThrow(TypeError);
    expect(() => make(options)).toThrow(words);
  });
});
