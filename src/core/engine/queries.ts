import type { Kind, Kinds } from "../kinds/kind.ts";
import { attributesOf, isPendingCreate, namesOutcome, parentOf, type ReadQuery } from "../lifecycle/index.ts";
import {
  type Desired,
  type EnvVars,
  type EvalScope,
  originsOf,
  type State,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../model/index.ts";
import type { DataSources } from "./data.ts";
import { kindOf, resolveConfig, scopeOf } from "./resolve-config.ts";

/** Query for one declared resource or state entry. Building a query sends no request. */

export interface Query extends ReadQuery {
  readonly address: string;
  readonly provider: string;
}

/** Returns the values known before the first reading: the state, and the ids of objects to import. */
export function recordedScope(
  desired: Desired,
  state: State,
  kinds: Kinds,
  env: EnvVars,
  data: DataSources,
): EvalScope {
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const scope: EvalScope = scopeOf(
    (address): Value | undefined => {
      if (data.has(address)) return data.value(address, scope);
      const prior = state.resources.get(address);
      if (prior !== undefined) return prior.attributes;
      const kind = kindOf(address, kinds);
      const importId = declared.get(address)?.importId;
      return kind === undefined || importId === undefined ? UNKNOWN : adopted(kind, importId);
    },
    env,
    (address) => data.origins(address, scope) ?? originsOf(state.resources.get(address)),
  );
  return scope;
}

export function queriesOf(desired: Desired, state: State, kinds: Kinds, scope: EvalScope): Query[] {
  const declared = new Set(desired.resources.map(({ address }) => address));
  const queries: Query[] = [];
  const add = (
    address: string,
    provider: string,
    kind: Kind,
    config: ValueObject | undefined,
    importId: string | undefined,
  ) => {
    const prior = state.resources.get(address);
    // A pending order has no object yet, so treat the resource as new.
    const recorded = typeof prior?.attributes.id === "string" ? prior : undefined;
    // Search for a pending order with the attributes of its request, even if the declaration changed.
    const sought = prior?.private.pending === undefined ? config : prior.attributes;
    const adopted =
      importId !== undefined &&
      (prior === undefined || !isPendingCreate(prior) || namesOutcome(kind, prior.private, importId));
    queries.push({
      ...(isPendingCreate(prior) && { isPending: true }),
      address,
      provider: prior?.provider ?? provider,
      kind,
      prior: recorded,
      config: sought,
      ...(adopted && { importId }),
    });
  };
  for (const resource of desired.resources) {
    const kind = kinds.get(resource.type);
    if (kind === undefined) continue;
    add(resource.address, resource.provider, kind, resolveConfig(kind, resource, scope).config, resource.importId);
  }
  for (const prior of state.resources.values()) {
    const kind = declared.has(prior.address) ? undefined : kindOf(prior.address, kinds);
    if (kind !== undefined) add(prior.address, prior.provider, kind, undefined, undefined);
  }
  return queries;
}

/** Returns the attributes of an object to import. Only its id is known. */
function adopted(kind: Kind, id: string): ValueObject {
  return Object.fromEntries(attributesOf(kind).map(({ name }) => [name, name === "id" ? id : UNKNOWN]));
}

export const mayCreate = ({ prior, importId, config }: Query) =>
  config !== undefined && (prior === undefined ? importId === undefined : prior.attributes.id === null);

export const adoptsByPlan = ({ kind, prior, importId }: Query) =>
  kind.fromCatalogue !== undefined && prior === undefined && importId !== undefined;

/** Sorts parents before their children. */
export const byDepth = (a: Query, b: Query) =>
  Number(a.kind.nested !== undefined) - Number(b.kind.nested !== undefined);

export const isReadable = ({ list, get }: Kind) => list !== undefined || get !== undefined;

/** Returns the key of the list that contains the queried object. */
export const shareOf = (query: Query) => `${query.provider} ${query.kind.type} ${parentIn(query) ?? ""}`;

export const parentIn = ({ kind, prior, config }: Query) => parentOf(kind, prior?.attributes ?? config);
