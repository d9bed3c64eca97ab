/**
 * Context in which the provider applies one change. The store receives each result as an entry before the next request is sent. The
 * writer sends no request after a stop, or after the time limit in `timeouts`.
 */
import { endpoints } from "../../../core/api/endpoints.ts";
import type { CallOptions, Mutation, MutationName, Writer } from "../../../core/api/index.ts";
import { type Kind, kinds } from "../../../core/kinds/index.ts";
import {
  type ApplyContext,
  Fate,
  intentId,
  isPendingCreate,
  type PendingCreate,
  refuseStopped,
} from "../../../core/lifecycle/index.ts";
import {
  ApiError,
  HostformError,
  isObject,
  type JsonObject,
  type ResourceState,
  type ValueObject,
} from "../../../core/model/index.ts";
import { busy, shownOnce } from "./entry-lookup.ts";
import { othersOf } from "./pending.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";
import { noteRefused, replacesOf } from "./replacement.ts";
import { durationMs } from "./validate.ts";

/** Default wait for another process that creates, without `timeouts`, in milliseconds. Terraform prints no message meanwhile. */
const TURN_MS = 20 * 60_000;

interface ApplyOptions {
  /** Name of the entry. */
  readonly name: string | undefined;
  /** Attributes, with `timeouts`. */
  readonly config: ValueObject;
  /** True if the plan found no entry. The first write then fails if another process has written an entry. */
  readonly isFirst?: boolean;
  /** Attributes in Terraform's state. */
  readonly prior: JsonObject | null;
  readonly operation: "create" | "update" | "delete";
  readonly owner: Owner;
  readonly scope: ProviderScope;
  /** Aborted when Terraform cancels the call. */
  readonly cancelled?: AbortSignal | undefined;
  readonly pending?: PendingCreate | undefined;
}

/** Last record of the object during a change. */
export interface Latest {
  resource: ResourceState | undefined;
  /** True if the lifecycle dropped its record, because neither an object nor a pending create exists. */
  isDropped?: boolean;
}

/**
 * Creates the context in which the lifecycle applies one change. Each record becomes an entry at once, because Terraform writes its
 * state only after the response. The response is built from `latest`.
 */
export async function applyContext(
  kind: Kind,
  { name, config, prior, operation, owner, scope, cancelled, isFirst, pending }: ApplyOptions,
): Promise<{ readonly context: ApplyContext; readonly latest: Latest }> {
  const { session, account, jobs } = scope;
  const { client, clock, project, entries, place, secretOutputs, self } = session;
  const stop = cancelled === undefined ? session.stop : AbortSignal.any([session.stop, cancelled]);
  const base = shownOnce(kind, prior ?? {});
  const latest: Latest = { resource: undefined };
  const limit = timeoutOf(config, operation);
  const begun = clock.monotonic();
  let first = isFirst;
  let intent: string | undefined;
  const others = await othersOf(kind, name, pending, scope, owner);
  const records: ApplyContext["records"] = {
    prior: pending,
    ownerOf: (ofKind, remote) =>
      ofKind === kind ? others.ownerOf(remote) : scope.labelOf(ofKind, remote, owner, pending),
    isStatePartial: true,
    siblings: (ofKind) => (ofKind === kind ? others.siblings : []),
    claimId: (ofKind, id, attributes) => scope.claimObject(owner, ofKind, { ...attributes, id }),
    replaces: await replacesOf(kind, name, config, scope),
    save: async (resource) => {
      const isNothing = resource.attributes.id == null && resource.private.pending === undefined;
      if (isNothing && name !== undefined) {
        await noteRefused(kind, name, resource, session);
        return records.drop(resource.address);
      }
      if (name !== undefined && operation !== "delete") {
        const entry = { ...resource, place, owner: self.mark, base };
        // The request is sent next, so the entry must be durable. A response may be kept in memory.
        const isDurable = resource.private.pending !== undefined && !resource.private.pending.accepted;
        // Another process may have inserted an entry since the lookup.
        const other = first ? await entries.insert(kind.type, name, entry, { isDurable }) : undefined;
        if (other !== undefined && other.resolved !== "absent") throw new HostformError([busy(other)]);
        if (!first || other !== undefined) await entries.put(kind.type, name, entry, { isDurable });
      }
      first = false;
      latest.resource = resource;
      if (isPendingCreate(resource)) intent = intentId(resource.private.pending);
      else if (intent !== undefined) scope.holdings.made(kind, resource.attributes, intent);
    },
    drop: async () => {
      latest.resource = undefined;
      latest.isDropped = true;
      first = isFirst;
      // With create_before_destroy, the entry with this name may belong to the new object.
      await entries.remove(kind.type, name, operation === "delete" ? (prior?.id ?? undefined) : undefined);
    },
  };
  const context: ApplyContext = {
    account,
    fate: new Fate(),
    writer:
      limit === undefined
        ? stoppable(client, stop)
        : stoppable(client, stop, {
            until: () => clock.now() + begun + limit - clock.monotonic(),
            name: `timeouts.${operation}`,
          }),
    run: {
      // Orders without a project were rejected before.
      project: project ?? "",
      clock,
      stop,
      turnTimeoutMs: limit ?? TURN_MS,
      // Without an entry, the object may belong to another configuration. The user can import the object.
      adoptsOrders: false,
      owner: () => place,
      pause: (ms) => clock.sleep(ms, stop).catch(() => refuseStopped()),
    },
    records,
    secrets: { outputs: secretOutputs },
    watch: {
      wait: (ofKind, address, id, parent, done) =>
        jobs.wait(account, ofKind, "default", { address, id, done, timeoutMs: limit, stop }, parent),
    },
    parentKind: kinds.get(kind.nested?.in ?? ""),
  };
  return { context, latest };
}

/** Returns the limit of an operation in `timeouts`, in milliseconds; undefined if it has none. */
export function timeoutOf(attributes: ValueObject, operation: "create" | "update" | "delete"): number | undefined {
  const { timeouts } = attributes;
  const text = isObject(timeouts) ? timeouts[operation] : undefined;
  return typeof text === "string" ? durationMs(text) : undefined;
}

interface Limit {
  /** Returns the moment after which no request is sent, in milliseconds since the epoch, by the current clock. */
  until(): number;
  /** Name of the setting, for messages: `timeouts.create`. */
  readonly name: string;
}

/** A writer that sends no request after Ctrl-C or after the limit, and waits for sent requests. */
export function stoppable(writer: Writer, stop: AbortSignal, limit?: Limit): Writer {
  const within = <O extends CallOptions>({ endpoint }: Mutation<MutationName>, options: O): O => {
    if (stop.aborted) {
      const summary = "Terraform was stopped before the request was sent";
      throw new ApiError({ code: "api.cancelled", summary, endpoint, reached: "no", remedies: ["Apply again."] });
    }
    const moments = [options.notAfter, limit?.until()].filter((each) => each !== undefined);
    return { ...options, stop, ...(moments.length > 0 && { notAfter: Math.min(...moments) }) };
  };
  return {
    request<E extends MutationName>(mutation: Mutation<E>, options: CallOptions = {}) {
      const sending = writer.request(mutation, within(mutation, options));
      return limit === undefined ? sending : sending.catch((error: unknown) => ranOut(error, mutation, limit));
    },
    reserve<E extends MutationName>(mutation: Mutation<E>, options: Parameters<Writer["reserve"]>[1] = {}) {
      const waiting = writer.reserve(mutation, within(mutation, options));
      return limit === undefined ? waiting : waiting.catch((error: unknown) => ranOut(error, mutation, limit));
    },
  };
}

/** Explains `api.too_late` as a passed time limit in `timeouts`. Rethrows other errors, and the expiry of an Idempotency-Key. */
function ranOut(error: unknown, { endpoint }: Mutation<MutationName>, { name }: Limit): never {
  if (!(error instanceof ApiError) || error.diagnostics[0]?.code !== "api.too_late") throw error;
  if (endpoints[endpoint].repeat === "keyed" && error.reached === "maybe") throw error;
  throw new ApiError(
    {
      code: "api.too_late",
      summary: `\`${name}\` ran out while the request waited for the request budget (60 a minute for a token)`,
      endpoint: error.endpoint,
      reached: error.reached,
      remedies: [`Apply again, or raise \`${name}\`.`],
    },
    { cause: error },
  );
}
