/**
 * `npm run functions`: the functions that one `apply` runs, and the frames between a change and its POST.
 *
 * 1. Builds `dist` and starts the sandbox.
 * 2. Applies one service and one grant with the built command line, in an empty folder, with V8's coverage.
 * 3. Counts the named functions of `src` that ran, by room; `-- --list` names them.
 * 4. Lists the frames of `src` from the change of the service to its POST.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startSandbox } from "../src/sandbox/index.ts";
import { buildProgram } from "./build/dist.ts";
import { roomOf, textOf } from "./house/sources.ts";

const DECLARATION = `project: figures
services:
  site: { plan_id: 11, currency: USD, domain: www.acme.example, grants: { dev@acme.example: manage } }
`;

/** Records the stack of each POST as undici creates the request. */
const RECORDER = `import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
Error.stackTraceLimit = Infinity;
subscribe("undici:request:create", ({ request }) => {
  if (request.method !== "POST") return;
  appendFileSync(process.env.POSTS, JSON.stringify({ path: request.path, stack: new Error().stack }) + "\\n");
});`;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

interface Ran {
  /** Path below `src`. */
  readonly file: string;
  readonly name: string;
}

const folder = await mkdtemp(path.join(tmpdir(), "hostform-functions-"));
const dist = path.join(folder, "dist");
const sandbox = await startSandbox();
try {
  await buildProgram(dist);
  await runApply();
  printFunctions(await functionsRun());
  printFrames(await framesOfOrder());
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}

/** Applies the declaration. @throws Error with the output when the command fails. */
async function runApply(): Promise<void> {
  const project = await mkdtemp(path.join(folder, "project-"));
  await writeFile(path.join(project, "hosting.yaml"), DECLARATION);
  await writeFile(path.join(folder, "recorder.mjs"), RECORDER);
  const program = ["--import", path.join(folder, "recorder.mjs"), path.join(dist, "hostform.js")];
  await promisify(execFile)(process.execPath, [...program, "apply", "--auto-approve"], {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      HOME: project,
      HOSTING_BASE_URL: sandbox.url,
      HOSTING_TOKEN: sandbox.tokens.agency,
      HOSTING_MONEY_SCALE: "2",
      NODE_V8_COVERAGE: path.join(folder, "coverage"),
      POSTS: path.join(folder, "posts"),
    },
  });
}

/** The source of each position in a file of `dist`: the bundler writes `// src/FILE` above the code of each file. */
async function sourcesOf(bundle: string): Promise<(offset: number) => string | undefined> {
  const marks = [...(await readFile(bundle, "utf8")).matchAll(/^\/\/ (\S+)$/gm)];
  return (offset) => {
    const file = marks.findLast(({ index }) => index <= offset)?.[1] ?? "";
    return file.startsWith("src/") ? file.slice("src/".length) : undefined;
  };
}

/** The name in the source: the bundler adds a number where two files have one name. */
function nameIn(file: string, name: string): string {
  const last = name.split(".").at(-1) ?? "";
  return textOf(file).includes(last) ? last : last.replace(/\d+$/, "");
}

/** Functions that have a name and ran at least once. Functions of packages do not count. */
async function functionsRun(): Promise<Ran[]> {
  const [report = ""] = await readdir(path.join(folder, "coverage"));
  const { result }: Coverage = JSON.parse(await readFile(path.join(folder, "coverage", report), "utf8"));
  const found = result
    .filter(({ url }) => url.includes("/dist/"))
    .map(async ({ url, functions }) => {
      const sourceAt = await sourcesOf(fileURLToPath(url));
      return functions.flatMap(({ functionName, ranges: [range] }): Ran[] => {
        const file = sourceAt(range?.startOffset ?? 0);
        // V8 names initializers of classes `<…>`.
        if (!/^[^<]/.test(functionName) || !range?.count || file === undefined) return [];
        return [{ file, name: nameIn(file, functionName) }];
      });
    });
  return (await Promise.all(found)).flat();
}

function printFunctions(ran: readonly Ran[]): void {
  const files = Map.groupBy(ran, ({ file }) => file);
  console.log(`Named functions that an apply of one service and one grant runs: ${ran.length} in ${files.size} files`);
  const rooms = [...Map.groupBy(ran, ({ file }) => roomOf(file))].sort(([, a], [, b]) => b.length - a.length);
  for (const [room, of] of rooms) console.log(`${String(of.length).padStart(6)}  ${room}`);
  if (process.argv.includes("--list"))
    for (const [file, of] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${file} (${of.length}): ${of.map(({ name }) => name).join(", ")}`);
}

/** Frames of `src`, from the outermost one of `core/lifecycle` to the one that gives undici the request. */
async function framesOfOrder(): Promise<Ran[]> {
  const posts = (await readFile(path.join(folder, "posts"), "utf8")).trim().split("\n");
  const order = posts.map((line) => JSON.parse(line)).find((post) => post.path.endsWith("/services"));
  const frames: Ran[] = [];
  for (const line of order.stack.split("\n")) {
    const [, name = "", url = "", row = "0"] = /at (?:async )?(?:(.*) \()?(file:.*?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (!url.includes("/dist/")) continue;
    const bundle = fileURLToPath(url);
    const offset = (await readFile(bundle, "utf8")).split("\n").slice(0, Number(row)).join("\n").length;
    const file = (await sourcesOf(bundle))(offset);
    if (file !== undefined)
      frames.push({ file, name: nameIn(file, name.replace(/ \[as .*|<anonymous>$/, "")) || "(anonymous)" });
  }
  const change = frames.findLastIndex(({ file }) => roomOf(file) === "core/lifecycle");
  return frames.slice(0, change + 1).reverse();
}

function printFrames(frames: readonly Ran[]): void {
  const names = Map.groupBy(frames, ({ name }) => name.replace("#", ""));
  const shared = [...names].filter(([, of]) => of.length > 1).map(([name, of]) => `${name} ${of.length}×`);
  console.log(`Frames from the change to the POST: ${frames.length}; names of several: ${shared.join(", ") || "none"}`);
  for (const { file, name } of frames) console.log(`        ${name}  ${file}`);
}
