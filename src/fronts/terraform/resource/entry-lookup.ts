/**
 * Finds the entry of a planned object, and decides its use: adopt the object, reject the plan, or merge the entry into the state.
 */
import { importIdOf, type Kind, type Remote } from "../../../core/kinds/kind.ts";
import {
  attributesOf,
  isJustCreated,
  isPendingCreate,
  observedMark,
  parentOf,
  reread,
  sameValue,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  equal,
  hasUnknown,
  inQuotes,
  type Json,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Entry } from "../entries.ts";
import type { ProviderSession } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { shownValue } from "./attribute-mapping.ts";
import { mayPassOn } from "./handover.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";

/**
 * Returns the entry of a name. Removes an entry of another state if its object has ended.
 * @returns `elsewhere` if another state (folder, workspace, backend) created the object or sent its create.
 * @throws ApiError if the account cannot be read.
 */
export async function activeEntry(
  kind: Kind,
  name: string | undefined,
  scope: ProviderScope,
): Promise<{ entry?: Entry; elsewhere?: Diagnostic }> {
  const { entries } = scope.session;
  const entry = await entries.get(kind.type, name);
  if (entry === undefined || entry.resolved === "absent") return {};
  // A concurrent refresh has not removed this entry yet.
  if (!entry.handed && !isPendingCreate(entry) && (await isHeldHere(kind, entry, scope))) return {};
  const elsewhere = refusalOf(kind, entry, scope.session);
  if (elsewhere === undefined) return { entry };
  if (elsewhere.code !== "plan.exists") return { elsewhere };
  if (!(await findEntryObject(kind, entry, scope)).hasEnded) return { elsewhere };
  await entries.remove(kind.type, name);
  return {};
}

/** Returns true if this state contains the object of the entry, at an address that may release the object. */
async function isHeldHere(kind: Kind, { place, attributes, answered }: Entry, { holdings, session }: ProviderScope) {
  if (place !== session.place) return false;
  const holder = await holdings.findHolder(kind, { id: String(attributes.id), attributes });
  // If the creating run was killed, Terraform may not have recorded the object.
  return holder !== undefined && (holder.isShown || (mayPassOn(kind) && answered === true));
}

/** Returns the reason why this run may not use an entry. */
function refusalOf(kind: Kind, entry: Entry, { place, self }: ProviderSession): Diagnostic | undefined {
  const { owner = self.mark, answered } = entry;
  const isHere = entry.place === undefined || entry.place === place;
  // The create leg completes a pending create, even if the state lacks its intent.
  if (!isHere || (answered && !isPendingCreate(entry))) return foreign(kind, entry, isHere);
  return owner !== self.mark && self.isRunning(owner) ? busy(entry) : undefined;
}

/**
 * Returns the object of an entry as the account shows it. An object that the account does not show may still exist: some kinds
 * have no read request, and a list may not contain a new object yet.
 * @throws ApiError if the account cannot be read.
 */
async function findEntryObject(
  kind: Kind,
  { attributes, private: mark }: ResourceState,
  { account }: ProviderScope,
): Promise<{ readonly found: Remote | undefined; readonly hasEnded: boolean }> {
  const found = await account.find(kind, String(attributes.id), parentOf(kind, attributes));
  if (found !== undefined) return { found, hasEnded: found.phase === "gone" };
  const isReadable = kind.list !== undefined || kind.get !== undefined;
  return { found, hasEnded: isReadable && !isJustCreated(mark, account) };
}

/** The state lock excludes neither a second alias nor a run with `-lock=false`. */
export const busy = ({ address }: Entry): Diagnostic => problem("config.duplicate/running", { address });

function foreign(kind: Kind, entry: Entry, isHere: boolean): Diagnostic {
  const { address, attributes } = entry;
  if (isPendingCreate(entry)) return problem("plan.pending/elsewhere", { address });
  const id = String(attributes.id);
  const object = importIdOf(kind, id, attributes);
  return problem(isHere ? "plan.exists/here" : "plan.exists/elsewhere", { address, noun: kind.noun, id, object });
}

/** Returns one-time values (secrets), and the attributes that identify their change. No later read returns these values. */
export function shownOnce(kind: Kind, attributes: JsonObject): JsonObject {
  const names = attributesOf(kind).filter(({ meta: { unreadable, change } }) => {
    return unreadable && (change === undefined || change === "in-place");
  });
  return Object.fromEntries(names.map(({ name }) => [name, attributes[name] ?? null]));
}

/**
 * Returns the recorded attributes, with the one-time secrets of an unrecorded entry. A state that changed after the entry was
 * created is newer, and stays unchanged.
 */
export function mergeEntry(kind: Kind, state: JsonObject, entry: Entry | undefined): JsonObject {
  if (entry === undefined || typeof state.id !== "string" || entry.attributes.id !== state.id) return state;
  if (!equal(shownOnce(kind, state), shownOnce(kind, entry.base ?? {}))) return state;
  const shown = Object.entries(shownOnce(kind, entry.attributes)).filter(([, value]) => value !== null);
  return { ...state, ...Object.fromEntries(shown) };
}

/**
 * Returns true if Terraform's state contains all data of an entry, or is newer. The entry of a replacing create stays for
 * that create.
 */
export function isRecorded(kind: Kind, state: JsonObject, entry: Entry): boolean {
  const { attributes, private: recorded } = entry;
  const { pending } = recorded;
  if (pending !== undefined) {
    // Keep the entry until the create leg has completed the create.
    if (state.id === null) return false;
    return !pending.known?.includes(String(state.id));
  }
  return attributes.id === state.id && equal(mergeEntry(kind, state, entry), state);
}

/**
 * Adopts the object that an earlier process created and Terraform could not record.
 * @returns undefined if the object no longer exists and may be created again. @throws HostformError if the declaration has changed
 *   since, if a paid object no longer exists, or if another resource of this state manages it.
 */
export async function adoptEntry(
  resource: Owner,
  kind: Kind,
  noted: ResourceState,
  planned: ValueObject,
  scope: ProviderScope,
): Promise<{ attributes: JsonObject; private: PrivateMark; diagnostics: readonly Diagnostic[] } | undefined> {
  const { noun } = kind;
  const id = String(noted.attributes.id);
  const { found, hasEnded } = await findEntryObject(kind, noted, scope);
  if (hasEnded) {
    if (kind.creation === "listable") return undefined;
    refuse(problem("plan.gone/interrupted", { noun, id, attribute: ["reference"] }));
  }
  refuseEdited(kind, noted, planned);
  const owner = scope.claimObject(resource, kind, noted.attributes);
  if (owner !== undefined) refuse(problem("plan.exists/owned", { noun, id, owner }));
  const seen = found && reread(kind, noted, found);
  return {
    attributes: seen?.attributes ?? noted.attributes,
    // A job of the interrupted run may have ended since.
    private: found === undefined ? noted.private : observedMark(noted.private, found.phase, seen?.forms),
    diagnostics: [problem("apply.replayed/adopted", { noun, id })],
  };
}

const notedValue = ({ attributes }: ResourceState, name: string): Json => attributes[name] ?? null;

/**
 * Rejects a declaration that changed since an interrupted run: the request of that run is completed first, unchanged.
 * @throws HostformError `plan.exists`.
 */
export function refuseEdited(kind: Kind, noted: ResourceState, planned: ValueObject): void {
  const { attributes } = noted;
  const edited = attributesOf(kind).find(({ name, meta }) => {
    const isFixed = meta.change === "immutable" || meta.change === "replace";
    const becomes: Value = planned[name] ?? null;
    return isFixed && becomes !== null && !hasUnknown(becomes) && !sameValue(meta, notedValue(noted, name), becomes);
  });
  if (edited === undefined) return;
  const { name } = edited;
  const id = String(attributes.id);
  const isOpen = isPendingCreate(noted);
  const did = isOpen ? `requested this ${kind.noun}` : `created ${kind.noun} ${id}`;
  const command = `terraform import ${kind.type}.NAME ${inQuotes(importIdOf(kind, id, attributes))}`;
  const adopt = isOpen ? "" : `; or \`${command}\``;
  const value = notedValue(noted, name);
  const was = value === null ? undefined : shownValue(kind, name, value);
  refuse(problem("plan.exists/edited", { name, did, adopt, was, attribute: [name] }));
}
