import { problem } from "../messages/index.ts";
import { walk } from "../model/graph.ts";
import {
  type Desired,
  type Diagnostic,
  formatAddress,
  HostformError,
  type MovedBlock,
  parseAddress,
  type ResourceState,
  resourceOf,
  type State,
} from "../model/index.ts";

/** A state entry that gets a new address. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

/** The state after the moves, and the moves in the order in which the saved state must execute them. */
interface MovedState {
  readonly state: State;
  readonly moves: readonly Move[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Moves state entries to their declared addresses, as Terraform does: entries of `moved` blocks, and `a` to `a[0]` or back if
 * `count` was added or removed. A renamed block therefore causes no order. Saves nothing.
 * @throws HostformError `config.reference` if a moved address is still declared, or moves form a cycle.
 */
export function moved(desired: Pick<Desired, "resources" | "moved">, state: State): MovedState {
  const wrong = moveErrors(desired);
  if (wrong.length > 0) throw new HostformError(wrong);
  const declared = new Set(desired.resources.map(({ address }) => address));
  const moves: Move[] = [];
  const diagnostics: Diagnostic[] = [];
  const resources = new Map(state.resources);
  const move = (from: string, to: string) => {
    const resource = resources.get(from);
    if (resource === undefined) return;
    resources.delete(from);
    resources.set(to, { ...resource, address: to });
    moves.push({ from, to });
  };
  for (const block of inOrder(desired.moved ?? []).order) {
    for (const { from, to } of steps(block, resources)) {
      // Terraform would plan to destroy the object. In hostform, that could suspend a site.
      if (resources.has(to))
        diagnostics.push(problem("config.reference/occupied", { from, to, address: from, range: block.range }));
      else move(from, to);
    }
  }
  for (const address of [...resources.keys()]) {
    const to = impliedTarget(address, declared, resources);
    if (to !== undefined) move(address, to);
  }
  if (moves.length === 0) return { state, moves, diagnostics };
  return { state: { ...state, resources: followed(resources, moves) }, moves, diagnostics };
}

/** Returns the instances that a block moves. A block without a key moves all instances. */
function steps({ from, to }: MovedBlock, resources: ReadonlyMap<string, ResourceState>): Move[] {
  const source = parseAddress(from);
  const target = parseAddress(to);
  if (source === undefined || target === undefined) return [];
  if (source.key !== undefined || target.key !== undefined) return resources.has(from) ? [{ from, to }] : [];
  return [...resources.keys()].flatMap((address) => {
    const key = parseAddress(address)?.key;
    if (resourceOf(address) !== from) return [];
    return [{ from: address, to: formatAddress({ ...target, ...(key !== undefined && { key }) }) }];
  });
}

/** Returns the new address after `count` was added or removed: `a` becomes `a[0]`, or `a[0]` becomes `a`. */
function impliedTarget(
  address: string,
  declared: ReadonlySet<string>,
  resources: ReadonlyMap<string, ResourceState>,
): string | undefined {
  if (declared.has(address)) return undefined;
  const name = resourceOf(address);
  const to = address === name ? `${name}[0]` : address === `${name}[0]` ? name : undefined;
  return to !== undefined && declared.has(to) && !resources.has(to) ? to : undefined;
}

/** Renames moved resources in the saved dependencies. A dependency is a resource name without instance key. */
export function followed(
  resources: ReadonlyMap<string, ResourceState>,
  moves: readonly Move[],
): Map<string, ResourceState> {
  const left = new Set([...resources.keys()].map(resourceOf));
  const names = new Map(moves.map(({ from, to }) => [resourceOf(from), resourceOf(to)]));
  const follow = (name: string): string => {
    const next = names.get(name);
    return next === undefined || left.has(name) ? name : follow(next);
  };
  return new Map(
    [...resources].map(([address, resource]) => [
      address,
      { ...resource, dependencies: [...new Set(resource.dependencies.map(follow))] },
    ]),
  );
}

/**
 * Sorts blocks: a block comes after blocks that move something to its source. A block of an instance comes before a block of
 * its resource.
 */
function inOrder(blocks: readonly MovedBlock[]) {
  const byTo = Map.groupBy(blocks, ({ to }) => to);
  const within = Map.groupBy(blocks, ({ to }) => resourceOf(to));
  const instances = Map.groupBy(blocks, ({ from }) => resourceOf(from));
  const nodes = new Map(blocks.map((block) => [block.from, block]));
  const before = ({ from, to }: MovedBlock): readonly MovedBlock[] => {
    const resource = resourceOf(from);
    if (from !== resource) return [...(byTo.get(from) ?? []), ...(byTo.get(resource) ?? [])];
    if (to !== resourceOf(to)) return byTo.get(from) ?? [];
    return [...(within.get(from) ?? []), ...(instances.get(from) ?? []).filter((one) => one.from !== from)];
  };
  const { order, circles } = walk(nodes.keys(), (name) =>
    before(nodes.get(name) as MovedBlock).map(({ from }) => from),
  );
  const blockOf = (name: string) => nodes.get(name) ?? [];
  return { order: order.flatMap(blockOf), circles: circles.flatMap(({ nodes: [first = ""] }) => blockOf(first)) };
}

/** Returns mistakes in the `moved` blocks. The state does not matter. */
export function moveErrors({ resources, moved: blocks = [] }: Pick<Desired, "resources" | "moved">): Diagnostic[] {
  if (blocks.length === 0) return [];
  const declared = new Set(resources.map(({ address }) => address));
  const names = new Set([...declared].map(resourceOf));
  const byFrom = Map.groupBy(blocks, ({ from }) => from);
  const byTo = Map.groupBy(blocks, ({ to }) => to);
  const wrong = blocks.flatMap((block): Diagnostic[] => {
    const { from, to } = block;
    const { type, key } = parseAddress(from) ?? {};
    if (type !== parseAddress(to)?.type) return [problem("config.reference/types", block)];
    if (from !== to && (key === undefined ? names : declared).has(from))
      return [problem("config.reference/declared", block)];
    // The second resource would be ordered or removed.
    if ((byFrom.get(from)?.length ?? 0) > 1) return [problem("config.reference/forked", block)];
    return (byTo.get(to)?.length ?? 0) > 1 ? [problem("config.reference/joined", block)] : [];
  });
  return wrong.length > 0 ? wrong : inOrder(blocks).circles.map((block) => problem("config.circle/moves", block));
}

/**
 * Combines two lists of moves into simultaneous moves.
 * @param inTurn Moves that run one by one.
 * @param atOnce Moves that run simultaneously after these.
 */
export function composed(oneByOne: readonly Move[], atOnce: readonly Move[] = []): Move[] {
  const origins = new Map<string, string>();
  const take = (from: string): string => {
    const origin = origins.get(from) ?? from;
    origins.delete(from);
    return origin;
  };
  for (const { from, to } of oneByOne) origins.set(to, take(from));
  const last = atOnce.map(({ from, to }) => ({ from: take(from), to }));
  const all = [...[...origins].map(([to, from]) => ({ from, to })), ...last];
  return all.filter(({ from, to }) => from !== to);
}
