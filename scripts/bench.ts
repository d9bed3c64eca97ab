// `npm run bench [-- --write]`: processor time, memory and requests of the built command line against a sandbox without a limit.
// `--write` puts the table into docs/performance.md. Not a test: a busy machine shows in the times, hardly in the ratios.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { startSandbox } from "../src/sandbox/index.ts";
import { builtProgram } from "../test/support/program.ts";

interface Used {
  readonly cpuMs: number;
  /** Peak of the process. */
  readonly memoryMb: number;
}

interface Row {
  readonly what: string;
  readonly used: Used;
  readonly requests?: number;
  /** The most milliseconds and megabytes, or the most times `node -e 0`. */
  readonly goal: { readonly cpuMs: number; readonly memoryMb: number } | { readonly starts: number };
}

/** A process writes its use at its exit. */
const PRELOAD = `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const used = { cpuMs: (userCPUTime + systemCPUTime) / 1000, memoryMb: maxRSS / 1024 };
  require("node:fs").writeFileSync(process.env.BENCH_USED, JSON.stringify(used));
});`;

const page = path.resolve(import.meta.dirname, "../docs/performance.md");
const hostform = await builtProgram();
const folder = await mkdtemp(path.join(tmpdir(), "hostform-bench-"));
const files = { preload: path.join(folder, "preload.cjs"), used: path.join(folder, "used.json") };
await writeFile(files.preload, PRELOAD);

/** Runs Node in the folder. @throws Error when it fails. */
async function node(args: readonly string[], env: object = {}): Promise<Used> {
  const own = { PATH: process.env.PATH, HOME: folder, BENCH_USED: files.used };
  const child = spawn(process.execPath, ["--require", files.preload, ...args], {
    cwd: folder,
    env: { ...own, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
  return JSON.parse(await readFile(files.used, "utf8"));
}

/** The median of several runs. */
async function median(runs: number, run: () => Promise<Used>): Promise<Used> {
  const all: Used[] = [];
  for (let at = 0; at < runs; at++) all.push(await run());
  return all.toSorted((a, b) => a.cpuMs - b.cpuMs)[Math.floor(runs / 2)] ?? { cpuMs: 0, memoryMb: 0 };
}

/** Measures a command of a project with these services. `adopts`: the account has them, and an earlier apply adopted them. */
async function project(what: string, count: number, adopts: boolean, args: readonly string[], goal: Row["goal"]) {
  const sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
  try {
    const existing = adopts ? sandbox.control.seedServices({ count }) : [];
    const declare = (imports: boolean) => {
      const services = Array.from({ length: count }, (_, at) => {
        const { id, domain = `new-${at}.bench.example` } = existing[at] ?? {};
        const attributes = ["plan_id: 11", "currency: USD", `domain: ${domain}`, ...(imports ? [`import: ${id}`] : [])];
        return [`  s${at}:`, ...attributes.map((line) => `    ${line}`)].join("\n");
      });
      const settings = ["project: bench", "providers:", "  default:", "    requests_per_minute: 6000"];
      return writeFile(path.join(folder, "hosting.yaml"), [...settings, "services:", ...services, ""].join("\n"));
    };
    await rm(path.join(folder, "hosting.tfstate"), { force: true });
    const env = {
      HOSTFORM_STATE_HOME: await mkdtemp(path.join(folder, "home-")),
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
    };
    const apply = [hostform, "apply", "--auto-approve", "--quiet"];
    await declare(adopts);
    if (adopts) {
      await node(apply, env);
      await declare(false);
    }
    sandbox.control.clearRequests();
    const used = await median(adopts ? 3 : 1, () => node([hostform, ...args], env));
    return { what, used, goal, requests: sandbox.control.requests().length / (adopts ? 3 : 1) };
  } finally {
    await sandbox.close();
  }
}

try {
  const bare = await median(15, () => node(["-e", "0"]));
  const start = async (args: readonly string[], starts: number): Promise<Row> => ({
    what: `\`hostform ${args.join(" ")}\``,
    used: await median(15, () => node([hostform, ...args])),
    goal: { starts },
  });
  const rows: readonly Row[] = [
    await start(["version"], 1.5),
    await start(["plan", "--help"], 2.5),
    await project("`plan`, 10,000 services, no changes", 10_000, true, ["plan", "--detailed-exitcode", "--quiet"], {
      cpuMs: 1_500,
      memoryMb: 300,
    }),
    await project("`apply` of 1,000 orders", 1_000, false, ["apply", "--auto-approve", "--quiet"], {
      cpuMs: 2_000,
      memoryMb: 300,
    }),
  ];
  const lines = rows.map(({ what, used: { cpuMs, memoryMb }, requests = 0, goal }) => {
    const starts = cpuMs / bare.cpuMs;
    const reached = "starts" in goal ? starts <= goal.starts : cpuMs <= goal.cpuMs && memoryMb <= goal.memoryMb;
    const most = "starts" in goal ? `${goal.starts} ×` : `${goal.cpuMs / 1000} s, ${goal.memoryMb} MB`;
    return `| ${what} | ${Math.round(cpuMs)} ms | ${starts.toFixed(1)} × | ${Math.round(memoryMb)} MB | ${requests} | ${most}${reached ? "" : ", **missed**"} |`;
  });
  const text = [
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node.js ${process.versions.node}:`,
    "",
    "| command | processor time | of `node -e 0` | memory | requests | goal |",
    "| --- | --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
  console.log(text);
  if (process.argv.includes("--write")) {
    const between = /(<!-- bench: written by `npm run bench -- --write` -->\n)[\s\S]*?(\n<!-- bench: end -->)/;
    await writeFile(page, (await readFile(page, "utf8")).replace(between, `$1\n${text}\n$2`));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
