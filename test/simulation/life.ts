import type { World } from "./world.ts";

/** Premature end of a process. `kill` ends only the process. `power` ends the machine, which loses unsynced data. */
export type Death = "kill" | "power";

/** I/O step at which a process dies. The first step is 1. */
export interface Fate {
  readonly step: number;
  readonly how: Death;
}

/** Moment at which a process freezes. */
export interface Pause {
  /** Unit of `nth`: I/O steps, write requests, or milliseconds since the start. */
  readonly at: "step" | "request" | "time";
  readonly nth: number;
  /** True if the current operation takes effect and only its result waits. A request has already been sent. */
  readonly isAfter: boolean;
  /**
   * `stopped`: only the process stops, and its timers expire. `asleep`: the computer sleeps, and its monotonic clock
   * stops.
   */
  readonly how: "stopped" | "asleep";
  /** True if connections break during the pause. Then no pending response arrives. */
  readonly isCutOff: boolean;
  /** Called when the process freezes. */
  begun(life: Life, how: Pause["how"]): void;
}

/** A callback that waits for the wake of a frozen process. Like in an event loop, timers run before connections. */
interface Late {
  readonly rank: number;
  run(): void;
}

const TIMER = 1;
const ARRIVAL = 2;

/**
 * Life of one process. Each I/O step first calls `step`. At the fatal step, the process stops: no later operation
 * returns, so no further code of the process runs. While the process is frozen, all its callbacks wait.
 */
export class Life {
  readonly name: string;
  /** Resolves when the process dies. */
  readonly died: Promise<Death>;
  /** Time at which another process took the lock of the state. */
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

  /** Returns true while the current operation must not take effect. */
  get isHeld(): boolean {
    return this.#isFrozen && !this.#pause?.isAfter;
  }

  get steps(): number {
    return this.#steps;
  }

  /**
   * Counts an I/O step. The fatal step may still have its `effect` or a part of it, but does not return.
   * @returns False if the process is dead.
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

  /** Called before and after a request is written to a socket. */
  sending(method: string, moment: "before" | "after"): void {
    if (method === "GET" || this.dead) return;
    if (moment === "before") this.#changes += 1;
    const pause = this.#pause;
    if (pause?.at !== "request" || this.#changes !== pause.nth) return;
    if (pause.isAfter === (moment === "after")) this.#begin(pause);
  }

  /** Stops the process until {@link wake}. */
  freeze(how: Pause["how"]): void {
    if (this.dead || this.#isFrozen) return;
    this.#isFrozen = true;
    this.#world.note(`${this.name} ${how === "stopped" ? "is frozen" : "falls asleep"}`);
  }

  /** Continues the process with its current operation, then its timers, then its arrived messages. */
  wake(): void {
    if (this.dead || !this.#isFrozen) return;
    this.#isFrozen = false;
    this.#world.note(`${this.name} wakes`);
    const late = this.#late.toSorted((a, b) => a.rank - b.rank);
    this.#late = [];
    for (const { rank, run } of late) this.#world.after(0, () => this.#deliver(rank, run));
  }

  /** Continues the current operation, after the wake if the process is frozen. */
  onAwake(run: () => void): void {
    this.#deliver(0, run);
  }

  /** Delivers an expired timer. */
  onTimer(run: () => void): void {
    this.#deliver(TIMER, run);
  }

  /**
   * Delivers a response or a signal.
   * @param lost Runs in place of `run` if the connections broke during the pause.
   */
  onArrival(run: () => void, lost = run): void {
    this.#deliver(ARRIVAL, this.#isFrozen && this.#pause?.isCutOff ? lost : run);
  }

  /** Resolves when the process is not frozen. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.#deliver(0, resolve));
  }

  /** Ends the process normally. It cannot freeze after its end. */
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

  /** Registers a callback for the death of the process, for example to release the lock or to damage the disk. */
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

/**
 * Returns a promise that never resolves, as the result for a dead process. Each call returns a new promise, so that no
 * waiting code stays in memory.
 */
export const hang = (): Promise<never> => new Promise(() => undefined);
