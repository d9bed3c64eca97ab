/**
 * Responses of the API that gateways modify: 1xx responses before the final response, HTTP/1.0, and compression that
 * the client did not request.
 */
import { createServer } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { answering, builtClient, failureOf, jsonAnswer, listen, PLANS, workplace } from "./support.ts";

const SERVICE = {
  data: { id: 1001, plan: "Shared S", status: "pending", domain: "www.acme.example", currency: "USD", price: 500 },
};
const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const client = (port: number, more = {}) => builtClient({ baseUrl: `http://127.0.0.1:${port}`, ...more });

describe("the client drops 1xx responses before the response to a POST", () => {
  const final = jsonAnswer(SERVICE, "HTTP/1.1 201 Created");
  const early: [why: string, before: string][] = [
    ["100 Continue", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["102 Processing", "HTTP/1.1 102 Processing\r\n\r\n"],
    ["103 with links", "HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n"],
    [
      "100, 102, 103 and 100 again",
      "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nx: y\r\n\r\nHTTP/1.1 100 C\r\n\r\n",
    ],
    ["100 in HTTP/1.0", "HTTP/1.0 100 Continue\r\n\r\n"],
  ];
  it.each(early)("%s", async (_, before) => {
    const { port, asked } = await answering(before + final);
    const ordered = await (await client(port)).services.create(ORDER, { idempotencyKey: "k" });
    expect(ordered.service.id).toBe("1001");
    expect(asked.length).toBe(1);
  });

  it("if they arrive in pieces of any size, and on a reused connection", async () => {
    const bytes = Buffer.from(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\na: b\r\n\r\n${final}`);
    let asked = 0;
    const server = createServer({ noDelay: true }, (socket) => {
      let request = "";
      socket.on("data", async (chunk) => {
        request += chunk.toString();
        if (!request.endsWith("}")) return;
        [request, asked] = ["", asked + 1];
        // Each request uses another size of the pieces, starting with one byte.
        for (let at = 0; at < bytes.length; at += asked) {
          socket.write(bytes.subarray(at, at + asked));
          await new Promise(setImmediate);
        }
      });
    });
    const one = await client(await listen(server));
    for (const key of ["a", "b", "c", "d"])
      expect((await one.services.create(ORDER, { idempotencyKey: key })).service.id).toBe("1001");
    expect(asked).toBe(4);
  });

  it("but treats a 101 response as no response: the order may have succeeded", async () => {
    const { port } = await answering("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    const one = await client(port, { maxAttempts: 1 });
    expect((await failureOf(one.services.create(ORDER, { idempotencyKey: "k" }))).reached).toBe("maybe");
  });

  it("in the command line", async () => {
    const { port } = await answering(`HTTP/1.1 100 Continue\r\n\r\n${jsonAnswer(PLANS)}`);
    const { code, text } = await workplace({ HOSTING_BASE_URL: `http://127.0.0.1:${port}` }).runHere(["plans"]);
    expect(code, text).toBe(0);
  });
});

describe("HTTP/1.0", () => {
  const body = JSON.stringify(SERVICE);
  it.each([
    ["with Content-Length", jsonAnswer(SERVICE, "HTTP/1.0 200 OK")],
    ["without Content-Length, ended by the end of the connection", `HTTP/1.0 200 OK\r\n\r\n${body}`],
    ["with Connection: close", jsonAnswer(SERVICE, "HTTP/1.0 200 OK", "connection: close")],
  ])("%s is read", async (_, answer) => {
    const { port } = await answering(answer);
    const one = await client(port);
    for (const id of ["1001", "1001"]) expect((await one.services.get(id)).id).toBe("1001");
  });

  it("with a body that is shorter than its Content-Length is an incomplete response", async () => {
    const { port } = await answering(jsonAnswer(SERVICE, "HTTP/1.0 200 OK").slice(0, -5));
    const one = await client(port, { maxAttempts: 1 });
    expect((await failureOf(one.services.get("1001"))).text).toContain("a response that was cut off");
  });
});

describe("a compressed response", () => {
  const encoded = (encoding: string, body: Buffer, status = "200 OK") =>
    Buffer.concat([
      Buffer.from(`HTTP/1.1 ${status}\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`),
      body,
    ]);
  const json = Buffer.from(JSON.stringify(SERVICE));

  it.each([
    ["gzip", gzipSync(json)],
    ["x-gzip", gzipSync(json)],
    ["GZIP", gzipSync(json)],
    ["deflate", deflateSync(json)],
    ["deflate", deflateRawSync(json)],
    ["br", brotliCompressSync(json)],
    ["identity", json],
    ["deflate, gzip", gzipSync(deflateSync(json))],
  ])("in %s is read, although hostform requests no compression", async (encoding, body) => {
    const { port, asked } = await answering(encoded(encoding, body));
    expect((await (await client(port)).services.get("1001")).id).toBe("1001");
    expect(asked[0]).toMatch(/^accept-encoding: identity\r$/im);
  });

  it("with an error shows the message of the server", async () => {
    const { port } = await answering(encoded("gzip", gzipSync('{"message":"No such plan."}'), "422 No"));
    const { text, reached } = await failureOf((await client(port)).services.create(ORDER, { idempotencyKey: "k" }));
    expect(text).toContain("The server says: No such plan.");
    expect(reached).toBe("answered");
  });

  it.each([
    ["ends early", gzipSync(json).subarray(0, 40)],
    ["is no gzip", Buffer.from("not gzip")],
    ["is broken in the middle", gzipSync(json).fill(0, 20, 30)],
  ])("that %s is a truncated response: the host may have placed the order", async (_, body) => {
    const { port } = await answering(encoded("gzip", body, "201 Created"));
    const one = await client(port, { maxAttempts: 1 });
    const { text, reached } = await failureOf(one.services.create(ORDER, { idempotencyKey: "k" }));
    expect(text).toContain("a response that was cut off");
    expect(reached).toBe("maybe");
  });

  it.each(["gzip", "br", "deflate", "gzip, gzip"])(
    "in %s is rejected if its decoded size exceeds the limit",
    async (encoding) => {
      const plain = Buffer.alloc(1_000_000);
      const once =
        encoding === "br" ? brotliCompressSync(plain) : encoding === "deflate" ? deflateSync(plain) : gzipSync(plain);
      const { port, asked } = await answering(encoded(encoding, encoding === "gzip, gzip" ? gzipSync(once) : once));
      const { code } = await failureOf((await client(port, { maxResponseBytes: 100_000 })).services.get("1001"));
      expect([code, asked.length]).toEqual(["api.too_large", 1]);
    },
  );

  it.each([
    ["zstd", zstdCompressSync(json)],
    ["gzip, gzip, gzip", gzipSync(json)],
    ["no\u001bsuch", json],
  ])("in an unknown encoding, %j, is rejected by its name", async (encoding, body) => {
    const { port } = await answering(encoded(encoding.replace("\u001b", "-"), body));
    const { text, code } = await failureOf((await client(port)).services.get("1001"));
    expect(code).toBe("api.malformed");
    expect(text).toContain(`a response in the encoding "${encoding.replace("\u001b", "-")}"`);
  });

  it("in an unknown encoding does not prove that an object no longer exists", async () => {
    const { port } = await answering(encoded("zstd", zstdCompressSync('{"message":"Not found."}'), "404 Not Found"));
    expect((await failureOf((await client(port)).services.get("1001"))).code).toBe("api.malformed");
  });
});
