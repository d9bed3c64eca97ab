/**
 * The real Terraform with the real provider, in its own folder, against a sandbox over loopback. Every command is
 * checked for signs of a defect of the provider. Tests that use it are declared by `describeWith(TERRAFORM)`.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Clock } from "../../src/core/model/index.ts";
import type { RequestEntry, Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { testClock } from "./clock.ts";
import { startSandbox } from "./sandbox.ts";
import { cleanEnvironment, cliConfiguration } from "./terraform-environment.ts";
import {
  changedIn,
  type Diagnosis,
  type Ended,
  expectSound,
  type Outcome,
  readDiagnostic,
  readOutcome,
} from "./terraform-outcome.ts";
import { Workplace } from "./terraform-process.ts";
import { builtProvider, VERSION } from "./terraform-provider.ts";
import { type ServedProvider, serveProvider } from "./terraform-served.ts";
import { type InstanceState, readState } from "./terraform-state.ts";
import { fastTime } from "./terraform-time.ts";

export type { Diagnosis, Ended, Outcome } from "./terraform-outcome.ts";
export type { InstanceState } from "./terraform-state.ts";

export interface TerraformOptions {
  /** Of the sandbox. Its rate limit is off unless it is set here; orders are paid and provisioned, and jobs done, at once. */
  readonly sandbox?: SandboxOptions;
  readonly token?: keyof Sandbox["tokens"];
  /** Beside HOSTING_BASE_URL, HOSTING_TOKEN, HOSTFORM_PROJECT and HOSTFORM_STATE_HOME; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Variables that hold a token, and whose. */
  readonly tokens?: Readonly<Record<string, keyof Sandbox["tokens"]>>;
  /**
   * How Terraform comes to the provider. "mirror" is what users have, and needs `init`. "override" (default) starts the same
   * processes without it. "running" is this process, which serves every command of the test in a tenth of the time: for
   * journeys that are not about processes.
   */
  readonly install?: "mirror" | "override" | "running";
  /** Milliseconds that pass in one, for the provider and the sandbox: a test waits for no minutes. */
  readonly rate?: number;
  /** What is between the provider and the sandbox: @returns its address, given the sandbox's. */
  readonly through?: (url: string) => Promise<string>;
}

/** A folder with the provider's `required_providers` block and a sandbox. */
export async function startTerraform(options: TerraformOptions = {}): Promise<Terraform> {
  const provider = await builtProvider();
  const time = options.rate === undefined ? undefined : fastTime(options.rate);
  // Where this process serves, no wait takes time.
  const clock = time?.clock ?? (options.install === "running" ? testClock(Date.now()) : undefined);
  const sandbox = await startSandbox({
    ...(clock !== undefined && { clock }),
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    jobSeconds: 0,
    ...options.sandbox,
  });
  const dir = await mkdtemp(path.join(tmpdir(), "hostform-terraform-"));
  const home = path.join(dir, "home");
  await mkdir(home);
  const rc = path.join(home, "terraform.rc");
  await writeFile(rc, cliConfiguration(provider, options.install));
  const terraform = new Terraform(
    dir,
    sandbox,
    {
      ...cleanEnvironment(),
      HOME: home,
      TF_CLI_CONFIG_FILE: rc,
      TF_IN_AUTOMATION: "1",
      CHECKPOINT_DISABLE: "1",
      HOSTING_BASE_URL: (await options.through?.(sandbox.url)) ?? sandbox.url,
      HOSTING_TOKEN: sandbox.tokens[options.token ?? "agency"],
      HOSTFORM_PROJECT: "journey",
      HOSTFORM_STATE_HOME: path.join(home, "hostform"),
      // Each process has its own budget: what these tests are about is not the time that a shared one takes.
      HOSTFORM_LEDGER: "memory",
      ...Object.fromEntries(Object.entries(options.tokens ?? {}).map(([name, whose]) => [name, sandbox.tokens[whose]])),
      ...time?.env,
      ...options.env,
    },
    clock,
  );
  onTestFinished(() => terraform.close());
  if (options.install === "running") await terraform.serve();
  await terraform.write(
    `terraform {\n  required_providers {\n    hosting = {\n      source  = "hostform/hosting"\n      version = "${VERSION}"\n    }\n  }\n}\n`,
    "versions.tf",
  );
  return terraform;
}

export class Terraform extends Workplace {
  readonly sandbox: Sandbox;
  readonly #clock: Clock | undefined;
  #server: ServedProvider | undefined;

  /** @param clock of a provider that this process serves. */
  constructor(dir: string, sandbox: Sandbox, env: Record<string, string | undefined>, clock?: Clock) {
    super(dir, env);
    this.sandbox = sandbox;
    this.#clock = clock;
  }

  /** From now on a provider in this process serves the commands. */
  async serve(): Promise<void> {
    this.#server = await serveProvider({ env: this.env, folder: this.dir, clock: this.#clock });
    this.env.TF_REATTACH_PROVIDERS = this.#server.reattach;
  }

  /** Does something with commands that one provider in this process serves. */
  async served<T>(work: () => Promise<T>): Promise<T> {
    await this.serve();
    try {
      return await work();
    } finally {
      await this.#dismiss();
    }
  }

  /** Ends the provider that serves the commands, if there is one. @throws Error with its defects. */
  async #dismiss(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    delete this.env.TF_REATTACH_PROVIDERS;
    await server?.close();
  }

  get control(): Sandbox["control"] {
    return this.sandbox.control;
  }

  /** Lets the time pass in which what was just created counts as there although no list shows it. */
  believeLists(): void {
    this.control.advanceClock({ minutes: 2 });
  }

  /** The folder of the provider's store. */
  get stateHome(): string {
    return this.env.HOSTFORM_STATE_HOME ?? "";
  }

  /** Runs a command of Terraform's; fails the test when it shows a defect of the provider. */
  async run(...args: string[]): Promise<Ended> {
    const ended = await this.start("terraform", args).ended;
    expectSound(ended, args.join(" "));
    return ended;
  }

  /** The same, and it must end well. @returns its standard output. */
  async well(...args: string[]): Promise<string> {
    const ended = await this.run(...args);
    expect(ended.code, ended.text).toBe(0);
    return ended.out;
  }

  init(...args: string[]): Promise<string> {
    return this.well("init", "-input=false", "-no-color", ...args);
  }

  /** `terraform validate`: what it found, empty when all is well. */
  async validate(): Promise<readonly Diagnosis[]> {
    const { out } = await this.run("validate", "-json");
    return (JSON.parse(out).diagnostics as Parameters<typeof readDiagnostic>[0][]).flatMap(readDiagnostic);
  }

  /** Makes a plan and keeps it in the file `tfplan`. Exit code 0: nothing to do, 2: something, 1: it failed. */
  async plan(...args: string[]): Promise<Outcome> {
    return readOutcome(await this.run("plan", "-json", "-input=false", "-detailed-exitcode", "-out=tfplan", ...args));
  }

  /** A plan that must have something to do. */
  async planned(...args: string[]): Promise<Outcome> {
    const outcome = await this.plan(...args);
    expect(outcome.code, outcome.text).toBe(2);
    return outcome;
  }

  /** A plan that must be refused, without a crash and before anything was changed. */
  async refused(...args: string[]): Promise<Outcome> {
    this.sent();
    const outcome = await this.plan(...args);
    expect(outcome.code, outcome.text).toBe(1);
    expect(outcome.errors, outcome.text).not.toEqual([]);
    expect(this.changesSent()).toEqual([]);
    return outcome;
  }

  /** Fails unless there is nothing to do, nothing was found changed and there is nothing to say. */
  async expectNoChanges(...args: string[]): Promise<void> {
    const { code, changes, drift, diagnostics, text } = await this.plan(...args);
    expect({ changes, drift, diagnostics }, text).toEqual({ changes: {}, drift: {}, diagnostics: [] });
    expect(code, text).toBe(0);
  }

  /** The plan in the file `tfplan`, as `terraform show -json` has it. */
  async shownPlan(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.well("show", "-json", "tfplan"));
  }

  /** The attributes of an address that the plan in `tfplan` changes, or of which it does not know what becomes. */
  async changed(address: string): Promise<string[]> {
    return changedIn(await this.shownPlan(), address);
  }

  /** `terraform apply` without questions. */
  async apply(...args: string[]): Promise<Outcome> {
    return readOutcome(await this.run("apply", "-json", "-input=false", "-auto-approve", ...args));
  }

  /** The same, and it must end well. */
  async applied(...args: string[]): Promise<Outcome> {
    const outcome = await this.apply(...args);
    expect(outcome.code, outcome.text).toBe(0);
    return outcome;
  }

  /**
   * Does what an apply asks that does not know whether a server without a domain is what its lost request made: only its
   * owner does. It must ask nothing else, and nothing may have been ordered meanwhile. @returns whether it asked.
   */
  async importAsAsked(address: string, { errors, text }: Outcome): Promise<boolean> {
    const [question] = errors;
    if (!question || !/ may be .*: (?:its request got no response|the API accepted)/.test(question.summary))
      return false;
    expect(errors, text).toHaveLength(1);
    expect(this.changesSent()).not.toContain("POST /services");
    const [, id = "none"] = /--adopt '(\d+)'/.exec(question.detail) ?? [];
    if (this.state().has(address)) await this.well("state", "rm", address);
    await this.well("import", "-no-color", "-input=false", address, id);
    return true;
  }

  async destroy(...args: string[]): Promise<Outcome> {
    return readOutcome(await this.run("destroy", "-json", "-input=false", "-auto-approve", ...args));
  }

  /** What the state file holds, by address; empty when there is none. */
  state(file = "terraform.tfstate"): ReadonlyMap<string, InstanceState> {
    return readState(path.join(this.dir, file));
  }

  /** The recorded attributes of one address. @throws when it is not recorded. */
  attributes(address: string): Readonly<Record<string, unknown>> {
    const instance = this.state().get(address);
    if (instance === undefined)
      throw new Error(`${address} is not in the state: ${[...this.state().keys()].join(", ")}`);
    return instance.attributes;
  }

  /** `GET /services` for each request that the sandbox got since the last look; the log starts again. */
  sent(): string[] {
    const entries = this.control.requests();
    this.control.clearRequests();
    return entries.map(line);
  }

  /** The same, without the GETs. */
  changesSent(): string[] {
    return this.sent().filter((text) => !text.startsWith("GET"));
  }

  /** Frees everything. @throws when a provider outlived the commands. */
  async close(): Promise<void> {
    const unsound = await this.#dismiss().catch((error: unknown) => error);
    this.end();
    const survivors = await this.survivors();
    await this.sandbox.close();
    await rm(this.dir, { recursive: true, force: true, maxRetries: 3 });
    if (unsound !== undefined) throw unsound;
    if (survivors > 0) throw new Error(`${survivors} processes outlived the commands of the test`);
  }
}

function line({ method, path: url }: RequestEntry): string {
  return `${method} ${url.replace(/^\/api\/v1/, "")}`;
}
