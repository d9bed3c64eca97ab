import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { LONG } from "../reliability/support/long.ts";
import fc from "../support/fc.ts";
import { temporaryFolder } from "../support/folder.ts";
import { markup, COMMANDS as OF_AGENTS } from "../unit/report/hostile.ts";
import { answer } from "./support.ts";

const TOKEN = "canary-token-0123456789";
const EVIL =
  "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202ex\u200b\u0000\r\n@octocat <script>alert(1)</script> ``` --> \u2028";
const DECLARATION = {
  project: "hostile",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": "view" } },
  },
  webhooks: { hook: { url: "https://hooks.acme.example", events: ["invoice.paid"] } },
  client_accounts: { nino: { name: "Nino" } },
  migration_requests: { move: { domain: "old.acme.example" } },
};

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server on loopback. `asked` lists the method and path of each request. */
async function serving(answering: Answering): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    answering(request, response);
  });
  return { url: await listening(server, () => server.closeAllConnections()), asked };
}

/** Starts a server whose responses violate HTTP. */
async function saying(bytes: string | Uint8Array): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(bytes));
  });
  return listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}

async function listening(server: Server, end: () => void): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () => {
      end();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json =
  (body: unknown, status = 200): Answering =>
  (_, response) =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(typeof body === "string" ? body : JSON.stringify(body));
const raw =
  (body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Answering =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

/** Returns records that are valid for every kind. @param value value of every text field. */
function records(value: unknown, id: unknown = value): Record<string, unknown>[] {
  const names =
    "plan product_type status domain billing_cycle currency provisioning_status next_due_date created_at url email permission expires_at name company_name vat_number invoice_number due_date paid_at secret message";
  const record = Object.fromEntries(names.split(" ").map((name) => [name, value]));
  return [{ id, plan_id: id, order_id: id, price: value, total: value, subtotal: value, events: [value], ...record }];
}

/** Each hostile response is sent for each of these commands. */
const COMMANDS: readonly (readonly string[])[] = [
  ["plan"],
  ["plan", "--json"],
  ["plan", "--verbose"],
  ["plan", "--format", "markdown"],
  ["plan", "--format", "html"],
  ["plan", "--out", "x.plan"],
  ["apply", "--auto-approve", "--no-wait"],
  ["apply", "--auto-approve", "--no-wait", "--json"],
  ["plans"],
  ["services"],
  ["services", "1"],
  ["services", "--json"],
  ["invoices"],
  ["grants", "1"],
  ["webhooks"],
  ["accounts"],
  ["migrations"],
  ["domains", "check", "acme.example"],
  ["sso", "1"],
  ["import", "hosting_service.www", "1"],
];

/** Number of sampled responses. `npm test` runs one command for each response; `npm run test:long hostile` runs all commands. */
let turn = 0;
function sampled(commands: typeof COMMANDS): typeof COMMANDS {
  turn += 1;
  return LONG ? commands : commands.filter((_, at) => at === turn % commands.length);
}

/** Runs the commands against one hostile response, and checks the requirements of `answer`. */
async function ask(url: string, commands: readonly (readonly string[])[], why: string): Promise<string> {
  const dir = temporaryFolder();
  await writeFile(path.join(dir, "hosting.yaml"), JSON.stringify(DECLARATION));
  const env = { HOSTING_BASE_URL: url, HOSTING_TOKEN: TOKEN };
  let said = "";
  for (const command of commands) {
    const { text } = await answer(dir, command, env, why);
    expect(text, "no token").not.toContain(TOKEN);
    said += text;
  }
  return said;
}

const deep = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
const numbers = [Number.POSITIVE_INFINITY, -0, 2 ** 53 + 2, 1e21, 0.1, -1];

describe("a hostile answer is answered", () => {
  it.each<[why: string, answering: Answering]>([
    ["control characters in every text", json({ data: records(EVIL, 1) })],
    ["control characters in every text and id", json({ data: records(EVIL) })],
    ["control characters in names", json({ data: [{ [EVIL]: EVIL, id: 1 }] })],
    ["control characters in one record", json({ data: records(EVIL, 1)[0] })],
    ["control characters in a refusal", json({ message: EVIL, errors: { [EVIL]: [EVIL] } }, 422)],
    ["control characters in a denial", json({ message: EVIL }, 403)],
    ["control characters in plain text", raw(EVIL.repeat(100), { "content-type": "text/plain" }, 500)],
    ["a page", raw(`<html><title>${EVIL.replaceAll("\0", "")}</title></html>`, { "content-type": "text/html" })],
    ["a page with an error", raw("<!doctype html><title>502</title>", { "content-type": "text/html" }, 502)],

    ["nothing", raw("")],
    ["no content", (_, response) => void response.writeHead(204).end()],
    ["null", json("null")],
    ["a text", json('"text"')],
    ["a number", json("1")],
    ["true", json("true")],
    ["an empty object", json({})],
    ["an empty list", json([])],
    ["data that is a text", json({ data: "text" })],
    ["data that is a number", json({ data: 7 })],
    ["a list of null", json({ data: [null, null] })],
    ["a list of texts", json({ data: ["a", "b"] })],
    ["a list of lists", json({ data: [[[]], [[]]] })],
    ["a record without anything", json({ data: [{}] })],
    ["two lists", json({ services: records(1), grants: records(2) })],
    ["records of null", json({ data: records(null) })],
    ["records of true", json({ data: records(true) })],
    ["records of objects", json({ data: records({ a: { b: [] } }) })],
    ["records of lists", json({ data: records([[1]]) })],
    ["numbers as texts", json({ data: records("12", "12") })],
    ["numbers that are none", json({ data: records("NaN", "Infinity") })],
    ...numbers.map((number): [string, Answering] => [
      `the number ${number}`,
      raw(
        `{"data":[{"id":${number},"price":${number === Infinity ? "1e400" : number}}]}`.replaceAll("Infinity", "1e400"),
      ),
    ]),
    ["a number of a hundred thousand digits", raw(`{"data":[{"id":${"9".repeat(100_000)}}]}`)],
    ["an id of a megabyte", json({ data: records("x", "i".repeat(1_000_000)) })],
    ["texts of a megabyte", json({ data: records("x".repeat(300_000), 1) })],
    ["half a surrogate pair", raw(`{"data":[{"id":1,"domain":"\\ud800","status":"\\udfff"}]}`)],
    ["the same name twice", raw(`{"data":[],"data":[{"id":1}],"id":1,"id":2}`)],

    [
      "names of prototypes",
      raw(
        `{"__proto__":{"polluted":1},"data":[{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"id":1}]}`,
      ),
    ],
    [
      "names of prototypes as fields in error",
      raw(`{"message":"no","errors":{"__proto__":["x"],"constructor":["y"],"toString":"z"}}`, {}, 422),
    ],
    ["names of prototypes as words", json({ data: records("__proto__", "constructor") })],
    ["names of prototypes as domains", raw(`{"__proto__":true,"constructor":{"available":true}}`)],

    ["lists in lists", raw(deep(200_000, "[", "]"))],
    ["objects in objects", raw(`${'{"data":'.repeat(100_000)}1${"}".repeat(100_000)}`)],
    ["a record with lists in lists", raw(`{"data":[{"id":1,"more":${deep(100_000, "[", "]")}}]}`)],
    ["a record as deep as is accepted", raw(`{"data":[{"id":1,"more":${deep(97, "[", "]")}}]}`)],
    ["data in data", raw(`${'{"data":'.repeat(2000)}[]${"}".repeat(2000)}`)],
    ["an unfinished list", raw("[".repeat(100_000))],
    ["an answer that breaks off", raw('{"data":[{"id":1,')],
    ["a comment", raw('/* x */{"data":[]}')],
    ["a mark of byte order", raw('\ufeff{"data":[]}')],
    ["UTF-16", raw(Buffer.from('{"data":[]}', "utf16le"))],
    ["bytes that are no text", raw(Uint8Array.from({ length: 4096 }, (_, i) => i % 256))],
    ["what claims to be compressed", raw("not gzip", { "content-encoding": "gzip" })],
    ["a redirect to a file", raw("", { location: "file:///etc/passwd" }, 302)],
    ["a redirect to elsewhere", raw("", { location: "http://evil.example/" }, 308)],
    ["a strange status", raw("{}", {}, 299)],
    ["a stranger status", raw("{}", {}, 999)],
    ["wait indefinitely", raw("{}", { "retry-after": "99999999999999999999" }, 429)],
    ["wait since ever", raw("{}", { "retry-after": "-1", "x-ratelimit-reset": "-99999999" }, 429)],
    ["wait until no date", raw("{}", { "retry-after": "Thu, 99 Foo 9999", "x-ratelimit-remaining": "NaN" }, 429)],
    [
      "a budget of nonsense",
      raw('{"data":[]}', {
        "x-ratelimit-limit": "1e99",
        "x-ratelimit-remaining": "-5",
        "x-ratelimit-reset": "99999999999999",
      }),
    ],
  ])("%s", { timeout: 120_000 }, async (why, answering) => {
    const { url, asked } = await serving(answering);
    await ask(url, sampled(COMMANDS), why);
    for (const line of asked) expect(line).toMatch(/^(?:GET|POST|DELETE) \/api\/v1\/[a-z-]+/);
  });

  it.each([
    ["no HTTP", "SSH-2.0-OpenSSH_9.0\r\n"],
    ["nothing, and the end", ""],
    ["a bad status line", "HTTP/1.1 2x0 \u001b[2J\r\n\r\n"],
    ["a bad length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}"],
    ["more than it said", `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}${"x".repeat(1000)}`],
    ["less than it said", "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n{"],
    ["bad chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"],
    ["a header that does not end", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(1_000_000)}`],
    ["many headers", `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(5000)}\r\n{}`],
    ["controls in a header", "HTTP/1.1 200 OK\r\nX-\u001b[2J: \u001b[2J\u0000\r\nContent-Length: 2\r\n\r\n{}"],
    [
      "many beginnings",
      `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10_000)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`,
    ],
  ])("what is not HTTP: %s", { timeout: 120_000 }, async (why, bytes) => {
    await ask(
      await saying(bytes),
      sampled([["plan"], ["services"], ["plan", "--json"], ["apply", "--auto-approve"]]),
      why,
    );
  });
});

/**
 * An API that follows the specification except in its texts, which are all `text`. Service 1 exists, with the declared
 * plan, currency and domain, because hostform imports nothing else. Service 7 has `text` there too.
 * @param round grows with each request, so that every value drifts.
 */
function worldOf(text: string, round: () => number): Answering {
  const [record] = records(text, 1);
  const service = () => ({
    ...record,
    id: 1,
    plan_id: 11,
    currency: "USD",
    domain: "www.acme.example",
    status: "active",
    provisioning_status: "provisioned",
    price: 5,
    plan: `${text}${round()}`,
  });
  const order = { ...record, id: 2, order_id: 2, total: 5, invoice: { ...record, id: 3 } };
  return (request, response) => {
    const [pathname = ""] = (request.url ?? "").split("?");
    const single = /\/(?:services|invoices|migration-requests)\/\d+$/.test(pathname);
    const data = [service(), ...(pathname.endsWith("/services") ? [{ ...record, id: 7 }] : [])];
    const list = { data, meta: { current_page: 1, last_page: 1, per_page: 100, total: data.length } };
    json(request.method === "POST" ? { data: order } : { data: single ? service() : list.data, meta: list.meta })(
      request,
      response,
    );
  };
}

describe("hostile texts go through everything", () => {
  const texts = [
    EVIL,
    OF_AGENTS.join(" "),
    `::set-env name=A::x\n${OF_AGENTS.join("\n")}`,
    ...fc.sample(
      markup.filter((text) => text.trim() !== ""),
      { numRuns: LONG ? 12 : 1, seed: 7 },
    ),
  ];

  it.each(texts.map((text, i) => ({ i, text })))(
    "text $i: planned, adopted, recorded, drifted, shown",
    { timeout: 60_000 },
    async ({ text }) => {
      let round = 0;
      const { url } = await serving(worldOf(text, () => round));
      const dir = temporaryFolder();
      const www = { ...DECLARATION.services.www, grants: {}, import: "1" };
      await writeFile(
        path.join(dir, "hosting.yaml"),
        JSON.stringify({
          ...DECLARATION,
          services: { www, own: { ...www, import: undefined, domain: "own.example" } },
        }),
      );
      const env = { HOSTING_BASE_URL: url, HOSTING_TOKEN: TOKEN, GITHUB_ACTIONS: "true" };
      const plans = [["plan"], ["plan", "--json"], ["plan", "--format", "markdown"], ["plan", "--format", "html"]];
      const all: string[] = [];
      const say = async (...args: string[]) => all.push((await answer(dir, args, env, JSON.stringify(text))).text);
      for (const args of plans) await say(...args);
      await say("import", "hosting_service.www", "1");
      await say("apply", "--auto-approve", "--no-wait", "--verbose");
      round += 1;
      for (const args of plans) await say(...args);
      await say("plan", "--out", "x.plan");
      await say("apply", "--auto-approve", "--no-wait", "--json");
      for (const args of [
        ["state", "list", "--long"],
        ["state", "show", "hosting_service.www"],
        ["state", "show", "hosting_webhook.hook", "--json"],
        ["services"],
        ["webhooks"],
        ["invoices", "3"],
        ["resolve"],
      ])
        await say(...args);
      await say("plan", "--destroy", "--format", "markdown");
      // Not every command was refused: some planned, recorded or listed objects.
      expect(all.join("")).toContain("hosting_service.www");
      expect(all.join("")).toMatch(/Imported hosting_service\.www|already exists|to import/);
    },
  );
});

describe("what does not end is given up", () => {
  it("an answer without an end, after its bound of bytes", { timeout: 60_000 }, async () => {
    let sent = 0;
    const { url } = await serving((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => {
        while (!response.destroyed && sent < 2 ** 31) {
          sent += 65_536;
          if (!response.write(" ".repeat(65_536))) return void response.once("drain", more);
        }
      };
      more();
    });
    const text = await ask(url, [["services"]], "an endless answer");
    expect(text).toContain("api.too_large");
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it("a listing of ever new pages, after its bound of pages", { timeout: 60_000 }, async () => {
    let id = 0;
    const { url, asked } = await serving((_, response) => {
      const data = Array.from({ length: LONG ? 100 : 5 }, () => ({ id: ++id, domain: `${id}.example` }));
      json({ data, links: { next: "http://evil.example/steal" }, meta: { current_page: 1, last_page: 1e9 } })(
        _,
        response,
      );
    });
    expect(await ask(url, [["services"]], "endless pages")).toMatch(/api\.(pagination|too_large)/);
    expect(asked.length).toBeLessThanOrEqual(2_001);
    expect(asked.length).toBeGreaterThan(1_000);
  });

  it("a listing that repeats its page", { timeout: 60_000 }, async () => {
    const data = Array.from({ length: 100 }, (_, i) => ({ id: i + 1 }));
    const { url, asked } = await serving(json({ data, has_more: true }));
    expect(await ask(url, [["services"]], "repeated pages")).toContain("api.pagination");
    expect(asked.length).toBeLessThan(5);
  });
});

describe("an id from a server stays one segment of a path", () => {
  it.each([
    "../../invoices",
    "..",
    ".",
    "1/suspend",
    "1?x=y",
    "1#x",
    "%2e%2e%2f",
    "1\r\nX-Evil: 1",
    "1 HTTP/1.1\r\n\r\n",
    "\u0000",
    "é/é",
    "\ud800",
    " ",
    "",
    "//evil.example",
    "\\evil",
  ])("%j", async (id) => {
    const service = {
      id,
      plan: "x",
      product_type: "shared",
      status: "active",
      domain: "www.acme.example",
      currency: "USD",
    };
    const { url, asked } = await serving((request, response) => {
      const [, , , collection, ...rest] = (request.url ?? "").split(/[/?]/);
      const list = collection === "services" && request.url?.includes("page=") && rest.length < 2;
      json(list ? { data: [service] } : { data: [] })(request, response);
    });
    const dir = temporaryFolder();
    const declared = { ...DECLARATION.services.www, import: id };
    await writeFile(path.join(dir, "hosting.yaml"), JSON.stringify({ project: "ids", services: { www: declared } }));
    const env = { HOSTING_BASE_URL: url, HOSTING_TOKEN: TOKEN };
    for (const args of [
      ["plan"],
      ["grants", id],
      ["services", id],
      ["sso", id],
      ["import", "hosting_service.www", id],
      ["apply", "--auto-approve"],
    ])
      await answer(dir, args, env, id);
    for (const line of asked) {
      expect(line).toMatch(
        /^(?:GET \/api\/v1\/(?:plans|services|webhooks|invoices)|POST \/api\/v1\/services)(?:[/?]|$)/,
      );
      const [, first = ""] = line.split(" ");
      const segments = first.split("?")[0]?.split("/").slice(3) ?? [];
      expect(segments.length, line).toBeLessThanOrEqual(3);
      expect(
        segments
          .slice(1)
          .map((one) => decodeURIComponent(one))
          .filter((one) => one === "." || one === ".."),
      ).toEqual([]);
    }
  });
});
