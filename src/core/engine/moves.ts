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

/** A recorded resource under its new address. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

/** The state as it is to be read from now on, and what has to be moved in the recorded one for that, in this order. */
interface MovedState {
  readonly state: State;
  readonly moves: readonly Move[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Gives recorded resources the addresses that a declaration says they have now, as Terraform does: what `moved` names,
 * and automatically what was one and has become the first of several (`count`), or the other way round. Nothing is
 * written. An order is thus never mistaken for a new one because its block was renamed.
 * @throws HostformError `config.reference` when what has moved is still declared, or moves go in a circle.
 */
export function moved(desired: Pick<Desired, "resources" | "moved">, state: State): MovedState {
  const declared = new Set(desired.resources.map(({ address }) => address));
  const blocks = desired.moved ?? [];
  checkBlocks(blocks, declared);
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
  for (const block of ordered(blocks)) {
    for (const { from, to } of steps(block, resources)) {
      if (resources.has(to)) diagnostics.push(occupied(block, from, to));
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

/** The instances that a block moves. Without a key it means all of them. */
function steps({ from, to }: MovedBlock, resources: ReadonlyMap<string, ResourceState>): Move[] {
  const [source, target] = [parseAddress(from), parseAddress(to)];
  if (source === undefined || target === undefined) return [];
  if (source.key !== undefined || target.key !== undefined) return resources.has(from) ? [{ from, to }] : [];
  return [...resources.keys()].flatMap((address) => {
    const key = parseAddress(address)?.key;
    if (resourceOf(address) !== from) return [];
    return [{ from: address, to: formatAddress({ ...target, ...(key !== undefined && { key }) }) }];
  });
}

/** `a` is recorded and `a[0]` declared, or the other way round, and neither is both. */
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

/** Dependencies are recorded by resource, without a key: those on a resource that is called otherwise now follow it. */
function followed(resources: ReadonlyMap<string, ResourceState>, moves: readonly Move[]): Map<string, ResourceState> {
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

/** Each block after those that move something to where it moves from. */
function ordered(blocks: readonly MovedBlock[]): MovedBlock[] {
  const done: MovedBlock[] = [];
  let open = [...blocks];
  while (open.length > 0) {
    const targets = new Set(open.map(({ to }) => resourceOf(to)));
    const ready = open.filter(({ from }) => !targets.has(resourceOf(from)));
    const next = ready.length > 0 ? ready : open.filter(({ from }) => !open.some(({ to }) => to === from));
    if (next.length === 0) throw new HostformError(open.slice(0, 1).map(circle));
    done.push(...next);
    open = open.filter((block) => !next.includes(block));
  }
  return done;
}

function checkBlocks(blocks: readonly MovedBlock[], declared: ReadonlySet<string>): void {
  const names = new Set([...declared].map(resourceOf));
  const wrong = blocks.flatMap((block): Diagnostic[] => {
    const { from, to, range } = block;
    const place = range === undefined ? {} : { range };
    const keyed = parseAddress(from)?.key !== undefined;
    if (keyed ? declared.has(from) : names.has(from)) {
      const summary = `${from} has moved to ${to}, but is still declared`;
      return [{ severity: "error", code: "config.reference", summary, remedies: ["Remove one of the two."], ...place }];
    }
    // As in Terraform: it is unknown which of the two is meant, and the other one would be ordered or removed.
    const other = blocks.find((one) => one !== block && (one.from === from || one.to === to));
    if (other !== undefined) {
      const twice = other.from === from ? `${from} has moved to two places` : `Two resources have moved to ${to}`;
      return [
        { severity: "error", code: "config.reference", summary: twice, remedies: ["Remove one of the two."], ...place },
      ];
    }
    if (parseAddress(from)?.type === parseAddress(to)?.type) return [];
    const summary = `${from} cannot move to ${to}: the types differ`;
    return [{ severity: "error", code: "config.reference", summary, remedies: ["Correct one of the two."], ...place }];
  });
  if (wrong.length > 0) throw new HostformError(wrong);
}

function occupied({ range }: MovedBlock, from: string, to: string): Diagnostic {
  return {
    severity: "warning",
    code: "config.reference",
    summary: `${from} cannot move to ${to}: something is recorded there already`,
    detail: `${from} is no longer declared, so this plan removes it as far as its deletion_policy allows.`,
    remedies: [{ do: "see", what: "recorded" }],
    address: from,
    ...(range && { range }),
  };
}

function circle({ from, to, range }: MovedBlock): Diagnostic {
  return {
    severity: "error",
    code: "config.circle",
    summary: `The moves form a circle: ${from} to ${to}, and in the end back to ${from}`,
    remedies: ["Remove one of them.", { do: "see", what: "swap" }],
    ...(range && { range }),
  };
}

/** Where what is planned under an address was recorded until now. */
export function previousAddressOf(address: string, moves: readonly Move[]): { readonly previousAddress?: string } {
  const before = moves.reduceRight((at, { from, to }) => (to === at ? from : at), address);
  return before === address ? {} : { previousAddress: before };
}
