/**
 * What the journal has of a thing that is to be made, and what becomes of it: it is adopted, refused, or merged into the state.
 */
import { importIdOf, type Kind, type Remote } from "../../../core/kinds/kind.ts";
import {
  attributesOf,
  isJustCreated,
  isPendingCreate,
  observedMark,
  type PendingCreate,
  parentOf,
  refreshed,
  sameValue,
  settledByAccount,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  equal,
  HostformError,
  hasUnknown,
  type Json,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Note, ProviderSession } from "../index.ts";
import { type Mark, shownValue } from "./attribute-mapping.ts";
import type { Owner, ProviderScope } from "./provider-scope.ts";

/** What the journal has of a thing that is to be made. */
interface ActiveEntry {
  readonly note?: Note;
  /** It was made, or begun, for another state (folder, workspace, backend): it is not this one's. */
  readonly elsewhere?: Diagnostic;
}

/**
 * What the journal has under a name. A note of another state's object that has ended since stands in nobody's way, and is
 * removed.
 * @throws ApiError when the account cannot be read.
 */
export async function activeEntry(kind: Kind, name: string | undefined, scope: ProviderScope): Promise<ActiveEntry> {
  if (name === undefined) return {};
  const { journal } = scope.session;
  const note = journal.get(kind.type, name);
  if (note === undefined) return {};
  const elsewhere = refusalOf(kind, note, scope.session);
  if (elsewhere === undefined) return { note };
  if (elsewhere.code !== "plan.exists" || !(await findEntryObject(kind, note, scope)).hasEnded) return { elsewhere };
  journal.remove(kind.type, name);
  return {};
}

/** Why a note may not be used here and now. */
function refusalOf(kind: Kind, note: Note, { place, self }: ProviderSession): Diagnostic | undefined {
  const { owner = self.mark, answered } = note;
  if (answered || (note.place !== undefined && note.place !== place)) return foreign(kind, note);
  return owner !== self.mark && self.isRunning(owner) ? busy(note) : undefined;
}

/**
 * The object of a note as the account shows it. What is not shown has not ended for that: the API may have no way to read
 * the kind, and a list may not show yet what was created a moment ago.
 * @throws ApiError when the account cannot be read.
 */
async function findEntryObject(
  kind: Kind,
  { attributes, private: mark }: ResourceState,
  { account, session }: ProviderScope,
): Promise<{ readonly found: Remote | undefined; readonly hasEnded: boolean }> {
  const found = await account.find(kind, String(attributes.id), parentOf(kind, attributes));
  if (found !== undefined) return { found, hasEnded: found.phase === "gone" };
  const isReadable = kind.list !== undefined || kind.get !== undefined;
  return { found, hasEnded: isReadable && !isJustCreated(mark, session.settings, account.hostNow()) };
}

/** A lock of the state does not hold off a second alias, nor what is run with `-lock=false`. */
export function busy({ address }: Note): Diagnostic {
  return {
    severity: "error",
    code: "config.duplicate",
    summary: `${address} is being made by another process at this moment`,
    detail: "Another apply of this configuration is under way, or another provider block of it means the same account.",
    remedies: ["Wait until the other apply has ended. Use one provider block for one account."],
    address,
  };
}

function foreign(kind: Kind, note: Note): Diagnostic {
  const common = { severity: "error" as const, address: note.address };
  if (isPendingCreate(note)) {
    return {
      ...common,
      code: "plan.pending",
      summary: `${note.address} was begun by Terraform for another state, or this one has lost it, and is not settled`,
      detail: "The project, and what tells one object from another, are the same there and here.",
      remedies: [
        "Apply there first. If that state is lost: import what was made; if nothing was, `terraform apply` once with HOSTFORM_STATE_HOME set to an empty folder. If this is the same configuration in another folder, set HOSTFORM_PLACE to one word for both. If there are to be two, give this one another `project`, or other attributes.",
      ],
    };
  }
  const id = String(note.attributes.id);
  return {
    ...common,
    code: "plan.exists",
    summary: `${note.address} exists already as ${kind.noun} ${id}, which Terraform has made`,
    detail:
      "It was made for another state (another folder, workspace or backend), or this state has lost it. Two states must not manage one object: what one of them removes, the other one loses.",
    object: importIdOf(kind, id, note.attributes),
    remedies: [
      "If this state is to have it: import it. If this is the same configuration in another folder, set HOSTFORM_PLACE to one word for both. If there are to be two, give this one another `project`, or other attributes.",
    ],
  };
}

/** What neither a later read nor a declaration shows: the values that came with an answer, and how far that has come. */
export function shownOnce(kind: Kind, attributes: JsonObject): JsonObject {
  const names = attributesOf(kind).filter(([, , { unreadable, change }]) => {
    return unreadable && (change === undefined || change === "in-place");
  });
  return Object.fromEntries(names.map(([name]) => [name, attributes[name] ?? null]));
}

/**
 * The recorded attributes with what a note adds, which Terraform did not come to record: a secret that was shown only once.
 * Where the state has gone on since the note was begun, it is newer.
 */
export function mergeEntry(kind: Kind, state: JsonObject, note: Note | undefined): JsonObject {
  if (note === undefined || typeof state.id !== "string" || note.attributes.id !== state.id) return state;
  if (!equal(shownOnce(kind, state), shownOnce(kind, note.base ?? {}))) return state;
  const shown = Object.entries(shownOnce(kind, note.attributes)).filter(([, value]) => value !== null);
  return { ...state, ...Object.fromEntries(shown) };
}

/**
 * Whether Terraform's state holds all that a note is kept for, or is newer. A note of a create that is about another object
 * than the recorded one (which it was to replace) is kept for that create.
 */
export function isRecorded(kind: Kind, state: JsonObject, mark: Mark, note: Note): boolean {
  const { attributes, private: recorded } = note;
  const { pending } = recorded;
  if (pending !== undefined) {
    if (state.id === null) return mark.pending?.since === pending.since;
    return !pending.known?.includes(String(state.id));
  }
  return attributes.id === state.id && equal(mergeEntry(kind, state, note), state);
}

/**
 * An object that an earlier process made and that Terraform did not come to record: it is the one that is wanted now.
 * @returns undefined when it is gone and may be made again. @throws HostformError when something else is declared by now,
 *   when it is paid for and gone, or when something else of this state has it.
 */
export async function adoptEntry(
  resource: Owner,
  kind: Kind,
  noted: ResourceState,
  planned: ValueObject,
  scope: ProviderScope,
): Promise<{ attributes: JsonObject; private: PrivateMark; diagnostics: readonly Diagnostic[] } | undefined> {
  const id = String(noted.attributes.id);
  const { found, hasEnded } = await findEntryObject(kind, noted, scope);
  if (hasEnded) {
    if (kind.creation === "listable") return undefined;
    throw new HostformError([goneSince(kind, id)]);
  }
  const edited = attributesOf(kind).find(([name, , meta]) => {
    const isFixed = meta.change === "immutable" || meta.change === "replace";
    const becomes: Value = planned[name] ?? null;
    return isFixed && becomes !== null && !hasUnknown(becomes) && !sameValue(meta, notedValue(noted, name), becomes);
  });
  if (edited !== undefined) throw new HostformError([otherwise(kind, noted, edited[0])]);
  const owner = scope.claimObject(resource, kind, noted.attributes);
  if (owner !== undefined) throw new HostformError([ownedBy(kind, id, owner)]);
  const summary = `${kind.noun} ${id} was made by a run that was cut off before Terraform recorded it: adopted, nothing was made`;
  return {
    attributes: found === undefined ? noted.attributes : refreshed(kind, noted.attributes, found, noted.private.shown),
    // A job that the run was cut off in may have ended since.
    private: found === undefined ? noted.private : observedMark(noted.private, found.phase),
    diagnostics: [{ severity: "warning", code: "apply.replayed", summary }],
  };
}

/**
 * An order without known outcome: what the account certainly shows of it by now is what it has come to. Anything else is left
 * to the lifecycle.
 */
export async function settledByNow(
  kind: Kind,
  noted: PendingCreate,
  { account }: ProviderScope,
): Promise<ResourceState> {
  return (kind.creation === "keyed" ? await settledByAccount(account, kind, noted) : undefined) ?? noted;
}

const notedValue = ({ attributes }: ResourceState, name: string): Json => attributes[name] ?? null;

function otherwise(kind: Kind, noted: ResourceState, name: string): Diagnostic {
  const { attributes } = noted;
  const id = String(attributes.id);
  const was = notedValue(noted, name);
  const [has, back] =
    was === null
      ? [`It has no ${name}.`, `Remove \`${name}\` and apply, then add it`]
      : [`Its ${name} is ${shownValue(kind, name, was)}.`, `Put \`${name}\` back and apply, then change it`];
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${kind.noun} ${id} was made by a run that was cut off, with another ${name}`,
    detail: `${has} Terraform did not come to record it, and nothing is made beside it.`,
    remedies: [`${back}; or \`terraform import ${kind.type}.NAME '${importIdOf(kind, id, attributes)}'\`.`],
    attribute: [name],
  };
}

function ownedBy(kind: Kind, id: string, owner: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${kind.noun} ${id}, which a run that was cut off had made, is ${owner}`,
    detail: "Two resources must not manage one object: what one of them removes, the other one loses.",
    remedies: [
      "Remove one of the two from the configuration. If there are to be two objects, give this one other attributes.",
    ],
  };
}

function goneSince(kind: Kind, id: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.gone",
    summary: `${kind.noun} ${id}, which a run that was cut off had made, no longer exists`,
    detail: "It is not ordered again automatically: that would raise another invoice.",
    remedies: ["Order another on purpose, with another `reference`."],
    attribute: ["reference"],
  };
}
