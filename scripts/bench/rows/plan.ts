// Plans in which nothing changed: processor time, memory, and how they grow with the services.
import { openAccount } from "../account.ts";
import { calibration, cpuFigure, type Ended, inTurns, memoryFigure } from "../process.ts";
import type { Bench, Figure, Row } from "../row.ts";

const LATENCY_MS = 300;

async function planned(
  bench: Bench,
  services: number,
  runs: number,
): Promise<Readonly<Record<"base" | "plan", Ended>>> {
  const account = await openAccount(bench, { services });
  try {
    return await inTurns(runs, {
      base: calibration(bench),
      // Fails unless there is nothing to do.
      plan: () => account.hostform(["plan", "--detailed-exitcode"]),
    });
  } finally {
    await account.close();
  }
}

const figuresOf = ({ plan, base }: Readonly<Record<"base" | "plan", Ended>>): Figure[] => [
  cpuFigure(plan, base, "calibration"),
  memoryFigure(plan),
];

async function slope(bench: Bench): Promise<Figure[]> {
  const [less, more] = [await planned(bench, 10_000, 3), await planned(bench, 20_000, 3)];
  const value = more.plan.cpuMs / more.base.cpuMs / (less.plan.cpuMs / less.base.cpuMs) / 2;
  return [{ what: "processor time of a service, at 10,000 = 1", value, unit: "×" }];
}

export const planRows: readonly Row[] = [
  {
    name: "plan-10000",
    about: "`plan`, 10,000 services, nothing to do",
    quick: true,
    goals: { "processor time": { most: 1.5, unit: "s" }, memory: { most: 300, unit: "MB" } },
    measure: async (bench) => figuresOf(await planned(bench, 10_000, 3)),
  },
  {
    name: "plan-slope",
    about: "the same with 20,000",
    goals: { "processor time of a service, at 10,000 = 1": { most: 1.1, unit: "×" } },
    measure: slope,
  },
  {
    name: "plan-100000",
    about: "the same with 100,000 (one run)",
    goals: { "processor time": { most: 15, unit: "s" }, memory: { most: 1_500, unit: "MB" } },
    measure: async (bench) => figuresOf(await planned(bench, 100_000, 1)),
  },
  {
    name: "latency",
    about: `\`plan\` of 1,000 services, ten pages, where each answer takes ${LATENCY_MS} ms`,
    quick: true,
    goals: { "first request to last answer": { most: 1, unit: "s" } },
    async measure(bench) {
      const account = await openAccount(bench, { services: 1_000, host: { latencyMs: LATENCY_MS } });
      try {
        const { wallMs } = await account.hostform(["plan", "--detailed-exitcode"]);
        const figure = (what: string, ms: number): Figure => ({
          what,
          value: ms / 1000,
          unit: "s",
          ratio: { value: ms / LATENCY_MS, to: "one answer" },
        });
        return [
          figure("first request to last answer", account.host.wallMs()),
          figure("the whole command", wallMs),
          { what: "requests", value: account.host.entries.length, unit: "requests" },
        ];
      } finally {
        await account.close();
      }
    },
  },
];
