/**
 * A project in its own folder, with a sandbox as its host and a clock that only sleeps move: what conformance tests
 * and journeys work on. Everything is closed and removed after the test.
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

/** What a command did. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Both streams, for what must stand in neither. */
  readonly text: string;
}

export interface ProjectOptions {
  /** Of the sandbox. The rate limit is off unless it is set here. */
  readonly sandbox?: SandboxOptions;
  /** What the server must be like for this test, whatever profile the suite runs under. Say why. */
  readonly pinned?: Pinned;
  /** The declaration: YAML, or a document that is written as JSON, which is YAML too. */
  readonly declare?: string | object;
  readonly token?: keyof Sandbox["tokens"];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: one that every sleep moves, also while requests are under way. */
  readonly clock?: TestClock;
}

/** Starts a project. Invoices pay themselves and orders are provisioned at once, unless the options say otherwise. */
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
  /** What the server is like. */
  readonly profile: Profile;
  /** The environment of the commands; tests may change it. */
  readonly env: Record<string, string | undefined>;
  /** What the user types when asked; called with the question. */
  answer: (question: string) => string | undefined = () => undefined;
  /** Called with what a command writes to standard output. */
  onText: (text: string) => void = () => undefined;
  /** Called when the sandbox is about to wait, as a fault with `delayMs` makes it. */
  onDelay: () => void = () => undefined;
  /** What a command that is given or asked for a secret does. Tests that let one run say so. */
  onCapture: Io["capture"] = async ([command]) => {
    throw new Error(`a test must not start ${command}`);
  };
  /** What `--app` does. Tests that let one run say so. */
  onShell: Io["shell"] = async (line) => {
    throw new Error(`a test must not run ${line}`);
  };
  /** What becomes of a command that ends its process. Tests that let one do so say so. */
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

  /** Writes the declaration. */
  async declare(document: string | object, file = "hosting.yaml"): Promise<void> {
    const text = typeof document === "string" ? document : JSON.stringify(document, null, 2);
    await writeFile(path.join(this.dir, file), text);
  }

  /** Another project on this machine, of the same token: its own folder, and nothing shared but the host, the environment and the clock. */
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

  /** `hostform apply --auto-approve`, and a minute in which lists show what it made; fails the test unless it ends well. */
  async apply(...args: string[]): Promise<Ran> {
    const ran = await this.run("apply", "--auto-approve", ...args);
    expect(ran.code, ran.text).toBe(0);
    this.clock.advance(60_000);
    return ran;
  }

  /** Makes a plan, and sees to it that nothing but GETs was sent and the state stayed as it was. */
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

  /** Plans and applies what it plans. @param asked somebody approves it in between. */
  async planned(asked = false): Promise<{ readonly plan: Plan; readonly result: ApplyResult }> {
    const parts = await loadParts();
    const { project } = openedOn(parts, this.#io([], []), { quiet: true }, { dir: this.dir, state: this.statePath });
    const wanted: RunOptions = { command: "apply", mode: "apply", targets: [], reorder: [], asks: asked };
    return parts.withPlan(project, wanted, async (run) => {
      if (asked) run.providers.refresh();
      return { plan: run.plan, result: await parts.carryOut(run, {}, () => undefined) };
    });
  }

  /** The planned change of one address. */
  async changeOf(address: string, options: Partial<RunOptions> = {}): Promise<Change> {
    const { changes, diagnostics } = await this.plan(options);
    const change = changes.find((candidate) => candidate.address === address);
    if (change === undefined) throw new Error(`no change of ${address}: ${JSON.stringify(diagnostics)}`);
    return change;
  }

  /** Fails unless there is nothing to do and nothing to say. */
  async expectNoChanges(): Promise<void> {
    const { changes, diagnostics, drift } = await this.plan();
    const doing = changes.filter(({ actions, importing }) => actions[0] !== "no-op" || importing !== undefined);
    expect({ doing, diagnostics, drift }).toEqual({ doing: [], diagnostics: [], drift: [] });
  }

  async stateText(): Promise<string | undefined> {
    return existsSync(this.statePath) ? readFile(this.statePath, "utf8") : undefined;
  }

  /** The state, with what the journal of a run that was stopped adds to it. */
  async state(): Promise<State> {
    const store = createFileStore({ path: this.statePath, clock: this.clock });
    const open = await store.open({ write: false, command: "read", timeoutMs: 0 });
    await open.close();
    return open.state;
  }

  /** What is recorded of one address, without the time of creation and the account, which every mark has; undefined when nothing is. */
  async recorded(address: string): Promise<ResourceState | undefined> {
    const resource = (await this.state()).resources.get(address);
    if (resource === undefined) return undefined;
    const { created: _, account: __, ...mark } = resource.private;
    return { ...resource, private: mark };
  }

  /** Loses the state and everything beside it. */
  async loseState(): Promise<void> {
    this.recall(new Map());
  }

  /** State, journal and backup as they are on disk at this very moment, by name. */
  memory(): ReadonlyMap<string, string> {
    const names = readdirSync(this.dir).filter((name) => /^hosting\.tfstate/.test(name));
    return new Map(names.map((name) => [name, readFileSync(path.join(this.dir, name), "utf8")]));
  }

  /** Puts state, journal and backup back to what they were, as if nothing had been written since. */
  recall(memory: ReadonlyMap<string, string>): void {
    for (const name of this.memory().keys()) rmSync(path.join(this.dir, name));
    for (const [name, text] of memory) writeFileSync(path.join(this.dir, name), text);
  }

  async restoreState(text: string | undefined): Promise<void> {
    if (text === undefined) await this.loseState();
    else await writeFile(this.statePath, text);
  }

  /** The id under which the API knows a record, as hostform writes it; the control port counts records. */
  idOf(collection: keyof typeof RECORDS, id: number | undefined): string {
    return id === undefined ? "none" : String(recordId(RECORDS[collection], id, this.profile));
  }

  /**
   * `GET /services` for each request that the sandbox got since the last look; the log starts again. Ids are those of the
   * control port.
   */
  sent(): string[] {
    const entries = this.control.requests();
    this.control.clearRequests();
    return entries.map((entry) => line(entry, this.profile));
  }

  /** The same, without the GETs. */
  changesSent(): string[] {
    return this.sent().filter((text) => !text.startsWith("GET"));
  }

  /** Presses Ctrl-C. */
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

/** Collections whose records have ids that the specification leaves open. */
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
