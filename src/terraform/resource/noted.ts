import { importIdOf, type Kind } from "../../kinds/kind.ts";
import { attributesOf, isDoubtful, isJustCreated, parentOf } from "../../lifecycle/index.ts";
import { type Diagnostic, equal, type Json, type JsonObject } from "../../model/index.ts";
import type { Note } from "../contract.ts";
import type { Front } from "./front.ts";
import type { Mark } from "./mark.ts";

/** What the journal has of a thing that is to be made. */
export interface Noted {
  readonly note?: Note;
  /** It was made, or begun, for another state (folder, workspace, backend): it is not this one's. */
  readonly elsewhere?: Diagnostic;
}

export function noteOf(kind: Kind, name: string | undefined, { session }: Front): Noted {
  const note = name === undefined ? undefined : session.journal.get(kind.type, name);
  if (note === undefined) return {};
  if (note.place !== undefined && note.place !== session.place) return { elsewhere: foreign(kind, note) };
  const { owner = session.self.mark, answered } = note;
  if (answered) return { elsewhere: foreign(kind, note) };
  return owner !== session.self.mark && session.self.isRunning(owner) ? { elsewhere: busy(note) } : { note };
}

/**
 * The same, without notes of another state's objects that have ended since: they stand in nobody's way.
 * @throws ApiError when the account cannot be read.
 */
export async function standingNoteOf(kind: Kind, name: string | undefined, front: Front): Promise<Noted> {
  const noted = noteOf(kind, name, front);
  if (noted.elsewhere?.code !== "plan.exists" || name === undefined) return noted;
  const { journal } = front.session;
  const known = journal.get(kind.type, name);
  const { id = null, ...attributes } = known?.attributes ?? {};
  if (known && isJustCreated(known.private, front.session.settings, front.account.hostNow())) return noted;
  if (typeof id !== "string" || (kind.list === undefined && kind.get === undefined)) return noted;
  const found = await front.account.find(kind, id, parentOf(kind, attributes));
  if (found !== undefined && found.phase !== "gone") return noted;
  journal.remove(kind.type, name);
  return {};
}

/** A lock of the state does not hold off a second alias, nor what is run with `-lock=false`. */
export function busy({ address }: Note): Diagnostic {
  return {
    severity: "error",
    code: "config.duplicate",
    summary: `${address} is being made by another process at this moment`,
    detail: "Another apply of this configuration is under way, or another provider block of it means the same account.",
    fix: "Wait until the other apply has ended. Use one provider block for one account.",
    address,
  };
}

function foreign(kind: Kind, note: Note): Diagnostic {
  const common = { severity: "error" as const, address: note.address };
  if (isDoubtful(note)) {
    return {
      ...common,
      code: "plan.pending",
      summary: `${note.address} was begun by Terraform for another state, or this one has lost it, and is not settled`,
      detail: "The project, and what tells one object from another, are the same there and here.",
      fix: "Apply there first. If that state is lost: import what was made; if nothing was, `terraform apply` once with HOSTFORM_STATE_HOME set to an empty folder. If this is the same configuration in another folder, set HOSTFORM_PLACE to one word for both. If there are to be two, give this one another `project`, or other attributes.",
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
    fix: "If this state is to have it: import it. If this is the same configuration in another folder, set HOSTFORM_PLACE to one word for both. If there are to be two, give this one another `project`, or other attributes.",
  };
}

/** What no later read tells, and no declaration: the values that came with an answer, and how far that has come. */
export function onceTold(kind: Kind, attributes: JsonObject): JsonObject {
  const names = attributesOf(kind).filter(([name, , { unreadable, computed, change }]) => {
    return name !== "id" && unreadable && ((computed && change === undefined) || change === "in-place");
  });
  return Object.fromEntries(names.map(([name]) => [name, attributes[name] ?? null]));
}

/** Whether a note tells of the recorded object what Terraform did not come to record: the state is as it was before. */
function addsTo(kind: Kind, state: JsonObject, { attributes, base = {} }: Note): boolean {
  if (typeof state.id !== "string" || attributes.id !== state.id) return false;
  const news = Object.entries(onceTold(kind, attributes));
  const before = news.every(([name]) => equal(state[name] ?? null, base[name] ?? null));
  return before && news.some(([name, value]) => value !== null && !equal(state[name] ?? null, value));
}

/** The recorded attributes with what a note adds: a secret that was told only once. */
export function withNoted(kind: Kind, state: JsonObject, note: Note | undefined): JsonObject {
  if (note === undefined || !addsTo(kind, state, note)) return state;
  const told = Object.entries(onceTold(kind, note.attributes)).filter(([, value]) => value !== null);
  return { ...state, ...(Object.fromEntries(told) as Record<string, Json>) };
}

/**
 * Whether Terraform's state holds all that a note is kept for, or is newer. A note of a create that is about another object
 * than the recorded one (which it was to replace) is kept for that create.
 */
export function isRecorded(kind: Kind, state: JsonObject, mark: Mark, note: Note): boolean {
  const { attributes, private: recorded } = note;
  const { pending } = recorded;
  if (pending !== undefined && attributes.id === null) {
    if (state.id === null) return mark.pending?.since === pending.since;
    return !pending.known?.includes(String(state.id));
  }
  return attributes.id === state.id && !addsTo(kind, state, note);
}
