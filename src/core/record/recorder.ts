import { digestOf, JournalLines } from "./journal-lines.ts";
import type { HeldLock } from "./lock.ts";
import type { Opened, StateBackend } from "./opening.ts";
import { changesBetween, isEmpty, Revision } from "./revise.ts";
import { encodeState, type StateDocument } from "./state-document.ts";
import type { JournalFile } from "./state-file.ts";

/**
 * Makes documents durable, one after the other: as lines of the journal while a run lasts, as a whole state at its end.
 * Where the backend has no journal, or the journal failed, each document is written whole.
 *
 * The order of a fold is what makes it safe at any crash: the journal's last line says which state is about to be
 * written; the state is written; the journal goes. A journal that cannot be added to (an earlier run's, whose last line
 * may be torn, or one that failed) is first replaced by one that says the same and has that last line.
 */
export class Recorder {
  readonly #backend: StateBackend;
  readonly #lock: HeldLock;
  readonly #uuid: () => string;
  #base: StateDocument;
  /** Durable revision, with the serial of the state. */
  readonly durable: Revision;
  /** Lines of this run's journal; undefined while it accepts none. */
  #lines: JournalLines | undefined;
  /** Owner of journal entries that the state lacks. */
  #unfolded: "nothing" | "recovered" | "ours";
  /** The journal cannot be added to: only the whole state can be written next. */
  #failed = false;
  /** Digests of the states that the journal on disk says may be written. */
  #announced: readonly string[] = [];

  /** @param uuid gives the lineage of a state that has none yet. */
  constructor(
    backend: StateBackend,
    { base, durable }: Pick<Opened, "base" | "durable">,
    lock: HeldLock,
    uuid: () => string,
  ) {
    this.#backend = backend;
    this.#lock = lock;
    this.#uuid = uuid;
    this.#base = base;
    this.durable = new Revision(durable);
    this.#unfolded = durable === base ? "nothing" : "recovered";
  }

  /** True if only the journal of an earlier run holds some changes. That run may have been killed before a sync. */
  get isUnsettled(): boolean {
    return this.#unfolded === "recovered";
  }

  /** Name of the journal while it holds changes that the state lacks. */
  get journalName(): string | undefined {
    return this.#unfolded === "nothing" ? undefined : this.#backend.journal?.name;
  }

  /**
   * Durable when it resolves. After a failure the next call tries the whole state.
   * @param touched the addresses at which it may differ from what is durable.
   * @param whole for changes that the journal has no words for.
   * @throws HostformError `state.lost_lock`; else the system's own error.
   */
  async record(revision: Revision, touched: Iterable<string>, whole: boolean): Promise<void> {
    await this.settle();
    const { journal, whole: always } = this.#backend;
    if (journal === undefined || always || whole || this.#failed) {
      await this.#fold(revision.document);
      // The new holder of the lock may not have read the state, as with a line of the journal.
      this.#verify();
    } else await this.#append(revision, touched, journal);
  }

  /** Writes the state with what this run recorded in the journal. An earlier run's journal stays if nothing came after. */
  async finish(): Promise<void> {
    if (this.#unfolded === "ours") await this.#fold(this.durable.document);
  }

  /** Ends the run that was stopped: writes the state with what its journal holds. Its backup is the state before it. */
  async settle(): Promise<void> {
    if (this.#unfolded !== "recovered") return;
    await this.#fold(this.durable.document);
    this.#backend.text.nextRun?.();
  }

  async confirm(): Promise<void> {
    await this.#backend.text.confirm?.();
  }

  /** Keeps a document that could not be written elsewhere; a backend with a journal has it there. */
  async keep(document: StateDocument): Promise<void> {
    await this.#backend.text.keep?.(encodeState(this.#placed(document, this.#base.state.serial + 1)));
  }

  async #append(revision: Revision, touched: Iterable<string>, journal: JournalFile): Promise<void> {
    const changes = changesBetween(this.durable, revision, touched);
    try {
      if (!isEmpty(changes)) {
        if (this.#lines === undefined) {
          const lines = await this.#newLines();
          await journal.begin(lines.head(), this.#verify);
          this.#lines = lines;
        }
        this.#unfolded = "ours";
        await journal.append(this.#lines.entry(changes), this.#verify);
      }
    } catch (error) {
      this.#failed = true;
      await this.#closeJournal();
      throw error;
    }
    this.durable.take(changes);
    this.durable.place(this.#head());
  }

  async #fold(document: StateDocument): Promise<void> {
    const { text, journal } = this.#backend;
    const next = this.#placed(document, this.#base.state.serial + 1);
    const stateText = encodeState(next);
    if (this.#unfolded !== "nothing") await this.#announce(digestOf(stateText));
    await text.write(stateText, this.#verify);
    this.#base = next;
    this.durable.document = next;
    if (this.#failed) await journal?.remove();
    this.#unfolded = "nothing";
    this.#failed = false;
    this.#announced = [];
  }

  /** The last line of the journal. Whatever happens next, nothing can be added to that journal. */
  async #announce(digest: string): Promise<void> {
    const { journal } = this.#backend;
    const grown = this.#lines;
    this.#failed = true;
    // A state whose write failed may be there all the same.
    this.#announced = [...this.#announced, digest];
    try {
      if (grown !== undefined) return await journal?.append(grown.entry({ fold: this.#announced }), this.#verify);
    } finally {
      await this.#closeJournal();
    }
    const lines = await this.#newLines();
    const [before, after] = [this.#base.state.resources, this.durable.document.state.resources];
    const all = new Set([...before.keys(), ...after.keys()]);
    const changes = changesBetween(new Revision(this.#base), this.durable, all);
    await journal?.replace(lines.folding(changes, this.#announced), this.#verify);
  }

  async #closeJournal(): Promise<void> {
    await this.#backend.journal?.close();
    this.#lines = undefined;
  }

  /** The document as part of this state, whose lineage is chosen with the first write. */
  #placed(document: StateDocument, serial: number): StateDocument {
    return { ...document, state: { ...document.state, lineage: this.#head().lineage, serial } };
  }

  #head(): { readonly lineage: string; readonly serial: number } {
    const { lineage, serial } = this.#base.state;
    if (lineage !== "") return { lineage, serial };
    this.#base = { ...this.#base, state: { ...this.#base.state, lineage: this.#uuid() } };
    return { lineage: this.#base.state.lineage, serial };
  }

  async #newLines(): Promise<JournalLines> {
    return new JournalLines(this.#head(), await this.#backend.sealing?.current());
  }

  readonly #verify = () => this.#lock.verify();
}
