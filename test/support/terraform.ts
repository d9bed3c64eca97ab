/**
 * Runs the real Terraform with the real provider in its own folder, against a sandbox on loopback. Checks the output
 * of every command for a defect of the provider. `describeWith(TERRAFORM)` declares the tests.
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
  /**
   * Options of the sandbox. By default, the rate limit is disabled, and orders, payments and jobs are completed
   * immediately.
   */
  readonly sandbox?: SandboxOptions;
  readonly token?: keyof Sandbox["tokens"];
  /**
   * Environment variables in addition to HOSTING_BASE_URL, HOSTING_TOKEN, HOSTFORM_PROJECT and HOSTFORM_STATE_HOME.
   * Undefined removes a variable.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Names of variables for tokens, each with the owner of the token. */
  readonly tokens?: Readonly<Record<string, keyof Sandbox["tokens"]>>;
  /**
   * Way in which Terraform finds the provider. "mirror" is the way of users, and requires `init`. "override" (default)
   * starts the same processes without `init`. "running" serves every command from this process in a tenth of the time,
   * for journeys that are not about processes.
   */
  readonly install?: "mirror" | "override" | "running";
  /** Milliseconds of accelerated time for each real millisecond, for the provider and the sandbox. */
  readonly rate?: number;
  /** Starts a server between the provider and the sandbox. Receives the sandbox's URL, and returns the server's URL. */
  readonly through?: (url: string) => Promise<string>;
}

/** Creates a folder with the provider's `required_providers` block, and starts a sandbox. */
export async function startTerraform(options: TerraformOptions = {}): Promise<Terraform> {
  const provider = await builtProvider();
  const time = options.rate === undefined ? undefined : fastTime(options.rate);
  // If this process serves the provider, waiting takes no time.
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
      // Each process has its own request budget, because a shared budget would make these tests slower.
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

  /** @param clock Clock of the provider in this process. */
  constructor(dir: string, sandbox: Sandbox, env: Record<string, string | undefined>, clock?: Clock) {
    super(dir, env);
    this.sandbox = sandbox;
    this.#clock = clock;
  }

  /** Serves the following commands with a provider in this process. */
  async serve(): Promise<void> {
    this.#server = await serveProvider({ env: this.env, folder: this.dir, clock: this.#clock });
    this.env.TF_REATTACH_PROVIDERS = this.#server.reattach;
  }

  /** Runs `work` while one provider in this process serves the commands. */
  async served<T>(work: () => Promise<T>): Promise<T> {
    await this.serve();
    try {
      return await work();
    } finally {
      await this.#dismiss();
    }
  }

  /**
   * Ends the provider of this process, if it runs.
   * @throws Error with the provider's defects.
   */
  async #dismiss(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    delete this.env.TF_REATTACH_PROVIDERS;
    await server?.close();
  }

  get control(): Sandbox["control"] {
    return this.sandbox.control;
  }

  /** Advances the time beyond the list lag, so that an object missing from a list no longer counts as existing. */
  believeLists(): void {
    this.control.advanceClock({ minutes: 2 });
  }

  /** Folder of the provider's store. */
  get stateHome(): string {
    return this.env.HOSTFORM_STATE_HOME ?? "";
  }

  /** Runs a command of Terraform. Fails the test if the output shows a defect of the provider. */
  async run(...args: string[]): Promise<Ended> {
    const ended = await this.start("terraform", args).ended;
    expectSound(ended, args.join(" "));
    return ended;
  }

  /**
   * Runs a command and fails the test unless it succeeds.
   * @returns The standard output.
   */
  async well(...args: string[]): Promise<string> {
    const ended = await this.run(...args);
    expect(ended.code, ended.text).toBe(0);
    return ended.out;
  }

  init(...args: string[]): Promise<string> {
    return this.well("init", "-input=false", "-no-color", ...args);
  }

  /**
   * Runs `terraform validate`.
   * @returns The diagnostics; empty for a valid configuration.
   */
  async validate(): Promise<readonly Diagnosis[]> {
    const { out } = await this.run("validate", "-json");
    return (JSON.parse(out).diagnostics as Parameters<typeof readDiagnostic>[0][]).flatMap(readDiagnostic);
  }

  /** Writes a plan to the file `tfplan`. Exit codes: 0 for no changes, 2 for changes, 1 for an error. */
  async plan(...args: string[]): Promise<Outcome> {
    return readOutcome(await this.run("plan", "-json", "-input=false", "-detailed-exitcode", "-out=tfplan", ...args));
  }

  /** Creates a plan. Fails the test unless the plan has changes. */
  async planned(...args: string[]): Promise<Outcome> {
    const outcome = await this.plan(...args);
    expect(outcome.code, outcome.text).toBe(2);
    return outcome;
  }

  /** Creates a plan. Fails the test unless the plan is rejected without a crash and without a write request. */
  async refused(...args: string[]): Promise<Outcome> {
    this.sent();
    const outcome = await this.plan(...args);
    expect(outcome.code, outcome.text).toBe(1);
    expect(outcome.errors, outcome.text).not.toEqual([]);
    expect(this.changesSent()).toEqual([]);
    return outcome;
  }

  /** Fails the test if the plan has changes, drift or diagnostics. */
  async expectNoChanges(...args: string[]): Promise<void> {
    const { code, changes, drift, diagnostics, text } = await this.plan(...args);
    expect({ changes, drift, diagnostics }, text).toEqual({ changes: {}, drift: {}, diagnostics: [] });
    expect(code, text).toBe(0);
  }

  /** Returns the plan in the file `tfplan`, as `terraform show -json` prints it. */
  async shownPlan(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.well("show", "-json", "tfplan"));
  }

  /**
   * Returns the attributes of an address that the plan in `tfplan` changes, including attributes whose new value is
   * unknown.
   */
  async changed(address: string): Promise<string[]> {
    return changedIn(await this.shownPlan(), address);
  }

  /** Runs `terraform apply` without questions. */
  async apply(...args: string[]): Promise<Outcome> {
    return readOutcome(await this.run("apply", "-json", "-input=false", "-auto-approve", ...args));
  }

  /** Runs `terraform apply` without questions. Fails the test unless the apply succeeds. */
  async applied(...args: string[]): Promise<Outcome> {
    const outcome = await this.apply(...args);
    expect(outcome.code, outcome.text).toBe(0);
    return outcome;
  }

  /**
   * Imports the server if an apply asks whether this server without a domain is the result of a lost request. Only the
   * owner knows the answer. Fails the test for any other error, or if the apply ordered a service.
   * @returns True if the apply asked.
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

  /** Returns the instances of the state file, by address. Empty without a state file. */
  state(file = "terraform.tfstate"): ReadonlyMap<string, InstanceState> {
    return readState(path.join(this.dir, file));
  }

  /**
   * Returns the recorded attributes of an address.
   * @throws Error if the state lacks the address.
   */
  attributes(address: string): Readonly<Record<string, unknown>> {
    const instance = this.state().get(address);
    if (instance === undefined)
      throw new Error(`${address} is not in the state: ${[...this.state().keys()].join(", ")}`);
    return instance.attributes;
  }

  /** Returns `GET /services` for each request since the last call. Clears the log. */
  sent(): string[] {
    const entries = this.control.requests();
    this.control.clearRequests();
    return entries.map(line);
  }

  /** Returns the requests since the last call, without the GETs. */
  changesSent(): string[] {
    return this.sent().filter((text) => !text.startsWith("GET"));
  }

  /**
   * Releases all resources.
   * @throws Error if a provider outlived its command.
   */
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
