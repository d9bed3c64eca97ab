/** The guard before the streams: it hides known secrets, and shows what would act on a terminal or on the agent of a CI. */
import path from "node:path";
import { listNow, readNow, targetOf } from "../core/files/file-system.ts";
import { breakCommands, isCiLog } from "../core/model/index.ts";
import { Redaction } from "../project/redaction.ts";
import type { Annotation } from "../report/ci.ts";
import { escapeOutput, jsonText } from "../report/escape.ts";
import type { GuardedIo, Io } from "./terminal.ts";

export function guardIo(io: Io, redaction = new Redaction()): GuardedIo {
  const outLines = logLines((text) => io.out(text), io.env);
  const errLines = logLines((text) => io.err(text), io.env);
  const out = guarded(outLines, redaction);
  const err = guarded(errLines, redaction);
  if (io.errIsRunner) redaction.onLearn((secret) => errLines.mask(secret));
  let isInterrupted = false;
  const flush = () => {
    out.flush();
    err.flush();
    errLines.end();
  };
  return {
    ...io,
    // A terminal of unknown size says 0.
    columns: io.columns || undefined,
    redaction,
    out: out.write,
    err: err.write,
    ask(question, signal) {
      flush();
      const safe = escapeOutput(redaction.redact(question));
      return io.ask(isCiLog(io.env) ? breakCommands(safe) : safe, signal);
    },
    run(command, args, env) {
      flush();
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
      flush();
      io.exit(code);
    },
    reveal(text) {
      out.flush();
      outLines.write(text);
    },
    document(value, indent = 0) {
      out.flush();
      outLines.write(`${jsonText(redaction.redactValue(value), indent)}\n`);
    },
    annotate(annotations) {
      if (!io.errIsRunner || annotations.length === 0) return;
      err.flush();
      for (const { level, properties, message } of annotations) {
        const hidden = Object.entries(properties).map(([key, value]) => [key, redaction.redactValue(value)]);
        errLines.command(level, Object.fromEntries(hidden), escapeOutput(redaction.redact(message)));
      }
    },
    breaks: (text) => isCiLog(io.env) && breakCommands(text) !== text,
    rewind(lines) {
      err.flush();
      // From the first column: `^C` may stand in it.
      io.err(`\r\u001b[${lines}A\u001b[J`);
    },
    flush,
  };
}

/** One stream: what may be the beginning of a secret waits for the next write. */
function guarded(lines: ReturnType<typeof logLines>, redaction: Redaction) {
  let waiting = "";
  const pass = (text: string) => lines.write(escapeOutput(redaction.redact(text)));
  return {
    write(text: string): void {
      const all = waiting + text;
      const end = redaction.undecided(all);
      waiting = all.slice(end);
      pass(all.slice(0, end));
    },
    flush(): void {
      const rest = waiting;
      waiting = "";
      pass(rest);
    },
  };
}

/** Length of the end of an unfinished line that is checked again with the next write. */
const LOOK_BACK = 64;

/**
 * The lines of one stream. Where they go to the log of a CI they hold no command of its agent, in however many pieces they
 * are written, but for the masks of secrets and annotations, which stand on lines of their own.
 */
function logLines(stream: (text: string) => void, env: Io["env"]) {
  const isForCi = isCiLog(env);
  /** The end of the line that is not ended yet, and the commands that wait for its end. */
  let [line, commands] = ["", ""];
  /** A text with the commands where a line of it begins. */
  const withCommands = (text: string, begin = text.length): string => {
    const all = `${text.slice(0, begin)}${commands}${text.slice(begin)}`;
    commands = "";
    return all;
  };
  const broken = (text: string): string => {
    // The earlier text holds no command, so only the last character of one can need a change, and it is in `text`.
    const safe = breakCommands(line + text).slice(line.length);
    const all = line + safe;
    const last = all.slice(all.lastIndexOf("\n") + 1);
    // The mark replaces the cut part: the rest is no beginning of a line.
    line = last.length <= LOOK_BACK || last.trim() === "" ? last.slice(-LOOK_BACK) : `…${last.slice(-LOOK_BACK)}`;
    const begin = safe.indexOf("\n") + 1;
    return begin === 0 ? safe : withCommands(safe, begin);
  };
  /** Writes the commands that wait for the end of a line. An unfinished one is ended for them. */
  const end = (): void => {
    if (commands === "") return;
    stream(withCommands(line === "" ? "" : "\n"));
    line = "";
  };
  /** Writes a command of GitHub's runner on a line of its own, as soon as none is unfinished. */
  const command = (name: string, properties: Annotation["properties"], text: string): void => {
    commands += commandLine(name, properties, text);
    if (line === "") end();
  };
  return {
    end,
    command,
    write(text: string): void {
      if (text !== "") stream(isForCi ? broken(text) : text);
    },
    /** Has the runner hide a text in all that it shows from now on. */
    mask(secret: string): void {
      // A runner warns of a mask that hides nothing that can be seen.
      if (secret.trim() !== "") command("add-mask", {}, secret);
    },
  };
}

/** A command of the runner of GitHub Actions, as `@actions/core` writes it; ends with a newline. */
function commandLine(name: string, properties: Annotation["properties"], text: string): string {
  const data = (value: string) => value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (value: string | number) => data(String(value)).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const given = Object.entries(properties).map(([key, value]) => `${key}=${property(value)}`);
  return `::${[name, given.join(",")].join(" ").trim()}::${data(text)}\n`;
}

/**
 * Whether the runner of GitHub Actions reads standard error itself, so that a secret may be written there for it to hide.
 * Behind `2>&1 | tee plan.txt` it does not, and the file would hold the secret: so the stream must be a pipe whose other end
 * is the runner's. Nobody can see that from within a container, on macOS and on Windows; there `HOSTFORM_ADD_MASK=1` says it.
 *
 * @param proc where the system describes its processes; a system without it has no answer, which is no.
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

/** @throws when there is none. */
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
    // Closed in the meantime.
    return false;
  }
}
