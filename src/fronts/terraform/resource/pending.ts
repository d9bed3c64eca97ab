/**
 * Creates without a known outcome. The state keeps such an instance without an id, marked as tainted, with the intent in its
 * private data; the store of this machine keeps the intent as an entry. Terraform replaces the instance in the next apply: the
 * destroy leg sends no request and keeps the entry, and the create leg completes the create (docs/decisions/0049).
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
  type ResourceState,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import { problem, refuse } from "../messages.ts";
import { schemaOf } from "../schema/of-kind.ts";
import { labelOf, type Mark, nameOf, recordedAs } from "./attribute-mapping.ts";
import { refuseEdited } from "./entry-lookup.ts";
import { failureOf } from "./notices.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";

/** Returns the key of an entry: its type and name. Two kinds may use the same name. */
export const entryKey = (kind: Kind, attributes: ValueObject): string => `${kind.type} ${nameOf(kind, attributes)}`;

const lastSent = ({ since, resent = since }: Intent): number => Date.parse(resent);

/** Returns true if the store needs no copy of the state's intent: it contains the same create, a later create, or the outcome. */
function isKept(entry: Entry | undefined, { private: { pending } }: PendingCreate, place: string): boolean {
  const kept = entry?.private.pending;
  if (entry === undefined || kept === undefined) return entry !== undefined;
  const isLater = lastSent(kept) >= lastSent(pending);
  // Keep the entry of another state. After a move of this state, its own entries have the earlier place.
  return intentId(kept) === intentId(pending) ? isLater && entry.place === place : isLater || entry.place !== place;
}

/**
 * Writes the intent of a pending instance into the store for the create leg. On a fresh machine, only the state contains the intent.
 * @param isDurable true if the state loses the intent next: the write must succeed.
 * @returns the valid entry; undefined: the object has no name yet.
 * @throws HostformError `store.unwritable` and others, if `isDurable`.
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
  const { plans } = entry?.place === place ? entry : {};
  const own = { ...prior, place };
  const kept: Entry = { ...(isCurrent && entry !== undefined ? entry : own), ...(plans && { plans }), inState: true };
  await entries.put(kind.type, name, kept, { isDurable });
  return kept;
}

/**
 * Returns true if a failed create leg leaves the pending instance in the state: with create_before_destroy, Terraform restores the
 * deposed instance if the create leg returns no state.
 */
export const stepsAside = (entry: Entry | undefined): boolean => entry?.inState === true;

/** Returns true if the user resolved this create with `--absent`. */
export const isResolvedAbsent = (entry: Entry | undefined, { private: { pending } }: PendingCreate): boolean =>
  entry?.resolved === "absent" && isPendingCreate(entry) && intentId(entry.private.pending) === intentId(pending);

/** Maximum number of plans in one entry. */
const PLANS = 20;

/**
 * Records in the entry of a pending create whether this plan has a create with the same name. The pending instance and the create call
 * this function after their registration, because Terraform plans them in any order.
 */
export function noteDeclared(kind: Kind, name: string | undefined, scope: ProviderScope): Promise<void> {
  const { holdings, session } = scope;
  const { entries, place } = session;
  // The apply uses the record that the plan wrote.
  if (name === undefined || holdings.isApply) return scope.noting;
  scope.noting = scope.noting.then(async () => {
    const entry = await entries.get(kind.type, name);
    const { plans = {}, place: of } = entry ?? {};
    if (entry === undefined || of !== place || !isPendingCreate(entry)) return;
    const isDeclared = await scope.isDeclared(entryKey(kind, entry.attributes));
    if (plans[holdings.run] === isDeclared) return;
    const kept = Object.entries(plans).slice(1 - PLANS);
    const noted: Entry = { ...entry, plans: { ...Object.fromEntries(kept), [holdings.run]: isDeclared } };
    await entries.put(kind.type, name, noted);
  });
  return scope.noting;
}

/** Plan of a create that completes an earlier create. */
interface Settlement {
  /** Data for the destroy leg, because another machine may apply the plan. */
  readonly settles?: NonNullable<Mark["settles"]>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Plans the create leg of a pending create. Terraform sends neither the tainted instance nor its mark. */
export async function planSettlement(
  kind: Kind,
  config: ValueObject,
  entry: Entry | undefined,
  scope: ProviderScope,
): Promise<Settlement> {
  const name = nameOf(kind, config);
  if (isPendingCreate(entry)) {
    try {
      refuseEdited(kind, entry, config);
    } catch (error) {
      return { diagnostics: failureOf(error) };
    }
    return { settles: { name, mark: entry.private }, diagnostics: await questionAbout(kind, config, entry, scope) };
  }
  // `hostform resolve` may have removed the entry.
  const isUnseen = scope.hasPending(kind, name) && (await scope.session.entries.get(kind.type, name)) === undefined;
  return { diagnostics: isUnseen ? [unseen(kind, config)] : [] };
}

/** Reports a pending create in the state whose request is not in the store of this machine. */
const unseen = (kind: Kind, attributes: ValueObject) =>
  problem("plan.pending/unseen", { what: labelOf(kind, attributes) });

/** Returns the error with which the apply would end, because the create needs a decision of the user. Ignores a failed read. */
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
 * Returns planned values of an unchanged pending instance. The id is known only after the apply, so that the plan never shows
 * "No changes".
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

/** Time for which the plan of a removal waits for a planned create, in milliseconds. */
const CREATE_MS = 500;

/**
 * Plans the destroy of an instance without an id. A planned create with the same name completes its create, at any address. Without
 * such a create, the destroy ends the create as undeclared.
 * @returns the create to remove; undefined: the destroy sends no request.
 * @throws HostformError if the intent is unknown, or cannot be written. The instance stays in the state.
 */
export async function pendingToRemove(
  kind: Kind,
  prior: JsonObject,
  { settles, ...mark }: Mark,
  scope: ProviderScope,
): Promise<ResourceState | undefined> {
  const { holdings, session } = scope;
  const name = nameOf(kind, prior);
  const key = entryKey(kind, prior);
  const isOwn = settles !== undefined && settles.name === name;
  const own = recordedAs(kind, prior, isOwn ? settles.mark : mark);
  const isSent = isPendingCreate(own);
  const entry = isSent ? await keepIntent(kind, own, scope, true) : await session.entries.get(kind.type, name);
  if (isSent) await noteDeclared(kind, name, scope);
  const isForeign = (entry?.place ?? session.place) !== session.place;
  const plan = scope.plan ?? mark.plan;
  // A plan of an earlier version of the provider has no id.
  const noted = plan === undefined ? false : entry?.plans?.[plan];
  const isDeclared =
    isOwn || (noted === true && !isForeign) || (await scope.isDeclared(key, holdings.isApply ? 0 : CREATE_MS));
  const isAbsent = isSent ? isResolvedAbsent(entry, own) : entry?.resolved === "absent";
  if (isDeclared || isAbsent) {
    // If this process ends before the create leg, a later create restores the instance.
    if (name !== undefined && entry?.inState && !isForeign) {
      const { inState: _, ...left } = entry;
      await session.entries.put(kind.type, name, left);
    }
    return undefined;
  }
  if (!isSent && (entry === undefined || isForeign)) refuse(problem("plan.pending/unseen", { what: own.address }));
  if (entry === undefined || isPendingCreate(entry)) {
    // The plan was created without a refresh, or on another machine: one of its creates may have this name.
    if (!isSent && noted === undefined) refuse(problem("plan.pending/unseen", { what: own.address }));
    return isSent ? own : entry;
  }
  // The create leg adopts the object that the user named. With create_before_destroy, it has already adopted the object.
  return undefined;
}

/**
 * Returns the other resources for a decision about a create. A pending entry of the store is a sibling. An entry with an id, and
 * each object in the state, has an owner.
 * @param name name of the create's entry.
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
