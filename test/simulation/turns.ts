import { type AccountStore, MemoryStore, MemoryTables } from "../../src/core/local/index.ts";
import { BEAT_MS } from "../../src/core/local/turn-queue.ts";
import type { Clock } from "../../src/core/model/index.ts";
import type { Life } from "./life.ts";
import type { World } from "./world.ts";

/** Store that the processes of one machine share. When a process dies, its create lock is released. */
export class SimulatedTurns {
  readonly #world: World;
  readonly #tables = new MemoryTables();

  constructor(world: World) {
    this.#world = world;
  }

  for(life: Life, { now, monotonic, sleep }: Clock): AccountStore {
    const tables = this.#tables;
    life.atDeath(() => {
      if (tables.holder?.process === life.name) tables.holder = undefined;
      if (tables.next === life.name) tables.next = undefined;
    });
    const clock: Clock = {
      now,
      monotonic,
      sleep: async (ms, signal) => {
        // Heartbeats keep their exact time and use no random value.
        await sleep(ms < BEAT_MS ? ms + this.#world.chance.real() * ms : ms, signal);
        // A process that died during its wait must not take the lock, because nobody would release it.
        if (life.dead) return new Promise(() => {});
      },
    };
    return new MemoryStore({ clock, tables, process: life.name });
  }
}
