// Applies without a limit: what an order costs the processor, and a stack beside YAML.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { declare, newServices, openAccount } from "../account.ts";
import { calibration, cpuFigure, type Ended, inTurns, memoryFigure } from "../process.ts";
import type { Bench, Figure, Row } from "../row.ts";
import { stackOf } from "../stack.ts";

const APPLY = ["apply", "--auto-approve", "--quiet"];

/** Orders of a new account, with the ledger that the processes of a machine share or without. */
async function ordered(bench: Bench, orders: number, ledger: object): Promise<Ended> {
  const account = await openAccount(bench, { services: 0 });
  try {
    await declare(account.folder, { services: newServices(orders) });
    return await account.hostform(APPLY, { env: ledger });
  } finally {
    await account.close();
  }
}

async function orders(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  const ledgers: readonly [of: string, env: object][] = [
    ["", {}],
    [", ledger in memory", { HOSTFORM_LEDGER: "memory" }],
  ];
  for (const [of, env] of ledgers) {
    const { base, small } = await inTurns(3, { base: calibration(bench), small: () => ordered(bench, 1_000, env) });
    const large = await ordered(bench, 5_000, env);
    figures.push(
      cpuFigure(large, base, "calibration", `processor time${of}`),
      { what: `processor time of an order, at 1,000 = 1${of}`, value: large.cpuMs / small.cpuMs / 5, unit: "×" },
      memoryFigure(large, `memory${of}`),
    );
  }
  return figures;
}

const SITES = 500;
const GRANTS = ["one@bench.example", "two@bench.example"];

/** The same sites as a stack and in YAML, each in an account of its own. */
async function sites(bench: Bench): Promise<Figure[]> {
  const applied = async (stack: boolean): Promise<Ended> => {
    const account = await openAccount(bench, { services: 0 });
    try {
      const services = newServices(SITES, GRANTS);
      if (!stack) {
        await declare(account.folder, { services });
        return await account.hostform(APPLY);
      }
      const folder = path.join(account.folder, "stack");
      await mkdir(folder);
      await writeFile(path.join(folder, "cdk.tf.json"), JSON.stringify(stackOf(services)));
      return await account.hostform([...APPLY, "--stack", folder]);
    } finally {
      await account.close();
    }
  };
  const ends = await inTurns(1, {
    base: calibration(bench),
    yaml: () => applied(false),
    stack: () => applied(true),
  });
  return [
    cpuFigure(ends.yaml, ends.base, "calibration", "YAML, processor time"),
    memoryFigure(ends.yaml, "YAML, memory"),
    cpuFigure(ends.stack, ends.yaml, "YAML", "stack, processor time"),
    memoryFigure(ends.stack, "stack, memory"),
  ];
}

export const applyRows: readonly Row[] = [
  {
    name: "orders-5000",
    about: "`apply` of 5,000 orders, no limit",
    goals: {
      "processor time": { most: 6, unit: "s" },
      "processor time of an order, at 1,000 = 1": { most: 1.1, unit: "×" },
    },
    measure: orders,
  },
  { name: "sites-500", about: "`apply` of 500 sites with two grants each, no limit", measure: sites },
];
