/** What a watch remembers: what was reported, and what had to be corrected again and again. */
import type { Change, Diagnostic, Plan } from "../../core/model/index.ts";
import { type WatchNote, watchNotes } from "../../report/index.ts";

/** What a look shows that the look before did not. */
export interface News {
  /** A line for each object of which there is something else to say. */
  readonly notes: readonly string[];
  /** Addresses of which there is nothing to say any more. */
  readonly settled: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/** Remembers what was said, so that a look says only what is new. */
export class Memory {
  /** Of changes that would be made and of objects that have moved on, by address. */
  readonly #notes = new Map<string, WatchNote>();
  readonly #problems = new Map<string, Diagnostic>();
  /** Of the look before, when it failed; of what the last apply did not do. */
  readonly #last = { failure: "", outcome: "" };

  /**
   * @param targets of a look at some addresses: of the others nothing new is known.
   */
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

  /** Changes that were made, which was reported when they were made: the next look need not say that they are settled. */
  made(addresses: readonly string[]): void {
    for (const address of addresses) this.#notes.delete(address);
  }

  /**
   * Whether a look fails otherwise than the one before, or an apply left something else undone.
   * @param diagnostics its errors; none: it was complete.
   */
  isNew(what: "failure" | "outcome", diagnostics: readonly Diagnostic[]): boolean {
    const before = this.#last[what];
    this.#last[what] = JSON.stringify(diagnostics.map(keyOf));
    return this.#last[what] !== before;
  }
}

/** The same thing said at another moment has the same key: how long something has lasted, or is to be waited for, is left out. */
function keyOf({ code, summary, address, detail }: Diagnostic): string {
  const timeless = (text = "") => text.replaceAll(TIMES, "");
  return JSON.stringify([code, timeless(summary), address ?? null, timeless(detail)]);
}

const TIMES = /\b\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|days?)\b/g;

/** Within this, what was put right and has to be put right again counts. */
const WITHIN_MS = 3_600_000;
/** From this on it is no accident. */
const OFTEN = 3;

/** What somebody changes back again and again: a host that suspends for non-payment, or another declaration. */
export interface Contended {
  readonly addresses: readonly string[];
  /** How often the one that was put right most often was, within the last hour. */
  readonly times: number;
}

/** Notices that what is made as declared does not stay so, lest two programs take turns as fast as they can. */
export class Contention {
  readonly #made = new Map<string, readonly number[]>();

  /** @param addresses that were changed. @param now monotonic, in milliseconds. @returns undefined while nothing is contended. */
  note(addresses: readonly string[], now: number): Contended | undefined {
    for (const [address, times] of [...this.#made]) {
      const recent = times.filter((at) => now - at < WITHIN_MS);
      if (recent.length === 0) this.#made.delete(address);
      else this.#made.set(address, recent);
    }
    for (const address of addresses) this.#made.set(address, [...(this.#made.get(address) ?? []), now]);
    const counts = addresses.map((address) => ({ address, times: this.#made.get(address)?.length ?? 0 }));
    const contended = counts.filter(({ times }) => times >= OFTEN);
    if (contended.length === 0) return undefined;
    return {
      addresses: contended.map(({ address }) => address),
      times: Math.max(...contended.map(({ times }) => times)),
    };
  }
}

/** What it shows that changes had to be made again and again: that each was undone outside of hostform is seen, or is not. */
export function conclusion(changes: readonly Pick<Change, "reasons">[]): string {
  const isUndone = changes.every(({ reasons }) => reasons.some(({ why }) => why === "drift" || why === "gone"));
  return isUndone
    ? "so somebody changes it back"
    : "and it differs again: the host does not keep it as declared, or another declaration changes it";
}
