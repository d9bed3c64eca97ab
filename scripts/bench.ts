// `npm run bench`: figures of the main job on this machine, against the embedded sandbox without its rate limit. Not a test.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { startSandbox } from "../src/sandbox/index.ts";
import { columns, median } from "./bench-table.ts";

const root = path.resolve(import.meta.dirname, "..");
const cli = path.join(root, "dist/hostform.js");
const RUNS = 5;

spawnSync(process.execPath, [path.join(root, "scripts/build.ts")], { cwd: root, stdio: "inherit" });
const sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
const folder = await mkdtemp(path.join(tmpdir(), "hostform-bench-"));

interface Figure {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly requests: number;
}

/** Runs the bundled command and measures the whole process, which reports its own usage. */
async function measure(args: readonly string[]): Promise<Figure> {
  sandbox.control.clearRequests();
  const report = `process.on("exit", () => { const u = process.resourceUsage(); process._rawDebug("\\u0001" + JSON.stringify([u.userCPUTime + u.systemCPUTime, u.maxRSS])); });`;
  const preload = path.join(folder, "report.cjs");
  await writeFile(preload, report);
  const started = performance.now();
  const { code, stderr } = await run([`--require=${preload}`, cli, ...args]);
  const wallMs = performance.now() - started;
  if (code !== 0) throw new Error(`hostform ${args.join(" ")} ended with ${code}:\n${stderr}`);
  const [cpu, memory] = JSON.parse(stderr.slice(stderr.lastIndexOf("\u0001") + 1)) as [number, number];
  return { wallMs, cpuMs: cpu / 1000, memoryMb: memory / 1024, requests: sandbox.control.requests().length };
}

async function run(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency },
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stderr })));
}

async function row(what: string, args: readonly string[], runs = RUNS): Promise<void> {
  const figures: Figure[] = [];
  for (let i = 0; i < runs; i++) figures.push(await measure(args));
  const of = (pick: (figure: Figure) => number) => Math.round(median(figures.map(pick)));
  const memory = `${of((f) => f.memoryMb)} MB`;
  columns(what, `${of((f) => f.wallMs)} ms`, `${of((f) => f.cpuMs)} ms`, memory, String(of((f) => f.requests)));
}

/** Services `from` to `to`; `ids` adopts existing ones. */
const declare = (from: number, to: number, ids: readonly number[] = []) => {
  const lines = Array.from({ length: to - from }, (_, i) => {
    const adopted = ids[i] === undefined ? "" : `, import: ${ids[i]}`;
    return `  s${from + i}: { plan_id: 11, currency: USD, domain: s${from + i}.bench.example${adopted} }`;
  });
  return writeFile(path.join(folder, "hosting.yaml"), ["project: bench", "services:", ...lines].join("\n"));
};
const forgetState = () => rm(path.join(folder, "hosting.tfstate"), { force: true });

try {
  console.log(`Node ${process.version}, median of ${RUNS} runs (apply: one run)\n`);
  columns("", "wall", "CPU", "memory", "requests");
  await row("hostform --version", ["--version"]);
  await declare(0, 50);
  await row("plan of 50 new services", ["plan"]);
  await row("apply of 50 new services", ["apply", "--auto-approve", "--quiet"], 1);
  for (const count of [100, 1000]) {
    sandbox.control.reset();
    await forgetState();
    const seeded = sandbox.control.seedServices({ count, plan_id: 11 });
    for (const [i, { id }] of seeded.entries())
      sandbox.control.change("services", id, { domain: `s${i}.bench.example` });
    await declare(
      0,
      count,
      seeded.map(({ id }) => id),
    );
    await row(`validate, ${count} services`, ["validate"]);
    await row(`plan that adopts ${count} services`, ["plan"]);
    await row(`apply that adopts ${count} services`, ["apply", "--auto-approve", "--quiet"], 1);
    await row(`plan without changes, ${count} services`, ["plan"]);
  }
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
