import type { CreateTurn, CreateTurns } from "../../src/core/api/index.ts";
import type { Clock } from "../../src/core/model/index.ts";
import type { Life } from "./life.ts";
import type { World } from "./world.ts";

interface Row {
  readonly serial: number;
  readonly process: string;
  readonly owner: string;
  readonly thing: string;
  readonly likeness: string | undefined;
  readonly at: number;
  outcome: "begun" | "made" | "unknown";
}

/** What the processes of one machine remember of each other's creates, and the lock that is free the moment its holder dies. */
export class SimulatedTurns {
  readonly #world: World;
  #rows: Row[] = [];
  #serial = 0;
  #holder: Life | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  for(life: Life, clock: Clock): CreateTurns {
    let inside = 0;
    life.atDeath(() => {
      if (this.#holder === life) this.#holder = undefined;
    });
    return {
      count: () => this.#serial,
      run: async (work, signal) => {
        while (this.#holder !== undefined && this.#holder !== life)
          await clock.sleep(50 + this.#world.chance.real() * 50, signal);
        // A process that died while it waited takes no turn: nobody would ever give it back.
        if (life.dead) return new Promise(() => {});
        signal?.throwIfAborted();
        this.#holder = life;
        inside += 1;
        try {
          return await work(this.#turn(life));
        } finally {
          inside -= 1;
          if (inside === 0 && this.#holder === life) this.#holder = undefined;
        }
      },
      close: () => undefined,
    };
  }

  #turn({ name: process }: Life): CreateTurn {
    let open: Row | undefined;
    const others = () => this.#rows.filter((row) => row.process !== process);
    const drop = (row: Row | undefined) => {
      this.#rows = this.#rows.filter((other) => other !== row);
    };
    const add = (row: Omit<Row, "serial">): Row => {
      this.#serial += 1;
      const added = { ...row, serial: this.#serial };
      this.#rows.push(added);
      return added;
    };
    return {
      others: (since, owner) => {
        for (const row of others().filter(({ outcome }) => outcome === "begun")) {
          drop(row);
          add({ ...row, outcome: "unknown" });
        }
        const unknown = others().filter(
          (row) => row.outcome === "unknown" && (row.owner === "" || row.owner !== owner),
        );
        return {
          changed: others().some(({ serial }) => serial > since),
          unknownAt: unknown.length === 0 ? undefined : Math.max(...unknown.map(({ at }) => at)),
        };
      },
      earlier: ({ thing, owner }, since) => {
        const row = thing === "" ? undefined : others().findLast((other) => other.thing === thing);
        if (row === undefined) return undefined;
        const outcome = row.outcome === "made" ? "made" : "unknown";
        return { at: row.at, outcome, isOwn: owner !== "" && row.owner === owner, isNew: row.serial > since };
      },
      alikeAt: ({ likeness, owner }, since) => {
        const alike = others().filter(
          (row) => row.likeness === likeness && row.serial > since && (row.owner === "" || row.owner !== owner),
        );
        return likeness === undefined || alike.length === 0 ? undefined : Math.max(...alike.map(({ at }) => at));
      },
      begin: ({ thing, likeness, owner }, at) => {
        drop(open);
        open = add({ process, owner, thing, likeness, at, outcome: "begun" });
      },
      end: (outcome) => {
        const ended = open;
        if (ended === undefined) return;
        open = undefined;
        drop(ended);
        if (outcome === "made") add({ ...ended, outcome });
      },
    };
  }
}
