import type { World } from "./world.ts";

/** How a process ends before its time: `kill` ends it alone, `power` takes the machine with it, and what was not synced. */
export type Death = "kill" | "power";

/** The step of I/O at which a process ends, counted from 1. */
export interface Fate {
  readonly step: number;
  readonly how: Death;
}

/** The moment at which a process freezes. */
export interface Pause {
  /** The nth step of I/O, the nth request that changes something, or so many milliseconds after the start. */
  readonly at: "step" | "request" | "time";
  readonly nth: number;
  /** The operation under way has its effect, and only its answer waits; a request has left. */
  readonly isAfter: boolean;
  /** `stopped`: the process alone, and its timers run out. `asleep`: the computer, whose monotonic clock stands still. */
  readonly how: "stopped" | "asleep";
  /** Connections break meanwhile: no answer that is on its way arrives. */
  readonly isCutOff: boolean;
  /** Called when the process freezes. */
  begun(life: Life, how: Pause["how"]): void;
}

/** What a frozen process gets to see at its wake, in the order of an event loop: timers before connections. */
interface Late {
  readonly rank: number;
  run(): void;
}

const TIMER = 1;
const ARRIVAL = 2;

/**
 * The life of one process: every step of I/O asks it first. At the fatal step it stops indefinitely: from there on nothing
 * that it asked for is answered, so no line of its code runs any more. While it is frozen, all that would let it go on waits.
 */
export class Life {
  readonly name: string;
  /** Resolves when the process dies. */
  readonly died: Promise<Death>;
  /** When another took the lock of the state from it. */
  lostLockAt: number | undefined;
  #end: Death | undefined;
  #steps = 0;
  #changes = 0;
  #isFrozen = false;
  #late: Late[] = [];
  #report: (death: Death) => void = () => undefined;
  readonly #world: World;
  readonly #fate: Fate | undefined;
  #pause: Pause | undefined;
  readonly #atDeath: ((death: Death) => void)[] = [];

  constructor(world: World, name: string, fate?: Fate, pause?: Pause) {
    this.#world = world;
    this.name = name;
    this.#fate = fate;
    this.#pause = pause;
    this.died = new Promise((resolve) => {
      this.#report = resolve;
    });
    if (pause?.at === "time") world.after(pause.nth, () => this.#pause && this.#begin(pause));
  }

  get dead(): boolean {
    return this.#end !== undefined;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Returns true while an operation that was begun has its effect. */
  get isHeld(): boolean {
    return this.#isFrozen && !this.#pause?.isAfter;
  }

  /** Steps taken so far. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Counts a step of I/O. The fatal one may still have its `effect`, or a part of it, but is not answered.
   * @returns false when the process is dead.
   */
  step(what: string, effect?: () => void): boolean {
    if (this.dead) return false;
    this.#steps += 1;
    this.#world.note(`${this.name} ${what}`);
    if (this.#fate === undefined || this.#steps < this.#fate.step) {
      if (this.#pause?.at === "step" && this.#steps === this.#pause.nth) this.#begin(this.#pause);
      return true;
    }
    if (effect !== undefined && this.#world.chance.once(0.5)) {
      this.#world.note(`${this.name} ${what}: has its effect`);
      effect();
    }
    this.die(this.#fate.how);
    return false;
  }

  /** A request is about to be written to a socket, or has been. */
  sending(method: string, moment: "before" | "after"): void {
    if (method === "GET" || this.dead) return;
    if (moment === "before") this.#changes += 1;
    const pause = this.#pause;
    if (pause?.at !== "request" || this.#changes !== pause.nth) return;
    if (pause.isAfter === (moment === "after")) this.#begin(pause);
  }

  /** Nothing of the process goes on until {@link wake}. */
  freeze(how: Pause["how"]): void {
    if (this.dead || this.#isFrozen) return;
    this.#isFrozen = true;
    this.#world.note(`${this.name} ${how === "stopped" ? "is frozen" : "falls asleep"}`);
  }

  /** The process goes on: with the operation that it was at, its timers, and then what arrived. */
  wake(): void {
    if (this.dead || !this.#isFrozen) return;
    this.#isFrozen = false;
    this.#world.note(`${this.name} wakes`);
    const late = this.#late.toSorted((a, b) => a.rank - b.rank);
    this.#late = [];
    for (const { rank, run } of late) this.#world.after(0, () => this.#deliver(rank, run));
  }

  /** Goes on with the operation under way, at the wake of a frozen process. */
  onAwake(run: () => void): void {
    this.#deliver(0, run);
  }

  /** A timer of the process has run out. */
  onTimer(run: () => void): void {
    this.#deliver(TIMER, run);
  }

  /** Something comes from outside: an answer, a signal. @param lost in place of it, if connections broke meanwhile. */
  onArrival(run: () => void, lost = run): void {
    this.#deliver(ARRIVAL, this.#isFrozen && this.#pause?.isCutOff ? lost : run);
  }

  /** Resolves when the process is not frozen. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.#deliver(0, resolve));
  }

  /** The process has come to its own end: it freezes no more. */
  end(): void {
    this.#pause = undefined;
  }

  die(how: Death): void {
    if (this.dead) return;
    this.#end = how;
    this.#late = [];
    this.#world.note(`${this.name} ${how === "kill" ? "is killed" : "loses power"}`);
    for (const act of this.#atDeath) act(how);
    this.#report(how);
  }

  /** Has something done at the moment of death: the lock freed, the disk torn. */
  atDeath(act: (death: Death) => void): void {
    this.#atDeath.push(act);
  }

  #begin(pause: Pause): void {
    if (this.dead || this.#isFrozen) return;
    this.freeze(pause.how);
    pause.begun(this, pause.how);
  }

  #deliver(rank: number, run: () => void): void {
    if (this.dead) return;
    if (this.#isFrozen) this.#late.push({ rank, run });
    else run();
  }
}

/** What a dead process gets for an answer. A new one each time, so that nothing is kept alive by waiting for it. */
export const hang = (): Promise<never> => new Promise(() => undefined);
