import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { idleClock } from "../../../../src/project/rehearse/idle-clock.ts";

const START = Date.parse("2026-12-01T00:00:00Z");

function clockAtStart() {
  const clock = idleClock(START);
  onTestFinished(() => clock.close());
  return clock;
}

describe("an idle clock", () => {
  it("ends sleeps in the order of their ends, without real time", async () => {
    const clock = clockAtStart();
    const began = performance.now();
    const ended: number[] = [];
    const sleep = (ms: number) => clock.sleep(ms).then(() => ended.push(clock.now() - START));
    await Promise.all([sleep(3_600_000), sleep(1_000), sleep(60_000)]);
    expect(ended).toEqual([1_000, 60_000, 3_600_000]);
    expect(clock.slept).toBe(3_600_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("advances no time while a request is in progress", async () => {
    const clock = clockAtStart();
    const server = createServer((_, response) => void setTimeout(() => response.end("done"), 50));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const order: string[] = [];
    const answered = fetch(`http://127.0.0.1:${port}/`)
      .then((response) => response.text())
      .then(() => order.push("answered"));
    await Promise.all([answered, clock.sleep(1_000).then(() => order.push("slept"))]);
    expect(order).toEqual(["answered", "slept"]);
  });

  it("rejects a sleep with the reason of its signal, and keeps its time", async () => {
    const clock = clockAtStart();
    const stop = new AbortController();
    const sleep = clock.sleep(1_000, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(sleep).rejects.toThrow("stopped");
    await expect(clock.sleep(1, stop.signal)).rejects.toThrow("stopped");
    expect(clock.now()).toBe(START);
  });
});
