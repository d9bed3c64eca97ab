import type { Kind } from "../../kinds/kind.ts";
import type { ApplyContext } from "../../lifecycle/index.ts";
import type { JsonObject, ResourceState, ValueObject } from "../../model/index.ts";
import type { Front } from "./front.ts";
import { JOB_MS } from "./front.ts";
import { onceTold } from "./noted.ts";
import { stoppable } from "./stoppable.ts";
import { labelOf } from "./subject.ts";
import { timeoutOf } from "./timeouts.ts";

export interface Surroundings {
  /** What the journal knows the object by. */
  readonly name: string | undefined;
  /** The attributes in which `timeouts` is looked up. */
  readonly config: ValueObject;
  /** What Terraform has recorded. */
  readonly prior: JsonObject | null;
  readonly operation: "create" | "update" | "delete";
  readonly front: Front;
}

/** What was last recorded of the object while a change was applied. */
export interface Latest {
  resource: ResourceState | undefined;
}

/**
 * What the lifecycle needs to apply one change. What it records goes into the journal at once, because Terraform writes its
 * state only after the answer; `latest` is what the answer is made from.
 */
export function applyContext(
  kind: Kind,
  { name, config, prior, operation, front }: Surroundings,
): { readonly context: ApplyContext; readonly latest: Latest } {
  const { session, account, jobs } = front;
  const { client, clock, project, journal, place, secretOutputs, self, stop } = session;
  const base = onceTold(kind, prior ?? {});
  const latest: Latest = { resource: undefined };
  const limit = timeoutOf(config, operation);
  const label = labelOf(kind, config);
  const context: ApplyContext = {
    account,
    writer:
      limit === undefined
        ? stoppable(client, stop)
        : stoppable(client, stop, { until: clock.now() + limit, name: `timeouts.${operation}` }),
    // Without one nothing is ordered: that is refused before it comes to this.
    project: project ?? "",
    now: () => clock.now(),
    pause: (ms) => clock.sleep(ms),
    take: (ofKind, id) => front.take(ofKind, id, label),
    replaces: (remote) => front.isReplaced(kind, config, remote),
    // Without a note of ours it may be another configuration's: it is imported by whoever knows that it is not.
    adoptsOrders: false,
    save: async (resource) => {
      latest.resource = resource;
      if (name !== undefined && operation !== "delete")
        journal.put(kind.type, name, { ...resource, place, owner: self.mark, base });
    },
    drop: async () => {
      latest.resource = undefined;
      if (name !== undefined) journal.remove(kind.type, name);
    },
    secretOutputs,
    wait: (ofKind, address, id, parent, done) =>
      jobs.wait(account, ofKind, "default", { address, id, done, timeoutMs: limit ?? JOB_MS }, parent),
  };
  return { context, latest };
}
