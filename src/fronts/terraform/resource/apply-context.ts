import { kinds } from "../../../core/kinds/index.ts";
import type { Kind } from "../../../core/kinds/kind.ts";
import { type ApplyContext, refuseStopped } from "../../../core/lifecycle/index.ts";
import { HostformError, type JsonObject, type ResourceState, type ValueObject } from "../../../core/model/index.ts";
import { labelOf } from "./attribute-mapping.ts";
import { busy, shownOnce } from "./journal-lookup.ts";
import { noteRefused } from "./order-name.ts";
import type { ProviderScope } from "./provider-scope.ts";
import { isToReplace, wasReleased } from "./replacement.ts";
import { stoppable } from "./stoppable.ts";
import { timeoutOf } from "./timeouts.ts";

export interface ApplyOptions {
  /** What the journal knows the object by. */
  readonly name: string | undefined;
  /** The attributes in which `timeouts` is looked up. */
  readonly config: ValueObject;
  /** The first note of it must find none: nothing is known of the object in the journal. */
  readonly isFirst?: boolean;
  /** What Terraform has recorded. */
  readonly prior: JsonObject | null;
  readonly operation: "create" | "update" | "delete";
  readonly scope: ProviderScope;
  /** Aborted when Terraform gives up the call. */
  readonly cancelled?: AbortSignal | undefined;
}

/** What was last recorded of the object while a change was applied. */
export interface Latest {
  resource: ResourceState | undefined;
  /** Without a resource: what was begun came to nothing. Absent: nothing was begun. */
  isDropped?: boolean;
}

/**
 * What the lifecycle needs to apply one change. What it records goes into the journal at once, because Terraform writes its
 * state only after the answer; `latest` is what the answer is made from.
 */
export function applyContext(
  kind: Kind,
  { name, config, prior, operation, scope, cancelled, isFirst }: ApplyOptions,
): { readonly context: ApplyContext; readonly latest: Latest } {
  const { session, account, jobs } = scope;
  const { client, clock, project, journal, place, secretOutputs, self } = session;
  const stop = cancelled === undefined ? session.stop : AbortSignal.any([session.stop, cancelled]);
  const base = shownOnce(kind, prior ?? {});
  const latest: Latest = { resource: undefined };
  const limit = timeoutOf(config, operation);
  const label = labelOf(kind, config);
  let first = isFirst;
  const context: ApplyContext = {
    account,
    writer:
      limit === undefined
        ? stoppable(client, stop)
        : stoppable(client, stop, { until: clock.now() + limit, name: `timeouts.${operation}` }),
    // Without one nothing is ordered: that is refused before it comes to this.
    project: project ?? "",
    pause: (ms) => clock.sleep(ms, stop).catch(() => refuseStopped()),
    stop,
    parentKind: kinds.get(kind.nested?.in ?? ""),
    owner: () => place,
    isOthers: (ofKind, remote) => scope.isOurs(ofKind, remote),
    take: (ofKind, id) => scope.take(ofKind, id, label),
    replaces: (remote) => wasReleased(kind, config, remote, scope) || isToReplace(kind, name, remote, scope),
    // Without a note of ours it may be another configuration's: it is imported by whoever knows that it is not.
    adoptsOrders: false,
    save: async (resource) => {
      const isNothing = resource.attributes.id == null && resource.private.pending === undefined;
      if (isNothing && name !== undefined) {
        noteRefused(kind, name, resource, session);
        return context.drop(resource.address);
      }
      if (name !== undefined && operation !== "delete") {
        const note = { ...resource, place, owner: self.mark, base };
        // Two processes may have looked at the same time, and found nothing.
        const other = first ? journal.insert(kind.type, name, note) : journal.put(kind.type, name, note);
        if (other) throw new HostformError([busy(other)]);
      }
      first = false;
      latest.resource = resource;
    },
    drop: async () => {
      latest.resource = undefined;
      latest.isDropped = true;
      if (name !== undefined) journal.remove(kind.type, name);
    },
    secretOutputs,
    wait: (ofKind, address, id, parent, done) =>
      jobs.wait(account, ofKind, "default", { address, id, done, timeoutMs: limit, stop }, parent),
  };
  return { context, latest };
}
