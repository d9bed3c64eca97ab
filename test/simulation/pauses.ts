import { Chance } from "./chance.ts";
import { HOUR, MINUTE, SECOND } from "./circumstances.ts";
import type { Pause } from "./life.ts";

/** Actions of others while a process is frozen. */
export interface Meanwhile {
  /** Time from the freeze to the actions of others, and minimum time to the wake, in ms. */
  readonly othersAfterMs: number;
  readonly wakesAfterMs: number;
  /** True if another process takes the lock, or a database ends the session with the lock. */
  readonly takesLock: boolean;
  /**
   * Other applying actor: the same project on the same computer, the same project on a second computer, or a second
   * project on the same computer.
   */
  readonly other: "same" | "computer" | "project" | undefined;
  /** True if the frozen process wakes only after the other actor ends. */
  readonly isPatient: boolean;
  /** True if the frozen process never wakes. */
  readonly isKilled: boolean;
  /** Change of the wall clock during the pause, in ms. */
  readonly setMs: number;
}

/** Change of a wall clock: the time since the start of a run, and the difference, in ms. */
export interface Setting {
  readonly afterMs: number;
  readonly byMs: number;
}

/**
 * Generates the pauses of processes and the changes of clocks in a history. Uses a separate generator, so that the
 * other decisions of a seed do not change. Half of the histories have no pauses.
 */
export class Pauses {
  readonly #chance: Chance;
  readonly #isOn: boolean;

  constructor(seed: number) {
    this.#chance = new Chance(seed ^ 0x70_61_75_73);
    this.#isOn = this.#chance.once(0.5);
  }

  /** Returns a pause of the next run, or undefined for most runs. */
  pause(begun: Pause["begun"]): Pause | undefined {
    const chance = this.#chance;
    if (!this.#isOn || chance.once(0.4)) return undefined;
    const at = chance.oneOf<Pause["at"]>(["step", "request", "request", "time"]);
    const nth = {
      step: () => chance.whole(1, chance.oneOf([30, 100, 250])),
      request: () => chance.whole(1, chance.oneOf([2, 5, 15])),
      time: () => chance.whole(1, chance.oneOf([1_000, 10_000, 5 * MINUTE])),
    }[at]();
    const how = chance.oneOf<Pause["how"]>(["stopped", "asleep"]);
    return { at, nth, isAfter: chance.once(0.4), how, isCutOff: chance.once(0.5), begun };
  }

  meanwhile(how: Pause["how"]): Meanwhile {
    const chance = this.#chance;
    const takesLock = chance.once(0.6);
    return {
      othersAfterMs: chance.whole(
        ...chance.oneOf<readonly [number, number]>([
          [0, SECOND],
          [6 * SECOND, MINUTE],
        ]),
      ),
      wakesAfterMs: chance.whole(
        ...chance.oneOf<readonly [number, number]>([
          [SECOND, 10 * SECOND],
          [10 * SECOND, 2 * MINUTE],
          [2 * MINUTE, 30 * MINUTE],
          [HOUR, 12 * HOUR],
        ]),
      ),
      takesLock,
      other: chance.oneOf([
        "computer",
        "computer",
        how === "asleep" ? "computer" : "same",
        how === "asleep" ? undefined : "project",
        undefined,
      ]),
      isPatient: chance.once(takesLock ? 0.8 : 0.2),
      isKilled: chance.once(0.1),
      // hostform detects a computer's sleep only by its wall clock. If a user set this clock back during the sleep,
      // hostform could not detect the sleep.
      setMs: how === "stopped" && chance.once(0.3) ? this.#setMs() : 0,
    };
  }

  /** Returns a change of the wall clock during the next run, or undefined for most runs. */
  setting(): Setting | undefined {
    const chance = this.#chance;
    if (!this.#isOn || !chance.once(0.15)) return undefined;
    return { afterMs: chance.whole(0, chance.oneOf([1_000, 20_000, 5 * MINUTE])), byMs: this.#setMs() };
  }

  #setMs(): number {
    const chance = this.#chance;
    const span = chance.oneOf([2 * MINUTE, HOUR, 48 * HOUR]);
    return Math.round(span * (0.5 + chance.real() / 2)) * (chance.once(0.6) ? -1 : 1);
  }
}
