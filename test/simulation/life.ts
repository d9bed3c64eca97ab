import type { World } from "./world.ts";

/** How a process ends before its time: `kill` ends it alone, `power` takes the machine with it, and what was not synced. */
export type Death = "kill" | "power";

/** The step of I/O at which a process ends, counted from 1. */
export interface Fate {
  readonly step: number;
  readonly how: Death;
}

/**
 * The life of one process: every step of I/O asks it first. At the fatal step it stops indefinitely: from there on nothing
 * that it asked for is answered, so no line of its code runs any more.
 */
export class Life {
  readonly name: string;
  /** Resolves when the process dies. */
  readonly died: Promise<Death>;
  #end: Death | undefined;
  #steps = 0;
  #report: (death: Death) => void = () => undefined;
  readonly #world: World;
  readonly #fate: Fate | undefined;
  readonly #atDeath: ((death: Death) => void)[] = [];

  constructor(world: World, name: string, fate?: Fate) {
    this.#world = world;
    this.name = name;
    this.#fate = fate;
    this.died = new Promise((resolve) => {
      this.#report = resolve;
    });
  }

  get dead(): boolean {
    return this.#end !== undefined;
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
    if (this.#fate === undefined || this.#steps < this.#fate.step) return true;
    if (effect !== undefined && this.#world.chance.once(0.5)) {
      this.#world.note(`${this.name} ${what}: has its effect`);
      effect();
    }
    this.die(this.#fate.how);
    return false;
  }

  die(how: Death): void {
    if (this.dead) return;
    this.#end = how;
    this.#world.note(`${this.name} ${how === "kill" ? "is killed" : "loses power"}`);
    for (const act of this.#atDeath) act(how);
    this.#report(how);
  }

  /** Has something done at the moment of death: the lock freed, the disk torn. */
  atDeath(act: (death: Death) => void): void {
    this.#atDeath.push(act);
  }
}

/** What a dead process gets for an answer. A new one each time, so that nothing is kept alive by waiting for it. */
export const hang = (): Promise<never> => new Promise(() => undefined);
