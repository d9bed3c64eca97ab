// The result of each mutant, and the figures of each area.
import type { Mutant } from "./mutants.ts";

/** A lower percentage fails the run. */
const GOAL_PERCENT = 90;

interface Input {
  readonly areas: ReadonlyMap<string, readonly string[]>;
  /** All of the files; the run tried the `chosen` ones. */
  readonly mutants: readonly Mutant[];
  readonly chosen: ReadonlySet<number>;
  /** Mutants that the compiler refuses. */
  readonly refused: ReadonlySet<number>;
  /** File -> mutant -> reason for which no test can notice it. */
  readonly explained: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Figures {
  readonly area: string;
  readonly mutants: number;
  readonly killed: number;
  readonly types: number;
  readonly explained: number;
  readonly survived: number;
  /** Killed ones of those that are neither explained nor refused by the compiler. */
  readonly percent: string;
}

export interface Verdict {
  readonly survivors: readonly Mutant[];
  /** A row for each area, and one for all. */
  readonly figures: readonly Figures[];
  /** Survivors with their places, and mistakes in the explanations. */
  readonly lines: readonly string[];
  readonly passed: boolean;
}

/** @param log of the workers: a line for each broken test, and for each mutant that a test killed or reached */
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
  const all: readonly (readonly [area: string, files: readonly string[]])[] = [...areas, ["all", [...tried]]];
  const figures = all.map(([area, files]): Figures => {
    const own = mutants.filter(({ id, file }) => chosen.has(id) && files.includes(file));
    const count = (is: (one: Mutant) => boolean) => own.filter(is).length;
    const dead = count(({ id }) => killed.has(id));
    const accepted = count((one) => !killed.has(one.id) && why(one) !== undefined);
    const types = count(({ id }) => refused.has(id));
    const survived = own.length - dead - types - accepted;
    const percent = `${((100 * dead) / (own.length - types - accepted || 1)).toFixed(1)}%`;
    return { area, mutants: own.length, killed: dead, types, explained: accepted, survived, percent };
  });
  const percent = Number.parseFloat(figures.at(-1)?.percent ?? "");
  return { figures, lines, survivors, passed: percent >= GOAL_PERCENT };
}
