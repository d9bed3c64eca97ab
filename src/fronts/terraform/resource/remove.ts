import { type Kind, kinds } from "../../../core/kinds/index.ts";
import {
  type Applied,
  applyChange,
  isPendingCreate,
  type Observation,
  observedUnread,
  type PlannedRemoval,
  parentOf,
  planRemoval,
  policyOf,
  read,
  unreadBy,
  unreadCondition,
  withoutRequests,
} from "../../../core/lifecycle/index.ts";
import {
  type Change,
  conditionWarning,
  type Diagnostic,
  HostformError,
  isForbidden,
  type JsonObject,
  type ResourceState,
} from "../../../core/model/index.ts";
import { problem, refuse } from "../messages.ts";
import { applyContext } from "./apply-context.ts";
import { labelOf, type Mark, nameOf, recordedAs, withProviderAttributes } from "./attribute-mapping.ts";
import { mayPassOn } from "./handover.ts";
import { heldTwice, twoAddresses } from "./holdings.ts";
import { leftOvers } from "./left-over.ts";
import { effectNotices, otherHost, renamedFirst } from "./notices.ts";
import { othersOf, pendingToRemove } from "./pending.ts";
import type { ProviderScope } from "./provider-scope.ts";
import { asRecorded, GONE, otherHolders } from "./read.ts";
import { markReleased } from "./replacement.ts";

interface RemovalAnswer extends Partial<Pick<PlannedRemoval, "change">>, Pick<PlannedRemoval, "diagnostics"> {
  /** Mark for the apply, if it differs from the mark in the state. */
  readonly mark?: Mark;
}

/**
 * Plans the removal of a recorded object: deletes it if the API has a DELETE, otherwise follows the recorded deletion_policy.
 * @returns a plan without a change if the create leg of this instance completes its create.
 * @throws HostformError if the object stays managed: Terraform forgets each object that it may destroy.
 */
export async function planDestroy(
  kind: Kind,
  prior: JsonObject,
  mark: Mark,
  scope: ProviderScope,
): Promise<RemovalAnswer> {
  const pending = prior.id === null ? await pendingToRemove(kind, prior, mark, scope) : undefined;
  if (prior.id === null && pending === undefined) {
    // Another machine may apply the plan, so the plan contains the intent.
    const settles = mark.settles ?? { name: nameOf(kind, prior), mark };
    return { diagnostics: [], mark: mark.pending === undefined ? mark : { ...mark, settles } };
  }
  const recorded = pending ?? recordedAs(kind, prior, mark);
  const { account, session } = scope;
  const { settings } = session;
  const observed: Observation = isPendingCreate(recorded)
    ? await read(account, { kind, prior: undefined, config: recorded.attributes, isPending: true })
    : await observeRecorded(kind, recorded, mark, scope);
  // Another account also returns 404: only a status proves that an object has ended.
  if (prior.status === GONE && observed.status !== "present" && policyOf(prior) === "prevent") {
    const { address, attributes } = recorded;
    refuse(problem("plan.prevented/not_found", { address, noun: kind.noun, id: String(attributes.id) }));
  }
  const now = account.hostNow();
  const input = { kind, prior: recorded, observed, mode: "apply", severity: "error", now, settings } as const;
  const others = isPendingCreate(recorded)
    ? await othersOf(kind, nameOf(kind, recorded.attributes), recorded, scope)
    : {};
  // This destroy belongs to a replacement of a pending create. No apply can change the recorded policy, so an error would repeat.
  const forget = pending !== undefined && mark.pending === undefined && policyOf(recorded.attributes) === "prevent";
  const removal = { ...input, ...others, forget: forget && kind.removal !== "delete" };
  const { change, diagnostics } = planRemoval(removal);
  if (change.removal !== undefined) return { change, diagnostics: effectNotices(kind, change.before ?? prior, change) };
  const handed = await handedOver(kind, recorded, scope);
  // Only a rejected removal has diagnostics.
  if (handed === undefined) refuse(...diagnostics);
  return { change: planRemoval({ ...removal, observed: handed.observed }).change, diagnostics: handed.diagnostics };
}

/** Returns the observation of an object that now seems to belong to another account, with a warning. Any policy forgets the object. */
async function handedOver(kind: Kind, recorded: ResourceState, { account }: ProviderScope) {
  const holder = kinds.get(kind.nested?.in ?? "") ?? kind;
  const id = holder === kind ? recorded.attributes.id : parentOf(kind, recorded.attributes);
  if (typeof id !== "string" || holder.get === undefined) return undefined;
  const prior = holder === kind ? recorded : { attributes: { id }, private: {} };
  try {
    await account.find(holder, id);
    return undefined;
  } catch (error) {
    const unread = await unreadBy(account, holder, prior, error);
    if (unread?.cause !== "handed_over") return undefined;
    const condition = unreadCondition(kind, recorded.address, recorded, unread);
    const observed = observedUnread(account, { kind, prior: recorded, config: undefined }, unread);
    return { observed, diagnostics: condition === undefined ? [] : [conditionWarning(condition)] };
  }
}

/**
 * Returns the recorded object. Terraform plans a removal before it refreshes the instance, so a status that forbids the removal is
 * first compared with the account. @throws ApiError if the account cannot be read.
 */
async function observeRecorded(
  kind: Kind,
  recorded: ResourceState,
  mark: Mark,
  { account, session }: ProviderScope,
): Promise<Observation> {
  const { attributes } = recorded;
  const observed = asRecorded(kind, attributes, session.settings);
  const policy = policyOf(attributes);
  const isOpen = observed.status === "present" && ["pending", "unknown"].includes(observed.phase);
  const forbids = policy === "suspend" ? isOpen : policy === "prevent" && attributes.status === GONE;
  if (!forbids || (mark.host !== undefined && mark.host !== session.host)) return observed;
  return read(account, { kind, prior: recorded, config: undefined, alone: true });
}

/**
 * Plans the removal of an undeclared instance for Terraform.
 * @throws HostformError if the object stays managed, or if another instance contains it.
 */
export async function planRemovalOf(
  kind: Kind,
  prior: JsonObject,
  mark: Mark,
  scope: ProviderScope,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly mark: Mark }> {
  const { diagnostics, mark: settled = mark } = await planDestroy(kind, prior, mark, scope).catch(
    async (error: unknown) => {
      const isRenamed =
        error instanceof HostformError && !mayPassOn(kind) && (await scope.handovers.isMade(kind, prior));
      throw isRenamed ? renamedFirst(error) : error;
    },
  );
  if (prior.id === null) return { diagnostics, mark: { ...settled, plan: scope.holdings.run } };
  if (scope.isDouble(kind, prior)) refuse(twoAddresses(kind, prior));
  const recorded = recordedAs(kind, prior, mark);
  scope.holdings.plan(kind, prior, mark, "leaves");
  await refuseShared(kind, prior, scope);
  const moves = await scope.handovers.planLeaving(kind, recorded, mark);
  // `terraform destroy` prints no warning of the preceding refresh.
  const shared = await otherHolders(kind, prior, scope);
  return {
    diagnostics: [...diagnostics, ...moves, ...shared, ...(await leftOvers(scope))],
    mark: mayPassOn(kind) ? { ...mark, plan: scope.holdings.run } : mark,
  };
}

/** Rejects the destroy of one of several instances with the same object. @throws HostformError `state.duplicate`. */
async function refuseShared(kind: Kind, prior: JsonObject, scope: ProviderScope): Promise<void> {
  await scope.holdings.load();
  const { instances = 1 } = scope.holdings.holderOf(kind, { id: String(prior.id), attributes: prior }) ?? {};
  if (instances < 2 || (await scope.handovers.isTaken(kind, prior))) return;
  refuse(heldTwice(kind, prior, instances, "error"));
}

/**
 * Removes a recorded object.
 * @returns in `left` the attributes that stay in the state, with an error: the removal is incomplete.
 * @throws HostformError: the object stays in the state unchanged.
 */
export async function destroyResource(
  kind: Kind,
  prior: JsonObject,
  mark: Mark,
  scope: ProviderScope,
  cancelled?: AbortSignal,
): Promise<{ diagnostics: readonly Diagnostic[]; left?: { state: JsonObject; mark: Mark } }> {
  scope.applies(mark);
  const { change, diagnostics } = await planDestroy(kind, prior, mark, scope);
  if (change === undefined) return { diagnostics };
  if (mark.host !== undefined && mark.host !== scope.session.host) refuse(otherHost(kind, prior, "removed"));
  if (prior.id !== null) await scope.handovers.refuseHalf(kind, prior, mark, scope.account);
  const passed = prior.id === null ? undefined : await scope.handovers.destroy(kind, prior, mark);
  if (passed !== undefined) {
    scope.disown(kind, prior);
    return { diagnostics: [] };
  }
  await refuseShared(kind, prior, scope);
  const { applied, latest } = await remove(kind, prior, change, scope, cancelled).catch(async (error: unknown) => {
    const handed = isForbidden(error) ? await handedOver(kind, recordedAs(kind, prior, mark), scope) : undefined;
    if (handed === undefined) throw error;
    const forgotten: Applied = { attributes: null, diagnostics: handed.diagnostics };
    return { applied: forgotten, latest: { resource: undefined } };
  });
  if (applied.attributes !== null) {
    const state = withProviderAttributes(kind, applied.attributes, prior) as JsonObject;
    const left = { state, mark: withoutRequests(latest.resource?.private ?? mark) };
    // The object leaves the state only after the suspension, because until then the policy is not fulfilled.
    const suspending = problem("apply.waiting/suspension", { noun: kind.noun, id: String(prior.id) });
    return { diagnostics: [...applied.diagnostics, applied.unclear ?? suspending], left };
  }
  await markReleased(kind, recordedAs(kind, prior, {}), scope);
  scope.release(kind, nameOf(kind, prior), prior);
  await scope.holdings.remove(kind, prior);
  return { diagnostics: [...diagnostics, ...applied.diagnostics] };
}

async function remove(
  kind: Kind,
  prior: JsonObject,
  change: Change,
  scope: ProviderScope,
  cancelled: AbortSignal | undefined,
) {
  const options = { name: nameOf(kind, prior), config: prior, prior, operation: "delete", scope, cancelled } as const;
  const { context, latest } = await applyContext(kind, { ...options, owner: { label: labelOf(kind, prior) } });
  const applied = await applyChange(kind, change, null, context);
  // A deleted object no longer identifies the account, so discard the rows that may contain it.
  scope.account.rows.delete(kind.type);
  scope.collections.changed(kind, parentOf(kind, prior));
  return { applied, latest };
}

/** Deletes an object that no address of the state contains. @throws HostformError if the object still exists. */
export async function deleteObject(
  kind: Kind,
  attributes: JsonObject,
  mark: Mark,
  scope: ProviderScope,
  cancelled?: AbortSignal,
): Promise<void> {
  const { change } = await planDestroy(kind, attributes, mark, scope);
  if (change === undefined) return;
  const { applied } = await remove(kind, attributes, change, scope, cancelled);
  if (applied.unclear !== undefined) refuse(applied.unclear);
  scope.account.outdate(kind, parentOf(kind, attributes));
  scope.markReleased(kind, attributes);
  scope.release(kind, nameOf(kind, attributes), attributes);
  await scope.holdings.remove(kind, attributes);
}
