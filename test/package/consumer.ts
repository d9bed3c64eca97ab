/** Packs the package once and installs it into projects that have their own dependencies. */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { pack } from "../../scripts/release/pack.ts";
import { builtOnce, ROOT as root } from "../support/built-once.ts";

export { root };

/** Sources of the package. A change of any byte builds and packs the package again. */
const SOURCES = [
  "{src,bindings}/**/*.*",
  "scripts/{*.*,bindings/*.*,{build,release}/**/*.*}",
  "{schemas,docs,examples}/**/*.{json,md,mjs,proto,svg,tf,ts,webp,yaml}",
  "*.{json,md}",
  "{LICENSE,.gitignore,llms.txt,integrations/agent/*}",
];

/** Returns the tarball of the package, built from the current sources. */
export async function packed(): Promise<string> {
  const folder = await builtOnce(path.join(root, "node_modules/.cache/hostform-package"), SOURCES, async (draft) => {
    pack(draft);
  });
  const [tarball = ""] = globSync("*.tgz", { cwd: folder });
  return path.join(folder, tarball);
}

/**
 * Runs a program and returns its output.
 * @throws Error with the whole output if the program fails.
 */
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
 * Creates a project of ES modules in `folder` with the package from the tarball and the named optional peers. The
 * project links the peers from the checkout's `node_modules`, and uses nothing else of the checkout.
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

/** Options of the compiler for each module resolution that accepts the type declarations of hostform. */
export const RESOLUTIONS = {
  node10: ["--module", "commonjs", "--moduleResolution", "node10"],
  node16: ["--module", "node16", "--moduleResolution", "node16"],
  nodenext: ["--module", "nodenext", "--moduleResolution", "nodenext"],
  bundler: ["--module", "esnext", "--moduleResolution", "bundler"],
} as const;
export type Resolution = keyof typeof RESOLUTIONS;

/** Flags beyond `--strict` that a project of a user may set. */
export const STRICTER: readonly string[] = [
  "exactOptionalPropertyTypes",
  "noUncheckedIndexedAccess",
  "noPropertyAccessFromIndexSignature",
  "noImplicitOverride",
  "noUncheckedSideEffectImports",
  "verbatimModuleSyntax",
  "isolatedModules",
  "declaration",
  "isolatedDeclarations",
  "erasableSyntaxOnly",
].map((flag) => `--${flag}`);

const OWN_COMPILER = path.join(root, "node_modules/typescript");

/**
 * Compiles one file of a project strictly, with the declarations of the packages.
 * @returns The compiler's output; "" without errors.
 */
export function compile(
  folder: string,
  file: string,
  resolution: Resolution,
  { compiler = OWN_COMPILER, options = [] as readonly string[] } = {},
): string {
  const args = ["--noEmit", "--strict", "--skipLibCheck", "false", "--types", "node", "--target", "es2022"];
  // The current compiler needs a third more CPU time with several threads. Older compilers do not know the option.
  const quick = compiler === OWN_COMPILER ? ["--singleThreaded"] : [];
  return run(
    process.execPath,
    [path.join(compiler, "bin/tsc"), ...args, ...quick, ...RESOLUTIONS[resolution], ...options, file],
    folder,
  );
}

/**
 * ES module that starts `examples/plan-on-push` with the folder `pushed`, and sends one signed and one unsigned push.
 */
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

/** Output of {@link PUSHES} for the signed push. */
export const SIGNED_PUSH = "200 The account differs: see plan.html.";
