import { isNoOp } from "../../src/core/model/index.ts";
import type { Chance } from "./chance.ts";
import { differences } from "./checks.ts";
import { GAPS, HOUR, habits, MINUTE, misfortune } from "./circumstances.ts";
import { Computer } from "./computer.ts";
import { editByHand } from "./console.ts";
import { type Declaration, declare, edit, rename } from "./declaration.ts";
import type { Life, Pause } from "./life.ts";
import { Machine, type RunEnd, type RunOptions } from "./machine.ts";
import { CALM } from "./network.ts";
import { Owners } from "./owners.ts";
import { type Meanwhile, Pauses } from "./pauses.ts";
import type { Sabotage } from "./sabotage.ts";
import { Server } from "./server.ts";
import { User } from "./user.ts";
import { Witness } from "./witness.ts";
import { World } from "./world.ts";

/** Result of one history. Without violations, the history passes. */
export interface Verdict {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly history: readonly string[];
  readonly runs: number;
}

/** Maximum number of final runs without faults. More runs are never necessary. */
const MOST_FINAL_RUNS = 14;

/**
 * Simulates one history. The seed decides the declaration and its edits, the faulty runs (killed, concurrent, or
 * without a response), and the changes in the dashboard. After the last fault, declaration, state and account must
 * become equal. No object may be created twice.
 */
export async function simulate(seed: number, sabotage: Sabotage = {}): Promise<Verdict> {
  const history = new History(seed, sabotage);
  await history.play();
  return { seed, violations: history.violations, history: history.world.history, runs: history.machine.runs.size };
}

class History {
  readonly world: World;
  readonly machine: Machine;
  readonly #chance: Chance;
  readonly #server: Server;
  readonly #witness: Witness;
  readonly #user: User;
  readonly #owners = new Owners();
  readonly #pauses: Pauses;
  /** Computer of a colleague who uses the same state. */
  readonly #colleague: Computer;
  /**
   * Other actor beside the first project on the first computer. A second computer does not know the objects of a
   * second project on the first computer, so a history has only one of the two: see docs/limitations.md.
   */
  #second: "project" | "computer" | undefined;
  readonly #sabotage: Sabotage;
  readonly #defects: string[] = [];
  readonly #orphans = new Set<number>();
  readonly #adopted = new Set<string>();
  readonly #pageSize: number;
  /**
   * True if the declaration contains only services. Then machines without shared state may apply the same declaration.
   */
  readonly #alone: boolean;
  #declaration: Declaration;
  #names = 10;

  constructor(seed: number, sabotage: Sabotage) {
    this.#sabotage = sabotage;
    this.world = new World(seed);
    this.#pauses = new Pauses(seed);
    this.#colleague = new Computer(this.world);
    const { chance } = this.world;
    this.#chance = chance;
    const runs = new Map<string, RunOptions>();
    this.#witness = new Witness(runs, this.#owners);
    const see: ConstructorParameters<typeof Server>[3] = (deed, from) => {
      this.#witness.see(deed, from, this.#server);
      // Only the state of the other folder contains this object, so no remaining state identifies its owner.
      if (!from.startsWith(OTHER_FOLDER)) return;
      if (deed.did === "grant") this.#orphans.add(deed.grant.id);
      if (deed.did === "subscribe") this.#orphans.add(deed.webhook.id);
    };
    this.#server = new Server(chance, () => this.world.now, habits(chance), see);
    this.machine = new Machine(this.world, this.#server, this.#witness.sent, sabotage, runs);
    this.#user = new User(this.world, this.#server, this.machine, this.#witness, this.#owners);
    this.#pageSize = chance.oneOf([2, 3, 100]);
    this.#alone = chance.once(0.15);
    this.#declaration = declare(chance, this.#alone);
    this.#user.declares(this.#declaration);
    this.world.note(`habits ${JSON.stringify(this.#server.habits)}`);
    this.world.note(`declares ${JSON.stringify(this.#declaration)}`);
  }

  get violations(): string[] {
    return [...this.#defects, ...this.world.breaches, ...this.#witness.violations];
  }

  async play(): Promise<void> {
    const chapters = this.#chance.whole(1, 6);
    for (let chapter = 1; chapter <= chapters && this.violations.length === 0; chapter++) await this.#chapter(chapter);
    if (this.violations.length === 0) await this.#aftermath();
  }

  /** Edits the declaration, runs one or two processes, and advances the time. */
  async #chapter(chapter: number): Promise<void> {
    const chance = this.#chance;
    if (chapter > 1 && chance.once(0.4)) this.#edit();
    if (chapter > 1 && chance.once(0.3)) this.#editByHand();
    if (chapter > 1 && chance.once(0.06)) this.#loseState();
    const runs: Promise<RunEnd>[] = [];
    // Between two machines without shared state, only the key prevents a second order: see docs/limitations.md.
    const isKeyKept = this.#server.habits.keyMemoryMs >= 10 * MINUTE;
    if (this.#alone && isKeyKept && chance.once(0.3))
      runs.push(this.#start(this.#anotherMachine(), chance.whole(0, 1_000)));
    if (!this.#alone && chance.once(0.05) && this.#second !== "computer")
      runs.push(this.#start(this.#anotherFolder(), chance.whole(0, 1_000)));
    runs.push(this.#start(this.machine, 0));
    while (chance.once(0.15)) runs.push(this.#start(this.machine, chance.whole(0, 5_000)));
    if (chance.once(0.15)) this.world.after(chance.whole(0, 20_000), () => this.#editByHand());
    const ended = await this.world.run(Promise.all(runs));
    if (ended === undefined) this.#defects.push("a run hangs, although nothing it waits for can come");
    const last = ended?.value.at(-1);
    if (last !== undefined && chance.once(0.5)) {
      // A user needs more time to read the output and the dashboard than a request needs to arrive.
      await this.#wait([5_000, MINUTE]);
      await this.world.run(this.#decide(last));
    }
    await this.#wait(chance.oneOf(GAPS));
  }

  /** Returns another machine with the same declaration. It shares neither state nor lock with the first machine. */
  #anotherMachine(): Machine {
    this.#user.withdraws();
    return new Machine(this.world, this.#server, this.#witness.sent, this.#sabotage, this.machine.runs, "Q");
  }

  /**
   * Returns another folder on the same machine with the same declaration and its own state, for example a second
   * checkout.
   */
  #anotherFolder(): Machine {
    this.#user.withdraws();
    // The first state does not contain the objects that the other folder creates.
    this.#user.hasMeddled = true;
    this.#second = "project";
    const { runs, computer } = this.machine;
    return new Machine(this.world, this.#server, this.#witness.sent, this.#sabotage, runs, OTHER_FOLDER, computer);
  }

  async #start(machine: Machine, delay: number): Promise<RunEnd> {
    const chance = this.#chance;
    if (delay > 0) await this.world.pause(delay);
    const knowsNothing = machine !== this.machine;
    const isOtherFolder = knowsNothing && machine.computer === this.machine.computer;
    const calmly = this.#calmly();
    // The first state would not know a password that the other folder generated. The two folders also never adopt the
    // same objects.
    const own = isOtherFolder && { declaration: withoutPasswords(calmly.declaration), imports: new Map() };
    const meanwhile: Promise<unknown>[] = [];
    // If only the key protects two machines from a second order, no process pauses, because a pause may last longer
    // than the host stores the key.
    const pause = this.#alone
      ? undefined
      : this.#pauses.pause((life, how) => void meanwhile.push(this.#pause(life, machine, how)));
    this.#setClock(machine.computer);
    const end = await machine.run({ ...calmly, ...misfortune(chance), ...own, knowsNothing, pause });
    this.#judge(end);
    await Promise.all(meanwhile);
    return end;
  }

  #setClock(computer: Computer): void {
    const setting = this.#pauses.setting();
    if (setting !== undefined) this.world.after(setting.afterMs, () => computer.set(setting.byMs));
  }

  /** Freezes a process while the others continue, and later wakes or kills the process. */
  async #pause(life: Life, machine: Machine, how: Pause["how"]): Promise<void> {
    const { computer } = machine;
    const { othersAfterMs, wakesAfterMs, takesLock, other, isPatient, isKilled, setMs } = this.#pauses.meanwhile(how);
    computer.freeze(how);
    const wake = this.world.pause(wakesAfterMs);
    await this.world.pause(othersAfterMs);
    if (setMs !== 0) computer.set(setMs);
    if (takesLock) machine.takeLock(life);
    const run = this.#other(machine, other);
    await wake;
    // A process that waits for the lock of the frozen process ends only after the wake. A process of another project
    // ends before, unless the pause of another process put the computer to sleep.
    if (isPatient) {
      const waits = this.world.pause(5 * HOUR).then(() => other === "project" && !computer.isAsleep);
      if (await Promise.race([run.then(() => false), waits]))
        this.#defects.push(`another project waited for ${life.name}, which was frozen`);
    }
    if (isKilled && how === "stopped") life.die("kill");
    else computer.wake(life);
    await run;
  }

  /** Runs an apply of another actor while a process is frozen. */
  async #other(machine: Machine, other: Meanwhile["other"]): Promise<void> {
    if (other === undefined || (other !== "same" && other !== (this.#second ?? other))) return;
    if (other !== "same") this.#second = other;
    const theirs = other === "project" ? this.#anotherFolder() : machine;
    const computer = other === "computer" ? this.#colleague : theirs.computer;
    const knowsNothing = theirs !== this.machine;
    const luck = this.#chance.once(0.7) ? {} : misfortune(this.#chance);
    const own = other === "project" && { declaration: withoutPasswords(this.#declaration), imports: new Map() };
    this.#judge(await theirs.run({ ...this.#calmly(), ...luck, ...own, knowsNothing }, computer));
  }

  #calmly(): RunOptions {
    const { imports, replace, reorder, orderAnyway } = this.#user;
    this.#witness.agreeToReorder(this.#server, reorder);
    return {
      declaration: this.#declaration,
      imports: new Map(imports),
      replace: new Set(replace),
      reorder: new Set(reorder),
      orderAnyway: new Set(orderAnyway),
      knowsNothing: false,
      planOnly: false,
      mishaps: CALM,
      diskFaults: 0,
      waitMs: 30 * MINUTE,
      concurrency: 10,
      lockTimeoutMs: HOUR,
      pageSize: this.#pageSize,
    };
  }

  /** Runs without faults until nothing changes. The user answers every question. */
  async #aftermath(): Promise<void> {
    this.world.note("from here on nothing goes wrong");
    for (let run = 1; run <= MOST_FINAL_RUNS; run++) {
      await this.#wait([2 * HOUR, 3 * HOUR]);
      const ended = await this.world.run(this.machine.run(this.#calmly()));
      if (ended === undefined) this.#defects.push("a run hangs, although nothing goes wrong");
      if (ended === undefined || this.violations.length > 0) return;
      this.#judge(ended.value);
      if (isQuiet(ended.value)) return this.#compare(ended.value);
      await this.world.run(this.#decide(ended.value));
    }
    this.#defects.push(
      `there is no end to it: ${MOST_FINAL_RUNS} runs in which nothing went wrong, and still something to do`,
    );
  }

  #compare(end: RunEnd): void {
    if (end.end !== "applied") return;
    const { disk } = this.machine;
    this.#defects.push(
      ...differences({
        declaration: this.#declaration,
        state: end.state,
        server: this.#server,
        owners: this.#owners,
        now: this.world.now,
        orphans: this.#orphans,
        secrets: disk.paths.filter((path) => path.includes("/secrets/")).map((path) => disk.text(path) ?? ""),
        adopted: this.#adopted,
        cutResets: this.world.cutResets,
      }),
    );
  }

  #judge(end: RunEnd): void {
    if (end.end === "defect") this.#defects.push(`a run failed without an explanation: ${String(end.error)}`);
    const outcomes = end.end === "applied" ? end.result.outcomes.flatMap(({ diagnostics }) => diagnostics) : [];
    if (outcomes.some(({ code }) => code === "internal")) this.#defects.push("a change failed without an explanation");
    // With a trusted state, a run recognizes or recovers every object that it created.
    const asked = end.end === "applied" || end.end === "planned" ? end.plan.diagnostics : [];
    const forgotten = asked.find(({ code }) => code === "plan.exists");
    if (forgotten !== undefined && this.#isTrusted)
      this.#defects.push(`it does not know its own: ${forgotten.summary}`);
  }

  /** True if the state is complete and the only state: no user lost, edited or bypassed it. */
  get #isTrusted(): boolean {
    return !this.#alone && !this.#user.hasMeddled;
  }

  async #decide(end: RunEnd): Promise<void> {
    await this.#user.decide(end);
    for (const address of this.#user.imports.keys()) this.#adopted.add(address);
  }

  #edit(): void {
    const service = this.#chance.once(0.15) ? this.#chance.oneOf(this.#declaration.services) : undefined;
    const to = `s${this.#names}`;
    if (service !== undefined) this.#user.renames(service.name, to);
    this.#declaration =
      service === undefined
        ? edit(this.#chance, this.#declaration, this.#names, this.#alone)
        : rename(this.#declaration, service.name, to);
    this.#names += 1;
    this.#user.declares(this.#declaration);
    this.world.note(`declares ${JSON.stringify(this.#declaration)}`);
  }

  #editByHand(): void {
    // A temporary file and an incomplete line of a killed run do not count as recorded.
    const paths = this.machine.disk.paths.filter((path) => !path.endsWith(".tmp"));
    const files = paths.map((path) => this.machine.disk.text(path)?.replace(/[^\n]*$/, ""));
    const isRecorded = (id: number) => files.some((text) => new RegExp(`"id": ?"${id}"`).test(text ?? ""));
    editByHand(this.world, this.#server, this.#declaration, isRecorded);
  }

  #loseState(): void {
    for (const { id } of [...this.#server.grants, ...this.#server.webhooks]) this.#orphans.add(id);
    this.#user.losesState();
  }

  async #wait([least, most]: readonly [number, number]): Promise<void> {
    await this.world.run(this.world.pause(this.#chance.whole(least, most)));
  }
}

/** Prefix of the names of runs in the other folder. */
const OTHER_FOLDER = "R";

const withoutPasswords = (declaration: Declaration): Declaration => ({
  ...declaration,
  services: declaration.services.map(({ passwordVersion: _, ...service }) => service),
});

/** Returns true for an apply without changes and without questions. */
function isQuiet(end: RunEnd): boolean {
  if (end.end !== "applied") return false;
  const { changes, diagnostics, conditions = [] } = end.plan;
  const asking =
    diagnostics.some(({ code }) => ["plan.gone", "plan.pending", "apply.skipped"].includes(code)) ||
    conditions.some(({ condition }) => ["gone", "own_form"].includes(condition));
  return changes.every(isNoOp) && !asking;
}
