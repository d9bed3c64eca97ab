// If one resource fails, hostform skips its change and all dependents. All other changes can be applied.
import type { Kinds } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import { walk } from "../model/graph.ts";
import { type Change, type Diagnostic, type HeldBack, isNoOp, isOfOne } from "../model/index.ts";
import { blockersOf } from "./dependencies.ts";

interface Held {
  /** All changes. Skipped changes are no-ops. */
  readonly changes: readonly Change[];
  readonly held: readonly HeldBack[];
  /** One warning per resource whose failure skips other changes. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Skips the changes of failed resources and their dependents. @param unread Addresses that hostform could not read. */
export function holdBack(
  changes: readonly Change[],
  diagnostics: readonly Diagnostic[],
  unread: ReadonlySet<string>,
  kinds: Kinds,
): Held {
  const refused = diagnostics.flatMap((one) => (isOfOne(one) && one.address !== undefined ? [one.address] : []));
  const roots = [...new Set([...refused, ...unread])];
  if (roots.length === 0) return { changes, held: [], diagnostics: [] };
  const edges = [...blockersOf(changes, kinds)].flatMap(([address, on]) => on.map((other) => ({ other, address })));
  const dependents = Map.groupBy(edges, ({ other }) => other);
  const changing = new Map(changes.flatMap((change) => (isNoOp(change) ? [] : [[change.address, change]])));
  const held = new Map<string, HeldBack>();
  const found: Diagnostic[] = [];
  for (const root of roots.sort()) {
    const { order } = walk([root], (at) => (dependents.get(at) ?? []).map(({ address }) => address));
    const own = order.filter((address) => changing.has(address) && !held.has(address)).sort();
    for (const address of own) {
      const { type, actions } = changing.get(address) as Change;
      held.set(address, { address, type, actions, because: root });
    }
    const others = own.filter((address) => address !== root);
    // If only the failed resource itself is skipped, its error is sufficient.
    if (others.length > 0 || (unread.has(root) && own.length > 0))
      found.push(
        problem("plan.held_back", { address: root, others, isOwn: own.includes(root), isUnread: unread.has(root) }),
      );
  }
  return {
    changes: changes.map((change) => (held.has(change.address) ? keptAsIs(change) : change)),
    held: [...held.values()].sort((a, b) => (a.address < b.address ? -1 : 1)),
    diagnostics: found,
  };
}

/** Returns a no-op for the same resource. */
export function keptAsIs({ removal: _, quote: __, importing: ___, ...change }: Change): Change {
  const after = change.before;
  return { ...change, actions: ["no-op"], after, after_unknown: {}, reasons: [], deferred: [], requests: 0 };
}
