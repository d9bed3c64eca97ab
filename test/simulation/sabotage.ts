import type { HostingClient, Mutation, Writer } from "../../src/core/api/index.ts";
import type { Disk } from "../../src/core/files/index.ts";
import type { Kind } from "../../src/core/kinds/kind.ts";
import type { Account, SecretOutputs } from "../../src/core/lifecycle/index.ts";
import { ApiError, type Clock, type ResourceState } from "../../src/core/model/index.ts";
import type { OpenState, StateLock } from "../../src/core/record/index.ts";
import type { World } from "./world.ts";

/** Replacements for parts of the product that break them deliberately. */
export interface Sabotage {
  disk?(disk: Disk): Disk;
  clock?(clock: Clock): Clock;
  lock?(lock: StateLock): StateLock;
  store?(store: OpenState): OpenState;
  writer?(client: HostingClient, world: World): Writer;
  account?(account: Account): Account;
  outputs?(outputs: SecretOutputs): SecretOutputs;
}

/** Returns an object with some methods replaced. */
function but<T extends object>(original: T, changed: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return changed[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const putting = (alter: (resource: ResourceState) => ResourceState): Sabotage => ({
  store: (store) => but(store, { put: (resource) => store.put(alter(resource)) }),
});

const sending = (
  alter: (mutation: Mutation, client: HostingClient, world: World) => Mutation | Promise<Mutation>,
): Sabotage => ({
  writer: (client, world) => ({
    reserve: (mutation, options) => client.reserve(mutation, options),
    request: async (mutation, options) =>
      client.request((await alter(mutation, client, world)) as typeof mutation, options),
  }),
});

/** Repeats a request that may have succeeded. */
const insisting = (endpoint: Mutation["endpoint"]): Sabotage => ({
  writer: (client) => ({
    reserve: (mutation, options) => client.reserve(mutation, options),
    request: async (mutation, options) => {
      try {
        return await client.request(mutation, options);
      } catch (error) {
        if (mutation.endpoint !== endpoint || !(error instanceof ApiError) || error.reached !== "maybe") throw error;
        return client.request(mutation);
      }
    },
  }),
});

/** Returns a replacement that treats an inconclusive list as empty, until the end of the run. */
function emptyFor(read: Account["list"], empty: Set<string>): Account["list"] {
  return async (kind, parent) => {
    const name = `${kind.type} ${parent}`;
    try {
      if (!empty.has(name)) return await read(kind, parent);
    } catch (error) {
      if (!(error instanceof ApiError) || error.diagnostics[0]?.code !== "api.inconclusive") throw error;
      empty.add(name);
    }
    return new Map();
  };
}

/** Returns the kind with a list that reads each page once, and so misses items that move during the reading. */
const readOnce = (kind: Kind): Kind =>
  kind.list === undefined
    ? kind
    : { ...kind, list: (context, parent) => kind.list?.({ ...context, whole: false }, parent) ?? nothing() };

async function* nothing(): AsyncGenerator<never> {}

/** Treats a list with moving items as complete. Few histories detect this defect, so it has its own test. */
export const TAKES_FOR_WHOLE: Sabotage = {
  account: (account) => {
    const list: Account["list"] = (kind, parent) => account.list(readOnce(kind), parent);
    return but(account, { list, recheck: list });
  },
};

/** Does not record the time of a create. One history in 600 detects this defect, so it has its own test. */
export const FORGETS_CREATED = putting(({ private: { created: _, ...mark }, ...resource }) => ({
  ...resource,
  private: mark,
}));

/** Defects that each break a guarantee of the product. The simulation must detect every defect. */
export const SABOTAGE: Readonly<Record<string, Sabotage>> = {
  "pending creates are not recorded": putting(({ private: { pending: _, ...mark }, ...resource }) => ({
    ...resource,
    private: mark,
  })),
  "the time of the host is not known": {
    account: (account) => but(account, { hostNow: () => 0 }),
  },
  "contents are not synced": {
    disk: (disk) =>
      but(disk, { create: async (path) => but(await disk.create(path), { sync: async () => undefined }) }),
  },
  "names are not synced": { disk: (disk) => but(disk, { syncFolder: async () => undefined }) },
  "the lock excludes no process": {
    lock: () => ({
      acquire: async () => ({ verify: () => undefined, release: () => undefined }),
      takeOver: async () => ({ holder: undefined, alive: false }),
    }),
  },
  "the lock is not checked again": {
    lock: (lock) =>
      but(lock, { acquire: async (request) => but(await lock.acquire(request), { verify: () => undefined }) }),
  },
  "a request is sent at any time after its record": {
    writer: (client) => ({
      reserve: (mutation, options) => client.reserve(mutation, options),
      request: (mutation, options) => client.request(mutation, { ...options, fence: undefined }),
    }),
  },
  "the monotonic clock is ignored": { clock: (clock) => ({ ...clock, monotonic: clock.now }) },
  "the state is recorded only at the end": {
    store: (store) => {
      const later: (() => Promise<unknown>)[] = [];
      const put = async (resource: ResourceState) => void later.push(() => store.put(resource));
      const close = async () => {
        for (const record of later.splice(0)) await record();
        await store.close();
      };
      return but(store, { put, close });
    },
  },
  "keys are random": sending((mutation, _, world) =>
    mutation.endpoint === "createService" ? { ...mutation, idempotencyKey: world.chance.uuid() } : mutation,
  ),
  "secrets are not recorded": putting((resource) => ({
    ...resource,
    attributes: { ...resource.attributes, ...("secret" in resource.attributes && { secret: null }) },
  })),
  "a secret is removed from the state before its file is written": {
    outputs: (outputs) => but(outputs, { write: async () => undefined }),
  },
  "the list is not read": {
    account: (account) => but(account, { list: async () => new Map(), recheck: async () => new Map() }),
  },
  "a response without a list is treated as an empty list": {
    account: (account) => {
      const empty = new Set<string>();
      return but(account, {
        list: emptyFor(account.list.bind(account), empty),
        recheck: emptyFor(account.recheck.bind(account), empty),
      });
    },
  },
  "a registration with an unknown outcome is repeated": insisting("registerDomain"),
  "a grant with an unknown outcome is repeated": insisting("createGrant"),
  "a client account with an unknown outcome is repeated": insisting("createAccount"),
  "a service is suspended instead of unsuspended": sending((mutation) =>
    mutation.endpoint === "unsuspendService" ? { ...mutation, endpoint: "suspendService" } : mutation,
  ),
  "another webhook is deleted": sending(async (mutation, client) => {
    if (mutation.endpoint !== "deleteWebhook") return mutation;
    const [first] = await client.webhooks.list().all();
    return first === undefined ? mutation : { ...mutation, params: { id: first.id } };
  }),
};

/**
 * First seeds that detect rare defects. The test plays this seed first. If the seed no longer detects the defect, the
 * test plays the others.
 */
export const NOTICED_AT: Readonly<Record<string, number>> = {
  "the time of the host is not known": 31,
  "contents are not synced": 13,
  "names are not synced": 3,
  "the lock excludes no process": 2126,
  "the lock is not checked again": 18,
  "a request is sent at any time after its record": 152,
  "the monotonic clock is ignored": 9943,
  "the state is recorded only at the end": 5,
  "the list is not read": 9,
  "a response without a list is treated as an empty list": 26,
  "a registration with an unknown outcome is repeated": 11,
  "a grant with an unknown outcome is repeated": 17,
  "a client account with an unknown outcome is repeated": 18,
  "a service is suspended instead of unsuspended": 152,
  "another webhook is deleted": 27,
};
