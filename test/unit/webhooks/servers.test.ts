/** Differences between servers: the place for their errors, and their ways to lose the exact bytes. */
import { inspect } from "node:util";
import express, { type ErrorRequestHandler } from "express";
import { Hono } from "hono";
import { afterEach, describe, expect, it, vi } from "vitest";
import { expressHandler, fetchHandler, nodeHandler, signatureOf } from "../../../src/webhooks/index.ts";
import { bodyOf, delivery, recorder, SECRET, sendRaw, serve } from "./deliveries.ts";

const head = (length: number, ...lines: readonly string[]) =>
  ["POST /hooks HTTP/1.1", "Host: localhost", `Content-Length: ${length}`, ...lines, "", ""].join("\r\n");

describe("nodeHandler", () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  afterEach(() => {
    process.off("warning", note);
    warnings.length = 0;
  });

  it("emits a process warning for a failure without an onError handler", async () => {
    process.on("warning", note);
    const url = await serve(nodeHandler({ secrets: SECRET, onEvent: () => Promise.reject(new Error("disk full")) }));
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect((await fetch(url, delivery())).status).toBe(500);
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    printed.mockRestore();
    expect(warnings).toMatchObject([{ name: "HostformWebhookWarning", message: expect.stringMatching(/disk full/) }]);
    expect(inspect(warnings)).not.toContain(SECRET);
  });

  it("rejects two signatures, even if one is valid", async () => {
    const { options, refused, events } = recorder();
    const url = await serve(nodeHandler(options));
    const body = bodyOf();
    const good = `X-Service-Signature: ${signatureOf(body, SECRET)}`;
    for (const second of [good, `X-Service-Signature: ${"0".repeat(64)}`]) {
      expect(await sendRaw(url, head(body.length, good, second) + body, { until: /\}$/ })).toMatch(/^HTTP\/1.1 401 /);
    }
    expect([refused, events]).toEqual([["webhooks.no_signature", "webhooks.no_signature"], []]);
  });

  it("accepts a body in many pieces, and ignores an incomplete body", async () => {
    const { options, refused, events } = recorder();
    const listener = nodeHandler(options);
    const done = Promise.withResolvers<void>();
    const url = await serve((request, response) => void listener(request, response).then(done.resolve));
    const body = bodyOf();
    const signed = `X-Service-Signature: ${signatureOf(body, SECRET)}`;
    await sendRaw(url, head(body.length + 1, signed) + body, { end: true });
    await done.promise;
    expect([refused, events]).toEqual([["webhooks.cut_off"], []]);

    const chunked = [...body].map((character) => `1\r\n${character}\r\n`).join("");
    const chunkedHead = head(0, signed).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    expect(await sendRaw(url, `${chunkedHead}${chunked}0\r\n\r\n`, { until: /\r\n\r\n/ })).toMatch(/^HTTP\/1.1 204 /);
    expect(events).toHaveLength(1);
  });

  it("stops reading a body without an end", async () => {
    const { options, refused } = recorder();
    const url = await serve(nodeHandler({ ...options, maxBytes: 1_000 }));
    // The handler reads exactly this many bytes. The test sends no more, because unread bytes would reset the connection.
    const most = "x".repeat(1_000 + 1024 * 1024 + 1);
    expect(await sendRaw(url, head(10 ** 12) + most)).toMatch(/^HTTP\/1.1 413 [\s\S]*connection: close/i);
    expect(refused).toEqual(["webhooks.too_large"]);
  });

  it("reports that other code read the body first", async () => {
    const { options, errors, events } = recorder();
    const handler = nodeHandler(options);
    const url = await serve(async (request, response) => {
      request.resume();
      await new Promise((resolve) => request.once("end", resolve));
      await handler(request, response);
    });
    expect((await fetch(url, delivery())).status).toBe(500);
    expect(errors).toMatchObject([
      { code: "webhooks.body_read", message: expect.stringMatching(/before what reads it/) },
    ]);
    expect(events).toEqual([]);
  });
});

describe("expressHandler", () => {
  const parsers = [
    ["express.json()", express.json()],
    ["express.text()", express.text({ type: "application/json" })],
  ] as const;

  it.each(parsers)("does not verify a body that %s parsed", async (_, parser) => {
    const { options, errors, events } = recorder();
    const url = await serve(express().use(parser).post("/hooks", expressHandler(options)) as never);
    const answer = await fetch(url, delivery());
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { message: expect.stringMatching(/express\.raw/) },
    ]);
    expect(errors).toMatchObject([
      { code: "webhooks.body_read", message: expect.stringMatching(/before express\.json\(\)/) },
    ]);
    expect(events).toEqual([]);
  });

  it("calls the application's own error handler if there is no onError", async () => {
    const { options, events } = recorder();
    const seen: unknown[] = [];
    const onError: ErrorRequestHandler = (error, _request, response, _next) => {
      seen.push(error);
      response.status(500).end();
    };
    const app = express().use(express.json());
    app.post("/hooks", expressHandler({ ...options, onError: undefined })).use(onError);
    expect((await fetch(await serve(app as never), delivery())).status).toBe(500);
    expect(seen).toMatchObject([{ code: "webhooks.body_read" }]);
    expect([inspect(seen[0], { showHidden: true }), events]).toEqual([expect.not.stringContaining(SECRET), []]);
  });

  it("accepts the exact bytes in rawBody, and a request that the parser skipped", async () => {
    const { options, events } = recorder();
    const keep = express.json({
      verify: (request, _response, bytes) => {
        (request as unknown as { rawBody: Uint8Array }).rawBody = bytes;
      },
    });
    const url = await serve(express().use(keep).post("/hooks", expressHandler(options)) as never);
    expect((await fetch(url, delivery())).status).toBe(204);
    const plain = delivery(bodyOf("invoice.created"));
    const untyped = { ...plain, headers: { ...plain.headers, "content-type": "application/octet-stream" } };
    expect((await fetch(url, untyped)).status).toBe(204);
    // Express 4 leaves an empty body like this.
    const empty: express.RequestHandler = (request, _response, next) => {
      request.body = {};
      next();
    };
    const older = await serve(express().use(empty).post("/hooks", expressHandler(options)) as never);
    expect((await fetch(older, delivery(bodyOf("service.expiring")))).status).toBe(204);
    expect(events.map(({ event }) => event)).toEqual(["invoice.paid", "invoice.created", "service.expiring"]);
  });
});

describe("fetchHandler", () => {
  it("throws a failure without an onError handler to the framework", async () => {
    const failure = new Error("disk full");
    const handler = fetchHandler({ secrets: SECRET, onEvent: () => Promise.reject(failure) });
    const seen: unknown[] = [];
    const app = new Hono()
      .post("/hooks", (context) => handler(context.req.raw))
      .onError((error, context) => {
        seen.push(error);
        return context.text("", 500);
      });
    expect((await app.request("/hooks", delivery())).status).toBe(500);
    expect(seen).toEqual([failure]);
  });

  it("reports that other code read the body first", async () => {
    const { options, errors, events } = recorder();
    const handler = fetchHandler(options);
    const app = new Hono().post("/hooks", async (context) => {
      await context.req.raw.json();
      return handler(context.req.raw);
    });
    expect((await app.request("/hooks", delivery())).status).toBe(500);
    expect(errors).toMatchObject([{ code: "webhooks.body_read" }]);
    expect(events).toEqual([]);
  });

  it("rejects two signatures, and an incomplete body", async () => {
    const { options, refused, events } = recorder();
    const handler = fetchHandler(options);
    const { headers, body } = delivery();
    const twice = new Headers(headers);
    twice.append("X-Service-Signature", headers["X-Service-Signature"]);
    expect((await handler(new Request("https://a.example/", { method: "POST", headers: twice, body }))).status).toBe(
      401,
    );
    const broken = new ReadableStream({
      pull: (controller) => {
        controller.enqueue(new TextEncoder().encode("{"));
        controller.error(new Error("gone"));
      },
    });
    const init = { method: "POST", headers, body: broken, duplex: "half" } as RequestInit;
    expect((await handler(new Request("https://a.example/", init))).status).toBe(400);
    expect((await handler(new Request("https://a.example/", { method: "POST", headers }))).status).toBe(401);
    expect(refused).toEqual(["webhooks.no_signature", "webhooks.cut_off", "webhooks.bad_signature"]);
    expect(events).toEqual([]);
  });
});
