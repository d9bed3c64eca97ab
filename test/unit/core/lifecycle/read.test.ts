import { describe, expect, it } from "vitest";
import { read } from "../../../../src/core/lifecycle/index.ts";
import { ApiError, type JsonObject } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import {
  failure,
  fakeAccount,
  fakeAccountWith,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const service = kindOf("hosting_service");
const grant = kindOf("hosting_grant");
const prior = recorded("hosting_service.acme", liveService);

describe("reading", () => {
  it("lists a collection once for several resources", async () => {
    const { account, kind, asked } = fakeAccount(service, remote(liveService), remote({ ...liveService, id: "1002" }));
    const reads = ["1001", "1002", "1001"].map((id) =>
      read(account, { kind, prior: recorded("hosting_service.acme", { ...liveService, id }), config: undefined }),
    );
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(["present", "present", "present"]);
    expect(asked).toEqual(["list"]);
  });

  it("gets a single resource by its id", async () => {
    const { account, kind, asked } = fakeAccount(service, remote(liveService));
    const seen = await read(account, { kind, prior, config: prior.attributes, alone: true });
    expect(seen).toEqual({ status: "present", attributes: prior.attributes, phase: "live" });
    expect(asked, "nothing else is looked for").toEqual(["get 1001"]);
  });

  it("confirms by a second list if there is no GET", async () => {
    const { account, kind, asked } = fakeAccount(grant);
    const old = recorded("hosting_grant.acme", liveGrant);
    const observed = await Promise.all([1, 2].map(() => read(account, { kind, prior: old, config: undefined })));
    expect(observed.map(({ status }) => status)).toEqual(["gone", "gone"]);
    expect(asked).toEqual(["list 1001", "list 1001"]);
  });

  it.each<[why: string, plans: ReturnType<typeof fakeAccount>["plans"], id: number | null]>([
    [
      "a name that is there once",
      [
        { plan_id: 11, name: "SHARED start" },
        { plan_id: 12, name: "Pro" },
      ],
      11,
    ],
    ["a name that two plans have", [11, 12].map((plan_id) => ({ plan_id, name: "Shared Start" })), null],
    [
      "a name that no plan has",
      [
        { plan_id: 12, name: "Pro" },
        { plan_id: 13, name: null },
      ],
      null,
    ],
    ["a list that may not be read", "refused", null],
  ])("sets the hosting plan number of an adopted service by %s", async (_, plans, id) => {
    const fake = fakeAccount(service, remote(liveService));
    fake.plans = plans;
    const query = { kind: fake.kind, prior: undefined, importId: "1001", config: undefined };
    const attributes = { ...prior.attributes, plan_id: id };
    expect(await read(fake.account, query)).toEqual({ status: "present", attributes, phase: "live" });
    expect(fake.asked, "of several resources: by the list that all share").toEqual(["list"]);
  });

  it("keeps the hosting plan number that the API returns for an adopted service", async () => {
    const fake = fakeAccount(service, remote({ ...liveService, plan_id: 12 }));
    fake.plans = [{ plan_id: 11, name: "Shared Start" }];
    const query = { kind: fake.kind, prior: undefined, importId: "1001", config: undefined };
    expect(await read(fake.account, query)).toMatchObject({ attributes: { plan_id: 12 } });
  });

  it.each([["recorded", { prior }]] as const)("requests an object without a list by its id (%s)", async (_, query) => {
    const { account, kind, asked } = fakeAccount(service, remote({ ...liveService, status: "frozen" }, "suspended"));
    const { list: __, ...single } = kind;
    expect(await read(account, { kind: single, config: undefined, ...query })).toMatchObject({
      status: "present",
      phase: "suspended",
      attributes: { status: "frozen" },
    });
    expect(asked).toEqual(["get 1001"]);
  });

  it("keeps the recorded or named state of an object without a GET, and never searches it", async () => {
    const domain = kindOf("hosting_domain");
    const config = { domain: "acme.example" };
    const known = recorded("hosting_domain.acme", { id: "acme.example", ...config });
    const { account } = fakeAccount(domain);
    expect(await read(account, { kind: domain, prior: known, config })).toEqual({
      status: "present",
      attributes: known.attributes,
      phase: "live",
    });
    expect(await read(account, { kind: domain, prior: undefined, importId: "acme.example", config })).toMatchObject({
      status: "present",
      attributes: { id: "acme.example" },
      phase: "live",
    });
    expect(await read(account, { kind: domain, prior: undefined, config })).toMatchObject({
      status: "absent",
      matches: [],
    });
  });

  const vps: JsonObject = { ...liveService, domain: null, plan: "Root S", product_type: "vps" };

  it.each<[why: string, plans: ReturnType<typeof fakeAccount>["plans"], live: readonly JsonObject[], alike: string[]]>([
    [
      "one that the list of plans calls another plan",
      [
        { plan_id: 31, name: "Root M" },
        { plan_id: 32, name: "Root S" },
      ],
      [vps],
      [],
    ],
    ["one of the plan", [{ plan_id: 31, name: "Root S" }], [vps], ["1001"]],
  ])("matches a server without a domain to %s", async (_, plans, live, alike) => {
    const fake = fakeAccount(service, ...live.map((each) => remote(each)));
    fake.plans = plans;
    const seen = await read(fake.account, { kind: fake.kind, prior: undefined, config: { plan_id: 31 } });
    expect(seen).toMatchObject({ status: "absent", matches: [] });
    expect(seen.status === "present" ? [] : seen.alike?.map(({ id }) => id)).toEqual(alike);
  });

  it("reads no list of hosting plans if the domain decides", async () => {
    const fake = fakeAccount(service, remote({ ...liveService, domain: "other.example" }));
    fake.plans = "refused";
    expect(await read(fake.account, { kind: fake.kind, prior: undefined, config: { domain: "a.example" } })).toEqual({
      status: "absent",
      matches: [],
      alike: [],
    });
  });

  it("counts an object with the same key once, however similar it is", async () => {
    const fake = fakeAccount({ ...service, mayMatch: () => true }, remote(liveService));
    const seen = await read(fake.account, {
      kind: fake.kind,
      prior: undefined,
      config: { domain: "www.acme.example" },
    });
    expect(seen).toMatchObject({ matches: [{ id: "1001" }], alike: [{ id: "1001" }] });
    expect(seen.status === "present" ? [] : seen.alike).toHaveLength(1);
  });

  it("treats a 403 as an error, never as a deleted object", async () => {
    const { account, kind } = fakeAccount(service);
    const refused = {
      ...kind,
      get: async () => {
        throw failure("answered", 403);
      },
    };
    await expect(read(account, { kind: refused, prior, config: undefined })).rejects.toMatchObject({ status: 403 });
  });

  const page = () =>
    new ApiError({ code: "api.malformed", summary: "a page", endpoint: "GET /x", reached: "answered", status: 404 });
  /** A router in front of the API can also return "not found" in JSON while the API is unavailable. */
  const ownWord = () =>
    new ApiError({ code: "api.not_found", summary: "no route", endpoint: "GET /x", reached: "answered", status: 404 });

  it.each([
    ["is gone when the list is without it", [], "gone"],
    ["is an error when the list has it", [remote(liveService)], undefined],
  ] as const)("of a 404 response: the object %s", async (_, objects, status) => {
    for (const answer of [page, ownWord]) {
      const { account, kind, asked } = fakeAccount(service, ...objects);
      const behind = { ...kind, get: () => Promise.reject(answer()) };
      const looked = read(account, { kind: behind, prior, config: undefined, alone: true });
      if (status === undefined)
        await expect(looked).rejects.toThrow("returned 404 for service 1001, but lists the service");
      else await expect(looked).resolves.toMatchObject({ status, how: "no longer exists" });
      expect(asked).toEqual(["list"]);
    }
  });

  it("treats a terminated object as deleted, and names its word", async () => {
    const { account, kind } = fakeAccount(service, remote({ ...liveService, status: "Terminated" }, "gone"));
    expect(await read(account, { kind, prior, config: undefined })).toMatchObject({
      status: "gone",
      how: 'is "Terminated"',
    });
  });

  it.each<[why: string, was: JsonObject, is: JsonObject, difference?: string]>([
    ["made later", {}, { created_at: "2026-11-21T10:00:10Z" }, "It was made at 2026-11-21T10:00:10Z"],
    ["made earlier", {}, { created_at: "2026-11-20T10:00:00Z" }, "It was made at 2026-11-20T10:00:00Z"],
    ["that does not say when, with the same domain", {}, { created_at: null, domain: "WWW.acme.example" }],
    [
      "that does not say when, with another domain",
      {},
      { created_at: null, domain: "other.example" },
      "It is other.example; the recorded one was www.acme.example.",
    ],
    [
      "recorded without a time, with another domain",
      { created_at: null },
      { domain: "other.example" },
      "It is other.example",
    ],
    ["of which nobody knows either", { domain: null }, { created_at: null }],
  ])("treats an object with a known id, %s, as another object: %j %j -> %s", async (_, was, is, difference) => {
    const { account, kind } = fakeAccount(service, remote({ ...liveService, ...is }));
    const known = recorded("hosting_service.acme", { ...liveService, ...was });
    const looked = read(account, { kind, prior: known, config: undefined });
    if (difference === undefined) await expect(looked).resolves.toMatchObject({ status: "present" });
    else
      await expect(looked).rejects.toMatchObject({
        diagnostics: [{ code: "state.stranger", detail: expect.stringContaining(difference) }],
      });
  });

  it("accepts an unowned object with another name, because it is recreated in any case", async () => {
    const { account, kind } = fakeAccount(
      grant,
      remote({ ...liveGrant, created_at: null, email: "boss@acme.example" }),
    );
    const known = recorded("hosting_grant.acme", liveGrant);
    expect(await read(account, { kind, prior: known, config: undefined })).toMatchObject({ status: "present" });
  });

  describe("a recently created object", () => {
    const created = new Date(START).toISOString();
    const webhook = kindOf("hosting_webhook");

    it.each([["at once", 0, {}, "present"]])(
      "%s, is there as it was recorded though no list shows it",
      async (_, age, settings, status) => {
        for (const [kind, live] of [
          [service, liveService],
          [grant, liveGrant],
          [webhook, liveWebhook],
        ] as const) {
          const fake = fakeAccountWith(settings, kind);
          fake.now = () => START + age;
          const known = recorded(`${kind.type}.acme`, live, { private: { created } });
          const seen = await read(fake.account, { kind: fake.kind, prior: known, config: known.attributes });
          expect(seen.status, kind.type).toBe(status);
          if (seen.status === "present")
            expect(seen).toEqual({ status, attributes: known.attributes, phase: "live", unlisted: created });
        }
      },
    );

    it("has the phase of its recorded status", async () => {
      for (const [status, phase] of [
        ["pending", "pending"],
        ["active", "live"],
        ["suspended", "suspended"],
      ]) {
        const { account, kind } = fakeAccount(service);
        const mark = { private: { created } };
        const known = recorded("hosting_service.acme", { ...liveService, status: String(status) }, mark);
        expect(await read(account, { kind, prior: known, config: undefined })).toMatchObject({ phase });
      }
    });

    it("has the state in the list as soon as a list shows it", async () => {
      const { account, kind } = fakeAccount(webhook, remote({ ...liveWebhook, url: "https://other.example" }));
      const known = recorded("hosting_webhook.acme", liveWebhook, { private: { created } });
      const seen = await read(account, { kind, prior: known, config: undefined });
      expect(seen).toMatchObject({ status: "present", attributes: { url: "https://other.example" } });
      expect(seen).not.toHaveProperty("unlisted");
    });
  });

  it.each([
    ["a webhook without events", "hosting_webhook", { url: "https://HOOKS.acme.example/" }, { events: [] }, ["201"]],
  ] as const)("finds unreadable objects that may be the declared one: %s", async (_, type, declared, live, ids) => {
    const base = { hosting_webhook: liveWebhook, hosting_grant: liveGrant, hosting_service: liveService }[type];
    const { account, kind } = fakeAccount(kindOf(type), remote({ ...base, ...live }));
    const observed = await read(account, { kind, prior: undefined, config: { ...base, ...declared } });
    expect(observed.status === "present" ? [] : (observed.unreadable ?? []).map(({ id }) => id)).toEqual(ids);
    const gone = fakeAccount(kindOf(type), remote({ ...base, ...live }, "gone"));
    const ended = await read(gone.account, { kind: gone.kind, prior: undefined, config: { ...base, ...declared } });
    expect(ended).not.toHaveProperty("unreadable");
  });

  it("does not list the children of a parent that does not exist yet", async () => {
    const { account, kind, asked } = fakeAccount(grant);
    expect(await read(account, { kind, prior: undefined, config: { email: "dev@acme.example" } })).toEqual({
      status: "absent",
      matches: [],
      alike: [],
    });
    expect(asked).toEqual([]);
  });

  it("reads a failed list again", async () => {
    const { account, kind } = fakeAccount(service, remote(liveService));
    let calls = 0;
    const flaky = {
      ...kind,
      async *list() {
        calls += 1;
        if (calls === 1) throw failure("no");
        yield remote(liveService);
      },
    };
    await expect(account.list(flaky)).rejects.toThrow();
    expect([...(await account.list(flaky)).keys()]).toEqual(["1001"]);
  });
});
