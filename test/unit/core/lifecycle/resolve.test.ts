// `resolve`: the user's decision about a pending create, and the state that results.
import { describe, expect, it } from "vitest";
import type { PlanRecord } from "../../../../src/core/api/index.ts";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import type { PendingCreate } from "../../../../src/core/lifecycle/pending-create.ts";
import { planResource } from "../../../../src/core/lifecycle/plan.ts";
import { adopt, withdraw } from "../../../../src/core/lifecycle/resolve.ts";
import {
  type Diagnostic,
  HostformError,
  type Intent,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
} from "../../../../src/core/model/index.ts";
import { fixOf, saying } from "../../../support/remedies.ts";
import {
  fakeAccount,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const pending: Intent = { since: "2026-11-21T10:00:00Z", operation: "createWebhook", known: ["200"] };
const pendingCreate = (address: string, attributes: JsonObject, mark: PrivateMark = {}): PendingCreate =>
  recorded(address, attributes, { private: { pending, ...mark } }) as PendingCreate;

const HOOK = { url: liveWebhook.url ?? null, events: liveWebhook.events ?? null };

async function adopted(
  prior: PendingCreate,
  id: string,
  live: readonly JsonObject[],
  phase: "live" | "gone" = "live",
  others: Parameters<typeof adopt>[4] = {},
  plans: readonly Partial<PlanRecord>[] = [],
) {
  const fake = fakeAccount(kindOf(prior.address.split(".")[0] ?? ""), ...live.map((one) => remote(one, phase)));
  fake.plans = plans;
  const { account, kind } = fake;
  return adopt(account, kind, prior, id, others).catch((error: unknown) => {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  });
}

describe("an object that the user names", () => {
  it("is recorded as the account shows it, and the create is no longer pending", async () => {
    const found = await adopted(pendingCreate("hosting_webhook.a", HOOK, { generation: 2 }), "201", [liveWebhook]);
    expect(found).toMatchObject({ address: "hosting_webhook.a" });
    expect(found).toHaveProperty("private", { generation: 2 });
    expect(found).toMatchObject({ attributes: { id: "201", url: HOOK.url, created_at: liveWebhook.created_at } });
    expect(found).not.toHaveProperty("private.pending");
  });

  it("is accepted if the API shows no readable natural key, and keeps the sent values", async () => {
    const found = await adopted(pendingCreate("hosting_webhook.a", HOOK), "201", [
      { ...liveWebhook, url: null, events: [] },
    ]);
    expect(found).toMatchObject({ attributes: { id: "201", ...HOOK } });
    expect(found).not.toHaveProperty("private.pending");
  });

  it("that appeared since is recorded with the sent URL if the host masks its URL", async () => {
    const other = { ...liveWebhook, url: "https://hooks.acme.example/v2" };
    const secret = `${HOOK.url}?token=abc`;
    const masked = `${HOOK.url}?token=***`;
    const unlike = pendingCreate(
      "hosting_webhook.a",
      { ...HOOK, url: secret },
      { pending: { ...pending, knowsAll: true } },
    );
    expect(await adopted(unlike, "201", [{ ...liveWebhook, url: masked }])).toMatchObject({
      attributes: { id: "201", url: secret },
      private: { shown: { url: { sent: secret, is: masked, times: 1 } } },
    });
    const prior = pendingCreate("hosting_webhook.a", HOOK, { pending: { ...pending, knowsAll: true } });
    expect(await adopted(prior, "200", [{ ...other, id: "200" }])).toMatchObject([
      { code: "usage", detail: "It existed before the request was sent." },
    ]);
  });

  it("keeps values that the API never returns", async () => {
    const found = await adopted(pendingCreate("hosting_webhook.a", { ...HOOK, secret: "whsec" }), "201", [liveWebhook]);
    expect(found).toMatchObject({ attributes: { secret: "whsec" } });
  });

  it.each<[string, JsonObject[], "live" | "gone"]>([["does not exist", [], "live"]])(
    "that %s is not recorded",
    async (_, live, phase) => {
      expect(await adopted(pendingCreate("hosting_webhook.a", HOOK), "201", live, phase)).toBeUndefined();
    },
  );

  it.each<[string, JsonObject, string, string]>([
    [
      "was there before the request left",
      { ...liveWebhook, id: "200" },
      "the request did not create it",
      "It existed before the request was sent.",
    ],
    [
      "has another natural key",
      { ...liveWebhook, url: "https://b.example" },
      'its url is "https://b.example", not "https://hooks.acme.example"',
      "The request did not create it, and an apply would delete it.",
    ],
    [
      "has another query",
      { ...liveWebhook, url: `${HOOK.url}?token=other` },
      "its url is",
      "The request did not create it, and an apply would delete it.",
    ],
  ])("that %s is rejected, even by force, with another way to manage it", async (_, live, why, detail) => {
    const id = String(live.id);
    const prior = pendingCreate("hosting_webhook.a", HOOK, { pending: { ...pending, knowsAll: true } });
    const refused = await adopted(prior, id, [live]);
    expect(await adopted(prior, id, [live], "live", { isForced: true })).toEqual(refused);
    expect(JSON.stringify(refused)).not.toContain("other");
    expect(refused).toMatchObject([
      {
        code: "usage",
        summary: expect.stringContaining(`hosting_webhook.a cannot adopt webhook ${id}: ${why}`),
        detail,
        remedies: saying(expect.stringContaining(`\`hostform import 'hosting_webhook.a' ${id}\``), "hosting_webhook.a"),
        address: "hosting_webhook.a",
      },
    ]);
  });

  it("may be any object without a natural key: a server without a domain", async () => {
    const server = { plan_id: 11, currency: "USD", domain: null };
    const found = await adopted(pendingCreate("hosting_service.a", server), "1001", [{ ...liveService, domain: null }]);
    expect(found).toMatchObject({ attributes: { id: "1001" } });
  });

  it.each([
    ["by its id", "301"],
    ["by its e-mail address", "1001/dev@acme.example"],
  ])("is rejected if another address owns it and the user names it %s", async (_, id) => {
    const prior = pendingCreate("hosting_grant.a", { ...liveGrant, id: null });
    const ownerOf = (live: Remote) => (live.id === "301" ? "hosting_grant.b" : undefined);
    expect(await adopted(prior, id, [liveGrant], "live", { ownerOf })).toMatchObject([
      {
        code: "usage",
        summary: "hosting_grant.a cannot adopt grant 301: it is already in the state, as hosting_grant.b",
      },
    ]);
  });

  it("is rejected if a kind that no list shows has it at another address", async () => {
    const prior = pendingCreate("hosting_domain.a", { domain: "acme.example" });
    const others = { ownerOf: () => "hosting_domain.b" };
    expect(await adopted(prior, "acme.example", [], "live", others)).toMatchObject([{ code: "usage" }]);
  });

  it("is rejected if another pending create requested it", async () => {
    const prior = pendingCreate("hosting_webhook.a", HOOK, { pending: { ...pending, knowsAll: true } });
    const other = { ...liveWebhook, url: "https://b.example" };
    const siblings = [pendingCreate("hosting_webhook.b", { ...HOOK, url: other.url })];
    expect(await adopted(prior, "201", [other], "live", { siblings })).toMatchObject([
      {
        code: "usage",
        summary: "hosting_webhook.a cannot adopt webhook 201: hosting_webhook.b requested it",
        detail: "The response to the create request of hosting_webhook.b was also lost.",
        remedies: ["Resolve hosting_webhook.b first."],
      },
    ]);
    // Both requested the same object, so the user's choice decides.
    const twins = { siblings: [pendingCreate("hosting_webhook.b", HOOK)] };
    expect(await adopted(prior, "201", [liveWebhook], "live", twins)).toMatchObject({ attributes: { id: "201" } });
  });

  it("of a kind that no list shows is accepted with the requested values", async () => {
    const domain = { domain: "acme.example", years: 1, currency: "USD" };
    const found = await adopted(pendingCreate("hosting_domain.a", domain), "acme.example", []);
    expect(found).toMatchObject({ attributes: { ...domain, id: "acme.example" }, private: {} });
    expect(found).not.toHaveProperty("private.pending");
  });
});

/** For each kind with a list: the sent values, a live object, and the names of the attributes that differ. */
const OTHERS: readonly [address: string, sent: JsonObject, live: JsonObject, names: string[]][] = [
  [
    "hosting_client_account.a",
    { name: "Acme", currency: "USD" },
    { id: "1", name: "Omega", currency: "USD" },
    ["name"],
  ],
  [
    "hosting_client_account.a",
    { name: "Acme", currency: "USD" },
    { id: "1", name: "acme", currency: "EUR" },
    ["currency"],
  ],
  [
    "hosting_grant.a",
    { ...liveGrant, id: null, expires_at: "2027-01-31T00:00:00Z" },
    { ...liveGrant, expires_at: null },
    ["expires_at"],
  ],
];

describe("an object that differs from the request", () => {
  it.each(OTHERS)(
    "%s: %j as %j is rejected with both values, and adopted unchanged by force",
    async (address, sent, live, names) => {
      const prior = pendingCreate(address, sent, { pending: { ...pending, known: [], knowsAll: true } });
      const [refused] = (await adopted(prior, String(live.id), [live])) as Diagnostic[];
      for (const name of names) {
        expect(refused?.summary).toContain(
          `its ${name} is ${JSON.stringify(live[name])}, not ${JSON.stringify(sent[name])}`,
        );
      }
      expect(fixOf(refused)).toContain(`hostform resolve '${address}' --adopt ${live.id} --force`);
      const taken = (await adopted(prior, String(live.id), [live], "live", { isForced: true })) as ResourceState;
      for (const name of names) {
        expect(taken.attributes[name]).toEqual(live[name]);
        expect(taken.private.shown).toMatchObject({
          [name]: { sent: sent[name], is: live[name], times: 2, foreign: true },
        });
      }
      // The next plan contains no change until the declaration changes.
      const { change, conditions } = planOf(address, sent, taken);
      expect(change.actions).toEqual(["no-op"]);
      expect(conditions?.map(({ condition }) => condition)).toEqual(names.map(() => "own_form"));
      expect(conditions?.[0]?.detail).toContain("You adopted the");
      const followed = planOf(
        address,
        { ...sent, ...Object.fromEntries(names.map((name) => [name, live[name] ?? null])) },
        taken,
      );
      expect(followed.change.actions).toEqual(["no-op"]);
      expect(followed.conditions).toBeUndefined();
      expect(followed.diagnostics).toEqual([]);
    },
  );

  it.each([["one plan has its name", [{ plan_id: 12, name: "Shared Start" }], 12]])(
    "in its plan, which it shows by name, is refused as well: %s",
    async (_, others, number) => {
      const plans = [{ plan_id: 11, name: "Shared Pro" }, ...others];
      const sent = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
      const prior = pendingCreate("hosting_service.a", sent, { pending: { ...pending, known: [], knowsAll: true } });
      const [refused] = (await adopted(prior, "1001", [liveService], "live", {}, plans)) as Diagnostic[];
      expect(refused?.summary).toContain('its plan is "Shared Start", not "Shared Pro"');
      const taken = (await adopted(prior, "1001", [liveService], "live", { isForced: true }, plans)) as ResourceState;
      expect(taken.private.shown).toMatchObject({ plan_id: { sent: 11, is: number } });
      const { change, conditions } = planOf("hosting_service.a", sent, taken);
      expect(change.actions).toEqual(["no-op"]);
      expect(conditions).toMatchObject([{ condition: "other_plan" }]);
    },
  );
});

/** Values that a create records for undeclared attributes. */
const DEFAULTS: Readonly<Record<string, JsonObject>> = {
  hosting_service: { deletion_policy: "prevent", term: 1 },
  hosting_client_account: { deletion_policy: "prevent" },
  hosting_migration_request: { deletion_policy: "prevent" },
};

/** Plans a resource whose state was adopted from the account. */
function planOf(address: string, config: JsonObject, adopted: ResourceState) {
  const prior = { ...adopted, attributes: { ...adopted.attributes, ...DEFAULTS[address.split(".")[0] ?? ""] } };
  const own = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
  return planResource({
    kind: kindOf(address.split(".")[0] ?? ""),
    address,
    provider: "default",
    declared: own,
    config: own,
    prior,
    observed: { status: "present", attributes: prior.attributes, phase: "live" },
    dependsOn: [],
    reorder: false,
    plans: [],
    now: Date.parse("2026-11-22T00:00:00Z"),
  });
}

describe("an object that can only be read by its id", () => {
  it.each([
    ["that exists", "1001", { attributes: { id: "1001", status: "active" } }],
    ["that does not exist", "1002", undefined],
  ])("%s", async (_, id, expected) => {
    const { account, kind } = fakeAccount(kindOf("hosting_service"), remote(liveService));
    const { list: _list, ...unlisted } = kind;
    const found = await adopt(account, unlisted as Kind, pendingCreate("hosting_service.a", liveService), id);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

describe("a create that created nothing", () => {
  it.each<[string, PrivateMark, { private: PrivateMark; attributes: JsonObject } | undefined]>([
    [
      "leaves the generation of the order, whose key must not be used for another",
      { generation: 2 },
      { attributes: HOOK, private: { generation: 2 } },
    ],
    [
      "leaves the object that was to be replaced",
      { deposed: { id: "9", url: "https://old.example" } },
      { attributes: { id: "9", url: "https://old.example" }, private: {} },
    ],
  ])("%s", (_, mark, expected) => {
    const left = withdraw(pendingCreate("hosting_webhook.a", HOOK, mark));
    if (expected === undefined) return expect(left).toBeUndefined();
    expect(left).toMatchObject(expected);
    expect(left?.private).toEqual(expected.private);
    expect(left?.address).toBe("hosting_webhook.a");
  });
});
