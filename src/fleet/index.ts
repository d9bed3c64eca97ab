/**
 * Many projects as one fleet: reads `fleet.yaml`, checks out repositories, and plans, applies or reports all projects with limits over
 * the whole fleet: once, or repeatedly with workers that share a queue in PostgreSQL. In: the file of the fleet, and the library of
 * `project`. Out: one report. Must not: plan or apply a project in another way than `hostform plan` and `hostform apply` do, apply an
 * unverified commit, or decide about single resources.
 */
export { type Fleet, fleetSchema, readFleet } from "./declaration.ts";
export { chosenSeats, type Member, members } from "./members.ts";
export { fleetPage, recordedFleet } from "./monitor.ts";
export { applyFleet, planFleet, statusFleet } from "./once.ts";
export { openQueue } from "./queue.ts";
export { Records } from "./records.ts";
export { FleetWorker } from "./worker.ts";
