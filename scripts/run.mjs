// Runs a script or tool of the project, installing what is missing first: on this Node where it is new enough, else on that of scripts/node.
// Plain JavaScript without dependencies: it must work on Node 20 in a checkout where nothing is installed yet.
//
//   node scripts/run.mjs scripts/demo.ts ARGS…             a file of the project
//   node scripts/run.mjs scripts/bindings/generate.ts      a file that also needs the packages of its folder
//   node scripts/run.mjs vitest run                        a tool from node_modules/.bin
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..");
const [what, ...rest] = process.argv.slice(2);
if (what !== undefined) install(root);
// Only `npm run generate` needs the generators, and only `npm run site` the builder of the site.
const own = /^scripts\/(?:bindings|site)(?=\/)/.exec(what ?? "");
if (own !== null) install(path.join(root, own[0]));

/** Installs the packages of a folder's lock file, unless they are there. */
function install(folder) {
  const modules = path.join(folder, "node_modules");
  const installed = path.join(modules, ".package-lock.json");
  // A linked node_modules belongs to another checkout, and npm would empty it.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  if (existsSync(installed) && statSync(path.join(folder, "package-lock.json")).mtimeMs <= statSync(installed).mtimeMs)
    return;
  process.stderr.write(`Installing ${folder === root ? "dependencies" : path.relative(root, folder)} (npm ci)…\n`);
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) {
    process.stderr.write("npm ci failed; see above.\n");
    process.exit(1);
  }
}

/** Returns Node from the registry, checked by its lock file. Ends the process on a machine without a package. */
function packagedNode() {
  const folder = path.join(root, "scripts/node");
  install(folder);
  const platform = process.platform === "win32" ? "win" : process.platform;
  const found = path.join(folder, "node_modules", `node-${platform}-${process.arch}`);
  const program = path.join(found, "bin", platform === "win" ? "node.exe" : "node");
  if (!existsSync(program)) {
    process.stderr.write(
      `This is Node.js ${process.versions.node}, and hostform's scripts need 22.20 or later: install it.\n`,
    );
    process.exit(1);
  }
  // Only compilers read these headers, a third of the package.
  rmSync(path.join(found, "include"), { recursive: true, force: true });
  return program;
}

const bin = path.join(root, "node_modules", ".bin");
const [major, minor] = process.versions.node.split(".").map(Number);
// 23 began to run TypeScript in its last months only.
const isNew = major >= 24 || (major === 22 && minor >= 20);
// HOSTFORM_NODE lets CI run the very same scripts on another Node (the floor, 22.20).
const runtime = process.env.HOSTFORM_NODE ?? (isNew ? process.execPath : packagedNode());
// `npm ci` runs this script without arguments, to fetch everything at once.
if (what === undefined) process.exit();
const isFile = /\.[mc]?[jt]s$/.test(what);
const command = isFile ? path.join(root, what) : path.join(bin, what);
const result = spawnSync(runtime, [command, ...rest], {
  cwd: process.env.INIT_CWD && what === "src/cli/main.ts" ? process.env.INIT_CWD : root,
  stdio: "inherit",
  env: {
    ...process.env,
    PATH: [path.dirname(runtime), bin, process.env.PATH].join(path.delimiter),
  },
});
process.exit(result.status ?? 1);
