/**
 * Creates without a known outcome. The state keeps such an instance without an id, marked as tainted, with the intent in its
 * private data; the store of this machine keeps the intent as an entry. Terraform replaces the instance in the next apply: the
 * destroy leg sends nothing and keeps the entry, and the create leg settles it (docs/decisions/0049).
 */
import type { Kind, Remote } from "../../../core/kinds/kind.ts";
import {
  intentId,
  isPendingCreate,
  type Others,
  objectKey,
  type PendingCreate,
  planResource,
  read,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  HostformError,
  type Intent,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import { schemaOf } from "../schema/of-kind.ts";
import { labelOf, type Mark, nameOf, recordedAs } from "./attribute-mapping.ts";
import { refuseEdited } from "./entry-lookup.ts";
import { failureOf, unseenCreate } from "./notices.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";

/** An entry of any kind. */
export const entryKey = (kind: Kind, attributes: JsonObject): string => `${kind.type} ${nameOf(kind, attributes)}`;

const lastSent = ({ since, resent = since }: Intent): number => Date.parse(resent);

/** Returns true if the store needs no copy of an intent that the state has: it has the same create, a later one, or its outcome. */
function isKept(entry: Entry | undefined, { private: { pending } }: PendingCreate, place: string): boolean {
  const kept = entry?.private.pending;
  if (entry === undefined || kept === undefined) return entry !== undefined;
  const isLater = lastSent(kept) >= lastSent(pending);
  // A create of another state stays the other state's; this state may have moved to another place.
  return intentId(kept) === intentId(pending) ? isLater && entry.place === place : isLater || entry.place !== place;
}

/**
 * Writes the intent of a pending instance into the store, where the create leg finds it. A fresh machine has the state alone.
 * @param isDurable the state loses the intent next: the store must have it.
 * @returns the entry that counts; undefined: the object has no name yet.
 * @throws HostformError `store.unwritable` and others, if it must be durable.
 */
export async function keepIntent(
  kind: Kind,
  prior: PendingCreate,
  { session: { entries, place } }: ProviderScope,
  isDurable = false,
): Promise<Entry | undefined> {
  const name = nameOf(kind, prior.attributes);
  const entry = await entries.get(kind.type, name);
  const isCurrent = isKept(entry, prior, place);
  const isNoted = entry?.inState || entry?.place !== place || entry.private.pending === undefined;
  if (name === undefined || (isCurrent && isNoted)) return entry;
  const { address, provider, schemaVersion, attributes, sensitive, private: mark, dependencies } = prior;
  const own = { address, provider, schemaVersion, attributes, sensitive, private: mark, dependencies, place };
  const kept: Entry = { ...(isCurrent && entry !== undefined ? entry : own), inState: true };
  await entries.put(kind.type, name, kept, { isDurable });
  return kept;
}

/**
 * Returns true if a failed create leg leaves the pending instance where it is: with create_before_destroy the instance has stepped
 * aside, and Terraform puts it back if the create leg answers no state.
 */
export const stepsAside = (kind: Kind, entry: Entry | undefined, { passed }: ProviderScope): boolean =>
  entry?.inState === true && !passed.has(entryKey(kind, entry.attributes));

/** Returns true if the user resolved this create: it created nothing. */
export const isResolvedAbsent = (entry: Entry | undefined, { private: { pending } }: PendingCreate): boolean =>
  entry?.resolved === "absent" && isPendingCreate(entry) && intentId(entry.private.pending) === intentId(pending);

/** Plan of a create that settles an earlier one. */
interface Settlement {
  /** The mark of the pending create, for the destroy leg: another machine may apply the plan. */
  readonly settles?: PrivateMark;
  readonly diagnostics: readonly Diagnostic[];
}

/** Plans the create leg of a pending create. Terraform sends neither the tainted instance nor its mark. */
export async function planSettlement(
  kind: Kind,
  config: ValueObject,
  entry: Entry | undefined,
  scope: ProviderScope,
): Promise<Settlement> {
  if (isPendingCreate(entry)) {
    scope.settled.add(entryKey(kind, entry.attributes));
    try {
      refuseEdited(kind, entry, config);
    } catch (error) {
      return { diagnostics: failureOf(error) };
    }
    return { settles: entry.private, diagnostics: await questionAbout(kind, config, entry, scope) };
  }
  const name = nameOf(kind, config);
  // The user may have resolved it.
  const isUnseen = scope.hasPending(kind, name) && (await scope.session.entries.get(kind.type, name)) === undefined;
  return { diagnostics: isUnseen ? [unseenCreate(labelOf(kind, config))] : [] };
}

/** Returns the question that the apply would end with. A failed read is left to the apply. */
async function questionAbout(
  kind: Kind,
  config: ValueObject,
  prior: PendingCreate,
  scope: ProviderScope,
): Promise<readonly Diagnostic[]> {
  const { account } = scope;
  try {
    const others = await othersOf(kind, nameOf(kind, prior.attributes), prior, scope);
    const observed = await read(account, { kind, prior: undefined, config: prior.attributes, isPending: true });
    const { change, diagnostics } = planResource({
      kind,
      address: labelOf(kind, config),
      provider: "default",
      declared: {},
      config,
      prior,
      observed,
      dependsOn: [],
      reorder: false,
      plans: [],
      now: account.hostNow(),
      settings: account.settings,
      ...others,
    });
    return change.actions[0] === "no-op" ? diagnostics : [];
  } catch (error) {
    if (error instanceof HostformError) return [];
    throw error;
  }
}

/**
 * Planned values of a pending instance that the plan leaves as it is: its id is known after the apply, so that no plan of it
 * has "No changes".
 */
export function stillOpen(kind: Kind, attributes: ValueObject): ValueObject {
  const { attributes: schema } = schemaOf(kind);
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]): [string, Value] => [
      name,
      value === null && schema[name]?.computed ? UNKNOWN : value,
    ]),
  );
}

/**
 * Decides what the destroy of an instance without an id does.
 * @returns the create to be removed; undefined: nothing is sent, and the create leg or another resource settles the create.
 * @throws HostformError if the intent is unknown, or cannot be kept. The instance stays in the state.
 */
export async function pendingToRemove(
  kind: Kind,
  prior: JsonObject,
  { settles, ...mark }: Mark,
  scope: ProviderScope,
): Promise<ResourceState | undefined> {
  const own = recordedAs(kind, prior, settles ?? mark);
  if (isPendingCreate(own)) {
    const entry = await keepIntent(kind, own, scope, true);
    if (settles !== undefined || isResolvedAbsent(entry, own)) {
      scope.passed.add(entryKey(kind, prior));
      return undefined;
    }
    if (entry === undefined || isPendingCreate(entry)) return own;
    // Another resource has the object: the create leg of create_before_destroy is carried out first.
    return entry.resolved === "adopted" && scope.ownerOf(kind, entry.attributes) === undefined ? entry : undefined;
  }
  const entry = await scope.session.entries.get(kind.type, nameOf(kind, prior));
  const { place } = scope.session;
  if (entry === undefined || (entry.place ?? place) !== place) throw new HostformError([unseenCreate(own.address)]);
  // The declaration has another natural key by now: nothing settles this create.
  return entry.resolved !== "absent" && isPendingCreate(entry) ? entry : undefined;
}

/**
 * The other resources, for a decision about a create: a pending entry of the store is a sibling; an entry with an id, and each
 * object that the state holds, has an owner.
 * @param name of the entry of the create.
 */
export async function othersOf(
  kind: Kind,
  name: string | undefined,
  sent: PendingCreate | undefined,
  scope: ProviderScope,
  but?: Owner,
): Promise<Required<Pick<Others, "ownerOf" | "siblings">>> {
  await scope.holdings.load();
  const siblings: PendingCreate[] = [];
  const holders = new Map<string | undefined, string>();
  for (const [of, entry] of await scope.session.entries.all(kind.type)) {
    if (of === name || entry.resolved === "absent") continue;
    if (isPendingCreate(entry)) siblings.push(entry);
    else holders.set(objectKey("default", kind, entry.attributes), entry.address);
  }
  const ownerOf = (remote: Remote) =>
    scope.labelOf(kind, remote, but, sent) ??
    holders.get(objectKey("default", kind, { ...remote.attributes, id: remote.id }) ?? "");
  return { siblings, ownerOf };
}
