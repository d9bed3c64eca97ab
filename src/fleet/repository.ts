// Checkouts of repositories: one folder for each URL and branch. A new checkout keeps files that git does not track, such as a state.
import { createHash } from "node:crypto";
import path from "node:path";
import { captureCommand, exists, privateFolder } from "../core/files/index.ts";
import { stateFolder } from "../core/local/index.ts";
import { type EnvVars, HostformError } from "../core/model/index.ts";
import { problem, raise } from "./messages.ts";

export interface Repository {
  readonly url: string;
  /** A branch, or a commit id. */
  readonly ref: string;
  /** Absolute path of the file of allowed signers. Undefined: every commit is accepted. */
  readonly signers?: string | undefined;
}

export interface Checkout {
  /** Absolute path of the folder. */
  readonly dir: string;
  readonly commit: string;
}

/** Ref of the last accepted commit. */
const ACCEPTED = "refs/hostform/accepted";
const GIT_MS = 300_000;
const MOST_OUTPUT = 1024 * 1024;

/** Options of every git command: no program of the repository runs, and no submodule is fetched. */
const SAFE = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"];

/** Runs git in a folder. @returns its output. @throws Error with git's words. */
async function git(cwd: string, env: EnvVars, ...args: readonly string[]): Promise<string> {
  const { failure, stdout, stderr } = await captureCommand(["git", "--no-pager", ...SAFE, ...args], {
    cwd,
    env: { ...env, GIT_ALLOW_PROTOCOL: "https:ssh:file", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
    input: "",
    timeoutMs: GIT_MS,
    mostBytes: MOST_OUTPUT,
  });
  if (failure !== undefined) throw new Error(`git ${args[0]} ${failure}. ${stderr.toString().trim()}`.trim());
  return stdout.trim();
}

/**
 * Fetches the newest commit of a branch, or one commit, without history, and checks it out.
 * @param accept checks the files of a new commit. If it throws, the folder has the files of the last accepted commit again.
 * @throws HostformError `fleet.project`; errors of `accept`.
 */
export async function checkedOut(
  { url, ref, signers }: Repository,
  env: EnvVars,
  accept: (dir: string) => Promise<void>,
): Promise<Checkout> {
  const home = stateFolder(env) ?? raise("fleet.project/git", { url, why: "No home folder is known." });
  const name = createHash("sha256")
    .update(JSON.stringify([url, ref]))
    .digest("hex")
    .slice(0, 24);
  const dir = path.join(home, "fleet", name);
  const run = (...args: readonly string[]) =>
    git(dir, env, ...args).catch((error: Error) => raise("fleet.project/git", { url, why: error.message }));
  privateFolder(dir);
  if (!exists(path.join(dir, ".git"))) await run("init", "--quiet");
  await run("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", url, ref);
  const commit = await run("rev-parse", "--verify", "FETCH_HEAD^{commit}");
  const accepted = await git(dir, env, "rev-parse", "--verify", "--quiet", ACCEPTED).catch(() => undefined);
  if (commit !== accepted) {
    try {
      if (signers !== undefined)
        await git(dir, env, "-c", `gpg.ssh.allowedSignersFile=${signers}`, "verify-commit", commit).catch(
          (error: Error) => raise("fleet.project/signature", { url, commit, why: error.message }),
        );
      await run("checkout", "--quiet", "--force", "--detach", commit);
      await accept(dir);
    } catch (error) {
      if (!accepted) throw error;
      await run("checkout", "--quiet", "--force", "--detach", accepted);
      if (!(error instanceof HostformError)) throw error;
      throw new HostformError([...error.diagnostics, problem("fleet.project/commit", { url, commit, accepted })]);
    }
    await run("update-ref", ACCEPTED, commit);
  }
  return { dir, commit };
}
