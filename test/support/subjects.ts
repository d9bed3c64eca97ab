/** Builders for unit tests of lifecycle and engine: kinds, records as they are read, states, declarations, accounts. */
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

/** A service as the kind reads it: live, shared hosting, of www.acme.example. */
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

/** All attributes of a kind, null where none is given: as they are recorded. */
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

/** What a fake account holds, and what it was asked. */
export interface FakeAccount {
  readonly account: Account;
  readonly kind: Kind;
  /** The live objects; tests change them. */
  readonly objects: Map<string, Remote>;
  /** `list`, `list 1001`, `get 1001`: each look at the account. */
  readonly asked: string[];
  /** The list of plans; "refused": the token may not read it (403). */
  plans: readonly Partial<PlanRecord>[] | "refused";
  /** Listing fails, with an answer. */
  broken: boolean;
  /** No row can have moved past a reading. */
  isWhole: boolean;
  /** What time it is at the host. */
  now: () => number;
}

/** An account in which one kind is read from a map, without any client. */
export function fakeAccount(of: Kind, ...objects: readonly Remote[]): FakeAccount {
  return fakeAccountWith({}, of, ...objects);
}

/** The same with settings of the provider. */
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

/** A place within a request limit that is never used up. */
export const freeTicket = () =>
  ({ isOpen: true, use: () => true, takeTurn: async () => true, release: () => undefined }) as unknown as Ticket;

/**
 * A writer that records what is sent and gives prepared answers.
 * @param answer may let the request leave once more, as a client does that repeats it.
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

/** A request that failed, and how far it got. */
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
