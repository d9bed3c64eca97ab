/** Stores what a watch has reported, and counts repeated corrections. */
import type { Change, Diagnostic, Plan } from "../../core/model/index.ts";
import { type WatchNote, watchNotes } from "../../report/index.ts";

/** New facts of a check. */
export interface News {
  /** One line for each object with new facts. */
  readonly notes: readonly string[];
  /** Addresses that no longer differ. */
  readonly settled: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/** Stores reported facts, so that a check reports only new facts. */
export class Memory {
  /** Address -> entry about a planned change or a moved object. */
  readonly #notes = new Map<string, WatchNote>();
  readonly #problems = new Map<string, Diagnostic>();
  /** Last failure of a check, and last result of an apply. */
  readonly #last = { failure: "", outcome: "" };

  /** @param targets of a partial check. The check has no news about other addresses. */
  compare(plan: Plan, targets: readonly string[]): News {
    const notes = watchNotes(plan);
    const planned = plan.changes.map(({ address }) => address);
    const seen = new Set([...targets, ...planned, ...notes.keys()]);
    const isWhole = targets.length === 0;
    const isCovered = (address: string | undefined) => isWhole || (address !== undefined && seen.has(address));
    const settled = [...this.#notes].filter(
      ([address, note]) => isCovered(address) && !notes.has(address) && note.isChange,
    );
    const fresh = [...notes].filter(([address, note]) => this.#notes.get(address)?.text !== note.text);
    const problems = new Map(plan.diagnostics.map((diagnostic) => [keyOf(diagnostic), diagnostic]));
    const unsaid = [...problems].filter(([key]) => !this.#problems.has(key));
    for (const address of [...this.#notes.keys()]) if (isCovered(address)) this.#notes.delete(address);
    for (const [key, { address }] of [...this.#problems]) if (isCovered(address)) this.#problems.delete(key);
    for (const [address, note] of notes) this.#notes.set(address, note);
    for (const [key, problem] of problems) this.#problems.set(key, problem);
    this.#last.failure = "";
    return {
      notes: fresh.map(([, { text }]) => text),
      settled: settled.map(([address]) => address),
      problems: unsaid.map(([, problem]) => problem),
    };
  }

  /** Drops the entries for applied changes. */
  made(addresses: readonly string[]): void {
    for (const address of addresses) this.#notes.delete(address);
  }

  /**
   * Returns true if a failure or a result differs from the last one.
   * @param diagnostics errors. Empty if the apply is complete.
   */
  isNew(what: "failure" | "outcome", diagnostics: readonly Diagnostic[]): boolean {
    const before = this.#last[what];
    this.#last[what] = JSON.stringify(diagnostics.map(keyOf));
    return this.#last[what] !== before;
  }
}

/** Returns a comparison key without durations, because durations differ at each check. */
function keyOf({ code, summary, address, detail }: Diagnostic): string {
  const timeless = (text = "") => text.replaceAll(TIMES, "");
  return JSON.stringify([code, timeless(summary), address ?? null, timeless(detail)]);
}

const TIMES = /\b\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|days?)\b/g;

/** Period in which corrections are counted, in milliseconds. */
const WITHIN_MS = 3_600_000;
/** Number of corrections that counts as a conflict. */
const OFTEN = 3;

/** Objects that other programs repeatedly change back, such as a host that suspends for non-payment, or another declaration. */
export interface Contended {
  readonly addresses: readonly string[];
  /** Highest number of corrections of one object within the last hour. */
  readonly times: number;
}

/** Finds repeated corrections, so that two programs do not continuously undo each other's changes. */
export class Contention {
  readonly #made = new Map<string, readonly number[]>();

  /**
   * @param addresses of changed objects.
   * @param now monotonic, in milliseconds.
   * @returns undefined if no object is contended.
   */
  note(addresses: readonly string[], now: number): Contended | undefined {
    const contended = addresses.flatMap((address) => {
      const recent = (this.#made.get(address) ?? []).filter((at) => now - at < WITHIN_MS);
      const times = [...recent, now];
      this.#made.set(address, times);
      return times.length >= OFTEN ? [{ address, times: times.length }] : [];
    });
    if (contended.length === 0) return undefined;
    return {
      addresses: contended.map(({ address }) => address),
      times: Math.max(...contended.map(({ times }) => times)),
    };
  }
}

/** Returns the cause of repeated corrections: a visible change outside hostform, or an unknown cause. */
export function conclusion(changes: readonly Pick<Change, "reasons">[]): string {
  const isUndone = changes.every(({ reasons }) => reasons.some(({ why }) => why === "drift" || why === "gone"));
  return isUndone
    ? "so somebody changes it back"
    : "and it differs again: the host does not keep it as declared, or another declaration changes it";
}
