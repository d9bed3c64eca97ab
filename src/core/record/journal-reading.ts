import { problem, raise } from "../messages/index.ts";
import { attempt, type Diagnostic, ifExplained } from "../model/index.ts";
import type { Seal } from "./encryption.ts";
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
import { type Changes, describeChanges } from "./revise.ts";
import type { SealedText } from "./sealed-text.ts";

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
