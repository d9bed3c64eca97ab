// The result for each mutant, and the figures of an area.
import type { Mutant } from "./mutants.ts";

/** Less than this of what is not explained, in percent, fails the run. */
const GOAL_PERCENT = 90;

interface Input {
  readonly areas: ReadonlyMap<string, readonly string[]>;
  /** All of these files; `chosen` are those that were tried. */
  readonly mutants: readonly Mutant[];
  readonly chosen: ReadonlySet<number>;
  /** Those that the compiler refuses. */
  readonly refused: ReadonlySet<number>;
  /** File -> mutant -> why it may survive. */
  readonly explained: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Figures {
  readonly area: string;
  readonly mutants: number;
  readonly killed: number;
  readonly types: number;
  readonly explained: number;
  readonly survived: number;
}

export interface Verdict {
  readonly survivors: readonly Mutant[];
  readonly areas: readonly Figures[];
  /** Survivors with their places, and what is wrong with the explanations. */
  readonly lines: readonly string[];
  readonly passed: boolean;
}

/** @param log what the workers wrote: a line for each test that broke and each mutant that one killed or reached. */
export function judge(log: string, { areas, mutants, chosen, explained, refused }: Input): Verdict {
  const ids = (pattern: RegExp) =>
    new Set([...log.matchAll(pattern)].flatMap(([, list = ""]) => list.split(",").map(Number)));
  const killed = ids(/^killed (\d+)/gm);
  const reached = ids(/^reached ([\d,]+)$/gm);
  const why = ({ file, key }: Mutant) => explained[file]?.[key];
  const lines: string[] = [];
  const survivors: Mutant[] = [];
  for (const one of mutants.filter(({ id }) => chosen.has(id))) {
    const { id, file, line, key, operator, from, to } = one;
    if (killed.has(id) && why(one) !== undefined) lines.push(`explained, but killed: ${file}: ${key}`);
    if (killed.has(id) || refused.has(id) || why(one) !== undefined) continue;
    survivors.push(one);
    const seen = reached.has(id) || operator.startsWith("number") ? "" : " (no test reaches it)";
    lines.push(`${file}:${line} ${operator}${seen}`, `  - ${from}`, `  + ${to}`, `    ${key}`);
  }
  const tried = new Set([...areas.values()].flat());
  for (const [file, keys] of Object.entries(explained))
    for (const key of Object.keys(keys))
      if (tried.has(file) && !mutants.some((one) => one.file === file && one.key === key))
        lines.push(`explained, but there is no such mutant any more: ${file}: ${key}`);
  for (const [text] of log.matchAll(/^(?:broken|spoiled) .*$/gm)) lines.push(text);
  const figures = [...areas].map(([area, files]) => {
    const all = mutants.filter(({ id, file }) => chosen.has(id) && files.includes(file));
    const dead = all.filter(({ id }) => killed.has(id)).length;
    const accepted = all.filter((one) => !killed.has(one.id) && why(one) !== undefined).length;
    const types = all.filter(({ id }) => refused.has(id)).length;
    return {
      area,
      mutants: all.length,
      killed: dead,
      types,
      explained: accepted,
      survived: all.length - dead - types - accepted,
    };
  });
  const total = sum(figures);
  const counted = total.mutants - total.types - total.explained;
  return { areas: figures, lines, survivors, passed: total.killed * 100 >= GOAL_PERCENT * counted };
}

const sum = (figures: readonly Figures[]): Figures => {
  const add = (name: Exclude<keyof Figures, "area">) => figures.reduce((total, one) => total + one[name], 0);
  return {
    area: "all",
    mutants: add("mutants"),
    killed: add("killed"),
    types: add("types"),
    explained: add("explained"),
    survived: add("survived"),
  };
};

/** The figures as a table, with the sum: killed in percent of all, and of those that are not explained. */
export function table(figures: readonly Figures[]): string {
  const rows = [...figures, sum(figures)].map(({ area, mutants, killed, types, explained, survived }) => {
    const share = (of: number) => (of === 0 ? "-" : `${((100 * killed) / of).toFixed(1)}%`);
    return [
      area,
      ...[mutants, killed, types, explained, survived].map(String),
      share(mutants - types),
      share(mutants - types - explained),
    ];
  });
  const head = ["area", "mutants", "killed", "types", "explained", "survived", "killed", "without explained"];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
