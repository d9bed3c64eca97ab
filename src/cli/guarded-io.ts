import { breakCommands, isCiLog } from "../core/model/index.ts";
import { escapeOutput } from "../report/index.ts";
import { LogLines } from "./ci-log.ts";
import type { GuardedIo, Io } from "./io.ts";
import { Redaction } from "./redaction.ts";

/** Puts the guard before the streams. */
export function guardIo(io: Io, redaction = new Redaction()): GuardedIo {
  const [outLines, errLines] = [
    new LogLines((text) => io.out(text), io.env),
    new LogLines((text) => io.err(text), io.env),
  ];
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
    breaks: (text) => isCiLog(io.env) && breakCommands(text) !== text,
    rewind(lines) {
      err.flush();
      io.err(`\u001b[${lines}A\u001b[J`);
    },
    flush,
  };
}

/** One stream: what may be the beginning of a secret waits for the next write. */
function guarded(lines: LogLines, redaction: Redaction) {
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
