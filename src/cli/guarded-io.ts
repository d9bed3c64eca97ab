import { escapeOutput } from "../report/index.ts";
import type { GuardedIo, Io } from "./io.ts";
import { Redaction } from "./redaction.ts";

/** Puts the guard before the streams. */
export function guardIo(io: Io, redaction = new Redaction()): GuardedIo {
  const out = guarded((text) => io.out(text), redaction);
  const err = guarded((text) => io.err(text), redaction);
  let isInterrupted = false;
  const flush = () => {
    out.flush();
    err.flush();
  };
  return {
    ...io,
    redaction,
    out: out.write,
    err: err.write,
    ask(question, signal) {
      flush();
      return io.ask(escapeOutput(redaction.redact(question)), signal);
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
      io.out(text);
    },
    rewind(lines) {
      err.flush();
      io.err(`\u001b[${lines}A\u001b[J`);
    },
    flush,
  };
}

/** One stream: what may be the beginning of a secret waits for the next write. */
function guarded(write: (text: string) => void, redaction: Redaction) {
  let waiting = "";
  const pass = (text: string) => {
    if (text !== "") write(escapeOutput(redaction.redact(text)));
  };
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
