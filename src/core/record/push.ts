import type { State } from "../model/index.ts";
import { fail, HostformError } from "../model/index.ts";
import type { StateText } from "./file.ts";
import { unwritable } from "./file.ts";
import type { StateDocument } from "./format.ts";
import { decodeState, encodeState } from "./format.ts";
import { refuseForeign, relationOf } from "./journal/index.ts";
import type { HeldLock } from "./lock.ts";
import type { Opened, StatePlace } from "./opening.ts";
import { decodeStored, findState, openDocuments } from "./opening.ts";
import { Recorder } from "./recorder.ts";

/** What is asked of a push. */
export interface PushRequest {
  /** The text of a state file. */
  readonly given: string;
  /** Also replaces an unrelated, newer or damaged state. */
  readonly force: boolean;
  readonly lock: HeldLock;
  readonly uuid: () => string;
}

/**
 * Replaces the state at a place. What an unfolded journal holds is never lost by it: such a journal is first folded into
 * the state that is replaced, and stands in its backup; or, when the text given is the very state that the journal
 * continues, it stays and goes on from there.
 * @throws HostformError as `decodeState` and `openDocuments` do; `state.conflict`, `state.unwritable`.
 */
export async function pushText(place: StatePlace, { given, force, lock, uuid }: PushRequest): Promise<void> {
  const next = decodeGiven(given);
  const text = encodeState(next);
  const { name } = place.text;
  const write = async () => {
    await place.text.write(text, () => lock.verify()).catch((error) => refuse(error, name, "Nothing was replaced."));
  };
  const { stored, journaled, journal } = await findState(place);
  if (journal === undefined) {
    // By force also in another form: a state in the clear, of the same content, gives way to an encrypted one.
    if (text === stored && !force) return;
    if (stored !== undefined && !force) checkSuccession(decodeStored(stored, place.text).state, next.state, name);
    if (journaled) await removeSpent(place, lock);
    return write();
  }
  const there = stored === undefined ? undefined : readable(stored, place.text, force);
  const relation = relationOf(journal, stored === undefined || !there ? undefined : { ...there.state, text: stored });
  if (relation !== "foreign" && (stored === undefined || there !== undefined)) {
    const opened = await openDocuments(place);
    const folded = foldedState(opened);
    if (!force && text !== folded) checkSuccession(decodeState(folded, name).state, next.state, name);
    await settleJournal(place, opened, lock, uuid);
    return text === folded ? undefined : write();
  }
  if (relationOf(journal, { ...next.state, text }) === "foreign") {
    refuseForeign(journal, name, there?.state ?? (stored === undefined ? "absent" : "unreadable"));
  }
  if (there !== undefined && !force) checkSuccession(there.state, next.state, name);
  await write();
}

/** The text that a state will have once its journal is folded; the state's own when there is nothing to fold. */
export function foldedState({ base, durable }: Opened): string {
  return encodeState(
    durable === base ? base : { ...durable, state: { ...durable.state, serial: durable.state.serial + 1 } },
  );
}

/**
 * Ends the run that was stopped: its journal goes into the state, and the next write of this place begins another run.
 * Nothing happens where no journal is.
 * @throws HostformError `state.unwritable`, `state.lost_lock`.
 */
export async function settleJournal(
  place: StatePlace,
  { base, durable, spent }: Opened,
  lock: HeldLock,
  uuid: () => string,
): Promise<void> {
  if (spent) return removeSpent(place, lock);
  const { text, journal, sealing } = place;
  const recorder = new Recorder({ text, journal, sealing, lock, uuid, base, durable });
  try {
    await recorder.settle();
  } catch (error) {
    refuse(error, text.name, `What ${journal?.name} holds is not in the state yet, and stays there.`);
  }
}

/** Removes a journal that holds nothing that the state does not have. */
export async function removeSpent({ journal, text }: StatePlace, lock: HeldLock): Promise<void> {
  try {
    await lock.verify();
    await journal?.remove();
  } catch (error) {
    refuse(error, journal?.name ?? text.name, "Everything that it holds is in the state.");
  }
}

/** What was given by hand is not what a backup brings back. */
function decodeGiven(given: string): StateDocument {
  try {
    return decodeState(given, "the text given");
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const fix = "Give the text of a state file, as `hostform state pull` prints it. Nothing was replaced.";
    const diagnostics = error.diagnostics.map((each) => (each.code === "state.unreadable" ? { ...each, fix } : each));
    throw new HostformError(diagnostics, { cause: error });
  }
}

function readable(stored: string, text: StateText, force: boolean): StateDocument | undefined {
  try {
    return decodeStored(stored, text);
  } catch (error) {
    if (force) return undefined;
    throw error;
  }
}

function checkSuccession(stored: State, next: State, name: string): void {
  const fix = "Pull the current state, redo the change there and push again; `--force` overrides.";
  if (stored.lineage !== next.lineage) {
    fail("state.conflict", "The state given belongs to another project", {
      detail: `Its lineage is ${next.lineage}, that of ${name} is ${stored.lineage}.`,
      fix,
    });
  }
  if (stored.serial >= next.serial) {
    fail("state.conflict", "The state given is not newer than the one stored", {
      detail: `Its serial is ${next.serial}, that of ${name} is ${stored.serial}.`,
      fix,
    });
  }
}

function refuse(error: unknown, name: string, consequence: string): never {
  if (error instanceof HostformError) throw error;
  throw new HostformError([unwritable(name, error, consequence)], { cause: error });
}
