/** A repository on GitHub with an account: a sandbox, GitHub's API, and jobs that find the built program on their PATH. */
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { temporaryFolder } from "./folder.ts";
import { githubComments } from "./github-comments.ts";
import { type RunOptions, WorkflowRun } from "./github-runner.ts";
import { builtProgram } from "./program.ts";
import { profileOfRun, startSandbox } from "./sandbox.ts";

export const MAIN = await builtProgram();

export const service = (domain: string) => ({ plan_id: 11, currency: "USD", domain, deletion_policy: "suspend" });
export const declaration = (...names: string[]) =>
  JSON.stringify({
    project: "acme",
    services: Object.fromEntries(names.map((name) => [name, service(`${name}.acme.example`)])),
  });

/** Payload of a pull request from this repository. @param from Repository of the commit; null if it was deleted. */
export const pullRequest = (from: string | null = "acme/sites") => ({
  pull_request: {
    number: 7,
    head: { sha: "c".repeat(40), repo: from === null ? null : { full_name: from } },
    base: { sha: "b".repeat(40) },
  },
});

export async function repository(options: SandboxOptions = {}) {
  const ready = { rateLimit: 0, autoPay: true, provisioningSeconds: 0 };
  const sandbox = await startSandbox({ ...ready, ...profileOfRun(), ...options });
  onTestFinished(() => sandbox.close());
  const bin = temporaryFolder();
  writeFileSync(path.join(bin, "hostform"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(path.join(bin, "hostform"), 0o755);
  const files: Record<string, string> = { "hosting.yaml": declaration("www") };
  const github = await githubComments();
  const run = (event: string, more: Partial<RunOptions> = {}) => {
    const workflow = new WorkflowRun({
      event,
      payload: event === "pull_request" ? pullRequest() : {},
      api: github.url,
      bin,
      env: { HOSTING_BASE_URL: sandbox.url, HOSTING_MONEY_SCALE: "2" },
      ...more,
    });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(workflow.workspace, name), text);
    return workflow;
  };
  const orders = () => sandbox.control.list("services").filter(({ domain }) => domain?.endsWith(".acme.example"));
  return {
    sandbox,
    files,
    github,
    run,
    orders,
    view: { token: sandbox.tokens.viewer },
    full: { token: sandbox.tokens.agency },
  };
}
