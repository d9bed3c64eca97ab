import type { Kind } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type Change,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  isReplacement,
  type JsonObject,
  type Plan,
  resourceOf,
  type State,
  type ValueObject,
} from "../model/index.ts";

/**
 * Returns the declared attributes. For an existing object, the live value replaces the declared value of each attribute under
 * `ignore_changes`.
 * @param live Live values. Null before the object is created.
 */
export function applyIgnoreChanges(
  { lifecycle }: Pick<DesiredResource, "lifecycle">,
  config: ValueObject,
  live: JsonObject | null,
): ValueObject {
  const ignored = lifecycle?.ignoreChanges;
  if (ignored === undefined || live === null) return config;
  const names = ignored === "all" ? Object.keys(config) : ignored.filter((name) => Object.hasOwn(config, name));
  const held = names.map((name) => [name, live[name] ?? null] as const);
  const kept = Object.entries(config).filter(([name]) => !names.includes(name));
  return Object.fromEntries([...kept, ...held.filter(([, value]) => value !== null)]);
}

/**
 * Returns errors about removals and replacements that `prevent_destroy` forbids. In a destroy, every protected resource is an
 * error, as in Terraform, even if the removal policy would keep its object.
 */
export function preventDestroyErrors(
  changes: readonly Change[],
  { resources, preventDestroy = [], skipDestroy = [] }: Pick<Desired, "resources" | "preventDestroy" | "skipDestroy">,
  mode: Plan["mode"],
): Diagnostic[] {
  const declared = new Map(resources.map((resource) => [resource.address, resource]));
  const names = new Map(preventDestroy.map(({ resource, range }) => [resource, range]));
  return changes.flatMap((change): Diagnostic[] => {
    const leaves =
      mode === "destroy" || change.actions[0] === "delete" || change.actions[0] === "forget" || isReplacement(change);
    const resource = declared.get(change.address);
    if (isReplacement(change) && skipDestroy.includes(resourceOf(change.address))) {
      const { address } = change;
      return [problem("plan.prevented/skip_destroy", { address, range: resource?.locate([]) })];
    }
    // The block of the previous address still protects a moved object.
    const protecting = [change.previousAddress ?? [], change.address].flat().find((one) => names.has(resourceOf(one)));
    // If the object no longer exists, nothing is destroyed.
    const isGone = change.reasons.length > 0 && change.reasons.every(({ why }) => why === "gone");
    if (!leaves || protecting === undefined || isGone) return [];
    const range = resource?.locate([]) ?? names.get(resourceOf(protecting));
    const former = protecting === change.address ? undefined : protecting;
    const about = { address: change.address, former, isReplaced: isReplacement(change) };
    return [problem("plan.prevented/lifecycle", { ...about, range })];
  });
}

/** Returns a warning if `create_before_destroy` is set but the old object must be deleted first. */
export function warnCreateBeforeDestroy(kind: Kind, resource: DesiredResource, { actions }: Change): Diagnostic[] {
  const asked = resource.lifecycle?.createBeforeDestroy === true;
  if (!asked || actions.length === 1 || actions[0] === "create") return [];
  const { address } = resource;
  return [problem("config.unsupported/order", { address, noun: kind.noun, range: resource.locate([]) })];
}

/**
 * Returns the function that decides whether a removal of an address changes only the state: a `removed` block, or else
 * `lifecycle`, says `destroy = false`. A block of an instance overrides a block of the resource.
 * @param state remembers `lifecycle` of a block that no longer exists.
 */
export function forgottenBy(
  { removed = [], skipDestroy = [] }: Pick<Desired, "removed" | "skipDestroy">,
  { resources }: Pick<State, "resources">,
): (address: string) => boolean {
  const destroyed = new Map(removed.map(({ from, destroy }) => [from, destroy]));
  return (address) => {
    const destroy = destroyed.get(address) ?? destroyed.get(resourceOf(address));
    const isKept = skipDestroy.includes(resourceOf(address)) || resources.get(address)?.private.skipDestroy === true;
    return destroy === undefined ? isKept : !destroy;
  };
}

/** Returns errors about declared resources that a `removed` block names. */
export function removedErrors({ resources, removed = [] }: Pick<Desired, "resources" | "removed">): Diagnostic[] {
  if (removed.length === 0) return [];
  const names = new Set(resources.flatMap(({ address }) => [address, resourceOf(address)]));
  return removed
    .filter(({ from }) => names.has(from))
    .map(({ from, range }) => problem("config.reference/removed", { address: from, range }));
}
