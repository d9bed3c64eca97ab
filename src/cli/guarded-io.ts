/** Guards the streams: hides known secrets, and escapes control sequences of terminals and commands for CI runners. */
import path from "node:path";
import { listNow, readNow, targetOf } from "../core/files/file-system.ts";
import { breakCommands, isCiLog } from "../core/model/index.ts";
import { leaving, leavingJson, Redaction } from "../project/redaction.ts";
import type { Annotation } from "../report/ci.ts";
import { raise } from "./messages.ts";
import type { GuardedIo, Io } from "./terminal.ts";

export function guardIo(io: Io, redaction = new Redaction()): GuardedIo {
  const out = lines((text) => io.out(text), io.outIsTerminal && !isCiLog(io.env));
  const err = lines((text) => io.err(text), io.errIsTerminal && !isCiLog(io.env));
  if (io.errIsRunner) redaction.onLearn((secret) => err.mask(secret));
  let isInterrupted = false;
  return {
    ...io,
    // A terminal of unknown size reports 0 columns.
    columns: io.columns || undefined,
    redaction,
    out: (text) => out.write(leaving(text, redaction, out.format, out.line())),
    err: (text) => err.write(leaving(text, redaction, err.format, err.line())),
    ask(question, signal) {
      err.end();
      return io.ask(leaving(question, redaction, err.format), signal);
    },
    run(command, args, env) {
      err.end();
      return io.run(command, args, env);
    },
    onInterrupt(callback) {
      return io.onInterrupt(() => {
        isInterrupted = true;
        callback();
      });
    },
    wasInterrupted: () => isInterrupted,
    exit(code) {
      err.end();
      io.exit(code);
    },
    reveal(text) {
      // The user requested the secret, so escape only commands for CI runners.
      out.write(isCiLog(io.env) ? breakCommands(out.line() + text).slice(out.line().length) : text);
    },
    exact(text, what) {
      if (!isCiLog(io.env) || breakCommands(text) === text) return out.write(text);
      raise("usage/runner", { what });
    },
    document: (value, indent = 0) => out.write(leavingJson(value, redaction, indent)),
    annotate(annotations) {
      if (!io.errIsRunner) return;
      for (const { level, properties, message } of annotations) {
        const hidden = Object.entries(properties).map(([key, value]) => [key, redaction.redactValue(value)]);
        err.command(level, Object.fromEntries(hidden), leaving(message, redaction, "terminal"));
      }
    },
    rewind: (count) => io.err(`\r\u001b[${count}A\u001b[J`), // column 1, because the terminal may show `^C`
    flush: err.end,
  };
}

/** Number of characters at the end of an incomplete line that are checked again with the next text. */
const LOOK_BACK = 64;

/** Tracks the lines of a stream. Commands for the GitHub Actions runner need their own lines. */
function lines(stream: (text: string) => void, isTerminal: boolean) {
  /** End of the incomplete line. */
  let line = "";
  /** Workflow commands that wait for the end of the line. */
  let commands = "";
  /** Inserts the waiting commands at the start of a line. */
  const withCommands = (text: string, begin = text.length): string => {
    const all = `${text.slice(0, begin)}${commands}${text.slice(begin)}`;
    commands = "";
    return all;
  };
  const write = (text: string): void => {
    if (text === "") return;
    const all = line + text;
    const last = all.slice(all.lastIndexOf("\n") + 1);
    // The ellipsis stands for the omitted text: what remains is not the start of the line.
    line = last.length <= LOOK_BACK || last.trim() === "" ? last.slice(-LOOK_BACK) : `…${last.slice(-LOOK_BACK)}`;
    const begin = text.indexOf("\n") + 1;
    stream(begin === 0 ? text : withCommands(text, begin));
  };
  /** Writes the waiting commands. First ends an incomplete line. */
  const end = (): void => {
    if (commands === "") return;
    stream(withCommands(line === "" ? "" : "\n"));
    line = "";
  };
  /** Writes a command at the next end of a line. */
  const command = (name: string, properties: Annotation["properties"], text: string): void => {
    commands += commandLine(name, properties, text);
    if (line === "") end();
  };
  return {
    format: isTerminal ? ("terminal" as const) : ("text" as const),
    line: () => line,
    write,
    end,
    command,
    /** Makes the runner hide a text in later output. */
    mask(secret: string): void {
      // A runner warns about a blank mask.
      if (secret.trim() !== "") command("add-mask", {}, secret);
    },
  };
}

/** Returns a command for the GitHub Actions runner, in the format of `@actions/core`. */
function commandLine(name: string, properties: Annotation["properties"], text: string): string {
  const data = (value: string) => value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (value: string | number) => data(String(value)).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const given = Object.entries(properties).map(([key, value]) => `${key}=${property(value)}`);
  return `::${[name, given.join(",")].join(" ").trim()}::${data(text)}\n`;
}

/**
 * Returns true if the GitHub Actions runner itself reads standard error. A secret may then be written there, so that the
 * runner masks it. With `2>&1 | tee plan.txt`, the file would contain the secret, so the process at the other end of the pipe
 * must be the runner. Containers, macOS and Windows hide that process; there, `HOSTFORM_ADD_MASK=1` decides.
 * @param proc Folder with information about processes.
 */
export function runnerReadsErrors(env: Io["env"], proc = "/proc"): boolean {
  if (!env.GITHUB_ACTIONS) return false;
  if (env.HOSTFORM_ADD_MASK) return env.HOSTFORM_ADD_MASK === "1";
  try {
    const pipe = targetOf(path.join(proc, "self/fd/2"));
    if (!pipe.startsWith("pipe:")) return false;
    let process = "self";
    do process = parentOf(proc, process);
    while (!isRunner(proc, process));
    const open = path.join(proc, process, "fd");
    return listNow(open).some((fd) => isLinkTo(pipe, path.join(open, fd)));
  } catch {
    return false;
  }
}

/** Returns the parent of a process. @throws if the process has no parent. */
function parentOf(proc: string, process: string): string {
  const [, parent = "0"] = /^PPid:\s*(\d+)$/m.exec(readNow(path.join(proc, process, "status")).toString()) ?? [];
  if (parent === "0") throw new Error("The first process has no parent.");
  return parent;
}

function isRunner(proc: string, process: string): boolean {
  const [program = ""] = readNow(path.join(proc, process, "cmdline"))
    .toString()
    .split("\0");
  return path.basename(program) === "Runner.Worker";
}

function isLinkTo(target: string, link: string): boolean {
  try {
    return targetOf(link) === target;
  } catch {
    // The process has closed the stream in the meantime.
    return false;
  }
}
