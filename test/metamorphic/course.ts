/**
 * Runs the test of one cell. Applies the first declaration, then applies the second declaration with the fault. The
 * user then applies the second declaration at most two more times, and follows the fix of a message at most once.
 */
import type { Cell } from "./cells.ts";
import { nameOf } from "./cells.ts";
import { declarationsOf, movesOf, withMoves } from "./changes.ts";
import { addressesOf, type Declaration } from "./declaration.ts";
import { refusalOf, type WayOut } from "./expected.ts";
import { ANSWERS, CRASHES, DEATH_MS, isAnswer, isCrash, isOutage, OUTAGES } from "./faults.ts";
import { FACTS } from "./kinds.ts";
import { Place, type Ran, STATE } from "./place.ts";
import { differences, objectionsTo } from "./properties.ts";
import { remedyIn } from "./remedy.ts";

export interface Verdict {
  readonly cell: Cell;
  /** Violated properties. Empty if the test passes. */
  readonly objections: readonly string[];
  /** Number of applies after the fault. */
  readonly applies: number;
  /** True if a request met the fault. */
  readonly fired: boolean;
  /** Fix of the expected error, if the cell has one. */
  readonly refused: WayOut | undefined;
  readonly log: string;
}

/** Maximum number of applies of the final declaration after the fault. */
const MOST_APPLIES = 2;
/** Key of the object that a cell taints, replaces or imports. */
const TARGET = "one";

/** A defect that the suite's own test adds, to check that a property detects the defect. */
export interface Sabotage {
  opened?(place: Place): void;
  /** Called after the apply of the first declaration. */
  begun?(place: Place): void;
  /** Called after the last apply. */
  settled?(place: Place): void;
}

export async function play(cell: Cell, sabotage: Sabotage = {}): Promise<Verdict> {
  const place = await Place.open(cell.kind);
  try {
    sabotage.opened?.(place);
    return await new Course(cell, place, sabotage).play();
  } finally {
    await place.close();
  }
}

class Course {
  readonly #cell: Cell;
  readonly #place: Place;
  readonly #sabotage: Sabotage;
  readonly #before: Declaration;
  #after: Declaration;
  readonly #objections: string[] = [];
  readonly #elsewhere = new Set<string>();
  readonly #imported = new Set<string>();
  #arguments: readonly string[] = [];
  #refused: WayOut | undefined;
  #applies = 0;

  constructor(cell: Cell, place: Place, sabotage: Sabotage) {
    this.#cell = cell;
    this.#place = place;
    this.#sabotage = sabotage;
    const { before, after } = declarationsOf(cell.change, cell.kind, cell.form);
    this.#before = before;
    this.#after = after;
  }

  async play(): Promise<Verdict> {
    const { fronts, fresh } = this.#cell;
    const place = this.#place;
    await place.declare(fronts[0], this.#before);
    const set = await place.apply(fronts[0]);
    const start = place.books.live();
    this.#check(set, this.#before);
    if (set.code !== 0) return this.#verdict(false);
    const [ranFrom, from] = [place.ran.length, place.books.entries.length];
    place.time.advance(60_000);
    this.#sabotage.begun?.(place);

    await this.#prepare();
    await this.#meetRefusal();
    const struck = await this.#strike();
    place.calm();
    this.#check(struck, this.#after);
    place.time.advance(60_000);
    if (fresh) place.freshMachine();
    await this.#settle(struck);
    this.#sabotage.settled?.(place);
    await this.#lastPlans();
    this.#objections.push(
      ...objectionsTo({
        cell: this.#cell,
        before: this.#before,
        after: this.#after,
        ran: place.ran.slice(ranFrom),
        entries: place.books.entries,
        effects: place.books.effects,
        from,
        start,
        live: place.books.live(),
        state: place.terraform.state(STATE),
        invariants: place.control.invariants().broken,
        elsewhere: this.#elsewhere,
        imported: this.#imported,
      }),
    );
    return this.#verdict(struck.faulty);
  }

  /**
   * Performs the part of the change outside the declaration: a taint, an option, an object of another user, or an
   * import.
   */
  async #prepare(): Promise<void> {
    const { change, kind, fronts } = this.#cell;
    const [, front] = fronts;
    const place = this.#place;
    const address = addressesOf(this.#before).get(TARGET) ?? "";
    if (change === "taint") this.#well(await place.run("terraform", "taint", address));
    if (change === "replace") this.#arguments = [`-replace=${address}`];
    if (change === "import") {
      const id = await place.makeElsewhere("two");
      this.#elsewhere.add("two");
      this.#imported.add("two");
      this.#after = { ...this.#after, imports: [{ to: addressesOf(this.#after).get("two") ?? "", id }] };
    }
    await place.declare(front, this.#after);
    if (change !== "import held") return;
    const held = place.books.live().find(({ key }) => key === TARGET)?.id ?? "";
    const parent = kind === "grant" ? `${place.terraform.attributes("hosting_service.home").id}/` : "";
    const to = addressesOf(this.#after).get(TARGET) ?? "";
    const options = front === "terraform" ? ["-no-color", "-input=false"] : [];
    const ran = await place.run(front, "import", ...options, to, `${parent}${held}`);
    if (ran.code === 0)
      this.#objections.push(
        `an import of ${held} ends well, which ${addressesOf(this.#before).get(TARGET)} of the same state holds`,
      );
    // The failed import changed no state. The message must name the `moved` block.
    if (front === "terraform") {
      if (ran.code !== 0 && !/\bmoved\b/.test(ran.text))
        this.#objections.push("the refused import names no moved block");
      this.#after = withMoves(this.#before, this.#after);
    }
    await place.declare(front, this.#after);
  }

  /** Causes the expected error, checks that the command sent no request before it, and follows the error's fix. */
  async #meetRefusal(): Promise<void> {
    const refusal = refusalOf(this.#cell);
    if (refusal === undefined) return;
    const place = this.#place;
    const [, front] = this.#cell.fronts;
    const planned = await place.run(front, "plan", "-json", "-input=false", "-detailed-exitcode", ...this.#arguments);
    if (planned.code !== 1 || !refusal.says.test(planned.text)) {
      this.#objections.push(
        `the plan is not refused with ${refusal.says} (${refusal.why}), but ends with ${planned.code}:\n${tail(planned.text)}`,
      );
    }
    this.#refused = refusal.wayOut;
    if (refusal.wayOut === "moved") {
      this.#after = withMoves(this.#before, this.#after);
      await place.declare(front, this.#after);
    } else if (refusal.wayOut === "untaint") {
      this.#well(await place.run("terraform", "untaint", addressesOf(this.#before).get(TARGET) ?? ""));
    } else if (refusal.wayOut === "state mv") await this.#moveInState();
    else this.#arguments = [];
  }

  /** Moves each changed address to a temporary address, then to its new address. */
  async #moveInState(): Promise<void> {
    const moves = movesOf(this.#before, this.#after);
    const { type } = FACTS[this.#cell.kind];
    const targets = new Set(moves.map(({ to }) => to));
    const after = addressesOf(this.#after);
    const leaving = [...addressesOf(this.#before)].filter(([key, address]) => !after.has(key) && targets.has(address));
    const away = [...leaving.map(([, address]) => address), ...moves.map(({ from }) => from)];
    const temporary = new Map(away.map((address, at) => [address, `${type}.away_${at}`]));
    const move = async (from: string, to: string) =>
      this.#well(await this.#place.run("terraform", "state", "mv", from, to));
    for (const [from, to] of temporary) await move(from, to);
    for (const { from, to } of moves) await move(temporary.get(from) ?? from, to);
  }

  /** Runs the apply with the fault. */
  async #strike(): Promise<Ran> {
    const { fault, fronts, method, nth, lasting } = this.#cell;
    const place = this.#place;
    const [, front] = fronts;
    const where = { method, path: "/*", nth };
    if (isCrash(fault)) {
      const { whom, phase } = CRASHES[fault];
      place.control.addFault({ ...where, phase, delayMs: DEATH_MS, ...(whom !== "terraform" && { drop: true }) });
      return place.dyingApply(front, whom, ...this.#arguments);
    }
    if (isAnswer(fault)) place.control.addFault({ ...where, ...ANSWERS[fault], times: lasting ? 1000 : 1 });
    if (isOutage(fault)) {
      place.control.addFault({ ...where, ...OUTAGES[fault] });
      place.outageAfterFault();
    }
    return place.apply(front, ...this.#arguments);
  }

  async #settle(struck: Ran): Promise<void> {
    const [, front, last] = this.#cell.fronts;
    const place = this.#place;
    if (front !== last) await place.declare(last, this.#after);
    let ran = struck;
    let most = MOST_APPLIES;
    let isHelped = false;
    while (this.#applies < most) {
      this.#applies += 1;
      ran = await place.apply(last);
      this.#check(ran, this.#after);
      place.time.advance(60_000);
      if (ran.code === 0 && (await place.plan(last)).code === 0) return;
      if (isHelped || ran.code === 0) continue;
      if (await this.#completeMoved(ran)) {
        isHelped = true;
        most = this.#applies + MOST_APPLIES;
        continue;
      }
      const help = remedyIn(ran, this.#after, place);
      if (help === undefined) continue;
      isHelped = true;
      most = this.#applies + MOST_APPLIES;
      for (const { key, imports, run } of help) {
        await run();
        // On the same machine, the store still has the content of the response.
        if (imports && this.#cell.fresh) this.#imported.add(key);
      }
    }
    this.#objections.push(`not settled after ${this.#applies} applies (exit ${ran.code}):\n${tail(ran.text)}`);
  }

  /**
   * Adds the `moved` blocks that Terraform requires. The blocks are missing if a fault interrupted hostform, which needs
   * none.
   */
  async #completeMoved({ front, text }: Ran): Promise<boolean> {
    const declared = withMoves(this.#before, this.#after);
    if (front !== "terraform" || this.#after.moved !== undefined || declared.moved?.length === 0) return false;
    if (!/complete this block/.test(text)) return false;
    this.#after = declared;
    await this.#place.declare(front, this.#after);
    return true;
  }

  async #lastPlans(): Promise<void> {
    const place = this.#place;
    const fronts = [...new Set([this.#cell.fronts[2], this.#cell.fronts[1]])];
    for (const front of fronts) {
      await place.declare(front, this.#after);
      const planned = await place.plan(front);
      if (planned.code !== 0)
        this.#objections.push(`the last plan of ${front} ends with ${planned.code}:\n${tail(planned.text)}`);
    }
  }

  /** Checks that a command with exit code 0 has applied the declaration. */
  #check(ran: Ran, declared: Declaration): void {
    if (ran.code !== 0) return;
    const { books, terraform } = this.#place;
    const open = differences(declared, books.live(), terraform.state(STATE), this.#imported);
    this.#objections.push(...open.map((text) => `${ran.front} \`apply\` ends with 0, and ${text}`));
  }

  #well(ran: Ran): void {
    if (ran.code !== 0) this.#objections.push(`\`${ran.command}\` ends with ${ran.code}: ${tail(ran.text)}`);
  }

  #verdict(fired: boolean): Verdict {
    const lines = this.#place.ran.map(({ front, command, code, text, from, to }) => {
      const sent = this.#place.books.entries
        .slice(from, to)
        .map((one) => `    ${one.method} ${one.path} ${one.status ?? "cut"}${one.faulty ? " (fault)" : ""}`);
      return [`$ ${front}: ${command} → ${code}`, ...sent, tail(text, 60)].join("\n");
    });
    return {
      cell: this.#cell,
      objections: [...new Set(this.#objections)],
      applies: this.#applies,
      fired,
      refused: this.#refused,
      log: lines.join("\n"),
    };
  }
}

const tail = (text: string, lines = 14) => text.trim().split("\n").slice(-lines).join("\n");

function fileOf({ fault, fronts: [, front] }: Cell): string {
  if (isCrash(fault)) return "crash";
  return front === "terraform" ? "terraform" : "hostform";
}

/** Returns a verdict with the data that repeats the test. */
export const verdictText = ({ cell, objections }: Verdict): string =>
  [
    nameOf(cell),
    ...objections.map((text) => `  ${text.replaceAll("\n", "\n    ")}`),
    `  Replay it: HOSTFORM_CELL='${nameOf(cell)}' npm test -- test/metamorphic/${fileOf(cell)}.test.ts`,
  ].join("\n");
