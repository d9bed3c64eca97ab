import { Refusal } from "../refusal.ts";
import { holds, PERL, type Ranges } from "./pattern-classes.ts";
import type { Assertion, ParsedPattern, Pattern } from "./pattern-syntax.ts";

/**
 * Runs patterns as RE2 does, with all alternatives side by side: the time is bounded by the length of the text times that of the
 * pattern, and the match is the one that a search by trial and error would find first.
 */
type Step =
  | { readonly do: "character"; readonly ranges: Ranges }
  | { readonly do: "assert"; readonly assertion: Assertion }
  | { readonly do: "save"; readonly slot: number }
  | { readonly do: "split"; first: number; second: number }
  | { readonly do: "match" };

/** Begin and end of the match and of each group, in code points; undefined for a group that took no part. */
export type Match = readonly (number | undefined)[];

const LONGEST = 20_000;

export class Machine {
  readonly #steps: Step[] = [];

  constructor({ pattern }: ParsedPattern) {
    this.#add({ do: "save", slot: 0 });
    this.#compile(pattern);
    this.#add({ do: "save", slot: 1 });
    this.#add({ do: "match" });
  }

  #add(step: Step): number {
    if (this.#steps.length >= LONGEST) throw new Refusal("a pattern of this size is not supported", 0);
    return this.#steps.push(step) - 1;
  }

  #compile(pattern: Pattern): void {
    switch (pattern.kind) {
      case "character":
        this.#add({ do: "character", ranges: pattern.ranges });
        break;
      case "assertion":
        this.#add({ do: "assert", assertion: pattern.assertion });
        break;
      case "group":
        this.#add({ do: "save", slot: pattern.index * 2 });
        this.#compile(pattern.inner);
        this.#add({ do: "save", slot: pattern.index * 2 + 1 });
        break;
      case "sequence":
        for (const part of pattern.parts) this.#compile(part);
        break;
      case "choice":
        this.#choice(pattern.options);
        break;
      default:
        this.#repeat(pattern);
    }
  }

  #choice(options: readonly Pattern[]): void {
    const ends: number[] = [];
    for (const [i, option] of options.entries()) {
      const last = i === options.length - 1;
      const at = last ? -1 : this.#split();
      this.#compile(option);
      if (last) continue;
      ends.push(this.#split());
      this.#aim(at, at + 1, this.#steps.length);
    }
    for (const end of ends) this.#aim(end, this.#steps.length, this.#steps.length);
  }

  #repeat({ inner, least, most, greedy }: Pattern & { readonly kind: "repeat" }): void {
    if (most === Number.POSITIVE_INFINITY) {
      for (let i = 1; i < least; i++) this.#compile(inner);
      // Where the inner pattern can be empty, Go has (x+)? for x*, which prefers the same match.
      const skip = least === 0 ? this.#split() : -1;
      const start = this.#steps.length;
      this.#compile(inner);
      const loop = this.#split();
      this.#prefer(loop, start, this.#steps.length, greedy);
      if (skip >= 0) this.#prefer(skip, skip + 1, this.#steps.length, greedy);
      return;
    }
    for (let i = 0; i < least; i++) this.#compile(inner);
    const skips: number[] = [];
    for (let i = least; i < most; i++) {
      skips.push(this.#split());
      this.#compile(inner);
    }
    for (const skip of skips) this.#prefer(skip, skip + 1, this.#steps.length, greedy);
  }

  #split(): number {
    return this.#add({ do: "split", first: 0, second: 0 });
  }

  #prefer(at: number, on: number, out: number, greedy: boolean): void {
    this.#aim(at, greedy ? on : out, greedy ? out : on);
  }

  #aim(at: number, first: number, second: number): void {
    this.#steps[at] = { do: "split", first, second };
  }

  /** The first match in the text from a position on. */
  find(points: readonly number[], from: number): Match | undefined {
    let found: Match | undefined;
    let threads: Thread[] = [];
    for (let at = from; at <= points.length; at++) {
      const seen = new Set<number>();
      const ready: Thread[] = [];
      for (const thread of threads) this.#follow(thread.step, thread.slots, at, points, seen, ready);
      if (found === undefined) this.#follow(0, [], at, points, seen, ready);
      if (ready.length === 0 && found !== undefined) break;
      threads = [];
      const point = points[at];
      for (const { step, slots } of ready) {
        const one = this.#steps[step];
        if (one?.do === "match") {
          found = slots;
          // What comes later is less preferred.
          break;
        }
        if (one?.do === "character" && point !== undefined && holds(one.ranges, point))
          threads.push({ step: step + 1, slots });
      }
    }
    return found;
  }

  /** Goes on to the steps that need a character, in the order of preference. */
  #follow(
    start: number,
    startSlots: Match,
    at: number,
    points: readonly number[],
    seen: Set<number>,
    ready: Thread[],
  ): void {
    const open: Thread[] = [{ step: start, slots: startSlots }];
    for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
      const { step, slots } = thread;
      if (seen.has(step)) continue;
      seen.add(step);
      const one = this.#steps[step];
      if (one?.do === "split") {
        open.push({ step: one.second, slots }, { step: one.first, slots });
      } else if (one?.do === "save") {
        const saved = [...slots];
        saved[one.slot] = at;
        open.push({ step: step + 1, slots: saved });
      } else if (one?.do === "assert") {
        if (stands(one.assertion, at, points)) open.push({ step: step + 1, slots });
      } else {
        ready.push(thread);
      }
    }
  }
}

interface Thread {
  readonly step: number;
  readonly slots: Match;
}

const LINE_FEED = 10;

function stands(assertion: Assertion, at: number, points: readonly number[]): boolean {
  const before = points[at - 1];
  const after = points[at];
  switch (assertion) {
    case "text-start":
      return at === 0;
    case "text-end":
      return at === points.length;
    case "line-start":
      return at === 0 || before === LINE_FEED;
    case "line-end":
      return at === points.length || after === LINE_FEED;
    default:
      return (isWord(before) !== isWord(after)) === (assertion === "boundary");
  }
}

const isWord = (point: number | undefined): boolean => point !== undefined && holds(PERL.w ?? [], point);
