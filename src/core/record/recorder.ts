import { digestOf, JournalLines } from "./journal-lines.ts";
import type { HeldLock } from "./lock.ts";
import type { Opened, StateBackend } from "./opening.ts";
import { changesBetween, isEmpty, Revision } from "./revise.ts";
import { encodeState, type StateDocument } from "./state-document.ts";
import type { JournalFile } from "./state-file.ts";

/**
 * Makes documents durable: as lines of the journal during a run, and as a whole state at its end. Without a journal, or after
 * its failure, each document is written as a whole state.
 *
 * A fold survives a crash at any moment, because of its order: append the digest of the next state to the journal; write the
 * state; remove the journal. A journal that accepts no more lines (of an earlier run, or after a failure) is first replaced by a
 * journal with the same changes and the digest.
 */
export class Recorder {
  readonly #backend: StateBackend;
  readonly #lock: HeldLock;
  readonly #uuid: () => string;
  #base: StateDocument;
  /** Durable revision, with the serial of the state. */
  readonly durable: Revision;
  /** Lines of the journal of this run. Undefined while the journal accepts no line. */
  #lines: JournalLines | undefined;
  /** Owner of the journal entries that the state lacks: no run, an interrupted run, or this run. */
  #unfolded: "nothing" | "recovered" | "ours";
  /** True if the journal accepts no more lines. The next write is the whole state. */
  #failed = false;
  /** Digests in the last line of the journal on disk. */
  #announced: readonly string[] = [];

  /** @param uuid returns the lineage of a new state. */
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

  /** True if only the journal of an interrupted run contains some changes. That run may have been killed before a sync. */
  get isUnsettled(): boolean {
    return this.#unfolded === "recovered";
  }

  /** Name of the journal while it contains changes that the state lacks. */
  get journalName(): string | undefined {
    return this.#unfolded === "nothing" ? undefined : this.#backend.journal?.name;
  }

  /**
   * Makes a revision durable. After a failure, the next call writes the whole state.
   * @param touched addresses that may differ from the durable revision.
   * @param whole true for changes that a journal cannot contain.
   * @throws HostformError `state.lost_lock`; otherwise the error of the system.
   */
  async record(revision: Revision, touched: Iterable<string>, whole: boolean): Promise<void> {
    await this.settle();
    const { journal, whole: always } = this.#backend;
    if (journal === undefined || always || whole || this.#failed) {
      await this.#fold(revision.document);
      // A new holder of the lock may have read the state before this write.
      this.#verify();
    } else await this.#append(revision, touched, journal);
  }

  /** Folds the journal of this run into the state. The journal of an earlier run stays if this run changed nothing. */
  async finish(): Promise<void> {
    if (this.#unfolded === "ours") await this.#fold(this.durable.document);
  }

  /** Folds the journal of an interrupted run into the state. The backup is the state before that run. */
  async settle(): Promise<void> {
    if (this.#unfolded !== "recovered") return;
    await this.#fold(this.durable.document);
    this.#backend.text.nextRun?.();
  }

  async confirm(): Promise<void> {
    await this.#backend.text.confirm?.();
  }

  /** Saves an unwritten document to a local file, for a backend without a journal. */
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

  /** Appends the last line of the journal. */
  async #announce(digest: string): Promise<void> {
    const { journal } = this.#backend;
    const grown = this.#lines;
    this.#failed = true;
    // A failed write may have stored its state.
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

  /** Returns the document with the lineage of this state. The first write chooses the lineage. */
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
