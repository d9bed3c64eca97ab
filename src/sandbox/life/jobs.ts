/** The queue of background jobs (§1: "queued as a retrying background job"). */
import type { Job } from "../store/records.ts";
import type { Service } from "../store/records.ts";
import type { World } from "../world.ts";
import { finishProvisioning, restoreNow, suspendNow } from "./services.ts";

/** Puts a job into the queue. Returns its id. */
export function enqueue(world: World, kind: Job["kind"], orderId: number, seconds: number): number {
  const due = new Date(world.clock.now() + seconds * 1000).toISOString();
  const job = world.store.table("jobs").put({ id: world.store.next("jobs"), kind, order_id: orderId, due_at: due });
  world.agenda.add("jobs", job);
  return job.id;
}

/** Does one job. The service may have been changed while the job was waiting: then there is nothing left to do. */
export function performJob(world: World, id: number): void {
  const { store } = world;
  const job = store.table("jobs").get(id);
  if (job === undefined) return;
  store.table("jobs").remove(id);
  if (job.kind === "register") {
    if (store.table("domains").get(job.order_id)) store.table("domains").update(job.order_id, { status: "active" });
    return;
  }
  const service = store.table("services").get(job.order_id);
  if (service === undefined) return;
  if (job.kind === "provision") finishProvisioning(world, service);
  else if (job.kind === "suspend" && service.status === "active") suspendNow(world, service, "request");
  else if (job.kind === "unsuspend" && service.status === "suspended") restoreNow(world, service);
}

/** The status that the service will have once its queue is empty: a request for what is already coming queues nothing more. */
export function comingStatus(world: World, service: Service): Service["status"] {
  const queued = world.store
    .table("jobs")
    .filter((job) => job.order_id === service.id && (job.kind === "suspend" || job.kind === "unsuspend"))
    .at(-1);
  if (queued === undefined) return service.status;
  return queued.kind === "suspend" ? "suspended" : "active";
}
