import { problem, raise } from "../messages/index.ts";
import { attempt, type Diagnostic, ifExplained } from "../model/index.ts";
import type { Seal } from "./encryption.ts";
import type { HistoryLines } from "./history.ts";
import {
  type ChainReading,
  decodeEntry,
  decodeHead,
  digestOf,
  isProved,
  isTornHead,
  type JournalHead,
  readChain,
} from "./journal-lines.ts";
import type { StateLock } from "./lock.ts";
import { type Changes, describeChanges, touchedBy, withChanges } from "./revise.ts";
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

/** Journal with at least one change, read to its end. */
export interface Journal {
  /** Name of the journal, for messages. */
  readonly name: string;
  readonly lineage: string;
  /** Serial of the continued state; 0 without a state. */
  readonly serial: number;
  /** Changes since the continued state, in order; never empty. */
  readonly changes: readonly Changes[];
  /** Digests of the states that a run tried to write with all changes. A state with one of these digests contains all changes. */
  readonly fold: readonly string[];
}

/**
 * Reads a journal. A crash can tear its last line. No request was sent after a torn line, so it is skipped with a warning.
 * @returns no journal if it has no change.
 * @throws HostformError `state.journal` for a corrupted line or an unknown format; `state.key`; errors of `SealedText.checkClear`.
 */
export async function readJournal(
  text: string,
  name: string,
  sealing: Pick<SealedText, "from" | "checkClear"> | undefined,
): Promise<{ readonly journal: Journal | undefined; readonly warnings: readonly Diagnostic[] }> {
  const chain = readChain(text);
  const [first] = chain.payloads;
  const isTorn = text === "" || chain.torn !== "";
  const warnings = isTorn ? [problem("state.journal/torn", { place: name, bytes: chain.torn.length })] : [];
  if (first === undefined && chain.damagedLine === undefined && isTornHead(chain.torn))
    return { journal: undefined, warnings };
  const head = first === undefined ? undefined : decodeHead(first);
  if (head === undefined && first !== undefined) raise("state.journal/format", { place: name });
  if (head === undefined) return refuseDamaged(name, 1, legibleBeyond(chain));
  if (head.seal !== undefined && sealing === undefined) raise("state.key/sealed", { source: `journal ${name}` });
  const seal = head.seal && (await sealing?.from(head.seal));
  const isHead = seal === undefined || isProved(chain.payloads[0] ?? "", head, seal);
  const { changes, fold, bad } = isHead ? readEntries(chain, head, seal) : { changes: [], fold: [], bad: 1 };
  if (seal === undefined) sealing?.checkClear(name, listed(changes));
  const damaged = bad ?? chain.damagedLine;
  if (damaged !== undefined) return refuseDamaged(name, damaged, [...changes, ...legibleBeyond(chain, head, seal)]);
  if (changes.length === 0) return { journal: undefined, warnings };
  return { journal: { name, lineage: head.lineage, serial: head.serial, changes, fold: fold ?? [] }, warnings };
}

/**
 * Compares a journal with its state. `folded`: the state contains all changes. `open`: the journal continues the state.
 * `foreign`: neither.
 * @param state undefined if no state exists.
 */
export function relationOf(
  journal: Journal,
  state: { readonly text: string; readonly lineage: string; readonly serial: number } | undefined,
): "folded" | "open" | "foreign" {
  if (state === undefined) return journal.serial === 0 ? "open" : "foreign";
  if (journal.fold.includes(digestOf(state.text))) return "folded";
  return journal.lineage === state.lineage && journal.serial === state.serial ? "open" : "foreign";
}

/**
 * @param stateName place of the state, for messages.
 * @throws HostformError `state.journal`, always.
 */
export function refuseForeign(
  { name, lineage, serial, changes }: Journal,
  stateName: string,
  state: { readonly lineage: string; readonly serial: number } | "absent" | "unreadable",
): never {
  const found = typeof state === "string" ? `is ${state}` : `has serial ${state.serial} of lineage ${state.lineage}`;
  const about = { place: name, lineage, serial, state: stateName, found };
  raise("state.journal/foreign", { ...about, held: listed(changes) });
}

function readEntries({ payloads, sums }: ChainReading, head: JournalHead, seal: Seal | undefined) {
  const changes: Changes[] = [];
  let fold: readonly string[] | undefined;
  for (const [index, payload] of payloads.slice(1).entries()) {
    const line = index + 1;
    const entry = fold === undefined ? legible(payload, head, line, seal, sums[index]) : undefined;
    if (entry === undefined) return { changes, fold, bad: line + 1 };
    if ("fold" in entry) fold = entry.fold;
    else changes.push(entry);
  }
  return { changes, fold, bad: undefined };
}

/** Decodes a line for a message. Undefined for a line that is not an entry, or cannot be decrypted. */
function legible(...line: Parameters<typeof decodeEntry>) {
  return attempt(
    () => decodeEntry(...line),
    ifExplained(() => undefined),
  );
}

function legibleBeyond({ payloads, beyond }: ChainReading, head?: JournalHead, seal?: Seal): Changes[] {
  return beyond.flatMap(({ payload, previous }, index) => {
    const entry = legible(payload, head, payloads.length + index, seal, previous);
    return entry === undefined || "fold" in entry ? [] : [entry];
  });
}

/** Throws the error about a corrupted line. @param changes readable changes of the journal. */
function refuseDamaged(name: string, line: number, changes: readonly Changes[]): never {
  raise("state.journal", { place: name, line, held: listed(changes) });
}

function listed(changes: readonly Changes[]): string {
  const names = describeChanges(changes);
  return names.length === 0 ? "nothing" : names.join(", ");
}
