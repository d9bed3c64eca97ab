import { Chance } from "./chance.ts";
import { HOUR, MINUTE, SECOND } from "./circumstances.ts";
import type { Pause } from "./life.ts";

/** What others do while a process is frozen. */
export interface Meanwhile {
  /** From the freeze to what others do, and to the wake at the earliest, in ms. */
  readonly othersAfterMs: number;
  readonly wakesAfterMs: number;
  /** Somebody takes the lock over, or a database ends the session that holds it. */
  readonly takesLock: boolean;
  /** Who else applies: the same project on the same computer or on a second one, or a second project on the same computer. */
  readonly other: "same" | "computer" | "project" | undefined;
  /** It wakes only when the other has ended. */
  readonly isPatient: boolean;
  /** It never wakes. */
  readonly isKilled: boolean;
  /** How far the wall clock is set meanwhile, in ms. */
  readonly setMs: number;
}

/** When a wall clock is set, in ms from the start of a run, and how far. */
export interface Setting {
  readonly afterMs: number;
  readonly byMs: number;
}

/**
 * Draws the pauses of processes and the steps of clocks of a history. They have a generator of their own, and half of the histories
 * have none: what else a seed decides stays as it is.
 */
export class Pauses {
  readonly #chance: Chance;
  readonly #isOn: boolean;

  constructor(seed: number) {
    this.#chance = new Chance(seed ^ 0x70_61_75_73);
    this.#isOn = this.#chance.once(0.5);
  }

  /** A pause of the next run; undefined for most. */
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
      // A computer that slept shows it by its wall clock alone: set back meanwhile, it would show nothing.
      setMs: how === "stopped" && chance.once(0.3) ? this.#setMs() : 0,
    };
  }

  /** A step of the wall clock during the next run; undefined for most. */
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
