import { describe, expect, it } from "vitest";
import { Activity } from "../../../../../src/fronts/terraform/resource/activity.ts";
import { testClock } from "../../../../support/clock.ts";

const never = new AbortController().signal;

describe("the calls of Terraform", () => {
  it("are quiet when each of them waits and no other one arrives for a second", async () => {
    const [activity, clock] = [new Activity(), testClock()];
    const waiting = () => activity.during(() => activity.isQuiet(clock, never));
    expect(await Promise.all([waiting(), waiting()])).toEqual([true, true]);
    expect(clock.slept).toBeGreaterThanOrEqual(1_000);
  });

  it("are not quiet while another call is under way", async () => {
    const [activity, clock] = [new Activity(), testClock()];
    const other = Promise.withResolvers<void>();
    const seen: string[] = [];
    const waiting = activity.during(() => activity.isQuiet(clock, never)).then(() => seen.push("quiet"));
    const running = activity.during(() => other.promise).then(() => seen.push("ended"));
    for (let turn = 0; turn < 5; turn++) await clock.sleep(10_000);
    expect(seen).toEqual([]);
    other.resolve();
    await Promise.all([waiting, running]);
    expect(seen).toEqual(["ended", "quiet"]);
  });

  it("are waited for only while others arrive if too many wait already", async () => {
    const [activity, clock] = [new Activity(), testClock()];
    void activity.during(() => Promise.withResolvers<void>().promise);
    expect(await activity.during(() => activity.isQuiet(clock, never, true))).toBe(true);
    expect(clock.slept).toBeGreaterThanOrEqual(500);
  });

  it("stop waiting at a signal, and count as running again", async () => {
    const [activity, clock, stop] = [new Activity(), testClock(), new AbortController()];
    const other = activity.during(() => Promise.withResolvers<void>().promise);
    const waiting = activity.during(() => activity.isQuiet(clock, stop.signal));
    stop.abort();
    expect(await waiting).toBe(false);
    expect(await Promise.race([other, activity.isQuiet(clock, stop.signal)])).toBe(false);
  });
});
