import type { Diagnostic } from "../model/index.ts";
import { type Journal, readJournal, refuseForeign, relationOf } from "./journal-reading.ts";
import type { StateLock } from "./lock.ts";
import { touchedBy, withChanges } from "./revise.ts";
import type { SealedText } from "./sealed-text.ts";
import { decodeState, emptyDocument, type StateDocument } from "./state-document.ts";
import { type JournalFile, type StateText, withDetail, withEarlier } from "./state-file.ts";

/** Storage of a state: its text and its lock. Remote backends and the simulated disk implement it. */
export interface StateBackend {
  readonly text: StateText;
  readonly lock: StateLock;
  /** Journal of changes between two writes of the state. Without it, each change writes the whole state. */
  readonly journal?: JournalFile;
  /**
   * Another program (Terraform) reads the state as well, and no journal of ours: each change writes the whole state, so that
   * what was begun stands there, too. The journal is only read, for what an earlier run may have left in it.
   */
  readonly whole?: boolean;
  /** Encryption of the journal if the state is encrypted. `text` holds the state in clear text. */
  readonly sealing?: Pick<SealedText, "current" | "from" | "checkClear">;
}

/** A state as it is now, whatever part of it is in the journal. */
export interface Opened {
  /** Contents of the state, without the journal. */
  readonly base: StateDocument;
  /** The same with the journal; `base` itself when that adds nothing. */
  readonly durable: StateDocument;
  /** The addresses that the journal is about. */
  readonly recovered: readonly string[];
  /** A journal is there that holds nothing, or nothing that the state does not have. */
  readonly spent: boolean;
  /** Warnings about the journal. */
  readonly warnings: readonly Diagnostic[];
}

/** A reader without the lock may see the journal before a fold and the state after it; so often in a row it will not. */
const READINGS = 4;

/**
 * Reads journal and state. The journal first: what it no longer has, the state read after it has.
 * @returns `stored`, the text of the state, if there is one; whether a journal is there (`journaled`), and the `journal`
 * when it holds something.
 * @throws HostformError `state.unreadable`, `state.journal`, `state.key`, `state.unencrypted`.
 */
export async function findState({ text, journal, sealing }: StateBackend) {
  const lines = await journal?.read();
  const stored = await text.read();
  const journaled = lines !== undefined && journal !== undefined;
  const none = { journal: undefined, warnings: [] };
  return { stored, journaled, ...(journaled ? await readJournal(lines, journal.name, sealing) : none) };
}

/**
 * The state with the journal replayed. Changes nothing at the backend.
 * @throws HostformError `state.unreadable`, `state.newer`, `state.foreign`, `state.key`; `state.journal` when the
 * journal is damaged or belongs to another state.
 */
export async function openDocuments(backend: StateBackend): Promise<Opened> {
  for (let reading = 1; ; reading++) {
    const { stored, journaled, journal, warnings } = await findState(backend);
    const base = stored === undefined ? emptyDocument() : decodeOrName(stored, backend.text, journal);
    if (journal === undefined) return { base, durable: base, recovered: [], spent: journaled, warnings };
    const state = stored === undefined ? undefined : { ...base.state, text: stored };
    const relation = relationOf(journal, state);
    if (relation === "folded") return { base, durable: base, recovered: [], spent: true, warnings };
    if (relation === "open") {
      const { lineage, changes } = journal;
      const begun = { ...base, state: { ...base.state, lineage } };
      const recovered = [...touchedBy(changes).keys()].sort();
      return { base: begun, durable: withChanges(begun, changes), recovered, spent: false, warnings };
    }
    if (reading === READINGS) return refuseForeign(journal, backend.text.name, state ?? "absent");
  }
}

/** The state of a backend. @throws HostformError as `decodeState` does, with where an earlier one may be. */
export function decodeStored(stored: string, text: StateText): StateDocument {
  try {
    return decodeState(stored, text.name);
  } catch (error) {
    throw withEarlier(error, text);
  }
}

/** A state that cannot be read is explained as always, and what the journal beside it holds is not kept quiet. */
function decodeOrName(stored: string, text: StateText, journal: Journal | undefined): StateDocument {
  try {
    return decodeStored(stored, text);
  } catch (error) {
    if (journal === undefined) throw error;
    const beside = `${journal.name} beside it was left by a run that was stopped: it continues serial ${journal.serial} of lineage ${journal.lineage}, and stays as it is.`;
    throw withDetail(error, beside);
  }
}
