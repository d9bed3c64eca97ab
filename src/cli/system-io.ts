import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import type { ReadStream } from "node:tty";
import { errnoOf, HostformError, systemClock } from "../core/model/index.ts";
import { captureCommand } from "../core/record/index.ts";
import { browse, runCommand, runShell } from "./child-process.ts";
import { runnerReadsErrors } from "./ci-log.ts";
import type { Io } from "./io.ts";

/** The real streams, environment and signals of this process. */
export function systemIo(): Io {
  const { stdin, stdout, stderr } = process;
  // A reader that went away (`hostform plan | head`) is not an error of ours, and a log disk that is full must not end an
  // apply in the middle: what was lost of the results shows in the exit code.
  stderr.on("error", () => {});
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    stderr.write(`The results could not be written (${error.code ?? error.message}).\n`);
    process.on("exit", () => {
      process.exitCode ||= 1;
    });
  });
  if (stdin.isTTY === true) forgiveClosing(stdin);
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
      if (stdin.isTTY !== true) return undefined;
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
    readInput: () => text(stdin),
    readInputBytes: (limit) => firstBytes(stdin, limit),
    onInterrupt,
    onReload,
    run: runCommand,
    capture: captureCommand,
    shell: runShell,
    browse,
  };
}

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

/** Whether SIGHUP means to reload, as for any service. Where there is a terminal, it is that which was closed. */
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
  // The system tells of a closed terminal, and then the shell does. Who has closed it waits for nothing.
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
