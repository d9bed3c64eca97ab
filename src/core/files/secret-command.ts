// Runs the user's programs that receive or print a secret, such as a sign-on URL.
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import path from "node:path";
import { attempt, childEnvironment, type EnvVars, errnoOf } from "../model/index.ts";
import { look } from "./file-system.ts";

export interface CommandEnd {
  /** Reason of the failure, as the end of a sentence: `ended with exit code 3`. Absent: the program succeeded. */
  readonly failure?: string;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program without a shell, in bounded time. Never throws.
 * @param input standard input. @param env additional environment variables.
 */
export type CommandRunner = (
  command: readonly [string, ...string[]],
  input: string,
  env: Readonly<Record<string, string>>,
) => Promise<CommandEnd>;

/** Time limit of a command, in milliseconds. It leaves time for the start of a vault, or for the touch of a hardware key. */
export const SECRET_COMMAND_MS = 60_000;

const MOST_LINES = 5;
const MOST_CHARACTERS = 500;
/** Minimum length of a hidden secret. A one-letter secret would hide each such letter of the output. */
const SHORTEST_SECRET = 4;

/** Returns the end of a failed command's standard error as sentences, with the secret hidden. */
export function endOfErrors(stderr: string, secret: string): string {
  const hidden = secret.trim();
  const clean = hidden.length < SHORTEST_SECRET ? stderr : stderr.replaceAll(hidden, "(secret)");
  const end = clean.trimEnd().split("\n").slice(-MOST_LINES).join("\n");
  if (end === "") return "The command wrote no text to standard error.";
  return `Last lines of standard error:\n${end.length > MOST_CHARACTERS ? `…${end.slice(-MOST_CHARACTERS)}` : end}`;
}

/** Options of a user's program whose input or output is a secret. */
export interface CaptureOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input. */
  readonly input: string;
  /** Time limit in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the program at once. */
  readonly signal?: AbortSignal;
  /** Maximum number of kept bytes of output. Default: 64 KiB. */
  readonly mostBytes?: number;
}

/** Folders of programs if the environment has no PATH. */
const USUAL = "/usr/local/bin:/usr/bin:/bin";

/**
 * Finds a program by name on the PATH, never in the working folder: that folder may contain a stranger's files. A name with a folder
 * is returned unchanged.
 * @returns undefined if the PATH has no such program.
 */
export function programPath(
  name: string,
  env: EnvVars,
  {
    platform = process.platform,
    isProgram = isExecutable,
  }: { platform?: string; isProgram?(file: string): boolean } = {},
): string | undefined {
  const isWindows = platform === "win32";
  const places = isWindows ? path.win32 : path.posix;
  if (places.basename(name) !== name) return name;
  const folders = (env.PATH ?? env.Path ?? (isWindows ? "" : USUAL)).split(places.delimiter).filter(places.isAbsolute);
  const endings = isWindows && !/\.(?:com|exe)$/i.test(name) ? [".com", ".exe"] : [""];
  return folders.flatMap((folder) => endings.map((end) => places.join(folder, name + end))).find(isProgram);
}

const isExecutable = (file: string): boolean =>
  attempt(
    () => {
      const found = look(file);
      return found?.form === "file" && (process.platform === "win32" || (found.mode & 0o111) !== 0);
    },
    () => false,
  );

/** Default limit of kept output. Secrets and error messages are smaller. */
const MOST_OUTPUT = 64 * 1024;

/**
 * Runs a program without a shell. Its streams never reach the terminal. Never throws: returns the end of the program. Resolves at the
 * time limit at the latest, even if a child of the program keeps its streams open.
 */
export function captureCommand(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env, input, timeoutMs, signal, mostBytes = MOST_OUTPUT }: CaptureOptions,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const found = programPath(program, env);
    if (found === undefined) return resolve({ failure: "could not be found", stdout: "", stderr: "" });
    const child = spawn(found, args, { cwd, env: { ...env }, stdio: "pipe", argv0: program, signal });
    const [stdout, stderr] = [collected(child.stdout, mostBytes), collected(child.stderr, MOST_OUTPUT)];
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
    // A program may ignore its input. Only its exit decides.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

function collected(stream: NodeJS.ReadableStream, most: number): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size < most) chunks.push(chunk);
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

/** Waits for the end of a process. @returns its exit code, or 128+n if signal n ended it. */
export function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a URL in the user's browser. The URL is an argument of a program, never part of a shell command.
 * @returns the reason of a failure, for example `xdg-open: ENOENT`.
 */
export async function browse(url: string, env: EnvVars): Promise<string | undefined> {
  const [command = "xdg-open", ...args] = OPENERS[process.platform] ?? [];
  const program = programPath(command, env);
  if (program === undefined) return `${command}: ENOENT`;
  try {
    const code = await ended(spawn(program, [...args, url], { stdio: "ignore", env: childEnvironment(env) }));
    return code === 0 ? undefined : `${command} ended with ${code}`;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return `${command}: ${errnoOf(error)}`;
  }
}
