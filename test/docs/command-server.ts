/**
 * Runs the command lines of a page in this process. A wrapper in the shell names its process, of which Linux shows all that a
 * command has from outside: arguments, environment, folder and streams.
 */

import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import type { Io } from "../../src/cli/terminal.ts";
import { captureCommand } from "../../src/core/files/index.ts";
import { errnoOf } from "../../src/core/model/index.ts";
import { ended, runShell } from "../../src/project/programs.ts";
import { fakeIo } from "../support/io.ts";
import { runCli } from "../support/program.ts";

export const canServeCommands = process.platform === "linux";

export interface CommandServer {
  /** What bash does in place of starting the program. */
  readonly line: string;
  close(): void;
}

export async function serveCommands(): Promise<CommandServer> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", async (data) => {
      const code = await runFor(data.toString().trim()).catch((error: unknown) => `70 ${String(error)}`);
      socket.end(`${code}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    // Its standard output is kept as 4 for us: while it writes the id, 1 is the connection.
    line: `exec 3<>/dev/tcp/127.0.0.1/${port} 4>&1; echo $$ >&3; read -r -u 3 code; exit "$code"`,
    close: () => server.close(),
  };
}

/** Runs the command of a waiting wrapper. @returns its exit code. */
async function runFor(pid: string): Promise<number> {
  const of = (name: string) => `/proc/${pid}/${name}`;
  const parts = (name: string) => readFileSync(of(name), "utf8").split("\0").slice(0, -1);
  // The first two are the shell and the wrapper.
  const [, , ...args] = parts("cmdline");
  const env = Object.fromEntries(
    parts("environ").map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]),
  );
  const [out, err] = ["fd/4", "fd/2"].map((name) => openSync(of(name), "a")) as [number, number];
  const cwd = readlinkSync(of("cwd"));
  const io: Io = {
    ...fakeIo({ cwd, env }),
    out: (text) => write(out, text),
    err: (text) => write(err, text),
    readInput: async () => readFileSync(of("fd/0"), "utf8"),
    readInputBytes: async (limit) => readFileSync(of("fd/0")).subarray(0, limit),
    capture: captureCommand,
    shell: runShell,
    run: async (program, rest, given) => {
      const input = openSync(of("fd/0"), "r");
      try {
        return await ended(spawn(program, rest, { cwd, env: given, stdio: [input, out, err] }));
      } finally {
        closeSync(input);
      }
    },
  };
  try {
    return await runCli(args, io);
  } finally {
    closeSync(out);
    closeSync(err);
  }
}

/** Writes all of a text, unless its reader has gone, as `| head` does. */
function write(stream: number, text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(stream, bytes, at);
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
  }
}
