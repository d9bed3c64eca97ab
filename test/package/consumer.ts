/** The published package in projects of others: packed once, installed beside what a project has of its own. */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { pack } from "../../scripts/release/pack.ts";
import { builtOnce, ROOT as root } from "../support/built-once.ts";

export { root };

/** Everything that the package is made of: with any other byte it is built and packed again. */
const SOURCES = [
  "{src,bindings}/**/*.*",
  "scripts/{*.*,bindings/*.*,{build,release}/**/*.*}",
  "{schemas,docs}/**/*.{json,md,proto,svg,webp,yaml}",
  "*.{json,md}",
  "LICENSE",
];

/** The tarball of the package made from the sources as they are. */
export async function packed(): Promise<string> {
  const folder = await builtOnce(path.join(root, "node_modules/.cache/hostform-package"), SOURCES, async (draft) => {
    pack(draft);
  });
  const [tarball = ""] = globSync("*.tgz", { cwd: folder });
  return path.join(folder, tarball);
}

/** Runs a program to its end and gives what it prints; throws with all of it when it fails. */
export function run(command: string, args: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): string {
  try {
    return execFileSync(command, args, {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: env ?? process.env,
    });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${path.basename(command)} ${args.join(" ")} failed:\n${stdout ?? ""}${stderr ?? ""}`);
  }
}

/**
 * Makes a project of ES modules in `folder` that has the package from the tarball, which needs no other, and of the optional
 * peers those that are named. Where what is installed comes from is the checkout's `node_modules`, and nothing else of it.
 */
export function project(folder: string, tarball: string, peers: readonly string[]): string {
  const installed = path.join(folder, "node_modules/hostform");
  mkdirSync(installed, { recursive: true });
  run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed], folder);
  for (const name of ["@types/node", "undici-types", ...peers]) {
    const target = path.join(folder, "node_modules", name);
    mkdirSync(path.dirname(target), { recursive: true });
    symlinkSync(path.join(root, "node_modules", name), target);
  }
  writeFileSync(path.join(folder, "package.json"), '{"type": "module"}');
  return folder;
}

/** How a project's compiler finds modules, and with which options it takes our declarations. */
export const RESOLUTIONS = {
  node10: ["--module", "commonjs", "--moduleResolution", "node10"],
  node16: ["--module", "node16", "--moduleResolution", "node16"],
  nodenext: ["--module", "nodenext", "--moduleResolution", "nodenext"],
  bundler: ["--module", "esnext", "--moduleResolution", "bundler"],
} as const;
export type Resolution = keyof typeof RESOLUTIONS;

const OWN_COMPILER = path.join(root, "node_modules/typescript");

/** Compiles one file of a project strictly, and the declarations of the packages as well; what the compiler says, "" when content. */
export function compile(
  folder: string,
  file: string,
  resolution: Resolution,
  { compiler = OWN_COMPILER, options = [] as readonly string[] } = {},
): string {
  const args = ["--noEmit", "--strict", "--skipLibCheck", "false", "--types", "node", "--target", "es2022"];
  // On its threads, which older ones do not have, it spends a third more.
  const quick = compiler === OWN_COMPILER ? ["--singleThreaded"] : [];
  return run(
    process.execPath,
    [path.join(compiler, "bin/tsc"), ...args, ...quick, ...RESOLUTIONS[resolution], ...options, file],
    folder,
  );
}

/** Starts `examples/plan-on-push` on the folder `pushed`, and sends it a push that is signed and one that is not. An ES module. */
export const PUSHES = `
  import { createHmac } from "node:crypto";
  import { spawn } from "node:child_process";
  import { createInterface } from "node:readline";
  const server = spawn(process.execPath, ["server.mjs", "pushed", "."], {
    env: { ...process.env, PORT: "0", PUSH_SECRET: "s3cret" }, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /Listening on (.*)/.exec(line)?.[1];
    if (url === undefined) continue;
    const push = async (secret) => {
      const body = '{"ref": "refs/heads/main"}';
      const signature = "sha256=" + createHmac("sha256", secret).update(body).digest("hex");
      const answer = await fetch("http://" + url, { method: "POST", body, headers: { "x-hub-signature-256": signature } });
      console.log(answer.status, (await answer.text()).trim());
    };
    await push("s3cret");
    await push("guessed");
    server.kill();
  }`;

/** What {@link PUSHES} prints of the first. */
export const SIGNED_PUSH = "200 The account differs: see plan.html.";
