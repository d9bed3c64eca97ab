// `npm run bench:terraform`: requests, time and memory of Terraform with the provider for a thousand services.
// Needs `terraform` on PATH. Takes about five minutes, most of them spent waiting for the 60 requests a minute. Not a test.
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { type Sandbox, startSandbox } from "../src/sandbox/index.ts";
import { cleanEnvironment, cliConfiguration } from "../test/support/terraform-environment.ts";
import { builtProvider, VERSION } from "../test/support/terraform-provider.ts";
import { type FastTime, fastTime } from "../test/support/terraform-time.ts";
import { columns, median } from "./bench-table.ts";

const SERVICES = 1_000;
const ORDERS = 100;
const RUNS = 3;

/** The rate limit of a token. Without one, time passes so fast that the provider never waits for long. */
type Limit = "60 a minute" | "none";
const FAST = 100;

interface Figure {
  readonly seconds: number;
  readonly requests: number;
  readonly refused: number;
  /** Of the provider's largest process. */
  readonly memoryMb: number;
}

const { status } = spawnSync("terraform", ["version"], { stdio: "inherit", env: cleanEnvironment() });
if (status !== 0) throw new Error("terraform is not on PATH");
const provider = await builtProvider();
const folder = await mkdtemp(path.join(tmpdir(), "hostform-bench-"));
const usage = path.join(folder, "usage");
const preload = path.join(folder, "usage.mjs");
const data = path.join(folder, "sandbox.db");
await writeFile(path.join(folder, "terraform.rc"), cliConfiguration(provider, "override"));
await writeFile(
  preload,
  `import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync(${JSON.stringify(usage)} + "/" + process.pid, String(process.resourceUsage().maxRSS)));`,
);

/** The same account each time: it is kept in a file. */
const open = (limit: Limit, clock: { now(): number }): Promise<Sandbox> =>
  startSandbox({ data, clock, rateLimit: limit === "none" ? 0 : 60, autoPay: true, provisioningSeconds: 0 });

const declare = (count: number) =>
  writeFile(
    path.join(folder, "main.tf"),
    `terraform {
  required_providers {
    hosting = {
      source  = "hostform/hosting"
      version = "${VERSION}"
    }
  }
}

resource "hosting_service" "client" {
  count    = ${count}
  plan_id  = 11
  currency = "USD"
  domain   = "client-\${count.index}.bench.example"
}
`,
  );

function environment(sandbox: Sandbox, { env }: FastTime, limit: Limit): NodeJS.ProcessEnv {
  return {
    ...cleanEnvironment(),
    TF_CLI_CONFIG_FILE: path.join(folder, "terraform.rc"),
    CHECKPOINT_DISABLE: "1",
    TF_IN_AUTOMATION: "1",
    HOSTING_BASE_URL: sandbox.url,
    HOSTING_TOKEN: sandbox.tokens.agency,
    HOSTFORM_PROJECT: "bench",
    HOSTFORM_STATE_HOME: path.join(folder, "home"),
    ...env,
    NODE_OPTIONS: `--import=${preload} ${env.NODE_OPTIONS}`,
    // Between two commands time is the machine's own again: each begins with its own budget.
    ...(limit === "none" && { HOSTFORM_LEDGER: "memory" }),
  };
}

/** Runs one command. @param more of the environment. */
async function measure(args: readonly string[], limit: Limit, more: NodeJS.ProcessEnv = {}): Promise<Figure> {
  await rm(usage, { recursive: true, force: true });
  await mkdir(usage);
  const time = fastTime(limit === "none" ? FAST : 1);
  const sandbox = await open(limit, time.clock);
  try {
    const started = performance.now();
    const child = spawn("terraform", [...args, "-input=false", "-no-color"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...environment(sandbox, time, limit), ...more },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
    }
    const code = await new Promise((resolve) => child.on("close", resolve));
    const seconds = (performance.now() - started) / 1000;
    if (code !== 0) throw new Error(`terraform ${args.join(" ")} ended with ${code}:\n${text.slice(-4000)}`);
    const sizes = await Promise.all(
      (await readdir(usage)).map(async (file) => Number(await readFile(path.join(usage, file), "utf8"))),
    );
    const entries = sandbox.control.requests();
    const refused = entries.filter((entry) => entry.status === 429).length;
    return { seconds, requests: entries.length, refused, memoryMb: Math.max(...sizes) / 1024 };
  } finally {
    await sandbox.close();
  }
}

function row(what: string, figures: readonly Figure[]): void {
  const of = (pick: (figure: Figure) => number) => median(figures.map(pick));
  const refused = String(Math.max(...figures.map((f) => f.refused)));
  const memory = `${Math.round(of((f) => f.memoryMb))} MB`;
  columns(what, `${of((f) => f.seconds).toFixed(1)} s`, String(of((f) => f.requests)), refused, memory);
}

const PLAN = ["plan", "-detailed-exitcode"];
const APPLY = ["apply", "-auto-approve"];

try {
  console.log(`\nNode ${process.version}; plans: median of ${RUNS} runs, applies: one run\n`);
  columns("", "wall", "requests", "429", "memory");
  await declare(SERVICES);
  row(`apply that orders ${SERVICES}, no limit`, [await measure(APPLY, "none")]);
  const plans: Figure[] = [];
  for (let run = 0; run < RUNS; run++) plans.push(await measure(PLAN, "60 a minute"));
  row(`plan of ${SERVICES} in the state, 60 a minute`, plans);
  const singly = await measure(PLAN, "none", { HOSTFORM_TERRAFORM_COALESCE: "0" });
  row("the same with HOSTFORM_TERRAFORM_COALESCE=0, no limit", [singly]);
  const minutes = Math.floor((singly.requests - 1) / 60);
  console.log(`${" ".repeat(58)} (at 60 a minute: at least ${minutes} minutes)`);
  await declare(SERVICES + ORDERS);
  row(`apply that orders ${ORDERS} more, 60 a minute`, [await measure(APPLY, "60 a minute")]);
  await declare(SERVICES + 2 * ORDERS);
  row(`apply that orders ${ORDERS} more, no limit`, [await measure(APPLY, "none")]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
