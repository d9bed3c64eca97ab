import { describe, expect, it } from "vitest";
import { api, failureOf, setUp, useNock } from "./support.ts";

/** §5: the first 403 that names a missing ability rejects every later request that needs this ability. */
useNock();

const LACKS = { message: 'This token does not have the "technical" ability.' };
const list = { data: [], meta: { total: 0 } };

describe("a token without an ability", () => {
  it("sends one request that needs the ability, however many are requested at once", async () => {
    api().get(/./).reply(403, LACKS);
    const { client, events } = setUp();
    const ids = Array.from({ length: 20 }, (_, id) => String(id));
    const failures = await Promise.all(ids.map((id) => failureOf(client.grants.list(id).all())));
    expect(events).toHaveLength(1);
    const [first, ...others] = failures.map(({ status, reached }) => ({ status, reached }));
    expect(first).toEqual({ status: 403, reached: "answered" });
    expect(new Set(others.map((other) => JSON.stringify(other)))).toEqual(new Set(['{"status":403,"reached":"no"}']));
  });

  it("changes nothing, and reports the request as not sent", async () => {
    api().get("/webhooks?page=1&per_page=100").reply(403, LACKS);
    const { client, events } = setUp();
    await failureOf(client.webhooks.list().all());
    const refused = await failureOf(client.webhooks.create({ url: "https://a.example", events: [] }));
    expect(refused).toMatchObject({ reached: "no", diagnostics: [{ code: "api.forbidden" }] });
    expect(refused.diagnostics[0]?.detail).toContain("This request was not sent.");
    expect(events).toHaveLength(1);
  });

  it("continues with requests that need another ability", async () => {
    api().get("/webhooks?page=1&per_page=100").reply(403, LACKS);
    api().get("/services?page=1&per_page=100").reply(200, list);
    api().get("/accounts?page=1&per_page=100").reply(200, list);
    const { client } = setUp();
    await failureOf(client.webhooks.list().all());
    expect(await client.services.list().all()).toEqual([]);
    expect(await client.accounts.list().all()).toEqual([]);
  });

  it("requests again after a minute, because the token may have the ability by then", async () => {
    api().get("/webhooks?page=1&per_page=100").reply(403, LACKS);
    api().get("/webhooks?page=1&per_page=100").reply(200, list);
    const { client, clock } = setUp();
    await failureOf(client.webhooks.list().all());
    clock.advance(60_000);
    expect(await client.webhooks.list().all()).toEqual([]);
  });
});

it("a 403 response about a restriction mentions the restriction, and no ability", async () => {
  const message = "This token is restricted to certain services, so a new order is outside its restriction.";
  api().get("/services/7/grants?page=1&per_page=100").reply(403, { message });
  const { client } = setUp();
  const { diagnostics } = await failureOf(client.grants.list("7").all());
  expect(diagnostics[0]?.remedies).toEqual([
    "Use a token of the whole account, or add the service to the scope of this token.",
  ]);
});

it.each([
  ["another account", "This service belongs to another account than this token."],
  ["a restriction", "Service 7 is outside this token's restriction to technical services."],
  ["no ability by name", "Forbidden"],
])("a 403 response about %s ends no other request", async (_, message) => {
  api().get("/services/7/grants?page=1&per_page=100").reply(403, { message });
  api().get("/services/8/grants?page=1&per_page=100").reply(200, list);
  const { client } = setUp();
  await failureOf(client.grants.list("7").all());
  expect(await client.grants.list("8").all()).toEqual([]);
});
