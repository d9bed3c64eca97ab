import type { World } from "../world.ts";
import { takeStep } from "./billing.ts";
import { performJob } from "./jobs.ts";

/**
 * Does everything that is due, in the order in which it fell due and as of the instant at which it did: a year that is
 * leapt over leaves the same records as one that was lived through.
 */
export function settle(world: World): void {
  const now = world.clock.now();
  for (let due = world.agenda.take(now); due !== undefined; due = world.agenda.take(now)) {
    const { kind, id, at } = due;
    world.clock.at(at, () => {
      if (kind === "jobs") performJob(world, id);
      else takeStep(world, id);
    });
  }
}
