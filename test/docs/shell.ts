import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { builtPackage } from "../support/built-package.ts";
import { installConstructs } from "../support/constructs.ts";
import { startSandbox } from "../support/sandbox.ts";
import { type Block, type Page, root } from "./markdown.ts";
import { residentProgram } from "./resident.ts";

/** Time limit for the blocks of one page, in milliseconds. */
const PAGE_MS = 150_000;
/** Folder that pages show in place of the temporary folder. */
const SHOWN_FOLDER = "/home/nino/acme";

/** Result of a `sh` block. */
export interface Run {
  /** Exit code. Undefined if this block or an earlier block failed. */
  readonly code: number | undefined;
  /** Standard output and standard error in one text, as a terminal shows them. */
  readonly output: string;
}

/** Returns true for an executed block. */
export const isRun = ({ lang, directives }: Block) => lang === "sh" && !directives.has("not run");

/** Returns true for a page that runs Terraform. */
export const usesTerraform = ({ blocks }: Page) =>
  blocks.some((block) => isRun(block) && /^(?:hostform )?terraform /m.test(block.text));

/** Returns true for a page with programs for cdktf or cdktn. */
const usesConstructs = ({ blocks }: Page) => blocks.some(({ text }) => /["']hostform\/cdkt[fn]\b/.test(text));

/**
 * Runs a page like a reader who types each block in order, in one shell and an empty folder. Executes `sh` blocks, and
 * writes blocks with `<!-- file: NAME -->` to that file. HOSTING_BASE_URL, HOSTING_TOKEN (the agency's),
 * OWN_HOSTING_TOKEN (the customer's) and HOSTING_SANDBOX_CONTROL_URL refer to a new sandbox without a rate limit.
 * @returns Results of the executed blocks, in their order.
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
  const program = await residentProgram();
  try {
    for (const folder of [bin, out, project]) await mkdir(folder, { recursive: true });
    await writeFile(path.join(bin, "hostform"), program.script, { mode: 0o755 });
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
      // Node 22 warns that TypeScript is experimental.
      NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
      // A cache of compiled code halves the start time.
      NODE_COMPILE_CACHE: path.join(root, "node_modules/.cache/hostform-docs"),
      ...QUICK_GO,
      NO_COLOR: "1",
      // Terraform ignores NO_COLOR, and checks for new versions.
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
    program.close();
    await sandbox.close();
    await rm(base, { recursive: true, force: true });
  }
}

/** Settings of Go's garbage collector and threads for Terraform, equal in all tests. */
const { GOGC = "", GOMAXPROCS = "" } = process.env;
const QUICK_GO = { GOGC, GOMAXPROCS };

const COLOURED = ["init", "plan", "apply", "destroy", "import", "show", "validate", "test"];

/**
 * Links the built files so that `import … from "hostform/client"` works in the folder. Omits the schemas, because
 * readers install hostform globally.
 */
export async function linkPackage(project: string): Promise<void> {
  const folder = path.join(project, "node_modules/hostform");
  await mkdir(folder, { recursive: true });
  for (const name of ["package.json", "dist"])
    await symlink(path.join(await builtPackage(), name), path.join(folder, name));
}

/**
 * Writes one script for all blocks of the page, so that `cd`, `export` and background processes affect later blocks.
 * The script stops at the first failure.
 */
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

/** Runs a script in its own process group, and ends the processes that remain after it. */
function runScript(file: string, cwd: string, env: Record<string, string>): Promise<void> {
  const child = spawn("bash", [file], { cwd, env, detached: true, stdio: "ignore" });
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    } catch {
      // No process remained.
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
