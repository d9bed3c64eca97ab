// Reads of a plan in each refresh mode, and the changes that a plan must not contain for unread objects.
import { describe, expect, it } from "vitest";
import { observe, plan, type Refresh, refreshAndPlan } from "../../../../src/core/engine/index.ts";
import { kinds as realKinds } from "../../../../src/core/kinds/index.ts";
import type { Kind, Kinds, Remote } from "../../../../src/core/kinds/kind.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import {
  type Desired,
  type DesiredResource,
  effectOf,
  isNoOp,
  type JsonObject,
  type Plan,
  type PrivateMark,
  type RefreshMode,
  type ResourceState,
  type State,
} from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { fc, runs } from "../../../support/fc.ts";
import {
  declared,
  desiredOf,
  liveGrant,
  liveService,
  notFound,
  recorded,
  remote,
  stateOf,
} from "../../../support/subjects.ts";

interface World {
  readonly desired: Desired;
  readonly state: State;
  readonly live: readonly Remote[];
}

const PLANS = [
  {
    plan_id: 11,
    name: "Shared Start",
    product_type: "shared",
    currency: "USD",
    price: 500,
    prices: {},
    billing_cycle: "monthly",
  },
];

/** Plans a world with the refresh mode `refresh`. `asked` lists the listings and objects read, in order. */
async function planned({ desired, state, live }: World, refresh?: Partial<Refresh>) {
  const asked: string[] = [];
  const of = (type: string, parent?: string) =>
    live.filter(
      ({ id, attributes }) => attributes.service_id === parent && id.startsWith(type === "hosting_grant" ? "3" : "1"),
    );
  const faked = (kind: Kind): Kind => ({
    ...kind,
    async *list(_, parent) {
      asked.push(`${kind.noun}s${parent === undefined ? "" : ` of ${parent}`}`);
      yield* of(kind.type, parent);
    },
    ...(kind.get && {
      async get(_, id: string) {
        asked.push(`${kind.noun} ${id}`);
        return of(kind.type).find((one) => one.id === id) ?? Promise.reject(notFound());
      },
    }),
  });
  const kinds: Kinds = new Map([...realKinds].map(([type, kind]) => [type, faked(kind)]));
  const invoices = { list: async function* () {} };
  const plans = { list: () => ({ all: async () => PLANS }) };
  const account = new Account({ hostNow: () => START, plans, invoices } as never, { statusWords: {} });
  const shared = { desired, state, kinds, env: {}, reorder: new Set<string>() };
  const observing = { ...shared, accounts: () => account };
  const planning = { ...shared, mode: "apply", now: START } as const;
  if (refresh === undefined)
    return { plan: plan({ ...planning, observed: await observe(observing), readRequests: 0 }), asked };
  const how: Refresh = { mode: "all", lastRead: new Map(), rank: (name) => name, ...refresh };
  const done = await refreshAndPlan({ observing, planning, refresh: how, requests: () => asked.length });
  return { plan: done.plan, asked };
}

const serviceAt = (n: number) => `hosting_service.s${n}`;
const grantAt = (n: number) => `hosting_grant.s${n}["dev@acme.example"]`;
const SERVICE = { ...liveService, plan_id: 11, deletion_policy: "prevent" };

const serviceOf = (n: number, over: JsonObject = {}): JsonObject => ({
  ...SERVICE,
  id: `100${n}`,
  domain: `s${n}.acme.example`,
  ...over,
});
const grantOf = (n: number, over: JsonObject = {}): JsonObject => ({
  ...liveGrant,
  id: `300${n}`,
  service_id: `100${n}`,
  ...over,
});

const declaredService = (n: number, over: JsonObject = {}): DesiredResource =>
  declared(serviceAt(n), { plan_id: 11, currency: "USD", domain: `s${n}.acme.example`, ...over });
const declaredGrant = (n: number, over: JsonObject = {}): DesiredResource =>
  declared(grantAt(n), {
    service_id: `\${hosting_service.s${n}.id}`,
    email: "dev@acme.example",
    permission: "view",
    ...over,
  });

/** Returns sites that are declared, in the state and live, each with a grant. */
function sites(count: number): World {
  const all = Array.from({ length: count }, (_, n) => n);
  return {
    desired: desiredOf(...all.flatMap((n) => [declaredService(n), declaredGrant(n)])),
    state: stateOf(
      ...all.flatMap((n) => [
        recorded(serviceAt(n), serviceOf(n)),
        recorded(grantAt(n), grantOf(n), { dependencies: [serviceAt(n)] }),
      ]),
    ),
    live: all.flatMap((n) => [remote(serviceOf(n)), remote(grantOf(n))]),
  };
}

const swapped = (world: World, ...resources: readonly DesiredResource[]): World => ({
  ...world,
  desired: desiredOf(
    ...world.desired.resources.map((one) => resources.find(({ address }) => address === one.address) ?? one),
  ),
});
const changesIn = ({ changes }: Plan) =>
  changes.filter((one) => !isNoOp(one)).map(({ address, actions }) => `${actions.join("+")} ${address}`);

describe("the reads of a plan", () => {
  it("include nothing for a declaration that equals the state, and the plan names all unread resources", async () => {
    for (const mode of ["changed", "none"] as const) {
      const { plan: made, asked } = await planned(sites(3), {
        mode,
        lastRead: new Map([["default hosting_service ", "2026-11-20"]]),
      });
      expect(asked).toEqual([]);
      expect(changesIn(made)).toEqual([]);
      expect(made.notRead?.map(({ address }) => address)).toEqual(made.changes.map(({ address }) => address));
      expect(made.notRead?.find(({ address }) => address === serviceAt(1))).toEqual({
        address: serviceAt(1),
        type: "hosting_service",
        parent: null,
        last_read: "2026-11-20",
      });
    }
  });

  it("include each changed resource, and the resources that it refers to", async () => {
    const world = swapped(sites(3), declaredGrant(1, { permission: "manage" }));
    const { plan: made, asked } = await planned(world, { mode: "changed" });
    expect(asked.toSorted()).toEqual(["grants of 1001", "services"]);
    expect(changesIn(made)).toEqual([`delete+create ${grantAt(1)}`]);
    expect(made.notRead?.map(({ address }) => address)).toEqual([grantAt(0), grantAt(2)]);
  });

  it("include the target of a request with the mode none, but not a change of the state alone", async () => {
    const world = swapped(sites(2), declaredService(0, { deletion_policy: "suspend" }));
    expect((await planned(world, { mode: "none" })).asked).toEqual([]);
    expect((await planned(world, { mode: "changed" })).asked).toEqual(["services"]);
    const off = swapped(sites(2), declaredService(0, { suspended: true }));
    expect((await planned(off, { mode: "none" })).asked).toEqual(["services"]);
  });

  it.each<[string, PrivateMark]>([
    ["a request without known outcome", { attempt: { since: "2026-11-21T10:00:00Z", operation: "suspendService" } }],
    ["a queued job", { job: { since: "2026-11-21T10:00:00Z", toward: "suspended", before: "active" } }],
    ["one that remains to be deleted", { deposed: { id: "9" } }],
  ])("always include a resource that has %s", async (_, mark) => {
    const world = sites(2);
    const state = stateOf(
      ...[...world.state.resources.values()].map((one) =>
        one.address === serviceAt(0) ? { ...one, private: mark } : one,
      ),
    );
    expect((await planned({ ...world, state }, { mode: "none" })).asked).toContain("services");
  });

  it("always include a resource whose status is temporary", async () => {
    const world = sites(2);
    const state = stateOf(
      ...[...world.state.resources.values()].map((one) =>
        one.address === serviceAt(0) ? { ...one, attributes: { ...one.attributes, status: "Herbstputz" } } : one,
      ),
    );
    expect((await planned({ ...world, state }, { mode: "changed" })).asked).toContain("services");
  });

  it("within a budget include the objects with the oldest reads first, and every list of a whole kind", async () => {
    const name = (n: number) => `default hosting_grant 100${n}`;
    const lastRead = new Map([0, 2, 3, 4].map((n) => [name(n), `2026-11-2${n}`]));
    const read = async (budget: number, world = sites(5)) =>
      (await planned(world, { budget, lastRead })).asked.toSorted();
    expect(await read(0)).toEqual(["services"]);
    // The grants of 1001 were never read, so they are read first.
    expect(await read(3)).toEqual(["grants of 1000", "grants of 1001", "grants of 1002", "services"]);
    // Required reads count toward the budget, and may use all of it.
    const changed = swapped(sites(5), declaredGrant(4, { permission: "manage" }));
    expect(await read(2, changed)).toEqual(["grants of 1001", "grants of 1004", "services"]);
    expect(await read(0, changed)).toEqual(["grants of 1004", "services"]);
    expect(await read(99)).toHaveLength(6);
  });

  it("include everything once by default", async () => {
    const world = sites(4);
    const [now, before] = [await planned(world, {}), await planned(world)];
    expect(now).toEqual({ ...before, plan: { ...before.plan, requests: now.plan.requests } });
    expect(now.plan.notRead).toBeUndefined();
  });
});

const grant = fc.record({
  declared: fc.constantFrom("no", "view", "manage", "of the next"),
  recorded: fc.constantFrom("no", "view", "manage"),
  live: fc.constantFrom("no", "view", "manage", "other id"),
});
const seen = fc.constantFrom("no", "live", "dearer", "suspended", "gone", "other id");
/** Draws one site of an account. Its declaration, its state and its live object may differ. */
const site = fc.oneof(
  fc.record({
    declared: fc.constantFrom("no", "as recorded", "suspended", "other domain", "policy", "reference"),
    recorded: fc.constantFrom("no", "live", "suspended", "pending", "prevent", "suspend policy", "open job"),
    live: seen,
    grant,
  }),
  // Site that a plan reads only because of another resource.
  fc.record({ declared: fc.constant("as recorded"), recorded: fc.constant("live"), live: seen, grant }),
);

function worldOf(all: readonly (typeof site extends fc.Arbitrary<infer T> ? T : never)[]): World {
  const resources: DesiredResource[] = [];
  const records: ResourceState[] = [];
  const live: Remote[] = [];
  for (const [n, one] of all.entries()) {
    const next = (n + 1) % all.length;
    const status = (word: string): JsonObject =>
      word === "suspended" ? { status: "suspended", suspended: true } : word === "pending" ? { status: "pending" } : {};
    if (one.declared !== "no") {
      const more: Record<string, JsonObject> = {
        suspended: { suspended: true },
        "other domain": { domain: `other${n}.acme.example` },
        policy: { deletion_policy: "forget" },
        reference: n + 1 < all.length ? { domain: `s\${hosting_service.s${next}.price}.example` } : {},
      };
      resources.push(declaredService(n, more[one.declared]));
    }
    if (one.recorded !== "no") {
      const policy: JsonObject = one.recorded === "suspend policy" ? { deletion_policy: "suspend" } : {};
      records.push(
        recorded(serviceAt(n), serviceOf(n, { ...status(one.recorded), ...policy }), {
          private:
            one.recorded === "open job"
              ? { job: { since: "2026-11-21T10:00:00Z", toward: "suspended", before: "active" } }
              : {},
        }),
      );
    }
    if (one.live !== "no") {
      const over: JsonObject =
        one.live === "other id" ? { id: `110${n}` } : one.live === "gone" ? { status: "terminated" } : status(one.live);
      const phase = one.live === "gone" ? "gone" : one.live === "suspended" ? "suspended" : "live";
      live.push(remote(serviceOf(n, over), phase));
    }
    const { grant } = one;
    if (grant.declared !== "no" && one.declared !== "no") {
      const of = grant.declared === "of the next" && all[next]?.declared !== "no" ? next : n;
      const permission = grant.declared === "manage" ? "manage" : "view";
      resources.push(declaredGrant(n, { permission, service_id: `\${hosting_service.s${of}.id}` }));
    }
    if (grant.recorded !== "no")
      records.push(recorded(grantAt(n), grantOf(n, { permission: grant.recorded }), { dependencies: [serviceAt(n)] }));
    if (grant.live !== "no") {
      const over: JsonObject = grant.live === "other id" ? { id: `310${n}` } : { permission: grant.live };
      live.push(remote(grantOf(n, over)));
    }
  }
  return { desired: desiredOf(...resources), state: stateOf(...records), live };
}

/** Returns the changes that a plan must not derive from the state alone: creates, removals and suspensions. */
const harmful = ({ changes }: Plan) =>
  changes.flatMap((change) => {
    const effect = effectOf(change);
    const isHarmful = !["none", "update", "unsuspend"].includes(effect) || change.removal !== undefined;
    return isHarmful
      ? [JSON.stringify({ ...change, before: change.before && Object.entries(change.before).sort() })]
      : [];
  });

describe("the changes of a plan", () => {
  it.each<RefreshMode>(["changed", "none"])(
    "with %s has no create, removal or suspension that the full plan has not",
    async (mode) => {
      await fc.assert(
        fc.asyncProperty(fc.array(site, { minLength: 1, maxLength: 5 }), async (all) => {
          const world = worldOf(all);
          const [full, less] = [await planned(world, {}), await planned(world, { mode })];
          expect(harmful(full.plan)).toEqual(expect.arrayContaining(harmful(less.plan)));
          // With `changed`, each changed resource was read. With `none`, a change of an unread resource sends no request.
          const unseen = new Set(less.plan.notRead?.map(({ address }) => address));
          const blind = less.plan.changes.filter((one) => !isNoOp(one) && unseen.has(one.address));
          expect(blind.filter(({ requests }) => mode === "changed" || requests > 0)).toEqual([]);
        }),
        { numRuns: runs(150) },
      );
    },
  );

  it("are equal within a budget, which the plan keeps unless a read is required", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(site, { minLength: 1, maxLength: 5 }), fc.nat(5), async (all, budget) => {
        const world = worldOf(all);
        const [full, less] = [await planned(world, {}), await planned(world, { budget })];
        expect(harmful(full.plan)).toEqual(expect.arrayContaining(harmful(less.plan)));
        expect(new Set(less.asked).size).toBeLessThanOrEqual(new Set(full.asked).size);
      }),
      { numRuns: runs(150) },
    );
  });
});
