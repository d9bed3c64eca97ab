/** An `Io` of a command that runs until Ctrl-C. Tests can wait for lines of its output. */
import { type FakeIo, type FakeIoParts, fakeIo } from "./io.ts";

export interface LiveIo extends FakeIo {
  /** Resolves with the first matching line of either stream. Later calls skip this line and all earlier lines. */
  line(pattern: RegExp): Promise<string>;
}

export function liveIo(parts: FakeIoParts = {}): LiveIo {
  const io = fakeIo(parts);
  const lines: string[] = [];
  const waiting: { readonly pattern: RegExp; readonly found: (line: string) => void }[] = [];
  let rest = "";
  const serve = () => {
    for (const one of [...waiting]) {
      const at = lines.findIndex((line) => one.pattern.test(line));
      if (at < 0) continue;
      waiting.splice(waiting.indexOf(one), 1);
      one.found(lines.splice(0, at + 1).at(-1) ?? "");
    }
  };
  const take = (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    serve();
  };
  return {
    ...io,
    out: (text) => {
      io.out(text);
      take(text);
    },
    err: (text) => {
      io.err(text);
      take(text);
    },
    line: (pattern) =>
      new Promise((found) => {
        waiting.push({ pattern, found });
        serve();
      }),
  };
}
