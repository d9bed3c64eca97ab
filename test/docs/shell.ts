import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { builtPackage } from "../support/built-package.ts";
import { installConstructs } from "../support/constructs.ts";
import { builtProgram } from "../support/program.ts";
import { startSandbox } from "../support/sandbox.ts";
import { canServeCommands, serveCommands } from "./command-server.ts";
import { type Block, type Page, root } from "./markdown.ts";

/** How long the blocks of one page may take. */
const PAGE_MS = 150_000;
/** The folder that pages show in place of the temporary one. */
const SHOWN_FOLDER = "/home/nino/acme";

/** What came of a `sh` block. */
export interface Run {
  /** Undefined: it was not reached, because an earlier one (or itself) failed. */
  readonly code: number | undefined;
  /** Both streams, as the terminal would show them. */
  readonly output: string;
}

/** True for a block that is executed. */
export const isRun = ({ lang, directives }: Block) => lang === "sh" && !directives.has("not run");

/** Whether a page runs Terraform, which not every machine has. */
export const usesTerraform = ({ blocks }: Page) =>
  blocks.some((block) => isRun(block) && /^(?:hostform )?terraform /m.test(block.text));

/** Whether a page has programs with the constructs for cdktf or cdktn. */
const usesConstructs = ({ blocks }: Page) => blocks.some(({ text }) => /["']hostform\/cdkt[fn]\b/.test(text));

/**
 * Runs a page as a reader would who types everything in order, in one shell and an empty folder: `sh` blocks are
 * executed, blocks with `<!-- file: NAME -->` are written to that file. HOSTING_BASE_URL, HOSTING_TOKEN (the agency's),
 * OWN_HOSTING_TOKEN (the customer's) and HOSTING_SANDBOX_CONTROL_URL lead to a sandbox of the page's own, without rate limit.
 * @returns what came of the blocks that are run, in their order.
 */
export async function runPage(page: Page): Promise<Run[]> {
  const { blocks } = page;
  const base = await realpath(await mkdtemp(path.join(tmpdir(), "hostform-docs-")));
  const [bin, out, project] = ["bin", "out", "home/acme"].map((name) => path.join(base, name)) as [
    string,
    string,
    string,
  ];
  const sandbox = await startSandbox({ rateLimit: 0, jobSeconds: 0, provisioningSeconds: 0 });
  const commands = page.file !== STARTED && canServeCommands ? await serveCommands() : undefined;
  try {
    for (const folder of [bin, out, project]) await mkdir(folder, { recursive: true });
    await writeWrapper(bin, commands?.line);
    if (usesConstructs(page)) await installConstructs(project);
    else await linkPackage(project);
    await writeFile(path.join(base, "page.sh"), await script(blocks, out));
    await runScript(path.join(base, "page.sh"), project, {
      PATH: [bin, path.dirname(process.execPath), process.env.PATH].join(path.delimiter),
      HOME: path.join(base, "home"),
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
      HOSTING_MONEY_SCALE: "2",
      OWN_HOSTING_TOKEN: sandbox.tokens.customer,
      HOSTING_SANDBOX_CONTROL_URL: sandbox.controlUrl,
      // Node 22 says that running TypeScript is experimental.
      NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
      // Half of the time of a hundred starts is the compiler's.
      NODE_COMPILE_CACHE: path.join(root, "node_modules/.cache/hostform-docs"),
      ...QUICK_GO,
      NO_COLOR: "1",
      // Terraform does not know that one, and would ask its makers for a newer version.
      ...Object.fromEntries(COLOURED.map((command) => [`TF_CLI_ARGS_${command}`, "-no-color"])),
      CHECKPOINT_DISABLE: "1",
      TZ: "UTC",
      LC_ALL: "C.UTF-8",
    });
    const runs: Run[] = [];
    for (const [index, block] of blocks.entries()) {
      if (!isRun(block)) continue;
      const code = await readFile(path.join(out, `${index}.code`), "utf8").catch(() => undefined);
      const output = await readFile(path.join(out, `${index}.out`), "utf8").catch(() => "");
      const shown = output.replaceAll(project, SHOWN_FOLDER).replaceAll(sandbox.controlUrl, "http://127.0.0.1:8081");
      const settled = shown.replaceAll(sandbox.url, "http://127.0.0.1:8080");
      runs.push({ code: code === undefined ? undefined : Number(code), output: settled });
    }
    return runs;
  } finally {
    commands?.close();
    await sandbox.close();
    await rm(base, { recursive: true, force: true });
  }
}

/** Terraform's garbage collector and threads, as in all tests. */
const { GOGC = "", GOMAXPROCS = "" } = process.env;
const QUICK_GO = { GOGC, GOMAXPROCS };

const COLOURED = ["init", "plan", "apply", "destroy", "import", "show", "validate", "test"];

/** What a reader tries first runs as a process throughout, whatever it says. */
const STARTED = "README.md";

/**
 * Commands that a process of their own runs, as patterns of the shell, the first that fits: they run until something ends them, or
 * start what belongs to the installed package.
 */
const STAYING = ["sandbox *", "terraform *", "watch *", "webhooks listen *"];
/** Of those the ones that the test's process runs after all. */
const ENDING = ["sandbox *-- *", "watch *--max-runs *"];

/** @param served how the other commands are handed over to this process, if they are: a start is most of what a command costs. */
async function writeWrapper(bin: string, served: string | undefined): Promise<void> {
  const file = path.join(bin, "hostform");
  const start = `exec "${process.execPath}" "${await builtProgram()}" "$@"`;
  const pattern = (one: string) => one.replace(/[^*]+/g, (words) => `"${words}"`);
  const choice = `case "$* " in ${ENDING.map(pattern).join("|")}) ;; ${STAYING.map(pattern).join("|")}) ${start} ;; esac`;
  const lines = served === undefined ? [start] : [choice, served];
  await writeFile(file, `#!/bin/bash\n${lines.join("\n")}\n`);
  await chmod(file, 0o755);
}

/** Makes `import … from "hostform/client"` work in the folder, on the built files. The schemas are left out: readers install hostform globally. */
async function linkPackage(project: string): Promise<void> {
  const folder = path.join(project, "node_modules/hostform");
  await mkdir(folder, { recursive: true });
  for (const name of ["package.json", "dist"])
    await symlink(path.join(await builtPackage(), name), path.join(folder, name));
}

/** One shell for the whole page, so that `cd`, `export` and background processes last. Stops at the first failure. */
async function script(blocks: readonly Block[], out: string): Promise<string> {
  const parts = ["exec </dev/null"];
  for (const [index, block] of blocks.entries()) {
    const file = block.directives.get("file");
    if (file !== undefined) {
      await writeFile(path.join(out, `${index}.file`), block.text);
      parts.push(`mkdir -p "${path.posix.dirname(file)}"; cp "${out}/${index}.file" "${file}"`);
    } else if (isRun(block)) {
      const strict = block.directives.has("exit") ? "set +e" : "set -e";
      parts.push(strict, `{\n${block.text}} >>"${out}/${index}.out" 2>&1`, `echo $? >"${out}/${index}.code"`);
    }
  }
  return `${parts.join("\n")}\n`;
}

/** Runs a script in its own process group, and ends what it left running. */
function runScript(file: string, cwd: string, env: Record<string, string>): Promise<void> {
  const child = spawn("bash", [file], { cwd, env, detached: true, stdio: "ignore" });
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    } catch {
      // Nothing was left running.
    }
  };
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, PAGE_MS);
    child.once("error", reject);
    child.once("exit", () => {
      clearTimeout(timer);
      end();
      resolve();
    });
  });
}
