import type { Seal } from "../sealing.ts";
import type { JournalEntry, JournalHead } from "./entry.ts";
import { JournalLines } from "./entry.ts";
import type { GrowingJournal, JournalPlace, Verify } from "./file.ts";

/** A journal that this run began: entries in, durable lines out. */
export class JournalWriter {
  readonly #lines: JournalLines;
  readonly #file: GrowingJournal;

  private constructor(lines: JournalLines, file: GrowingJournal) {
    this.#lines = lines;
    this.#file = file;
  }

  /** Takes the place of whatever journal is there. Throws as {@link JournalPlace.begin} does. */
  static async begin(
    place: JournalPlace,
    state: Pick<JournalHead, "lineage" | "serial">,
    seal: Seal | undefined,
    verify: Verify,
  ): Promise<JournalWriter> {
    const lines = new JournalLines(state, seal);
    return new JournalWriter(lines, await place.begin(lines.head(), verify));
  }

  /** Durable when it resolves. After a failure the journal must not be written to any more. */
  async append(entry: JournalEntry, verify: Verify): Promise<void> {
    await this.#file.append(this.#lines.entry(entry), verify);
  }

  /** Never throws. */
  async close(): Promise<void> {
    await this.#file.close();
  }
}
