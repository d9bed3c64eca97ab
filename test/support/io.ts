import type { Io } from "../../src/cli/terminal.ts";
import { type Clock, systemClock } from "../../src/core/model/index.ts";

/** Test values of a command's environment. By default, the command has no terminal, no user and no input. */
export interface FakeIoParts {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly clock?: Clock;
  readonly terminal?: boolean;
  /** True if a runner of GitHub Actions reads standard error. */
  readonly runner?: boolean;
  readonly columns?: number;
  /** Input of the user, one line for each question. */
  readonly answers?: readonly string[];
  /** Standard input. */
  readonly input?: string;
  /** Exit code of executed commands. */
  readonly exitCode?: number;
  /** Called with each executed command. */
  onRun?(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<void> | void;
}

/** An `Io` that stores the output and returns prepared input. */
export interface FakeIo extends Io {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Questions to the user. */
  readonly questions: readonly string[];
  /** Executed commands, and opened URLs. */
  readonly ran: readonly (readonly string[])[];
  readonly browsed: readonly string[];
  /** Simulates Ctrl-C. */
  interrupt(): void;
  /** Simulates a SIGHUP without a terminal. */
  hangUp(): void;
  /** Resolves when the command listens for Ctrl-C. */
  readonly listening: Promise<void>;
}

export function fakeIo(parts: FakeIoParts = {}): FakeIo {
  let [out, err] = ["", ""];
  const answers = [...(parts.answers ?? [])];
  const questions: string[] = [];
  const ran: string[][] = [];
  const browsed: string[] = [];
  const callbacks = new Set<() => void>();
  const reloads = new Set<() => void>();
  let listened = () => {};
  const listening = new Promise<void>((resolve) => {
    listened = resolve;
  });
  return {
    env: parts.env ?? {},
    cwd: parts.cwd ?? "/nowhere",
    clock: parts.clock ?? systemClock,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    outIsTerminal: parts.terminal ?? false,
    errIsTerminal: parts.terminal ?? false,
    errIsRunner: parts.runner ?? false,
    columns: parts.columns,
    ask: async (question) => {
      questions.push(question);
      return answers.shift();
    },
    readInput: async () => parts.input ?? "",
    readInputBytes: async () => Buffer.from(parts.input ?? ""),
    onInterrupt: (callback) => {
      callbacks.add(callback);
      listened();
      return () => callbacks.delete(callback);
    },
    onReload: (callback) => {
      reloads.add(callback);
      return () => reloads.delete(callback);
    },
    run: async (command, args, env) => {
      ran.push([command, ...args]);
      await parts.onRun?.([command, ...args], env);
      return parts.exitCode ?? 0;
    },
    capture: async ([command]) => {
      throw new Error(`a test must not start ${command}`);
    },
    shell: async (line) => {
      throw new Error(`a test must not run ${line}`);
    },

    browse: async (url) => {
      browsed.push(url);
    },
    exit: (code) => {
      throw new Error(`a test must not end its process (${code})`);
    },
    stdout: () => out,
    stderr: () => err,
    questions,
    ran,
    browsed,
    interrupt: () => {
      for (const callback of callbacks) callback();
    },
    hangUp: () => {
      for (const callback of reloads) callback();
    },
    listening,
  };
}
