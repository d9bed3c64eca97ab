/** A project whose clock is the real one, moved on by what in-process runs sleep: real processes and tests share it. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type SandboxOptions, startSandbox } from "../../../src/sandbox/index.ts";
import { testClock } from "../../support/clock.ts";
import { Project } from "../../support/project.ts";

/** Starts one; the caller closes it. Invoices pay themselves, orders are provisioned and jobs are done at once. */
export async function startPlace(declare: object, options: SandboxOptions = {}): Promise<Project> {
  const clock = testClock(Date.now());
  const sandbox = await startSandbox({
    clock,
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    jobSeconds: 0,
    ...options,
  });
  const dir = await mkdtemp(path.join(tmpdir(), "hostform-place-"));
  const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency };
  const project = new Project(dir, sandbox, clock, env);
  await project.declare(declare);
  return project;
}
