/** The built program as its own process, and a process that contends for its lock. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { builtOnce, ROOT } from "../../support/built-once.ts";
import { builtProgram } from "../../support/program.ts";
import type { Moment, PointKind, Tally } from "./kill-points.ts";

const CONTENDER = "test/reliability/support/lock-contender.ts";
const SOURCES = ["src/**/*.ts", CONTENDER, path.relative(ROOT, import.meta.filename)];
const preload = path.join(import.meta.dirname, "kill-points.ts");

/** How a process ended. */
export interface Ended {
  /** Null for one that a signal ended. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when the process freezes. */
  readonly frozen: Promise<void>;
}

/** Where to die, or to be frozen. */
export interface KillPoint {
  readonly kind: PointKind;
  /** From 1. */
  readonly nth: number;
  readonly moment: Moment;
}

/** Where to be frozen until a SIGCONT, and how much more time the clocks show then, in ms. */
export interface PausePoint extends KillPoint {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export interface Start {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly args: readonly string[];
  readonly kill?: KillPoint;
  /** Signal in place of SIGKILL. */
  readonly signal?: "SIGINT";
  readonly pause?: PausePoint;
  readonly tally?: string;
}

export interface Program {
  /** The bundle of support/lock-contender.ts. */
  readonly contender: string;
  start(options: Start): Running;
  /** Runs to the end. */
  run(options: Start): Promise<Ended>;
  /** Runs to the end and returns where it could have been killed. */
  count(options: Start): Promise<{ readonly ended: Ended; readonly tally: Tally }>;
}

/** Bundles the contender from the sources: no command of the built program takes the lock and nothing else. */
const bundle = (outdir: string) =>
  build({
    absWorkingDir: ROOT,
    entryPoints: { contender: CONTENDER },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.20",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
  });

export async function reliabilityProgram(): Promise<Program> {
  const hostform = await builtProgram();
  const shelf = path.join(ROOT, "node_modules/.cache/hostform-contender");
  const folder = await builtOnce(shelf, SOURCES, async (draft) => void (await bundle(draft)));
  const start = ({ cwd, env, args, kill, signal, pause, tally }: Start): Running => {
    const child = spawn(process.execPath, ["--import", preload, hostform, ...args], {
      cwd,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        // Its own: another sandbox may have had the port and the token, and its orders are none of this one's.
        XDG_STATE_HOME: path.join(cwd, ".state-home"),
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        NO_COLOR: "1",
        TZ: "UTC",
        ...env,
        ...(kill && { HOSTFORM_KILL: `${kill.kind} ${kill.nth} ${kill.moment}` }),
        ...(signal && { HOSTFORM_KILL_SIGNAL: signal }),
        ...(pause && {
          HOSTFORM_PAUSE: `${pause.kind} ${pause.nth} ${pause.moment}`,
          HOSTFORM_PAUSE_CLOCKS: `${pause.wallMs} ${pause.monotonicMs}`,
        }),
        ...(tally && { HOSTFORM_KILL_TALLY: tally }),
      },
      stdio: ["ignore", "pipe", "pipe", pause === undefined ? "ignore" : "pipe"],
    });
    const frozen = new Promise<void>((resolve) => child.stdio[3]?.once("data", () => resolve()));
    let [out, err] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve({ code, signal, out, err }));
    });
    return { child, ended, frozen };
  };
  const run = (options: Start) => start(options).ended;
  return {
    contender: path.join(folder, "contender.mjs"),
    start,
    run,
    count: async (options) => {
      const tally = path.join(options.cwd, "tally.json");
      const ended = await run({ ...options, tally });
      const text = existsSync(tally) ? await readFile(tally, "utf8") : "{}";
      await rm(tally, { force: true });
      return { ended, tally: JSON.parse(text) };
    },
  };
}
