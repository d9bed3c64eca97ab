/**
 * A project in its own folder, with a sandbox and a clock that only sleeps advance. Conformance tests and journeys use
 * it. The test closes and removes the project at its end.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Io } from "../../src/cli/terminal.ts";
import type { ApplyResult, Change, Plan, ResourceState, State } from "../../src/core/model/index.ts";
import { createFileStore } from "../../src/core/record/index.ts";
import type { RunOptions } from "../../src/project/plan.ts";
import type { Profile, RequestEntry, Sandbox, SandboxOptions } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { type RecordKind, readId, recordId } from "../../src/sandbox/shape/items.ts";
import { type TestClock, testClock } from "./clock.ts";
import { quickFolder } from "./folder.ts";
import { openedOn } from "./opened.ts";
import { loadParts, runCli } from "./program.ts";
import { type Pinned, profileOfRun, startSandbox } from "./sandbox.ts";

/** Result of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both streams in one text. */
  readonly text: string;
}

export interface ProjectOptions {
  /** Options of the sandbox. The rate limit is disabled by default. */
  readonly sandbox?: SandboxOptions;
  /**
   * Profile values that this test requires, regardless of the suite's profile. The test gives the reason in a comment.
   */
  readonly pinned?: Pinned;
  /** Declaration: YAML, or a document that is written as JSON, a subset of YAML. */
  readonly declare?: string | object;
  readonly token?: keyof Sandbox["tokens"];
  readonly env?: Readonly<Record<string, string>>;
  /** Clock of the project. Default: a clock that every sleep advances, even during requests. */
  readonly clock?: TestClock;
}

/** Starts a project. By default, invoices are paid automatically, and orders are provisioned immediately. */
export async function startProject(options: ProjectOptions = {}): Promise<Project> {
  const { clock = testClock() } = options;
  let project: Project | undefined;
  const wanted = {
    clock,
    sleep: async () => project?.onDelay(),
    rateLimit: 0,
    autoPay: true,
    provisioningSeconds: 0,
    ...profileOfRun(options.pinned),
    ...options.sandbox,
  };
  const sandbox = await startSandbox(wanted);
  const dir = await mkdtemp(quickFolder("test"));
  const opened = new Project(
    dir,
    sandbox,
    clock,
    {
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens[options.token ?? "agency"],
      ...options.env,
    },
    completeProfile(wanted.profile),
  );
  project = opened;
  onTestFinished(() => opened.close());
  if (options.declare !== undefined) await opened.declare(options.declare);
  return opened;
}

export class Project {
  readonly dir: string;
  readonly sandbox: Sandbox;
  readonly clock: TestClock;
  /** Profile of the server. */
  readonly profile: Profile;
  /** Environment of the commands. Tests may change it. */
  readonly env: Record<string, string | undefined>;
  /** Returns the input of the user for a question. */
  answer: (question: string) => string | undefined = () => undefined;
  /** Called with each text that a command writes to standard output. */
  onText: (text: string) => void = () => undefined;
  /** Called when the sandbox waits for a fault with `delayMs`. */
  onDelay: () => void = () => undefined;
  /** Handles a command that receives or returns a secret. Fails unless the test replaces it. */
  onCapture: Io["capture"] = async ([command]) => {
    throw new Error(`a test must not start ${command}`);
  };
  /** Handles the command of `--app`. Fails unless the test replaces it. */
  onShell: Io["shell"] = async (line) => {
    throw new Error(`a test must not run ${line}`);
  };
  /** Handles a command that ends its process. Fails unless the test replaces it. */
  onExit: Io["exit"] = (code) => {
    throw new Error(`a test must not end its process (${code})`);
  };
  readonly #interrupts = new Set<() => void>();

  constructor(
    dir: string,
    sandbox: Sandbox,
    clock: TestClock,
    env: Record<string, string | undefined>,
    profile = completeProfile(),
  ) {
    this.dir = dir;
    this.sandbox = sandbox;
    this.clock = clock;
    this.profile = profile;
    this.env = env;
  }

  get control(): Sandbox["control"] {
    return this.sandbox.control;
  }

  get statePath(): string {
    return path.join(this.dir, "hosting.tfstate");
  }

  async declare(document: string | object, file = "hosting.yaml"): Promise<void> {
    const text = typeof document === "string" ? document : JSON.stringify(document, null, 2);
    await writeFile(path.join(this.dir, file), text);
  }

  /**
   * Returns another project with the same token on this machine. It has its own folder, and shares the host, the
   * environment and the clock.
   */
  async beside(document: string | object): Promise<Project> {
    const dir = path.join(this.dir, "beside");
    await mkdir(dir);
    const other = new Project(dir, this.sandbox, this.clock, this.env, this.profile);
    await other.declare(document);
    return other;
  }

  /** Runs a command line in the project's folder. */
  async run(...args: string[]): Promise<Ran> {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runCli(args, this.#io(out, err));
    return { code, out: out.join(""), err: err.join(""), text: [...out, ...err].join("") };
  }

  /**
   * Runs `hostform apply --auto-approve`, and advances the clock until lists show the created objects. Fails the test
   * if the command fails.
   */
  async apply(...args: string[]): Promise<Ran> {
    const ran = await this.run("apply", "--auto-approve", ...args);
    expect(ran.code, ran.text).toBe(0);
    this.clock.advance(60_000);
    return ran;
  }

  /** Creates a plan. Fails the test if the plan sends a write request or changes the state. */
  async plan(options: Partial<RunOptions> = {}): Promise<Plan> {
    const [stored, before] = [await this.stateText(), this.control.requests().length];
    const parts = await loadParts();
    const { project } = openedOn(parts, this.#io([], []), { quiet: true }, { dir: this.dir, state: this.statePath });
    const wanted: RunOptions = { command: "plan", mode: "apply", targets: [], reorder: [], ...options };
    const plan = await parts.withPlan(project, wanted, async (run) => run.plan);
    const sent = this.control.requests().slice(before);
    expect(sent.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await this.stateText()).toBe(stored);
    return plan;
  }

  /**
   * Plans, then applies the plan.
   * @param asked True if a user approves the plan before the apply.
   */
  async planned(asked = false): Promise<{ readonly plan: Plan; readonly result: ApplyResult }> {
    const parts = await loadParts();
    const { project } = openedOn(parts, this.#io([], []), { quiet: true }, { dir: this.dir, state: this.statePath });
    const wanted: RunOptions = { command: "apply", mode: "apply", targets: [], reorder: [], asks: asked };
    return parts.withPlan(project, wanted, async (run) => {
      if (asked) run.providers.refresh();
      return { plan: run.plan, result: await parts.carryOut(run, {}, () => undefined) };
    });
  }

  /** Returns the planned change of an address. */
  async changeOf(address: string, options: Partial<RunOptions> = {}): Promise<Change> {
    const { changes, diagnostics } = await this.plan(options);
    const change = changes.find((candidate) => candidate.address === address);
    if (change === undefined) throw new Error(`no change of ${address}: ${JSON.stringify(diagnostics)}`);
    return change;
  }

  /** Fails the test if the plan has changes or diagnostics. */
  async expectNoChanges(): Promise<void> {
    const { changes, diagnostics, drift } = await this.plan();
    const doing = changes.filter(({ actions, importing }) => actions[0] !== "no-op" || importing !== undefined);
    expect({ doing, diagnostics, drift }).toEqual({ doing: [], diagnostics: [], drift: [] });
  }

  async stateText(): Promise<string | undefined> {
    return existsSync(this.statePath) ? readFile(this.statePath, "utf8") : undefined;
  }

  /** Returns the state, including the journal of an interrupted run. */
  async state(): Promise<State> {
    const store = createFileStore({ path: this.statePath, clock: this.clock });
    const open = await store.open({ write: false, command: "read", timeoutMs: 0 });
    await open.close();
    return open.state;
  }

  /**
   * Returns the state entry of an address, or undefined. Omits the creation time and the account, which every entry
   * has.
   */
  async recorded(address: string): Promise<ResourceState | undefined> {
    const resource = (await this.state()).resources.get(address);
    if (resource === undefined) return undefined;
    const { created: _, account: __, ...mark } = resource.private;
    return { ...resource, private: mark };
  }

  /** Deletes the state and all files beside it. */
  async loseState(): Promise<void> {
    this.recall(new Map());
  }

  /** Returns the current state, journal and backup on disk, by file name. */
  memory(): ReadonlyMap<string, string> {
    const names = readdirSync(this.dir).filter((name) => /^hosting\.tfstate/.test(name));
    return new Map(names.map((name) => [name, readFileSync(path.join(this.dir, name), "utf8")]));
  }

  /** Restores the state, journal and backup, and removes later files. */
  recall(memory: ReadonlyMap<string, string>): void {
    for (const name of this.memory().keys()) rmSync(path.join(this.dir, name));
    for (const [name, text] of memory) writeFileSync(path.join(this.dir, name), text);
  }

  async restoreState(text: string | undefined): Promise<void> {
    if (text === undefined) await this.loseState();
    else await writeFile(this.statePath, text);
  }

  /** Returns the id of a record in the form of the API, as hostform writes it. The control API numbers the records. */
  idOf(collection: keyof typeof RECORDS, id: number | undefined): string {
    return id === undefined ? "none" : String(recordId(RECORDS[collection], { id }, this.profile));
  }

  /** Returns `GET /services` for each request since the last call, with the ids of the control API. Clears the log. */
  sent(): string[] {
    const entries = this.control.requests();
    this.control.clearRequests();
    return entries.map((entry) => line(entry, this.profile));
  }

  /** Returns the requests since the last call, without the GETs. */
  changesSent(): string[] {
    return this.sent().filter((text) => !text.startsWith("GET"));
  }

  /** Simulates Ctrl-C. */
  interrupt(): void {
    for (const callback of this.#interrupts) callback();
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    await rm(this.dir, { recursive: true, force: true });
  }

  #io(out: string[], err: string[]): Io {
    return {
      env: this.env,
      cwd: this.dir,
      clock: this.clock,
      out: (text) => {
        out.push(text);
        this.onText(text);
      },
      err: (text) => void err.push(text),
      outIsTerminal: false,
      errIsTerminal: false,
      errIsRunner: this.env.HOSTFORM_ADD_MASK === "1",
      columns: undefined,
      ask: async (question) => this.answer(question),
      readInput: async () => "",
      readInputBytes: async () => new Uint8Array(),
      onInterrupt: (callback) => {
        this.#interrupts.add(callback);
        return () => this.#interrupts.delete(callback);
      },
      onReload: () => () => undefined,
      run: async (command) => {
        throw new Error(`a test must not start ${command}`);
      },
      capture: (command, options) => this.onCapture(command, options),
      shell: (line, options) => this.onShell(line, options),

      browse: async (url) => {
        throw new Error(`a test must not open ${url}`);
      },
      exit: (code) => this.onExit(code),
    };
  }
}

/** Collections whose ids have a form that the specification leaves open. */
const RECORDS = {
  grants: "grant",
  webhooks: "webhook",
  accounts: "account",
  migration_requests: "migration_request",
} as const satisfies Record<string, RecordKind>;

function line({ method, path: url }: RequestEntry, profile: Profile): string {
  const counted = (uuid: string): string => {
    for (const kind of Object.values(RECORDS)) {
      const id = readId(kind, uuid, profile);
      if (id !== undefined) return String(id);
    }
    return uuid;
  };
  const path = url
    .replace(/^\/api\/v1/, "")
    .replace(/[^/?]*%[^/?]*/g, (segment) => counted(decodeURIComponent(segment)))
    .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, counted);
  return `${method} ${path}`;
}
