/** Implements the process interface of a command: streams, signals and programs of this process. */
import path from "node:path";
import type { ReadStream } from "node:tty";
import { errnoOf, HostformError, systemClock, utf8 } from "../core/model/index.ts";
import { runnerReadsErrors } from "./guarded-io.ts";
import { problem, raise } from "./messages.ts";
import { guardMessages } from "./streams.ts";
import type { Io } from "./terminal.ts";

export function systemIo(): Io {
  const { stdout, stderr } = process;
  guardMessages();
  return {
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    out: (chunk) => void stdout.write(chunk),
    err: (chunk) => void stderr.write(chunk),
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    errIsRunner: runnerReadsErrors(process.env),
    columns: stdout.isTTY ? stdout.columns : stderr.isTTY ? stderr.columns : undefined,
    exit: (code) => process.exit(code),
    ask: async (question, signal) => {
      const stdin = standardInput();
      if (stdin.isTTY !== true) return undefined;
      const { createInterface } = await import("node:readline/promises");
      if (signal?.aborted) throw interruptedQuestion();
      const lines = createInterface({ input: stdin, output: stderr });
      const closed = new Promise<undefined>((resolve, reject) => {
        lines.once("SIGINT", () => reject(interruptedQuestion()));
        lines.once("close", () => resolve(undefined));
        signal?.addEventListener("abort", () => reject(interruptedQuestion()), { once: true });
      });
      try {
        return await Promise.race([lines.question(question), closed]);
      } finally {
        lines.close();
      }
    },
    readInput: async () => utf8(await (await import("node:stream/consumers")).buffer(standardInput())),
    readInputBytes: (limit) => firstBytes(standardInput(), limit),
    onInterrupt,
    onReload,
    run: runCommand,
    capture: async (...command) => (await programs()).captureCommand(...command),
    shell: async (...command) => (await programs()).runShell(...command),
    browse,
  };
}

let input: typeof process.stdin | undefined;

/** Opens standard input only if needed: it takes a tenth of Node's start time. */
function standardInput(): typeof process.stdin {
  if (input === undefined) {
    input = process.stdin;
    if (input.isTTY === true) forgiveClosing(input);
  }
  return input;
}

/** A path without a program. Starting it fails with the error of the operating system. */
const NOWHERE = path.resolve("/", "no-such-program");

const programs = () => import("../project/programs.ts");

/** Ignores the error of a closed terminal. Node resets a terminal after reading, and its error cannot be caught there. */
export function forgiveClosing(terminal: Pick<ReadStream, "setRawMode">): void {
  const set = terminal.setRawMode;
  terminal.setRawMode = function (this: ReadStream, mode) {
    try {
      return set.call(this, mode);
    } catch (error) {
      if (errnoOf(error) === "EIO") return this;
      throw error;
    }
  };
}

/** Listens to a signal of this process. @returns the function that stops listening. */
function listen(signal: NodeJS.Signals, callback: () => void): () => void {
  process.on(signal, callback);
  return () => void process.off(signal, callback);
}

const reloading = new Set<() => void>();

/** Returns true if SIGHUP means "reload". If a standard stream is a terminal, SIGHUP means that the terminal closed. */
function reloads(): boolean {
  const { stdin, stdout, stderr } = process;
  return reloading.size > 0 && ![stdin, stdout, stderr].some(({ isTTY }) => isTTY === true);
}

function onReload(callback: () => void): () => void {
  const hangUp = () => {
    if (reloads()) callback();
  };
  reloading.add(hangUp);
  const end = listen("SIGHUP", hangUp);
  return () => {
    reloading.delete(hangUp);
    end();
  };
}

function onInterrupt(callback: () => void): () => void {
  let called = false;
  const press = () => {
    called = true;
    callback();
  };
  // When a terminal closes, the system and the shell each send a signal. The second must not count as a second Ctrl-C.
  const hangUp = () => {
    if (!called && !reloads()) press();
  };
  const ends = [listen("SIGINT", press), listen("SIGTERM", press), listen("SIGHUP", hangUp)];
  return () => {
    for (const end of ends) end();
  };
}

async function firstBytes(stream: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

/** While a question reads the terminal, Ctrl-C is an input character, not a signal. */
const interruptedQuestion = () => new HostformError([problem("interrupted", {})]);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a command with the streams of this process, and waits for its end. Forwards signals; a terminal sends Ctrl-C to the
 * child itself.
 * @returns the exit code, or 128+n if signal n ended the command.
 * @throws HostformError `usage` if the command cannot start.
 */
async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [{ spawn }, { ended, programPath }] = await Promise.all([import("node:child_process"), programs()]);
  const child = spawn(programPath(command, env) ?? NOWHERE, [...args], {
    stdio: "inherit",
    env: { ...env },
    argv0: command,
  });
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const handlers = SIGNALS.map((signal) => {
    const handler = () => {
      if (signal !== "SIGINT" || !terminal) child.kill(signal);
    };
    return listen(signal, handler);
  });
  try {
    return await ended(child);
  } catch (error) {
    const reason = errnoOf(error) === "ENOENT" ? "there is no such command" : (errnoOf(error) ?? String(error));
    return raise("usage/program", { command, reason });
  } finally {
    for (const off of handlers) off();
  }
}

async function browse(url: string): Promise<void> {
  const failure = await (await programs()).browse(url, process.env);
  if (failure !== undefined) raise("usage/browser", { failure });
}
