// `npm run bench:stack`: CPU time, memory and requests to synthesize, apply and plan a stack of 500 sites with two grants each, as
// a program with cdktf or cdktn and in YAML. The sandbox has no rate limit, and time passes a hundred times as fast, so that the
// client's own limit costs no time. Not a test.
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { transform } from "esbuild";
import { type Sandbox, startSandbox } from "../src/sandbox/index.ts";
import { fastTime } from "../test/support/terraform-time.ts";
import { columns, median } from "./bench-table.ts";
import { LIBRARIES } from "./bindings.ts";

const SITES = 500;
const GRANTS = ["manage", "view"] as const;
const RUNS = 3;
const FAST = 100;

const root = path.resolve(import.meta.dirname, "..");
const cli = path.join(root, "dist/hostform.js");
const built = spawnSync(process.execPath, [path.join(root, "scripts/build.ts")], { cwd: root, stdio: "inherit" });
if (built.status !== 0) throw new Error("the project cannot be built");
const base = await mkdtemp(path.join(tmpdir(), "hostform-bench-"));

interface Figure {
  readonly cpu: number;
  readonly memoryMb: number;
  readonly requests: number;
}

const domain = (at: number) => `site-${at}.bench.example`;
const email = (permission: string, at: number) => `${permission}-${at}@bench.example`;

/** The program of a team. */
const program = (library: string) => `
import { App, TerraformStack } from "${library}";
import { HostedSite, HostingProvider } from "hostform/${library}";
const app = new App();
const stack = new TerraformStack(app, "agency");
new HostingProvider(stack, "hosting", { project: "bench" });
for (let at = 0; at < ${SITES}; at++) {
  const site = new HostedSite(stack, "site-" + at, { planId: 11, currency: "USD", domain: "site-" + at + ".bench.example" });
  for (const permission of ${JSON.stringify(GRANTS)}) site.grant(permission + "-" + at + "@bench.example", permission);
}
app.synth();
`;

/** The same for people who write YAML. */
const declaration = JSON.stringify({
  project: "bench",
  services: Object.fromEntries(
    Array.from({ length: SITES }, (_, at) => {
      const grants = Object.fromEntries(GRANTS.map((permission) => [email(permission, at), permission]));
      return [`site-${at}`, { plan_id: 11, currency: "USD", domain: domain(at), grants }];
    }),
  ),
});

/** A folder in which the project and both libraries are installed. */
async function project(name: string): Promise<string> {
  const folder = path.join(base, name);
  await mkdir(path.join(folder, "node_modules"), { recursive: true });
  await symlink(root, path.join(folder, "node_modules/hostform"));
  for (const each of [...LIBRARIES, "constructs"])
    await symlink(path.join(root, "node_modules", each), path.join(folder, "node_modules", each));
  return folder;
}

const usage = path.join(base, "usage");
const report = path.join(base, "report.cjs");
const clock = path.join(base, "fast-clock.mjs");
await writeFile(
  report,
  `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  require("node:fs").writeFileSync(${JSON.stringify(usage)}, JSON.stringify([userCPUTime + systemCPUTime, maxRSS]));
});`,
);
// Without types, so that Node need not strip them at each start.
const { code: preload } = await transform(await readFile(path.join(root, "test/support/fast-clock.ts"), "utf8"), {
  loader: "ts",
});
await writeFile(clock, preload);

/** Runs Node on a file, and measures the whole process. */
async function measure(
  folder: string,
  sandbox: Sandbox,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<Figure> {
  sandbox.control.clearRequests();
  const child = spawn(process.execPath, [`--require=${report}`, ...args], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: base,
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
      HOSTFORM_LEDGER: "memory",
      ...env,
    },
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${stderr.slice(-4000)}`);
  const [cpu, memory] = JSON.parse(await readFile(usage, "utf8")) as [number, number];
  return { cpu: cpu / 1e6, memoryMb: memory / 1024, requests: sandbox.control.requests().length };
}

function row(what: string, figures: readonly Figure[]): void {
  const of = (pick: (figure: Figure) => number) => median(figures.map(pick));
  const memory = `${Math.round(of((f) => f.memoryMb))} MB`;
  columns(what, `${of((f) => f.cpu).toFixed(2)} s`, memory, String(of((f) => f.requests)));
}

async function often(work: () => Promise<Figure>): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (let run = 0; run < RUNS; run++) figures.push(await work());
  return figures;
}

/** One folder with its own account: synthesized if it is an app, applied, planned. */
async function bench(name: string, args: readonly string[], app: boolean): Promise<void> {
  const { clock: time, env } = fastTime(FAST);
  const sandbox = await startSandbox({ clock: time, rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
  try {
    const folder = await project(name);
    const fast = { HOSTFORM_CLOCK: env.HOSTFORM_CLOCK };
    const hostform = (...words: string[]) =>
      measure(folder, sandbox, fast, [`--import=${clock}`, cli, ...words, "--quiet", ...args]);
    if (app) {
      await writeFile(path.join(folder, "main.mjs"), program(name));
      row(`${name}: synthesize`, await often(() => measure(folder, sandbox, {}, ["main.mjs"])));
    } else await writeFile(path.join(folder, "hosting.yaml"), declaration);
    row(`${name}: validate`, await often(() => hostform("validate")));
    row(`${name}: apply`, [await hostform("apply", "--auto-approve")]);
    row(`${name}: plan, nothing to do`, await often(() => hostform("plan", "--detailed-exitcode")));
  } finally {
    await sandbox.close();
  }
}

try {
  console.log(
    `\nNode ${process.version}; ${SITES} sites, ${SITES * GRANTS.length} grants; median of ${RUNS} runs (apply: one run)\n`,
  );
  columns("", "CPU", "memory", "requests");
  for (const library of LIBRARIES) await bench(library, ["--stack", "cdktf.out"], true);
  await bench("YAML", [], false);
} finally {
  await rm(base, { recursive: true, force: true });
}
