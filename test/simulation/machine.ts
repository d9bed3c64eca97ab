import { HostingClient } from "../../src/core/api/index.ts";
import { apply, refreshAndPlan } from "../../src/core/engine/index.ts";
import { type Disk, SecretFiles } from "../../src/core/files/index.ts";
import { kinds } from "../../src/core/kinds/index.ts";
import { Account } from "../../src/core/lifecycle/index.ts";
import {
  type ApplyResult,
  type Clock,
  conditionWarning,
  HostformError,
  isError,
  type Plan,
  type State,
} from "../../src/core/model/index.ts";
import { createFileStore, type OpenState } from "../../src/core/record/index.ts";
import { Computer } from "./computer.ts";
import { type Declaration, desiredOf } from "./declaration.ts";
import { SimulatedDisk } from "./disk.ts";
import { type Fate, Life, type Pause } from "./life.ts";
import { SimulatedLock } from "./lock.ts";
import { type Mishaps, type OnSend, SimulatedNetwork } from "./network.ts";
import type { Sabotage } from "./sabotage.ts";
import type { Server } from "./server.ts";
import type { World } from "./world.ts";

export interface RunOptions {
  readonly declaration: Declaration;
  /** Ids to adopt (`import:` in the blocks), by address. */
  readonly imports: ReadonlyMap<string, string>;
  readonly replace: ReadonlySet<string>;
  readonly reorder: ReadonlySet<string>;
  readonly orderAnyway: ReadonlySet<string>;
  /**
   * True if the run knows no earlier run. The run may order any service that it does not find, including terminated
   * services.
   */
  readonly knowsNothing: boolean;
  readonly planOnly: boolean;
  readonly mishaps: Mishaps;
  /** Probability that a disk operation fails. */
  readonly diskFaults: number;
  readonly fate?: Fate;
  readonly pause?: Pause | undefined;
  /** Time of Ctrl-C since the start of the plan, and time of a second Ctrl-C since the first. In milliseconds. */
  readonly stopAfterMs?: number;
  readonly stopAgainAfterMs?: number;
  readonly waitMs: number;
  readonly concurrency: number;
  readonly lockTimeoutMs: number;
  readonly pageSize: number;
}

/**
 * End of a run. `refused`: the run explained its error and stopped. `overtaken`: another process took the lock, so the
 * output describes an old state. `defect`: a bug of the program.
 */
export type RunEnd =
  | { readonly end: "died" }
  | { readonly end: "refused"; readonly error: HostformError }
  | { readonly end: "overtaken"; readonly of: RunEnd["end"] }
  | { readonly end: "planned"; readonly plan: Plan; readonly state: State }
  | { readonly end: "applied"; readonly plan: Plan; readonly result: ApplyResult; readonly state: State }
  | { readonly end: "defect"; readonly error: unknown };

const FOLDER = "/project";
const STATE = `${FOLDER}/hosting.tfstate`;

/** A folder on a machine for the runs of a history: its disk, its lock, and its running processes. */
export class Machine {
  readonly disk: SimulatedDisk;
  /** Current and past runs of all machines, by name. */
  readonly runs: Map<string, RunOptions>;
  readonly #name: string;
  readonly #world: World;
  readonly #server: Server;
  readonly #lock: SimulatedLock;
  readonly #onSend: OnSend;
  readonly #sabotage: Sabotage;
  readonly #alive = new Set<Life>();
  /** Computer with the folder. */
  readonly computer: Computer;

  constructor(
    world: World,
    server: Server,
    onSend: OnSend,
    sabotage: Sabotage,
    runs: Map<string, RunOptions>,
    name = "P",
    computer = new Computer(world),
  ) {
    this.computer = computer;
    this.#world = world;
    this.#name = name;
    this.runs = runs;
    this.#server = server;
    this.#onSend = onSend;
    this.#sabotage = sabotage;
    this.disk = new SimulatedDisk(world);
    this.#lock = new SimulatedLock(world);
  }

  /**
   * Runs the program once, composed like the CLI: store -> observe -> plan -> apply.
   * @param computer Another computer that shares the folder.
   */
  async run(options: RunOptions, computer = this.computer): Promise<RunEnd> {
    if (computer.isAsleep) await computer.wakes();
    const life = this.#begin(`${this.#name}${this.runs.size + 1}`, computer, options);
    this.runs.set(life.name, options);
    const work = this.#program(life, options, computer).catch((error: unknown): RunEnd => {
      const internal = error instanceof HostformError && error.diagnostics.some(({ code }) => code === "internal");
      return error instanceof HostformError && !internal ? { end: "refused", error } : { end: "defect", error };
    });
    const ended = await Promise.race([work, life.died.then((): RunEnd => ({ end: "died" }))]);
    const isOvertaken = life.lostLockAt !== undefined && (ended.end === "planned" || ended.end === "applied");
    const end: RunEnd = isOvertaken ? { end: "overtaken", of: ended.end } : ended;
    this.#alive.delete(life);
    computer.ended(life);
    this.#world.note(`${life.name} ${end === ended ? "" : "is overtaken: "}${format(ended)}`);
    return end;
  }

  /** Changes the state like a command such as `state rm`. */
  async withState<T>(work: (store: OpenState) => Promise<T>): Promise<T> {
    const life = this.#begin("user", this.computer);
    const store = await this.#open(life, this.computer.clockOf(life), { command: "state", timeoutMs: 600_000 });
    try {
      return await work(store);
    } finally {
      await store.close();
      this.#alive.delete(life);
      this.computer.ended(life);
    }
  }

  /** Takes the lock of the state from a process. */
  takeLock(life: Life): void {
    this.#lock.takeFrom(life);
  }

  /** Deletes the state and all its files. */
  loseState(): void {
    this.#world.note("the state file is lost");
    this.disk.wipe((path) => path.includes("hosting.tfstate"));
  }

  #begin(name: string, computer: Computer, { fate, pause }: Pick<RunOptions, "fate" | "pause"> = {}): Life {
    const life = new Life(this.#world, name, fate, pause);
    this.#alive.add(life);
    computer.runs(life);
    life.atDeath((how) => {
      this.#alive.delete(life);
      if (how !== "power") return;
      const others = [...this.#alive];
      this.#alive.clear();
      for (const other of others) other.die("kill");
      this.disk.losePower();
    });
    return life;
  }

  async #open(
    life: Life,
    clock: Clock,
    { diskFaults = 0, ...asked }: { diskFaults?: number; timeoutMs: number; command: string },
  ): Promise<OpenState> {
    const disk = this.#diskOf(life, diskFaults);
    const store = await createFileStore({
      path: STATE,
      clock,
      uuid: this.#world.chance.uuid,
      disk,
      contender: { pid: 1, user: "ana", host: life.name },
      lock: () => {
        const lock = this.#lock.for(life, clock);
        return this.#sabotage.lock?.(lock) ?? lock;
      },
    }).open({ write: true, ...asked });
    return this.#sabotage.store?.(store) ?? store;
  }

  #diskOf(life: Life, faults: number): Disk {
    const disk = this.disk.for(life, faults);
    return this.#sabotage.disk?.(disk) ?? disk;
  }

  async #program(life: Life, options: RunOptions, computer: Computer): Promise<RunEnd> {
    const { declaration, imports, replace, reorder, orderAnyway, mishaps, pageSize } = options;
    const own = computer.clockOf(life);
    const clock = this.#sabotage.clock?.(own) ?? own;
    const dispatcher = new SimulatedNetwork(this.#world, this.#server, life, mishaps, this.#onSend);
    const [stop, now] = [new AbortController(), new AbortController()];
    dispatcher.stop = stop.signal;
    const client = new HostingClient({
      baseUrl: "https://api.simulation.example",
      token: "simulated-token",
      clock,
      random: () => this.#world.chance.real(),
      dispatcher,
      env: {},
      pageSize,
      stop: stop.signal,
      signal: now.signal,
    });
    const honest = new Account(client, { statusWords: {} }, undefined, computer.turns.for(life, clock));
    const account = this.#sabotage.account?.(honest) ?? honest;
    const writer = this.#sabotage.writer?.(client, this.#world) ?? client;
    const asked = { diskFaults: options.diskFaults, timeoutMs: options.lockTimeoutMs, command: "apply" };
    const store = await this.#open(life, clock, asked);
    try {
      const desired = desiredOf(declaration, imports);
      const given = { desired, state: store.state, kinds, env: {}, reorder };
      const {
        plan: made,
        state,
        moves,
      } = await refreshAndPlan({
        observing: { ...given, accounts: () => account },
        planning: { ...given, mode: "apply", replace, orderAnyway, now: clock.now() },
        refresh: { mode: "all", lastRead: new Map(), rank: (listing) => listing },
        requests: () => client.requests,
      });
      const shared = { desired, state, kinds, env: {} };
      this.#notePlan(life, made);
      if (options.planOnly || made.diagnostics.some(isError)) return { end: "planned", plan: made, state };
      this.#press(options, life, stop, now);
      const disk = this.#diskOf(life, options.diskFaults);
      const look = (path: string) =>
        this.disk.text(path) === undefined ? undefined : ({ form: "file", mode: 0o600, isOwn: true } as const);
      const run = async () => ({ failure: "is not there", stdout: "", stderr: "" });
      const files = new SecretFiles({ folder: FOLDER, disk, look, run, own: [] });
      await store.rearrange(moves);
      const result = await apply({
        ...shared,
        secretOutputs: this.#sabotage.outputs?.(files) ?? files,
        plan: made,
        accounts: () => ({ account, writer }),
        recorder: store,
        owner: () => `${this.#name} ${store.state.lineage}`,
        clock,
        concurrency: options.concurrency,
        waitMs: options.waitMs,
        stop: stop.signal,
        requests: () => client.requests,
      });
      await store.close();
      return { end: "applied", plan: made, result, state: store.state };
    } finally {
      await store.close();
      life.end();
    }
  }

  #press({ stopAfterMs, stopAgainAfterMs }: RunOptions, life: Life, ...[stop, now]: AbortController[]): void {
    if (stopAfterMs === undefined) return;
    const press = (what: string, controller: AbortController | undefined) => {
      this.#world.note(`${life.name} ${what}`);
      life.onArrival(() => controller?.abort());
    };
    this.#world.after(stopAfterMs, () => press("is stopped", stop));
    if (stopAgainAfterMs !== undefined)
      this.#world.after(stopAfterMs + stopAgainAfterMs, () => press("is stopped again", now));
  }

  #notePlan(life: Life, { changes, diagnostics, conditions = [] }: Plan): void {
    const acting = changes.filter(({ actions }) => actions[0] !== "no-op");
    for (const { address, actions } of acting) this.#world.note(`${life.name} plans ${address}: ${actions.join(", ")}`);
    for (const { severity, code, summary } of [...diagnostics, ...conditions.map(conditionWarning)])
      this.#world.note(`${life.name} ${severity}: ${summary} [${code}]`);
  }
}

/** Returns a line about the end of a run. */
function format(end: RunEnd): string {
  if (end.end === "refused") return `is refused: ${end.error.message}`;
  if (end.end === "defect") return `has a defect: ${end.error instanceof Error ? end.error.stack : String(end.error)}`;
  if (end.end !== "applied") return end.end;
  const words = end.result.outcomes.flatMap(({ address, result, diagnostics }) => [
    ...(result === "done" ? [] : [`${address} ${result}`]),
    ...diagnostics.map(({ code, summary }) => `  ${summary} [${code}]`),
  ]);
  return ["applied", ...words].join("\n    ");
}
