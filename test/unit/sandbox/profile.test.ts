import { describe, expect, test } from "vitest";
import {
  PROFILE_SETS,
  PROFILE_SWITCHES,
  type Profile,
  type ProfileSet,
  type ProfileSwitch,
  parseProfile,
  profileText,
  SandboxOptionError,
} from "../../../src/sandbox/index.ts";
import { activeService, ORDER, type Running, start } from "./harness.ts";

describe("parseProfile", () => {
  test("fills in the defaults, which are the first values of each switch", () => {
    const defaults = Object.fromEntries(Object.entries(PROFILE_SWITCHES).map(([name, values]) => [name, values[0]]));
    expect(parseProfile("")).toEqual(defaults);
    expect(parseProfile(" envelope=items_pagination , status=capitalised,")).toEqual({
      ...defaults,
      envelope: "items_pagination",
      status: "capitalised",
    });
  });

  test.each([
    ["colour=red", "envelope, pages, past_end"],
    ["envelope=soap", "laravel, data_meta"],
    ["envelope", "switch=value"],
    ["harsh", "laravel, minimal, contrary, strict, flaky"],
    ["strict,flaky", "not both strict and flaky"],
    ["strict,strict", "one set"],
    ["strict=yes", "no profile switch"],
    ["envelope=flat=array", "switch=value"],
    ["envelope=flat,envelope=array", "twice"],
    ["constructor=x", "no profile switch"],
    ["constructor", "switch=value"],
    ["__proto__=x", 'no profile switch "__proto__"'],
    ["statsu=words", 'no profile switch "statsu". Did you mean "status"?'],
    ["status=wrods", 'no value "wrods". Did you mean "words"? Its values are lower,'],
    ["contray", 'no profile set "contray". Did you mean "contrary"?'],
    ["contrary minimal", "Put commas between the parts of a profile: contrary,minimal."],
    ["status = words ids=string", "Put commas between the parts of a profile: status=words,ids=string."],
    ["ids=", 'no value ""'],
  ])("rejects %j and lists the valid values", (text, hint) => {
    expect(() => parseProfile(text)).toThrow(SandboxOptionError);
    expect(() => parseProfile(text)).toThrow(hint);
  });

  test("a sandbox rejects an unknown value too", async () => {
    await expect(start({ profile: { money: "gold" } as unknown as Partial<Profile> })).rejects.toThrow("minor, major");
    await expect(start({ profile: "money=gold" })).rejects.toThrow("minor, major");
  });

  const sets = Object.keys(PROFILE_SETS) as ProfileSet[];
  test.each(sets)("%s contains the documented values, and explicit values have priority", (name) => {
    const differing: Partial<Profile> = PROFILE_SETS[name];
    expect(parseProfile(name)).toEqual({ ...parseProfile(""), ...differing });
    for (const text of [`${name},ids=integer,envelope=flat`, `ids=integer, envelope=flat, ${name}`]) {
      expect(parseProfile(text)).toEqual({ ...parseProfile(name), ids: "integer", envelope: "flat" });
    }
    expect(parseProfile(profileText(parseProfile(name)))).toEqual(parseProfile(name));
  });

  test(`laravel equals the defaults; contrary differs in every switch but "weather" and list_lag; strict gives no hints`, () => {
    expect(profileText(parseProfile("laravel"))).toBe("");
    const [usual, contrary] = [parseProfile(""), parseProfile("contrary")];
    const same = Object.keys(usual).filter((name) => usual[name as ProfileSwitch] === contrary[name as ProfileSwitch]);
    expect(same).toEqual(["list_lag", "weather"]);
    expect(parseProfile("strict")).toMatchObject({
      rate_headers: "none",
      retry_after: "none",
      key_retention: "ten_minutes",
    });
    expect(profileText(parseProfile("flaky"))).toBe("weather=flaky");
  });

  test("a sandbox accepts the text form", async () => {
    const { sandbox, send } = await start({ profile: "minimal,envelope=items_pagination" });
    expect(sandbox.control.state().profile).toEqual(parseProfile("minimal,envelope=items_pagination"));
    expect(Object.keys((await send("GET", "/services")).body)).toEqual(["items", "pagination"]);
  });
});

/** Starts a sandbox with this profile and three services. Returns the id of the agency's first service. */
async function running(profile: Partial<Profile>): Promise<Running & { id: number }> {
  const started = await start({ profile });
  const id = activeService(started);
  started.sandbox.control.seedServices({ count: 2 });
  return { ...started, id };
}

test("envelope=named_has_more names the list after the resource", async () => {
  const { send, id } = await running({ envelope: "named_has_more" });
  for (const [path, name] of [
    ["/plans", "plans"],
    ["/invoices", "invoices"],
    [`/services/${id}/grants`, "grants"],
    ["/webhooks", "webhooks"],
    ["/accounts", "accounts"],
    ["/migration-requests", "migration_requests"],
  ] as const) {
    expect(Object.keys((await send("GET", path)).body)).toEqual([name, "has_more"]);
  }
});

const asked = (page: number) => `/services?per_page=2&page=${page}`;

test.each([
  ["from_one", 1],
  ["from_zero", 0],
] as const)("pages=%s: page %i is the first", async (pages, first) => {
  const { send, sandbox, id } = await running({ pages });
  const at = (page: number): string => `${sandbox.url}/api/v1${asked(page).replace("per_page=2&", "")}&per_page=2`;
  const { body } = await send("GET", asked(first));
  expect(body.data.map((row: { id: number }) => row.id)).toEqual([id + 2, id + 1]);
  expect(body.links).toEqual({ first: at(first), last: at(first + 1), prev: null, next: at(first + 1) });
  expect(body.meta).toMatchObject({ current_page: first, from: 1, to: 2, last_page: first + 1, total: 3 });
  expect((await send("GET", "/services?per_page=2")).body).toEqual(body);
  const last = (await send("GET", asked(first + 1))).body;
  expect([last.data.length, last.meta.from]).toEqual([1, 3]);
  expect((await send("GET", asked(first + 2))).body.data).toEqual([]);
  expect((await send("GET", asked(first - 1))).status).toBe(422);
});

test("ids=string: every id is a string, and paths accept the strings", async () => {
  const { send, id } = await running({ ids: "string" });
  const plan = (await send("GET", "/plans")).body.data.at(-1);
  expect(plan.plan_id).toBe("11");
  const { data } = (await send("POST", "/services", { key: "k", body: { ...ORDER, plan_id: plan.plan_id } })).body;
  expect([data.id, data.invoice.id, data.invoice.order_id]).toEqual([String(id + 3), expect.any(String), data.id]);
  const bound = await send("POST", "/migration-requests", { body: { domain: "x.example", order_id: data.id } });
  expect(bound.body.data).toMatchObject({ id: "501", order_id: data.id });
  const grant = await send("POST", `/services/${data.id}/grants`, {
    body: { email: "a@x.example", permission: "view" },
  });
  expect(grant.body.data.id).toBe("301");
});

test("order=scattered: no order by age, across pages, and stable when other objects are created or deleted", async () => {
  const { send, sandbox } = await start({ profile: { order: "scattered" } });
  const ids = sandbox.control.seedServices({ count: 30 }).map(({ id }) => id);
  const listed = async (): Promise<number[]> => {
    const pages = await Promise.all([1, 2, 3].map((page) => send("GET", `/services?per_page=10&page=${page}`)));
    return pages.flatMap(({ body }) => body.data.map((row: { id: number }) => row.id));
  };
  const before = await listed();
  expect(before.toSorted()).toEqual(ids);
  expect([ids, ids.toReversed()]).not.toContainEqual(before);
  const [gone = 0] = before.splice(4, 1);
  sandbox.control.remove("services", gone);
  expect((await listed()).filter((id) => ids.includes(id))).toEqual(before);
});

test("record_ids=uuid: records without specified ids have UUIDs, which paths accept", async () => {
  const { send, id } = await running({ record_ids: "uuid", ids: "string" });
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
  const made = async (path: string, body: object): Promise<string> => (await send("POST", path, { body })).body.data.id;
  const grant = await made(`/services/${id}/grants`, { email: "a@x.example", permission: "view" });
  const hook = { url: "https://x.example/", events: ["invoice.paid"] };
  const [webhook, other] = [await made("/webhooks", hook), await made("/webhooks", hook)];
  const account = await made("/accounts", { name: "Client" });
  const request = await made("/migration-requests", { domain: "x.example", order_id: String(id) });
  const all = [grant, webhook, other, account, request];
  for (const one of all) expect(one).toMatch(uuid);
  expect(new Set(all).size).toBe(5);

  expect((await send("GET", `/migration-requests/${request}`)).body.data).toMatchObject({
    id: request,
    order_id: String(id),
  });
  for (const path of [`/webhooks/${grant}`, "/webhooks/201", `/webhooks/${webhook}0`]) {
    expect((await send("DELETE", path)).status).toBe(404);
  }
  expect((await send("DELETE", `/webhooks/${webhook.toUpperCase()}`)).status).toBe(200);
  expect((await send("GET", "/webhooks")).body.data.map((one: { id: string }) => one.id)).toEqual([other]);
  expect((await send("DELETE", `/services/${id}/grants/${grant}`)).status).toBe(200);
});

test("record_ids=opaque: ids contain special characters of paths, queries and templates, and paths accept them", async () => {
  const { send, id } = await running({ record_ids: "opaque" });
  const body = { email: "a@x.example", permission: "view" };
  const grant = (await send("POST", `/services/${id}/grants`, { body })).body.data.id;
  expect(grant).toMatch(/^grant\/\d+:a@b\?c=d&e #f%2Fé$/);
  expect((await send("DELETE", `/services/${id}/grants/${encodeURIComponent(`${grant}0`)}`)).status).toBe(404);
  expect((await send("DELETE", `/services/${id}/grants/${encodeURIComponent(grant)}`)).status).toBe(200);
});
