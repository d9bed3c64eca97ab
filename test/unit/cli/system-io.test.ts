import { EventEmitter } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { forgiveClosing, systemIo } from "../../../src/cli/system-io.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

afterEach(() => vi.restoreAllMocks());

/** Replaces the signals of this process, because the real signals belong to the test runner. */
function listening() {
  const signals = new EventEmitter();
  vi.spyOn(process, "on").mockImplementation((name, callback) => {
    signals.on(name, callback);
    return process;
  });
  vi.spyOn(process, "off").mockImplementation((name, callback) => {
    signals.off(name, callback);
    return process;
  });
  const interrupted = vi.fn();
  const end = systemIo().onInterrupt(interrupted);
  return { signals, interrupted, end };
}

describe("an interruption", () => {
  it.each(SIGNALS)("is caused by %s, and by no signal after its end", (signal) => {
    const { signals, interrupted, end } = listening();
    signals.emit(signal);
    expect(interrupted).toHaveBeenCalledTimes(1);
    end();
    for (const one of SIGNALS) expect(signals.listenerCount(one)).toBe(0);
  });

  it("is repeated by Ctrl-C, and never by a terminal that closes twice", () => {
    const { signals, interrupted } = listening();
    for (const signal of ["SIGHUP", "SIGHUP"]) signals.emit(signal);
    expect(interrupted).toHaveBeenCalledTimes(1);
    signals.emit("SIGINT");
    expect(interrupted).toHaveBeenCalledTimes(2);
    signals.emit("SIGHUP");
    expect(interrupted).toHaveBeenCalledTimes(2);
  });
});

describe("SIGHUP", () => {
  const streams = [process.stdin, process.stdout, process.stderr];
  const before = streams.map((stream) => Object.getOwnPropertyDescriptor(stream, "isTTY"));
  afterEach(() => {
    for (const [at, stream] of streams.entries())
      Object.defineProperty(stream, "isTTY", before[at] ?? { value: undefined, configurable: true });
  });

  it.each([
    ["reloads, and interrupts nothing, where there is no terminal", false, 1, 0],
    ["is a closed terminal where there is one", true, 0, 1],
  ])("%s", (_, isTTY, reloads, interrupts) => {
    const { signals, interrupted, end } = listening();
    const reload = vi.fn();
    const endReload = systemIo().onReload(reload);
    for (const stream of streams) Object.defineProperty(stream, "isTTY", { value: isTTY, configurable: true });
    signals.emit("SIGHUP");
    expect([reload.mock.calls.length, interrupted.mock.calls.length]).toEqual([reloads, interrupts]);
    endReload();
    signals.emit("SIGHUP");
    expect(interrupted, "when nothing reloads any more it interrupts").toHaveBeenCalledTimes(1);
    end();
    for (const one of SIGNALS) expect(signals.listenerCount(one)).toBe(0);
  });
});

describe("a terminal that was closed during a question", () => {
  /** Returns a terminal that fails with this code when its mode is restored. */
  const failing = (code: string) => {
    const terminal = {
      setRawMode: (_mode: boolean): never => {
        throw Object.assign(new Error(`setRawMode ${code}`), { code, errno: -5, syscall: "setRawMode" });
      },
    };
    forgiveClosing(terminal);
    return terminal;
  };

  it("ends the question, and not the process, because hostform must still release the state's lock", () => {
    const terminal = failing("EIO");
    expect(terminal.setRawMode(false)).toBe(terminal);
  });

  it("is an error for every other failure", () => {
    expect(() => failing("EBADF").setRawMode(false)).toThrow("EBADF");
  });
});
