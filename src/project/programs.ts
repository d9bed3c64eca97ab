/** Runs the programs of a project in this process. */
import { spawn } from "node:child_process";
import { browse, captureCommand, ended, programPath } from "../core/files/secret-command.ts";
import { errnoOf } from "../core/model/index.ts";
import type { Host, ShellOptions } from "./source.ts";

export { browse, captureCommand, ended, programPath };

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 5_000;

/** Runs a shell command without a terminal. Implements `Host.shell`. */
export async function runShell(
  line: string,
  { cwd, env, signal, onOutput }: ShellOptions,
): Promise<string | undefined> {
  signal.throwIfAborted();
  // In a process group, the children of the shell end with the shell.
  const detached = process.platform !== "win32";
  const child = spawn(line, { shell: true, cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], detached });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", onOutput);
  const kill = (how: NodeJS.Signals) => {
    try {
      if (detached && child.pid !== undefined) process.kill(-child.pid, how);
      else child.kill(how);
    } catch {
      // The process has already ended.
    }
  };
  let grace: NodeJS.Timeout | undefined;
  const stop = () => {
    kill("SIGTERM");
    grace = setTimeout(() => kill("SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const code = await ended(child);
    signal.throwIfAborted();
    return code === 0 ? undefined : `ended with exit code ${code}`;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return `could not be started (${errnoOf(error)})`;
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(grace);
  }
}

/**
 * Returns the services of a process that uses the library.
 * @param signals Act like the first and the second Ctrl-C. A library never ends its process.
 */
export function hostOf(clock: Host["clock"], ...signals: readonly (AbortSignal | undefined)[]): Host {
  return {
    clock,
    capture: captureCommand,
    shell: runShell,
    onInterrupt(callback) {
      for (const signal of signals) signal?.addEventListener("abort", callback, { once: true });
      return () => {
        for (const signal of signals) signal?.removeEventListener("abort", callback);
      };
    },
    wasInterrupted: () => signals[0]?.aborted ?? false,
    exit() {},
  };
}
