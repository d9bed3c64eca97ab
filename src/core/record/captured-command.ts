import { spawn } from "node:child_process";
import { errnoOf } from "../model/index.ts";
import type { CommandEnd } from "./secret-command.ts";

/** How a program of the user's own is run whose input or output is a secret. */
export interface CaptureOptions {
  readonly cwd: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Its standard input. */
  readonly input: string;
  /** After this it is ended (milliseconds). */
  readonly timeoutMs: number;
}

/** More output than this is no secret value, and no message of an error. */
const MOST_OUTPUT = 64 * 1024;

/**
 * Runs a program without a shell; its streams never reach the terminal. Never throws: how it ended is told. It ends with
 * its time at the latest, even if something that it started keeps its streams open.
 */
export function captureCommand(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env, input, timeoutMs }: CaptureOptions,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: "pipe" });
    const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
    let failure: string | undefined;
    const end = (words?: string) => {
      failure ??= words;
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ...(failure !== undefined && { failure }), stdout: stdout(), stderr: stderr() });
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      end(`did not end within ${timeoutMs / 1000} seconds`);
    }, timeoutMs);
    child.once("error", (error) => {
      end(errnoOf(error) === "ENOENT" ? "could not be found" : `could not be started (${errnoOf(error)})`);
    });
    child.once("close", (code, signal) => {
      if (code === 0) end();
      else end(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
    });
    // A program that does not read its input is not wrong for that; how it ends decides.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

function collected(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size < MOST_OUTPUT) chunks.push(chunk);
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
