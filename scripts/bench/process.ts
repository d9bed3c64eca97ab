// Programs as processes, and what they cost.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import type { Bench, Figure, Unit } from "./row.ts";

export interface Ended {
  readonly stdout: string;
  readonly wallMs: number;
  /** User and system, of all processes of the command. */
  readonly cpuMs: number;
  /** That of its Node processes. */
  readonly nodeMs: number;
  /** The peak of the largest Node process. */
  readonly memoryMb: number;
}

export interface Where {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Exit codes that are no failure; default: 0. */
  readonly codes?: readonly number[];
}

/** Each Node process writes what it used as it exits. */
const USAGE = `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const file = process.env.BENCH_USAGE + "/" + process.pid;
  require("node:fs").writeFileSync(file, JSON.stringify([(userCPUTime + systemCPUTime) / 1000, maxRSS / 1024]));
});`;

const preloadOf = ({ folder }: Pick<Bench, "folder">) => path.join(folder, "usage.cjs");

/** Makes the folder of a run, with what programs are measured by. */
export async function benchFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "hostform-bench-"));
  await writeFile(preloadOf({ folder }), USAGE);
  return folder;
}

/** Runs Node with these arguments. @throws Error with the end of its output when it fails. */
export async function runNode(bench: Bench, args: readonly string[], where: Where): Promise<Ended> {
  const { stderr: _, ...ended } = await runCounted(bench, process.execPath, args, where);
  return { ...ended, cpuMs: ended.nodeMs };
}

/**
 * Runs any program, whose processor time bash counts, with that of the processes it waits for.
 * @throws Error with the end of its output when it fails.
 */
export async function runTimed(bench: Bench, program: string, args: readonly string[], where: Where): Promise<Ended> {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@"';
  const { stderr, ...ended } = await runCounted(bench, "bash", ["-c", script, "bash", program, ...args], {
    ...where,
    env: { ...where.env, LC_ALL: "C" },
  });
  const [user, system] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  if (user === undefined || system === undefined) throw new Error(`bash counted nothing: ${stderr.slice(-200)}`);
  return { ...ended, cpuMs: (user + system) * 1000 };
}

interface Counted extends Omit<Ended, "cpuMs"> {
  readonly stderr: string;
}

async function runCounted(
  bench: Bench,
  program: string,
  args: readonly string[],
  { cwd, env, codes = [0] }: Where,
): Promise<Counted> {
  const folder = await mkdtemp(path.join(bench.folder, "usage-"));
  const options = [env.NODE_OPTIONS, `--require=${preloadOf(bench)}`].filter(Boolean).join(" ");
  const started = performance.now();
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NODE_OPTIONS: options, BENCH_USAGE: folder },
  });
  const texts = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended(child)]);
  const wallMs = performance.now() - started;
  const [stdout, stderr, code] = texts;
  if (!codes.includes(code)) {
    const said = `${stdout}${stderr}`.slice(-3000);
    throw new Error(`${[path.basename(program), ...args].join(" ")} ended with ${code}:\n${said}`);
  }
  const files = await readdir(folder);
  const usages = await Promise.all(
    files.map(async (file): Promise<[number, number]> => JSON.parse(await readFile(path.join(folder, file), "utf8"))),
  );
  await rm(folder, { recursive: true });
  const nodeMs = usages.reduce((sum, [cpu]) => sum + cpu, 0);
  return { stdout, stderr, wallMs, nodeMs, memoryMb: Math.max(0, ...usages.map(([, memory]) => memory)) };
}

const ended = (child: ReturnType<typeof spawn>) =>
  new Promise<number>((resolve, reject) => child.once("error", reject).once("close", (code) => resolve(code ?? -1)));

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return text;
}

/** A new folder of a row. */
export const newFolder = ({ folder }: Bench, name: string): Promise<string> => mkdtemp(path.join(folder, `${name}-`));

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Runs each of them in turn, so many times: what disturbs the machine disturbs all. @returns the median of each in all it measured. */
export async function inTurns<Name extends string>(
  runs: number,
  work: Readonly<Record<Name, () => Promise<Ended>>>,
): Promise<Readonly<Record<Name, Ended>>> {
  const names = Object.keys(work) as Name[];
  const all = new Map(names.map((name): [Name, Ended[]] => [name, []]));
  for (let run = 0; run < runs; run++) for (const name of names) all.get(name)?.push(await work[name]());
  const middle = (ends: readonly Ended[], of: (end: Ended) => number) => median(ends.map(of));
  return Object.fromEntries(
    [...all].map(([name, ends]) => [
      name,
      {
        stdout: ends[0]?.stdout ?? "",
        wallMs: middle(ends, (end) => end.wallMs),
        cpuMs: middle(ends, (end) => end.cpuMs),
        nodeMs: middle(ends, (end) => end.nodeMs),
        memoryMb: middle(ends, (end) => end.memoryMb),
      },
    ]),
  ) as Record<Name, Ended>;
}

/** A fixed piece of work: how fast the machine is just now. */
export const calibration = (bench: Bench) => () =>
  runNode(bench, [path.join(import.meta.dirname, "calibration.ts")], { cwd: bench.folder, env: bareEnvironment() });

/** What a program needs to start, and nothing of the user's. */
export function bareEnvironment(): Record<string, string | undefined> {
  return { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
}

/** Processor time, with its ratio to that of something else. */
export function cpuFigure(end: Ended, to: Ended, name: string, what = "processor time", unit: Unit = "s"): Figure {
  const value = unit === "ms" ? end.cpuMs : end.cpuMs / 1000;
  return { what, value, unit, ratio: { value: end.cpuMs / to.cpuMs, to: name } };
}

export const memoryFigure = (end: Ended, what = "memory"): Figure => ({ what, value: end.memoryMb, unit: "MB" });
