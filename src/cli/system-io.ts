/** The real outside of a command: streams, signals and programs of this process. */
import path from "node:path";
import type { ReadStream } from "node:tty";
import { look } from "../core/files/file-system.ts";
import { attempt, childEnvironment, errnoOf, fail, HostformError, systemClock, utf8 } from "../core/model/index.ts";
import { runnerReadsErrors } from "./guarded-io.ts";
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
    startWork: (state) => suitEngine(sizeOf(state)),
    run: runCommand,
    capture: async (...command) => (await programs()).captureCommand(...command),
    shell: async (...command) => (await programs()).runShell(...command),
    browse,
  };
}

let input: typeof process.stdin | undefined;

/** Opened by what reads it: that takes Node a tenth of a start. */
function standardInput(): typeof process.stdin {
  if (input === undefined) {
    input = process.stdin;
    if (input.isTTY === true) forgiveClosing(input);
  }
  return input;
}

/** The size of a state from which it is worth it, and from which much room for new objects is: 600 and 60,000 resources. */
const [SIZEABLE, LARGE] = [512 * 1024, 48 * 1024 * 1024];

/**
 * Suits V8 to a plan of many resources, which takes seconds and no minutes: decision 44. It does without the last of its
 * compilers, and its room for new objects stays at 1 MB, unless the state is large.
 * @param stateBytes the size of the state file.
 */
export function suitEngine(
  stateBytes = 0,
  { versions, arch }: Pick<NodeJS.Process, "versions" | "arch"> = process,
): void {
  // Others have no compiler between the first and the last.
  if (Number.parseInt(versions.node, 10) < 24 || !["x64", "arm64"].includes(arch)) return;
  // Node has compiled its own modules for other flags: those that come now are compiled again.
  if (stateBytes < SIZEABLE) return;
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--no-opt");
  if (stateBytes <= LARGE) setFlagsFromString("--semi-space-growth-factor=1");
}

const sizeOf = (file: string) =>
  attempt(
    () => look(file)?.size ?? 0,
    () => 0,
  );

/** No program is there: the system says so. */
const NOWHERE = path.resolve("/", "no-such-program");

/** Loaded by the first command that runs one. */
const programs = () => import("../project/programs.ts");

/** Node sets a terminal back when it was read from, and throws where there is none any more: nobody could catch it. */
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

const reloading = new Set<() => void>();

/** Returns true if SIGHUP means to reload, as for any service. With a terminal it means that the terminal was closed. */
function reloads(): boolean {
  const { stdin, stdout, stderr } = process;
  return reloading.size > 0 && ![stdin, stdout, stderr].some(({ isTTY }) => isTTY === true);
}

function onReload(callback: () => void): () => void {
  const hangUp = () => {
    if (reloads()) callback();
  };
  reloading.add(hangUp);
  process.on("SIGHUP", hangUp);
  return () => {
    reloading.delete(hangUp);
    process.off("SIGHUP", hangUp);
  };
}

function onInterrupt(callback: () => void): () => void {
  let called = false;
  const press = () => {
    called = true;
    callback();
  };
  // The system signals a closed terminal, and then the shell does. The user who closed it no longer waits.
  const hangUp = () => {
    if (!called && !reloads()) press();
  };
  process.on("SIGINT", press);
  process.on("SIGTERM", press);
  process.on("SIGHUP", hangUp);
  return () => {
    process.off("SIGINT", press);
    process.off("SIGTERM", press);
    process.off("SIGHUP", hangUp);
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

/** A terminal that is being read from hands Ctrl-C to its reader: no signal comes, and the question has to end. */
function interruptedQuestion(): HostformError {
  return new HostformError([{ severity: "error", code: "interrupted", summary: "Interrupted. Nothing was changed." }]);
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a command with this process's streams and waits for its end. A terminal sends Ctrl-C to both of us, so it is
 * passed on only where there is no terminal; SIGTERM and SIGHUP always are.
 * @returns its exit code; 128+n when signal n ended it. @throws HostformError `usage` when it cannot be started.
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
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  try {
    return await ended(child);
  } catch (error) {
    const reason = errnoOf(error) === "ENOENT" ? "there is no such command" : (errnoOf(error) ?? String(error));
    return fail("usage", `${JSON.stringify(command)} cannot be run: ${reason}`, {
      remedies: ["Give a command on the PATH, after `--`."],
    });
  } finally {
    for (const off of handlers) off();
  }
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the user's browser. The address is one argument of a program, never part of a shell's line. */
async function browse(url: string): Promise<void> {
  const [command = "xdg-open", ...args] = OPENERS[process.platform] ?? [];
  const [{ spawn }, { ended, programPath }] = await Promise.all([import("node:child_process"), programs()]);
  const env = childEnvironment(process.env);
  const program = programPath(command, env) ?? NOWHERE;
  const open = async () => ended(spawn(program, [...args, url], { stdio: "ignore", env }));
  const code = await open().catch((error: unknown) => {
    if (errnoOf(error) === undefined) throw error;
    return `: ${errnoOf(error)}`;
  });
  if (code === 0) return;
  const why = typeof code === "string" ? code : ` ended with ${code}`;
  fail("usage", `The browser could not be opened: ${command}${why}`, {
    remedies: ["Run it without `--open` to print the URL."],
  });
}
