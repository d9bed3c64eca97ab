import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Agent } from "undici";
import { describe, expect, it } from "vitest";
import type { HostingClient } from "../../../../src/core/api/index.ts";
import { listening } from "../../../support/listening.ts";
import { failureOf, service, setUp, TIME_LIMIT, TOKEN, textOf } from "./support.ts";

/** Transport errors that need a real connection: cut bodies, resets, sizes, time limits, proxies. Uses loopback only. */

type Script = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that runs one script for each request, in order. The last script repeats. */
async function serve(...scripts: Script[]): Promise<{ url: string; server: Server; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const script = scripts[Math.min(seen.length, scripts.length - 1)];
    seen.push(request);
    request.resume().on("end", () => script?.(request, response));
  });
  return { url: await listening(server), server, seen };
}

const body = JSON.stringify({ data: service() });
const whole: Script = (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(body);
const cutByLength: Script = (_, response) => {
  response.writeHead(200, { "content-length": body.length });
  response.write(body.slice(0, 20), () => response.destroy());
};
const cutInChunks: Script = (_, response) => {
  response.writeHead(200);
  response.write(body.slice(0, 20), () => response.destroy());
};
const closedProperly: Script = (_, response) => response.writeHead(200).end(body.slice(0, 20));
const reset: Script = (request) => request.socket.resetAndDestroy();
const silent: Script = () => {};
const halfway: Script = (_, response) => {
  response.writeHead(200);
  response.write(body.slice(0, 20));
};

const order = { plan_id: 1, currency: "USD" };

describe("incomplete responses", () => {
  const table: [why: string, script: Script][] = [
    ["shorter than its Content-Length", cutByLength],
    ["cut between chunks", cutInChunks],
    ["ended properly, but only a part", closedProperly],
    ["a reset instead of an answer", reset],
  ];
  for (const [why, script] of table) {
    it(`${why}: a GET is repeated`, async () => {
      const { url } = await serve(script, whole);
      const { client } = setUp({ baseUrl: url });
      expect((await client.services.get("7")).id).toBe("7");
      expect(client.requests).toBe(2);
    });

    it(`${why}: an order is repeated with the same key and bytes`, async () => {
      const { url, seen } = await serve(script, whole);
      await setUp({ baseUrl: url }).client.services.create(order, { idempotencyKey: "k-1" });
      expect(seen.map(({ headers }) => [headers["idempotency-key"], headers["content-length"]])).toEqual([
        ["k-1", String(JSON.stringify(order).length)],
        ["k-1", String(JSON.stringify(order).length)],
      ]);
    });

    it(`${why}: a grant is not created again, because it may exist`, async () => {
      const { url, seen } = await serve(script);
      const error = await failureOf(setUp({ baseUrl: url }).client.grants.create("7", { email: "a@b.example" }));
      expect(error).toMatchObject({ reached: "maybe" });
      expect(textOf(error)).toContain("API may have carried out the request");
      expect(seen.length).toBe(1);
    });
  }

  it("a rejection with a cut body may be a proxy's, so it does not prove that nothing was created", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(403);
      response.write('{"mess', () => response.destroy());
    });
    const error = await failureOf(setUp({ baseUrl: url }).client.grants.create("7", {}));
    expect(error).toMatchObject({ status: 403, reached: "maybe" });
  });

  it("a suspension whose status arrived is queued, even if its body was cut", async () => {
    const { url } = await serve(cutInChunks);
    await expect(setUp({ baseUrl: url }).client.services.suspend("7")).resolves.toBeNull();
  });
});

describe("a time limit on the injected clock", () => {
  for (const [why, script] of [
    ["no answer", silent],
    ["half an answer", halfway],
  ] as const) {
    it(`${why}: repeated for a GET`, async () => {
      let advance = () => {};
      const { url } = await serve((request, response) => {
        script(request, response);
        setImmediate(() => advance());
      }, whole);
      const { client, clock } = setUp({ baseUrl: url });
      advance = () => clock.advance(TIME_LIMIT);
      expect((await client.services.get("7")).id).toBe("7");
      expect(client.requests).toBe(2);
    });
  }

  it("an order without a response is api.timeout and may have been executed", async () => {
    let advance = () => {};
    const { url } = await serve((_request, _response) => setImmediate(() => advance()));
    const { client, clock } = setUp({ baseUrl: url, maxAttempts: 1 });
    advance = () => clock.advance(TIME_LIMIT);
    const error = await failureOf(client.services.create(order, { idempotencyKey: "k" }));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.timeout" }] });
  });

  it.each([
    ["no answer", false, "api.timeout", /^The API did not respond within [\d.]+ seconds/],
    ["no answer, and a pause", true, "api.timeout", /^This process was paused while it waited/],
    ["a closed connection", false, "api.unreachable", /connection was lost before the response arrived(?!.*paused)/],
    [
      "a closed connection, and a pause",
      true,
      "api.unreachable",
      /lost before the response arrived.*process was paused/,
    ],
  ] as const)("a pending request with %s has this explanation", async (_, isPaused, code, words) => {
    let wake = (_: IncomingMessage) => {};
    const { url } = await serve((request) => setImmediate(() => wake(request)));
    const { client, clock } = setUp({ baseUrl: url, maxAttempts: 1 });
    wake = ({ socket }) => {
      if (isPaused) Object.assign(clock, { wokeAt: () => clock.monotonic() });
      if (code === "api.unreachable") socket.destroy();
      clock.advance(code === "api.timeout" ? TIME_LIMIT : 1);
    };
    const error = await failureOf(client.services.create(order, { idempotencyKey: "k" }));
    const [{ summary = "", detail = "" } = {}] = error.diagnostics;
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code }] });
    expect(`${summary} ${detail}`).toMatch(words);
  });

  it("a pending request can be cancelled", async () => {
    const gate = new AbortController();
    const { url } = await serve(() => gate.abort());
    const error = await failureOf(setUp({ baseUrl: url }).client.services.suspend("7", { signal: gate.signal }));
    expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.cancelled" }] });
  });
});

describe("the size of a response", () => {
  const declared: Script = (_, response) =>
    response.writeHead(200, { "content-length": 5_000_000 }).end("x".repeat(5_000_000));
  const undeclared: Script = (_, response) => {
    response.writeHead(200);
    response.end("x".repeat(5_000_000));
  };
  for (const [why, script] of [
    ["declared by Content-Length", declared],
    ["found while reading", undeclared],
  ] as const) {
    it(`of too many bytes, ${why}, is rejected, and the request is not repeated`, async () => {
      const { url, seen } = await serve(script);
      const error = await failureOf(setUp({ baseUrl: url, maxResponseBytes: 1_000 }).client.services.get("7"));
      expect(error).toMatchObject({ status: 200, diagnostics: [{ code: "api.too_large" }] });
      expect(seen.length).toBe(1);
    });
  }

  it("of exactly the limit is accepted", async () => {
    const { url } = await serve(whole);
    expect((await setUp({ baseUrl: url, maxResponseBytes: body.length }).client.services.get("7")).id).toBe("7");
  });
});

describe("headers (§4, §5.1)", () => {
  it("are on every request; Content-Type only with a body", async () => {
    const { url, seen } = await serve(whole);
    const { client } = setUp({ baseUrl: url });
    await client.services.get("7");
    await client.services.suspend("7");
    await client.services.create(order, { idempotencyKey: "k" });
    for (const { headers } of seen) {
      expect(headers).toMatchObject({ accept: "application/json", authorization: `Bearer ${TOKEN}` });
      expect(headers["user-agent"]).toMatch(/^hostform\/\d/);
    }
    expect(seen.map(({ headers }) => headers["content-type"])).toEqual([undefined, undefined, "application/json"]);
  });
});

describe("connections", () => {
  it("a refused connection proves that the request was not sent", async () => {
    const { url, server } = await serve(whole);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    const error = await failureOf(setUp({ baseUrl: url }).client.services.suspend("7"));
    expect(error).toMatchObject({ reached: "no", diagnostics: [{ code: "api.unreachable" }] });
    expect(textOf(error)).toContain("connection refused (ECONNREFUSED)");
    expect(textOf(error)).toContain("attempt 4");
  });

  it("a given dispatcher is used, and stays open", async () => {
    const { url } = await serve(whole);
    const dispatcher = new Agent();
    const { client } = setUp({ baseUrl: url, dispatcher });
    await client.services.get("7");
    await client.close();
    expect(dispatcher.closed).toBe(false);
    await dispatcher.close();
  });
});

describe("a response with complete JSON and a cut body", () => {
  /** Ways to cut a body: without the final chunk, or with a Content-Length that exceeds the body. */
  const cuts: [why: string, cut: (text: string, status?: number) => Script][] = [
    [
      "without a last chunk",
      (text, status = 201) =>
        (_, response) => {
          response.writeHead(status, { "content-type": "application/json" });
          response.write(text, () => response.destroy());
        },
    ],
    [
      "below its Content-Length",
      (text, status = 201) =>
        (_, response) => {
          response.writeHead(status, { "content-type": "application/json", "content-length": text.length + 7 });
          response.write(text, () => response.destroy());
        },
    ],
  ];
  const changes: [what: string, call: (client: HostingClient) => Promise<unknown>, answer: unknown, read: unknown][] = [
    [
      "an order",
      (client) => client.services.create(order, { idempotencyKey: "k" }),
      { data: service(), invoice: { id: 3, total: 900, order_id: 7 } },
      { service: { id: "7" }, invoice: { total: 900 } },
    ],
    [
      "a webhook and its secret",
      (client) => client.webhooks.create({ url: "https://hooks.acme.example/", events: ["invoice.paid"] }),
      { data: { id: 4, url: "https://hooks.acme.example/", events: ["invoice.paid"], secret: "whsec_8" } },
      { id: "4", secret: "whsec_8" },
    ],
    [
      "a generated password",
      (client) => client.services.resetPassword("7"),
      { data: { password: "pw-9-Xq" } },
      { password: "pw-9-Xq" },
    ],
    ["a grant", (client) => client.grants.create("7", {}), { data: { id: "g1", email: "a@b.example" } }, { id: "g1" }],
    ["a client account", (client) => client.accounts.create({}), { data: { id: 5, name: "A" } }, { id: "5" }],
    [
      "a migration request",
      (client) => client.migrationRequests.create({}),
      { data: { id: 6, domain: "acme.example" } },
      { id: "6" },
    ],
    [
      "a registration",
      (client) => client.domains.register({ domain: "acme.example" }),
      { data: { id: 8, domain: "acme.example", status: "pending" } },
      { id: "8", status: "pending" },
    ],
  ];
  for (const [why, cut] of cuts) {
    it.each(changes)(`${why}: %s is read, and no request is repeated`, async (_, call, answer, read) => {
      const { url, seen } = await serve(cut(JSON.stringify(answer)));
      expect(await call(setUp({ baseUrl: url }).client)).toMatchObject(read as object);
      expect(seen.length).toBe(1);
    });

    it(`${why}: an empty object is not used, because it may be the beginning of another response`, async () => {
      for (const text of ["{}", "[]", "null", '""', "7"]) {
        const { url } = await serve(cut(text));
        const error = await failureOf(setUp({ baseUrl: url }).client.webhooks.create({}));
        expect(error, text).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.malformed" }] });
      }
    });

    it(`${why}: a list is read again`, async () => {
      const { url, seen } = await serve(cut('{"data":[]}', 200), (_, response) =>
        response.writeHead(200).end(JSON.stringify({ data: [service()], total: 1 })),
      );
      expect(await setUp({ baseUrl: url }).client.services.list({ whole: true }).all()).toMatchObject([{ id: "7" }]);
      expect(seen.length).toBe(2);
    });

    it.each([400, 404, 410, 416, 422])(
      `${why}: a rejection with status %i proves neither the end of a list nor the end of an object`,
      async (status) => {
        const refused = cut('{"message":"Not found."}', status);
        const first = JSON.stringify({ data: Array.from({ length: 25 }, (_, id) => service({ id: id + 1 })) });
        const { url } = await serve((_, response) => response.writeHead(200).end(first), refused);
        expect(await failureOf(setUp({ baseUrl: url }).client.services.list().all())).toMatchObject({ status });
        const object = await serve(refused);
        const error = await failureOf(setUp({ baseUrl: object.url }).client.services.get("7"));
        expect(error.diagnostics[0]?.code).toBe("api.malformed");
        expect(object.seen.length).toBeGreaterThan(1);
      },
    );

    it(`${why}: a 404 to a deletion does not prove that the object was deleted`, async () => {
      const { url, seen } = await serve(cut('{"message":"Not found."}', 404), whole);
      await setUp({ baseUrl: url }).client.webhooks.delete("3");
      expect(seen.length).toBe(2);
    });
  }
});
