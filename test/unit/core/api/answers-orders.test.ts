import { describe, expect, it } from "vitest";
import { api, failureOf, invoice, setUp, useNock } from "./support.ts";

/** Order responses whose first object with an id is not the ordered service. The client must not use that id. */
useNock();

const answers = (path: string, body: unknown) => api().post(path).reply(201, JSON.stringify(body));
const { order_id: _, ...bill } = invoice();

describe("the id of an order", () => {
  it.each([
    ["an invoice in its place", { data: { ...bill, id: 5003, order_id: 1003 } }],
    ["an unwrapped invoice", { ...bill, id: 5003, order_id: 1003 }],
    ["an envelope of the request", { id: "req-1", service_id: 1003, invoice: { ...bill, id: 5003 } }],
  ])("is not the id of %s", async (_why, body) => {
    answers("/services", body);
    const { client } = setUp();
    const { service } = await client.services.create({ plan_id: 11 }, { idempotencyKey: "k" });
    expect(service.id).toBe("1003");
  });

  it("of a domain is not the id of its invoice, which is stored as the invoice", async () => {
    answers("/domains", { data: { ...bill, id: 5003, order_id: 1003 } });
    const { client } = setUp();
    expect(await client.domains.register({})).toMatchObject({ id: "1003", invoice: { id: "5003" } });
  });

  it.each([
    ["an invoice that names no order", { data: { ...bill, id: 5003 } }],
    ["a message", { data: { message: "ordered" } }],
  ])("is not guessed from %s, so the order stays pending", async (_why, body) => {
    answers("/services", body);
    const { client } = setUp();
    const error = await failureOf(client.services.create({ plan_id: 11 }, { idempotencyKey: "k" }));
    expect(error).toMatchObject({ reached: "maybe" });
    expect(error.diagnostics[0]?.code).toBe("api.accepted");
  });
});

describe("a rejection about the key of an order", () => {
  const said = "Idempotency-Key was used with a different body";
  const OWN = { message: said };
  const KNOWN = /knows the Idempotency-Key/;

  it.each<[string, string, number, unknown, boolean]>([
    ["another request has it", "/services", 409, OWN, true],
    ["another request has it, as a wrong value", "/services", 422, OWN, true],
    ["of a create without a key", "/webhooks", 422, OWN, false],
    ["by another status", "/services", 400, OWN, false],
    ["in a shape that is not the API's own", "/services", 422, { error: said }, false],
    ["that names no key", "/services", 422, { message: "The body does not match the plan" }, false],
    ["that says nothing of another request", "/services", 422, { message: "Idempotency-Key is too long" }, false],
  ])("is recognized by its message: %s", async (_, create, status, body, expected) => {
    const { client } = setUp({ maxAttempts: 1 });
    api().post(create).reply(status, JSON.stringify(body));
    const send =
      create === "/webhooks"
        ? client.webhooks.create({})
        : client.services.create({ plan_id: 1 }, { idempotencyKey: "k" });
    const { diagnostics } = await failureOf(send);
    expect(KNOWN.test(diagnostics[0]?.summary ?? "")).toBe(expected);
  });
});

describe("a signing secret", () => {
  it("is kept if the response contains no id, because the API returns the secret only once", async () => {
    answers("/webhooks", { data: { url: "https://a.example", events: ["invoice.paid"], secret: "whsec_once" } });
    const { client } = setUp();
    expect(await client.webhooks.create({})).toMatchObject({ id: null, secret: "whsec_once" });
  });
});
