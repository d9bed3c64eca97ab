// How fast a command starts.
import { bareEnvironment, cpuFigure, inTurns, runNode } from "../process.ts";
import type { Bench, Figure, Goal, Row } from "../row.ts";

const RUNS = 15;

async function started(bench: Bench, args: readonly string[]): Promise<Figure[]> {
  const where = { cwd: bench.folder, env: { ...bareEnvironment(), HOME: bench.folder } };
  const ends = await inTurns(RUNS, {
    bare: () => runNode(bench, ["-e", "0"], where),
    command: () => runNode(bench, [bench.hostform, ...args], where),
  });
  return [cpuFigure(ends.command, ends.bare, "`node -e 0`", "processor time", "ms")];
}

const row = (name: string, args: readonly string[], most: number): Row => ({
  name,
  about: `\`hostform ${args.join(" ")}\``,
  quick: true,
  goals: { "processor time": { most, unit: "×" } satisfies Goal },
  measure: (bench) => started(bench, args),
});

export const startRows: readonly Row[] = [row("version", ["version"], 1.5), row("help", ["plan", "--help"], 2.5)];
