import type { Diagnostic } from "../model/index.ts";
import type { HistoryLines } from "./history.ts";
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
   * True if Terraform also reads the state. Terraform cannot read a journal, so each change writes the whole state. A journal of
   * an earlier run is still read.
   */
  readonly whole?: boolean;
  /** Lines of the history. Undefined if the backend has no place for a history. */
  readonly history?: HistoryLines;
  /** Encryption of the journal if the state is encrypted. `text` holds the state in clear text. */
  readonly sealing?: Pick<SealedText, "current" | "from" | "checkClear">;
}

/** State and the changes of its journal. */
export interface Opened {
  /** Contents of the state, without the journal. */
  readonly base: StateDocument;
  /** State with the changes of the journal. It is `base` itself if the journal adds no change. */
  readonly durable: StateDocument;
  /** Addresses in the journal. */
  readonly recovered: readonly string[];
  /** True if a journal exists that adds no change. */
  readonly spent: boolean;
  /** Warnings about the journal. */
  readonly warnings: readonly Diagnostic[];
}

/** Maximum number of reads. Without the lock, another run may fold the journal between the read of the journal and of the state. */
const READINGS = 4;

/**
 * Reads the journal, then the state, so that a change that leaves the journal is in the state.
 * @returns `stored`: text of the state, if it exists. `journaled`: true if a journal exists. `journal`: its changes, if it has any.
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
 * Reads the state and replays the journal. Changes nothing at the backend.
 * @throws HostformError `state.unreadable`, `state.newer`, `state.foreign`, `state.key`; `state.journal` if the
 * journal is corrupted or belongs to another state.
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

/** Decodes the state of a backend. @throws HostformError as `decodeState` does, with the place of an earlier state. */
export function decodeStored(stored: string, text: StateText): StateDocument {
  try {
    return decodeState(stored, text.name);
  } catch (error) {
    throw withEarlier(error, text);
  }
}

/** Decodes the state. The error about an unreadable state also names the journal. */
function decodeOrName(stored: string, text: StateText, journal: Journal | undefined): StateDocument {
  try {
    return decodeStored(stored, text);
  } catch (error) {
    if (journal === undefined) throw error;
    const beside = `The journal ${journal.name} of an interrupted run continues serial ${journal.serial} of lineage ${journal.lineage}. hostform keeps this journal.`;
    throw withDetail(error, beside);
  }
}
