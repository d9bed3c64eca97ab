// `npm run functions`: applies one service and one grant with the built command line under V8's coverage, and counts the named functions of
// `src` that ran, by room; `-- --list` names them.
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

/** Returns the named functions in a file of `dist` that ran. The bundler writes `// src/FILE` above the code of each file. */
async function ranIn({ url, functions }: Coverage["result"][number]): Promise<Ran[]> {
  const marks = [...(await readFile(fileURLToPath(url), "utf8")).matchAll(/^\/\/ (\S+)$/gm)];
  return functions.flatMap(({ functionName, ranges: [range] }) => {
    const offset = range?.startOffset ?? 0;
    const [, file] = /^src\/(.*)/.exec(marks.findLast(({ index }) => index <= offset)?.[1] ?? "") ?? [];
    // V8 names initializers of classes `<…>`.
    if (!/^[^<]/.test(functionName) || !range?.count || file === undefined) return [];
    const last = functionName.split(".").at(-1) ?? "";
    // The bundler adds a number to the second of one name.
    return [{ file, name: textOf(file).includes(last) ? last : last.replace(/\d+$/, "") }];
  });
}

const folder = await mkdtemp(path.join(tmpdir(), "hostform-functions-"));
const sandbox = await startSandbox();
try {
  const dist = path.join(folder, "dist");
  await buildProgram(dist);
  const project = await mkdtemp(path.join(folder, "project-"));
  await writeFile(path.join(project, "hosting.yaml"), DECLARATION);
  const coverage = path.join(folder, "coverage");
  const account = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency, HOSTING_MONEY_SCALE: "2" };
  await promisify(execFile)(process.execPath, [path.join(dist, "hostform.js"), "apply", "--auto-approve"], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project, NODE_V8_COVERAGE: coverage, ...account },
  });
  const [report = ""] = await readdir(coverage);
  const { result }: Coverage = JSON.parse(await readFile(path.join(coverage, report), "utf8"));
  const ran = (await Promise.all(result.filter(({ url }) => url.includes("/dist/")).map(ranIn))).flat();
  const files = Map.groupBy(ran, ({ file }) => file);
  console.log(`Named functions that an apply of one service and one grant runs: ${ran.length} in ${files.size} files`);
  const rooms = [...Map.groupBy(ran, ({ file }) => roomOf(file))].sort(([, a], [, b]) => b.length - a.length);
  for (const [room, of] of rooms) console.log(`${String(of.length).padStart(6)}  ${room}`);
  if (process.argv.includes("--list"))
    for (const [file, of] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${file} (${of.length}): ${of.map(({ name }) => name).join(", ")}`);
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
