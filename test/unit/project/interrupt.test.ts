import { describe, expect, it } from "vitest";
import { guardIo } from "../../../src/cli/guarded-io.ts";
import type { Clock } from "../../../src/core/model/index.ts";
import { Interrupts, RECORDING_MS, SUMMARY_MS } from "../../../src/project/interrupt.ts";
import { testClock } from "../../support/clock.ts";
import { fakeIo } from "../../support/io.ts";

/** A run with its Ctrl-C, a clock that only `pass` advances, and the exit of the process. */
function begin() {
  let now = 0;
  const waiting: { readonly at: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        waiting.push({ at: now + ms, end: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  const exits: number[] = [];
  const fake = { ...fakeIo({ clock }), exit: (code: number) => void exits.push(code) };
  const io = guardIo(fake);
  const pass = async (ms: number) => {
    now += ms;
    for (const { at, end } of waiting) if (at <= now) end();
    await new Promise(setImmediate);
  };
  return { run: () => new Interrupts(io), press: fake.interrupt, pass, exits };
}

const aborted = ({ stop, now, abandon }: Interrupts) => [stop.aborted, now.aborted, abandon.aborted];

describe("Ctrl-C", () => {
  it("during an apply holds back further requests; a second one cancels those under way, and waits for the records", async () => {
    const { run, press, pass, exits } = begin();
    const interrupts = run();
    interrupts.planned();
    press();
    expect(aborted(interrupts)).toEqual([true, false, false]);
    press();
    expect(aborted(interrupts)).toEqual([true, true, false]);
    await pass(RECORDING_MS - 1);
    expect(aborted(interrupts)).toEqual([true, true, false]);
    await pass(1);
    expect(aborted(interrupts)).toEqual([true, true, true]);
    expect(exits).toEqual([]);
    await pass(SUMMARY_MS);
    expect(exits).toEqual([1]);
  });

  it("a third time does not wait for records, and a fourth time ends the process", () => {
    const { run, press, exits } = begin();
    const interrupts = run();
    interrupts.planned();
    for (let nth = 1; nth <= 3; nth++) press();
    expect(aborted(interrupts)).toEqual([true, true, true]);
    expect(exits).toEqual([]);
    press();
    expect(exits).toEqual([1]);
  });

  it("does not end a process whose run has ended", async () => {
    const { run, press, pass, exits } = begin();
    const interrupts = run();
    interrupts.planned();
    press();
    press();
    expect(await interrupts.unlessAbandoned(Promise.resolve())).toBe(true);
    interrupts.end();
    await pass(RECORDING_MS + SUMMARY_MS);
    expect(exits).toEqual([]);
  });

  it("during a slow write of the state abandons the write, and ends the process after the summary", async () => {
    const { run, press, exits } = begin();
    const interrupts = run();
    interrupts.planned();
    for (let nth = 1; nth <= 3; nth++) press();
    expect(await interrupts.unlessAbandoned(new Promise(() => undefined))).toBe(false);
    interrupts.end();
    expect(exits).toEqual([]);
    await new Promise(setImmediate);
    expect(exits).toEqual([1]);
  });
});

it("has a time that the test clock does not confuse with a back-off of equal length", async () => {
  const { signal } = new AbortController();
  for (const ms of [RECORDING_MS, SUMMARY_MS]) await testClock().sleep(ms, signal);
});
