/** Kills Terraform and its provider during an apply. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { Terraform } from "./terraform.ts";
import type { Ended } from "./terraform-outcome.ts";

const PRELOAD = path.join(import.meta.dirname, "terraform-kill.ts");

/**
 * Time limit for the provider to end after the death of Terraform, in milliseconds. Requests in progress may take a
 * moment.
 */
const ALONE_MS = 5_000;

/** An operation of one provider process of a command. */
export interface DoomPoint {
  readonly process: number;
  readonly nth: number;
  readonly label: string;
}

export type Whom = "terraform" | "both";

/** Changes one resource after the other, so that each run is the same. */
const APPLY = ["apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=1"];

/** Resets the account, the state and the store of the provider. */
export function startOver(terraform: Terraform): void {
  terraform.control.reset();
  const old = ["terraform.tfstate", "terraform.tfstate.backup", ".terraform.tfstate.lock.info", "doom"];
  for (const name of old) rmSync(path.join(terraform.dir, name), { recursive: true, force: true });
  rmSync(terraform.stateHome, { recursive: true, force: true });
}

/** Returns the operations of an apply without faults. */
export async function operationsOf(terraform: Terraform): Promise<DoomPoint[]> {
  startOver(terraform);
  const ended = await doomed(terraform, undefined);
  expect(ended.code, ended.text).toBe(0);
  const lines = readFileSync(path.join(terraform.dir, "doom", "operations"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const [, number, nth, label = ""] = /^(\d+) (\d+) (.*)$/.exec(line) ?? [];
    return { process: Number(number), nth: Number(nth), label };
  });
}

/** Kills an apply before the operation. Waits until all its processes have ended. */
export async function killedApply(terraform: Terraform, point: DoomPoint, whom: Whom): Promise<Ended> {
  startOver(terraform);
  const ended = await doomed(terraform, `${point.process} ${point.nth} ${whom}`);
  await expectNobodyLeft(terraform);
  return ended;
}

async function doomed(terraform: Terraform, at: string | undefined): Promise<Ended> {
  const folder = path.join(terraform.dir, "doom");
  mkdirSync(folder);
  const { env } = terraform;
  const { NODE_OPTIONS = "" } = env;
  Object.assign(env, {
    NODE_OPTIONS: `${NODE_OPTIONS} --import=${PRELOAD}`,
    HOSTFORM_DOOM: folder,
    HOSTFORM_DOOM_AT: at,
  });
  try {
    return await terraform.start("terraform", APPLY).ended;
  } finally {
    Object.assign(env, { NODE_OPTIONS, HOSTFORM_DOOM: undefined, HOSTFORM_DOOM_AT: undefined });
  }
}

/** Fails if a process of the folder still exists after the time limit. */
export async function expectNobodyLeft(terraform: Terraform): Promise<void> {
  const until = Date.now() + ALONE_MS;
  while ((terraform.processes()?.length ?? 0) > 0 && Date.now() < until) await delay(10);
  expect(terraform.processes() ?? [], "processes that outlived Terraform").toEqual([]);
}

/**
 * Applies until a plan has no changes, at most three times. Once imports an object if only its owner can identify it.
 * @param nameless Address of an order without a domain.
 * @returns The number of applies.
 */
export async function untilQuiet(terraform: Terraform, nameless?: string): Promise<number> {
  for (let run = 1; ; run++) {
    terraform.sent();
    const outcome = await terraform.apply();
    if (run === 1 && nameless !== undefined && (await terraform.importAsAsked(nameless, outcome))) continue;
    expect(outcome.code, outcome.text).toBe(0);
    expect([...terraform.state().values()].filter(({ status }) => status !== "")).toEqual([]);
    // A warning means that an operation is incomplete. Another apply completes it.
    if (outcome.warnings.length === 0) return run;
    expect(run, "commands that were needed").toBeLessThan(3);
  }
}

/** Returns true if the store of the provider's machine contains a text. */
export function noted(terraform: Terraform, text: string): boolean {
  const files = existsSync(terraform.stateHome) ? readdirSync(terraform.stateHome) : [];
  return files.some((name) => readFileSync(path.join(terraform.stateHome, name)).includes(text));
}
