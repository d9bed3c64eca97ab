import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { childEnvironment, errnoOf, fail } from "../core/model/index.ts";
import type { ShellOptions } from "./io.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a command with this process's streams and waits for its end. A terminal sends Ctrl-C to both of us, so it is
 * handed on only where there is no terminal; SIGTERM and SIGHUP always are.
 * @returns its exit code; 128+n when signal n ended it. @throws HostformError `usage` when it cannot be started.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const child = spawn(command, [...args], { stdio: "inherit", env: { ...env } });
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const handlers = SIGNALS.map((signal) => {
    const handler = () => {
      if (signal !== "SIGINT" || !terminal) child.kill(signal);
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  try {
    return await ended(child);
  } catch (error) {
    const reason = errnoOf(error) === "ENOENT" ? "there is no such command" : (errnoOf(error) ?? String(error));
    return fail("usage", `${JSON.stringify(command)} cannot be run: ${reason}`, {
      fix: "Give a command that is on the PATH, after `--`.",
    });
  } finally {
    for (const off of handlers) off();
  }
}

/** How long what was told to end may take before it is made to (milliseconds). */
const GRACE_MS = 5_000;

/** Runs a line of the shell without a terminal; see `Io.shell`. */
export async function runShell(
  line: string,
  { cwd, env, signal, onOutput }: ShellOptions,
): Promise<string | undefined> {
  signal.throwIfAborted();
  // A group of its own: what the shell has started ends with it.
  const detached = process.platform !== "win32";
  const child = spawn(line, { shell: true, cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], detached });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", onOutput);
  const kill = (how: NodeJS.Signals) => {
    try {
      if (detached && child.pid !== undefined) process.kill(-child.pid, how);
      else child.kill(how);
    } catch {
      // It has ended by itself.
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

/** Opens an address in the user's browser. The address is one argument of a program, never part of a shell's line. */
export async function browse(url: string): Promise<void> {
  const [command, ...args] =
    process.platform === "darwin"
      ? (["open"] as const)
      : process.platform === "win32"
        ? (["rundll32", "url.dll,FileProtocolHandler"] as const)
        : (["xdg-open"] as const);
  const fix = "Leave `--open` out to have the URL printed.";
  try {
    const code = await ended(spawn(command, [...args, url], { stdio: "ignore", env: childEnvironment(process.env) }));
    if (code !== 0) fail("usage", `The browser could not be opened: ${command} ended with ${code}`, { fix });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    fail("usage", `The browser could not be opened: ${command}: ${errnoOf(error)}`, { fix });
  }
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
