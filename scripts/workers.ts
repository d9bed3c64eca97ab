// Jobs on all cores: a script starts itself once more for each core, as a worker.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/**
 * Gives each worker a job after the other.
 * @param script the module that the workers run: it answers each job with one report.
 * @param next the next job; undefined when there are no more.
 * @param onReport returns true when no further jobs are to be given.
 * @returns once every job is done or `onReport` has ended it. Rejects when a worker fails.
 */
export async function onAllCores<Job, Report>(
  script: string,
  next: () => Job | undefined,
  onReport: (report: Report) => boolean,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(new URL(script)));
  let busy = 0;
  const give = (worker: Worker): void => {
    const job = next();
    if (job !== undefined) {
      busy += 1;
      worker.postMessage(job);
    } else if (busy === 0) resolve();
  };
  for (const worker of workers) {
    worker.on("error", reject);
    worker.on("message", (report: Report) => {
      busy -= 1;
      if (onReport(report)) resolve();
      else give(worker);
    });
    give(worker);
  }
  await promise.finally(() => {
    for (const worker of workers) void worker.terminate();
  });
}
