import { type Clock, fail } from "../../src/core/model/index.ts";
import type { HeldLock, StateLock } from "../../src/core/record/index.ts";
import type { Life } from "./life.ts";
import type { World } from "./world.ts";

/**
 * Lock of the state, as the operating system implements it: one process at a time holds the lock, and the lock is free
 * when this process dies.
 */
export class SimulatedLock {
  readonly #world: World;
  #holder: Life | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** Takes the lock from a process, like force-unlock or a database that ends a session. */
  takeFrom(life: Life): void {
    if (this.#holder !== life) return;
    this.#holder = undefined;
    life.lostLockAt = this.#world.now;
    this.#world.note(`the lock of ${life.name} is taken over`);
  }

  for(life: Life, clock: Clock): StateLock {
    life.atDeath(() => {
      if (this.#holder === life) this.#holder = undefined;
    });
    const hold = (): HeldLock => {
      this.#world.note(`${life.name} holds the lock`);
      return {
        verify: () => {
          if (this.#holder !== life) fail("state.lost_lock", "The lock on the state was taken over");
        },
        release: () => {
          if (this.#holder !== life) return;
          this.#holder = undefined;
          this.#world.note(`${life.name} frees the lock`);
        },
      };
    };
    return {
      acquire: async ({ timeoutMs, signal }) => {
        const start = clock.now();
        while (this.#holder !== undefined) {
          if (clock.now() - start >= timeoutMs) fail("state.locked", "Another process holds the state");
          await clock.sleep(50 + this.#world.chance.real() * 950, signal);
        }
        this.#holder = life;
        return hold();
      },
      takeOver: async () => fail("internal", "no history takes the lock over"),
    };
  }
}
