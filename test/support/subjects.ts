/** Builders for unit tests of lifecycle and engine: kinds, objects, states, declarations and accounts. */
import type {
  CallOptions,
  Mutation,
  MutationName,
  PlanRecord,
  Reader,
  Ticket,
  Writer,
} from "../../src/core/api/index.ts";
import { expressionsOf } from "../../src/core/expression/references.ts";
import { kinds } from "../../src/core/kinds/index.ts";
import type { Kind, ReadSettings, Remote } from "../../src/core/kinds/kind.ts";
import { Account, attributesOf } from "../../src/core/lifecycle/index.ts";
import {
  ApiError,
  type Code,
  type Desired,
  type DesiredResource,
  type JsonObject,
  type Reached,
  type ResourceState,
  type State,
} from "../../src/core/model/index.ts";
import { START } from "./clock.ts";

export function kindOf(type: string): Kind {
  const kind = kinds.get(type);
  if (kind === undefined) throw new Error(`no kind ${type}`);
  return kind;
}

/** Attributes of a live service with shared hosting of www.acme.example, as the kind reads them. */
export const liveService: JsonObject = {
  id: "1001",
  plan: "Shared Start",
  product_type: "shared",
  status: "active",
  provisioning_status: "provisioned",
  domain: "www.acme.example",
  billing_cycle: "monthly",
  currency: "USD",
  price: 500,
  next_due_date: "2026-12-21",
  created_at: "2026-11-21T10:00:00+00:00",
  term: 1,
  suspended: false,
};

export const liveGrant: JsonObject = {
  id: "301",
  service_id: "1001",
  email: "dev@acme.example",
  permission: "view",
  expires_at: null,
  created_at: "2026-11-21T10:00:00+00:00",
};

export const liveWebhook: JsonObject = {
  id: "201",
  url: "https://hooks.acme.example",
  events: ["invoice.paid"],
  created_at: "2026-11-21T10:00:00+00:00",
};

/** Returns all attributes of a kind, as the state records them: null for each missing attribute. */
export function complete(kind: Kind, attributes: JsonObject): JsonObject {
  return { ...Object.fromEntries(attributesOf(kind).map(({ name }) => [name, null])), ...attributes };
}

export function recorded(address: string, attributes: JsonObject, over: Partial<ResourceState> = {}): ResourceState {
  const kind = kindOf(address.slice(0, address.indexOf(".")));
  return {
    address,
    provider: "default",
    schemaVersion: 0,
    attributes: complete(kind, attributes),
    sensitive: [],
    private: {},
    dependencies: [],
    ...over,
  };
}

export function stateOf(...resources: readonly ResourceState[]): State {
  return {
    lineage: "7a1e7a1e-0000-4000-8000-000000000001",
    serial: 4,
    resources: new Map(resources.map((resource) => [resource.address, resource])),
  };
}

export function declared(
  address: string,
  config: JsonObject,
  over: Partial<Omit<DesiredResource, "address" | "config">> = {},
): DesiredResource {
  const type = address.slice(0, address.indexOf("."));
  const own = { address, type, provider: "default", config, ...expressionsOf(config), dependsOn: [] };
  return { ...own, locate: () => undefined, ...over };
}

export function desiredOf(...resources: readonly DesiredResource[]): Desired {
  return { project: "acme", providers: new Map([["default", { alias: "default" }]]), resources, files: [] };
}

/** A fake account with its objects and a log of its readings. */
export interface FakeAccount {
  readonly account: Account;
  readonly kind: Kind;
  /** Live objects. Tests change them. */
  readonly objects: Map<string, Remote>;
  /** Readings of the account: `list`, `list 1001` or `get 1001`. */
  readonly asked: string[];
  /** List of plans. "refused": the token may not read the list (403). */
  plans: readonly Partial<PlanRecord>[] | "refused";
  /** True if listing fails with an error response. */
  broken: boolean;
  /** True if no item of a list can move during a reading. */
  isWhole: boolean;
  /** Returns the time of the host. */
  now: () => number;
}

/** Returns an account without a client. It reads one kind from a map. */
export function fakeAccount(of: Kind, ...objects: readonly Remote[]): FakeAccount {
  return fakeAccountWith({}, of, ...objects);
}

/** Returns the same account with settings of the provider. */
export function fakeAccountWith(settings: Partial<ReadSettings>, of: Kind, ...objects: readonly Remote[]): FakeAccount {
  const live = new Map(objects.map((object) => [object.id, object]));
  const asked: string[] = [];
  const kind: Kind = {
    ...of,
    ...(of.list && {
      async *list({ onRead }, parent) {
        asked.push(parent === undefined ? "list" : `list ${parent}`);
        if (fake.broken) throw failure("answered");
        yield* [...live.values()];
        onRead?.({ isWhole: fake.isWhole, pages: 1 });
      },
    }),
    ...(of.get && {
      async get(_, id) {
        asked.push(`get ${id}`);
        const found = live.get(id);
        if (found === undefined) throw notFound();
        return found;
      },
    }),
  };
  const all = async () => {
    if (fake.plans === "refused") throw failure("answered", 403);
    return fake.plans;
  };
  const invoices = { list: async function* () {} };
  const reader = { hostNow: () => fake.now(), plans: { list: () => ({ all }) }, invoices } as unknown as Reader;
  const fake: FakeAccount = {
    account: new Account(reader, { statusWords: {}, ...settings }),
    kind,
    objects: live,
    asked,
    plans: [],
    broken: false,
    isWhole: false,
    now: () => START,
  };
  return fake;
}

/** Returns a permit of a request limit that is never reached. */
export const freeTicket = () =>
  ({
    isOpen: true,
    hold() {
      return this;
    },
    use: () => true,
    takeTurn: async () => true,
    release: () => undefined,
  }) as unknown as Ticket;

/**
 * Returns a writer that records the requests and returns prepared responses.
 * @param answer Returns the response. It may call `leave` to simulate a client that repeats the request.
 */
export function fakeWriter(
  answer: (mutation: Mutation, nth: number, leave: () => void) => unknown,
): Writer & { readonly sent: Mutation[] } {
  const sent: Mutation[] = [];
  return {
    sent,
    reserve: async () => freeTicket(),
    request: async <E extends MutationName>(mutation: Mutation<E>, { onLeave = () => {} }: CallOptions = {}) => {
      await onLeave();
      sent.push(mutation);
      return (await answer(mutation, sent.length, onLeave)) as never;
    },
  };
}

export const remote = (attributes: JsonObject, phase: Remote["phase"] = "live"): Remote => ({
  id: String(attributes.id),
  attributes,
  phase,
});

/** Returns the error of a failed request. `reached` is the progress of the request. */
export function failure(
  reached: Reached,
  status?: number,
  code: Code = "api.server",
  serverMessage?: string,
): ApiError {
  return new ApiError({
    code,
    summary: `failed (${reached})`,
    endpoint: "POST /api/v1/things",
    reached,
    ...(status !== undefined && { status }),
    ...(serverMessage !== undefined && { serverMessage }),
  });
}

export const notFound = (): ApiError =>
  new ApiError({ code: "api.not_found", summary: "not found", endpoint: "GET /x", reached: "answered", status: 404 });
