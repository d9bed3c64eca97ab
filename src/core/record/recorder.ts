import type { Sealing } from "./encryption.ts";
import { encodeState, type StateDocument } from "./format.ts";
import { type JournalPlace, JournalWriter } from "./journal-file.ts";
import { digestOf, JournalLines } from "./journal-lines.ts";
import type { HeldLock } from "./lock.ts";
import { changesBetween, isEmpty } from "./revise.ts";
import type { StateText } from "./state-file.ts";

/** What a recorder works on. */
export interface RecorderParts {
  readonly text: StateText;
  readonly journal: JournalPlace | undefined;
  /** Whether each document is written whole though there is a journal. */
  readonly whole?: boolean | undefined;
  readonly sealing: Pick<Sealing, "current"> | undefined;
  readonly lock: HeldLock;
  readonly uuid: () => string;
  /** What the state itself holds. */
  readonly base: StateDocument;
  /** The same with the journal that an earlier run left; `base` itself when there is none. */
  readonly durable: StateDocument;
}

/**
 * Makes documents durable, one after the other: as lines of the journal while a run lasts, as a whole state at its end.
 * Where the place has no journal, or the journal failed, each document is written whole.
 *
 * The order of a fold is what makes it safe at any crash: the journal's last line says which state is about to be
 * written; the state is written; the journal goes. A journal that cannot be added to (an earlier run's, whose last line
 * may be torn, or one that failed) is first replaced by one that says the same and has that last line.
 */
export class Recorder {
  readonly #parts: RecorderParts;
  #base: StateDocument;
  #durable: StateDocument;
  #writer: JournalWriter | undefined;
  /** What the journal on disk holds beyond the state, and whose it is. */
  #unfolded: "nothing" | "recovered" | "ours";
  /** The journal cannot be added to: only the whole state can be written next. */
  #failed = false;
  /** Digests of the states that the journal on disk says may be written. */
  #announced: readonly string[] = [];

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#base = parts.base;
    this.#durable = parts.durable;
    this.#unfolded = parts.durable === parts.base ? "nothing" : "recovered";
  }

  /** The last document that is durable. Its serial is that of the state. */
  get durable(): StateDocument {
    return this.#durable;
  }

  /** Whether something stands in the journal of an earlier run alone, which may have been killed before it was synced. */
  get isUnsettled(): boolean {
    return this.#unfolded === "recovered";
  }

  /** Where what is durable can be found while the state does not have it. */
  get journalName(): string | undefined {
    return this.#unfolded === "nothing" ? undefined : this.#parts.journal?.name;
  }

  /**
   * Durable when it resolves. After a failure the next call tries the whole state.
   * @param whole for changes that the journal has no words for.
   * @throws HostformError `state.lost_lock`; else the system's own error.
   */
  async record(document: StateDocument, whole: boolean): Promise<void> {
    await this.settle();
    const { journal, whole: always } = this.#parts;
    if (journal === undefined || always || whole || this.#failed) await this.#fold(document);
    else await this.#append(document, journal);
  }

  /** Writes the state with what this run recorded in the journal. An earlier run's journal stays if nothing came after. */
  async finish(): Promise<void> {
    if (this.#unfolded === "ours") await this.#fold(this.#durable);
  }

  /** Ends the run that was stopped: writes the state with what its journal holds. Its backup is the state before it. */
  async settle(): Promise<void> {
    if (this.#unfolded !== "recovered") return;
    await this.#fold(this.#durable);
    this.#parts.text.nextRun?.();
  }

  /** Whether the place has what it took. */
  async confirm(): Promise<void> {
    await this.#parts.text.confirm?.();
  }

  /** Keeps a document that could not be written elsewhere; a place with a journal has it there. */
  async keep(document: StateDocument): Promise<void> {
    await this.#parts.text.keep?.(encodeState(this.#placed(document, this.#base.state.serial + 1)));
  }

  async #append(document: StateDocument, journal: JournalPlace): Promise<void> {
    const changes = changesBetween(this.#durable, document);
    try {
      if (!isEmpty(changes)) {
        this.#writer ??= await JournalWriter.begin(journal, this.#head(), await this.#seal(), this.#verify);
        this.#unfolded = "ours";
        await this.#writer.append(changes, this.#verify);
      }
    } catch (error) {
      this.#failed = true;
      await this.#closeWriter();
      throw error;
    }
    this.#durable = this.#placed(document, this.#base.state.serial);
  }

  async #fold(document: StateDocument): Promise<void> {
    const { text, journal } = this.#parts;
    const next = this.#placed(document, this.#base.state.serial + 1);
    const stateText = encodeState(next);
    if (this.#unfolded !== "nothing") await this.#announce(digestOf(stateText));
    await text.write(stateText, this.#verify);
    this.#base = next;
    this.#durable = next;
    if (this.#failed) await journal?.remove();
    this.#unfolded = "nothing";
    this.#failed = false;
    this.#announced = [];
  }

  /** The last line of the journal. Whatever happens next, nothing can be added to that journal. */
  async #announce(digest: string): Promise<void> {
    const writer = this.#writer;
    this.#failed = true;
    // A state whose write failed may be there all the same.
    this.#announced = [...this.#announced, digest];
    try {
      if (writer !== undefined) return await writer.append({ fold: this.#announced }, this.#verify);
    } finally {
      await this.#closeWriter();
    }
    const lines = new JournalLines(this.#head(), await this.#seal());
    const changes = changesBetween(this.#base, this.#durable);
    await this.#parts.journal?.replace(lines.folding(changes, this.#announced), this.#verify);
  }

  async #closeWriter(): Promise<void> {
    await this.#writer?.close();
    this.#writer = undefined;
  }

  /** The document as part of this state, whose lineage is chosen with the first write. */
  #placed(document: StateDocument, serial: number): StateDocument {
    return { ...document, state: { ...document.state, lineage: this.#head().lineage, serial } };
  }

  #head(): { readonly lineage: string; readonly serial: number } {
    const { lineage, serial } = this.#base.state;
    if (lineage !== "") return { lineage, serial };
    this.#base = { ...this.#base, state: { ...this.#base.state, lineage: this.#parts.uuid() } };
    return { lineage: this.#base.state.lineage, serial };
  }

  #seal() {
    return this.#parts.sealing?.current();
  }

  readonly #verify = () => this.#parts.lock.verify();
}
