// `npm run bench [-- ROW… | --quick] [--write] [--fail]`: measures the rows, prints their table, and names what got a fifth worse
// than the table of docs/performance.md. Not a test: a busy machine shows in the figures.
import { execFileSync, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { builtProgram } from "../../test/support/program.ts";
import { cleanEnvironment } from "../../test/support/terraform-environment.ts";
import { builtProvider } from "../../test/support/terraform-provider.ts";
import { benchFolder } from "./process.ts";
import { type Bench, type Row, selectRows } from "./row.ts";
import { ROWS } from "./rows/index.ts";
import {
  formatAmount,
  formatTable,
  generatedPart,
  type Measured,
  parseTable,
  withGenerated,
  worseThan,
} from "./table.ts";

/** So many rows that share the machine run at once: their processes sleep most of the time. */
const SIDE_BY_SIDE = 4;

const root = path.resolve(import.meta.dirname, "../..");
const page = path.join(root, "docs/performance.md");
const USAGE = `npm run bench [-- ROW… | --quick] [--write] [--fail]
  ROW…     these rows only: ${ROWS.map(({ name }) => name).join(", ")}
  --quick  the rows that take about a minute in all
  --write  writes the table of a whole run to docs/performance.md
  --fail   exits with 1 where a figure is a fifth worse than in that table`;

interface Arguments {
  readonly options: { readonly quick?: boolean; readonly write?: boolean; readonly fail?: boolean };
  readonly names: readonly string[];
}

/** Ends the process where help is asked for, or an option is not known. */
function argumentsOf(line: readonly string[]): Arguments {
  const flag = { type: "boolean" } as const;
  const known = { quick: flag, write: flag, fail: flag, help: flag };
  try {
    const { values, positionals } = parseArgs({ args: [...line], allowPositionals: true, options: known });
    if (!values.help) return { options: values, names: positionals };
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(1);
  }
}

const { options, names } = argumentsOf(process.argv.slice(2));

let rows: readonly Row[] = [];
try {
  rows = selectRows(ROWS, names, options.quick === true);
  if (options.write && rows.length < ROWS.length)
    throw new Error("--write writes the table of one whole run: leave out --quick and the names of rows.");
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const terraform = terraformVersion();
const head = headOf(terraform);
const begun = performance.now();
const folder = await benchFolder();
const bench: Bench = { folder, hostform: await builtProgram(), provider: builtProvider };
const measured = new Map<string, Measured>();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));

async function measure(row: Row): Promise<void> {
  const started = performance.now();
  const { name, about, goals = {} } = row;
  if (row.needs === "terraform" && terraform === undefined) {
    console.error(`SKIPPED ${name}: terraform is not on the PATH`);
    measured.set(name, { name, about, goals, skipped: "terraform is not on the PATH" });
    return;
  }
  try {
    const figures = await row.measure(bench);
    measured.set(name, { name, about, goals, figures });
    const said = figures.map(({ what, value, unit }) => `${what} ${formatAmount(value, unit)}`).join(", ");
    console.error(`measured ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s: ${said}`);
  } catch (error) {
    console.error(`FAILED ${name}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}

for (const row of rows) if (row.shares !== true) await measure(row);
const sharing = rows.filter(({ shares }) => shares === true);
const worker = async () => {
  for (let row = sharing.shift(); row !== undefined; row = sharing.shift()) await measure(row);
};
await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));

const results = rows.flatMap(({ name }) => measured.get(name) ?? []);
const text = `${head}\n\n${formatTable(results)}`;
const before = await readFile(page, "utf8");
const worse = worseThan(parseTable(generatedPart(before)), results);
console.log(`\n${text}\n\n${Math.round((performance.now() - begun) / 1000)} s`);
for (const { row, what, before: was, now } of worse) console.log(`WORSE ${row}: ${what}: ${was} -> ${now}`);
if (options.write && process.exitCode === undefined) await writeFile(page, withGenerated(before, text));
else if (options.write) console.error("The table is not written: a row failed.");
if (options.fail && worse.length > 0) process.exitCode = 1;

/** Machine, date and commit, in a sentence. */
function headOf(version: string | undefined): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const changed =
    git("status", "--porcelain", "--", "src", "scripts", "package-lock.json") === "" ? "" : " with changes";
  const commit = `${git("rev-parse", "--short", "HEAD")}${changed}`;
  const cores = cpus();
  const [load = 0] = loadavg();
  const busy = load < 0.5 ? "idle" : `not idle (load ${load.toFixed(1)}): times are longer than they need be`;
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} at commit ${commit}: ${cores.length} cores (${cores[0]?.model.trim()}),`,
    `Node.js ${process.versions.node}, ${version ?? "no Terraform"}. The machine was ${busy}.`,
  ].join("\n");
}

function terraformVersion(): string | undefined {
  const { status, stdout } = spawnSync("terraform", ["version"], { encoding: "utf8", env: cleanEnvironment() });
  return status === 0 ? stdout.split("\n")[0] : undefined;
}
