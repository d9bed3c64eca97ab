import { describe, expect, it } from "vitest";
import { api, failureOf, invoice, service, setUp, TOKEN, textOf, useNock } from "./support.ts";

/** A 2xx response whose body reports an error is not a list, a record or a success. §7 reports errors by status only. */
useNock();

const ERRORS: [body: object, words: string][] = [
  [{ success: false, errors: [], data: [] }, 'an error, an object with "success", "errors", "data"'],
  [{ success: false, data: { message: "no" } }, 'an error, an object with "success", "data"'],
  [{ ok: false, message: "Not today" }, 'an error with the message "Not today"'],
  [{ error: "backend unavailable", details: [] }, '"backend unavailable"'],
  [{ error: { code: 12, message: "db is down" }, data: [] }, '"db is down"'],
  [{ error: true, id: "req-1", message: "no luck" }, '"no luck"'],
  [{ status: "error", message: "db", trace: [] }, '"db"'],
  [{ status: "fail", data: { url: "is taken" } }, 'an error, an object with "status", "data"'],
  [{ status: "Error", id: 991, message: "db" }, '"db"'],
  [{ status: 503, title: "Unavailable", data: [] }, '"Unavailable"'],
  [{ code: 500, message: "oops", data: [] }, '"oops"'],
  [{ errors: [{ message: "node 3 is away" }], data: null }, '"node 3 is away"'],
  [{ errors: { plan_id: ["is unknown"] }, items: [] }, '"is unknown"'],
  [{ exception: "PDOException", file: "x.php", trace: [] }, 'an error, an object with "exception"'],
];

describe.each(ERRORS)("%j with status 200", (body, words) => {
  it("is no list and no record, and the error contains the server's message", async () => {
    api().get("/webhooks?page=1&per_page=100").reply(200, body);
    api().get("/services/7").reply(200, body);
    const { client } = setUp();
    for (const call of [() => client.webhooks.list().all(), () => client.services.get("7")]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ status: 200, reached: "answered", diagnostics: [{ code: "api.malformed" }] });
      expect(error.diagnostics[0]?.detail).toContain(words);
    }
  });

  it("leaves the result of a change unknown, whatever its response is used for", async () => {
    api().post(/./).times(5).reply(200, body);
    api().delete("/webhooks/3").reply(200, body);
    const { client } = setUp();
    const calls = [
      () => client.services.create({}, { idempotencyKey: "k" }),
      () => client.services.suspend("7"),
      () => client.services.resetPassword("7", { password: "given-by-me" }),
      () => client.webhooks.create({}),
      () => client.domains.register({}),
      () => client.webhooks.delete("3"),
    ];
    for (const call of calls) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.malformed" }] });
      expect(textOf(error)).toContain("API may have carried out the request");
    }
  });
});

it("a service in the body of a failed change does not make the change a success", async () => {
  api().post(/./).times(2).reply(200, { success: false, message: "Is terminated", data: service() });
  const { client } = setUp();
  for (const call of [
    () => client.services.suspend("7"),
    () => client.services.resetPassword("7", { password: "given-by-me" }),
  ]) {
    expect(await failureOf(call())).toMatchObject({ reached: "maybe", diagnostics: [{ code: "api.malformed" }] });
  }
});

describe("a message without a statement about the request", () => {
  const { id, ...rest } = service();
  const bodies: [why: string, body: object][] = [
    ["signs that are empty", { error: null, errors: [], exception: "", code: 0, status: "success", data: service() }],
    ["the record's own words in data", { data: service({ status: "error", error: "disk full" }) }],
    ["a bare record's own words", service({ status: "error", error: "disk full", errors: ["disk full"] })],
    ["those of a bare record whose id goes by another name", { ...rest, service_id: id, status: "failed" }],
    ["words beside a record in data", { status: "error", error: "mail not sent", data: service() }],
    ["words beside a record under its name", { error: "mail not sent", data: { service: service() } }],
  ];
  it.each(bodies)("%s", async (_why, body) => {
    api().get("/services/7").reply(200, body);
    api().post("/services").reply(201, body);
    const { client } = setUp();
    expect(await client.services.get("7")).toMatchObject({ id: "7", domain: "acme.example" });
    const made = await client.services.create({}, { idempotencyKey: "k" });
    expect(made.service).toMatchObject({ id: "7", domain: "acme.example" });
  });

  it("does not hide a list beside it", async () => {
    api()
      .get("/invoices?page=1&per_page=100")
      .reply(200, { errors: ["one mail was not sent"], data: [invoice()], total: 1 });
    expect(await setUp().client.invoices.list().all()).toHaveLength(1);
  });

  it("hides a list if it reports a failure, because the list may be incomplete", async () => {
    api()
      .get("/services?page=1&per_page=100")
      .reply(200, { success: false, data: [service()] });
    const error = await failureOf(setUp().client.services.list().all());
    expect(error.diagnostics[0]?.code).toBe("api.malformed");
  });

  it("does not hide the id of an order, because a pending create without an id is harder to resolve", async () => {
    api().post("/services").reply(200, { success: false, data: service() });
    const { service: made } = await setUp().client.services.create({}, { idempotencyKey: "k" });
    expect(made.id).toBe("7");
  });

  it("about a name is no failure of the domain check", async () => {
    api().get("/domains/check?domains%5B%5D=a.example").reply(200, { domain: "a.example", status: "error" });
    expect(await setUp().client.domains.check(["a.example"])).toMatchObject([{ available: null }]);
  });
});

describe("the message in an error body", () => {
  it("contains no token and no secret of the request", async () => {
    const error = `Bad token ${TOKEN} or pass phrase given-by-me`;
    api().post("/services/7/password").reply(200, { error });
    const failure = await failureOf(setUp().client.services.resetPassword("7", { password: "given-by-me" }));
    expect(textOf(failure)).toContain("pass phrase [redacted]");
    expect(textOf(failure)).not.toContain(TOKEN);
  });

  it("that asks for a later attempt makes the client retry a GET, or an order with its key", async () => {
    const later = { success: false, message: "Too many requests" };
    api().get("/services/7").reply(200, later).get("/services/7").reply(200, { data: service() });
    api().post("/services").reply(200, later).post("/services").reply(201, { data: service() });
    const { client } = setUp();
    expect((await client.services.get("7")).id).toBe("7");
    expect((await client.services.create({}, { idempotencyKey: "k" })).service.id).toBe("7");
  });
});
