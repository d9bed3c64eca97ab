import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startActivity } from "../../../src/cli/activity.ts";
import { systemClock } from "../../../src/core/model/index.ts";

const STEP = "CONNECT api.example:443 through the proxy proxy.example:3128";

describe("the activity of a run that opens a connection", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const started = (more = {}) => {
    const written: string[] = [];
    const err = (text: string) => written.push(text);
    const activity = startActivity({
      ...{ err, rewind: () => undefined, clock: systemClock, repaints: true, isSilent: false, look: { color: false } },
      ...more,
    });
    return { activity, written };
  };

  it("names the step after a second, until the connection is open", () => {
    const { activity, written } = started();
    activity.connects(STEP);
    vi.advanceTimersByTime(900);
    expect(written).toEqual([]);
    vi.advanceTimersByTime(3_200);
    expect(written.at(-1)).toBe(`Waiting for 4 s: ${STEP}\n`);
    const count = written.length;
    activity.connects(undefined);
    vi.advanceTimersByTime(5_000);
    expect(written.length).toBe(count);
    activity.end();
  });

  it("goes before the count of a reading", () => {
    const { activity, written } = started();
    activity.reads(4);
    activity.connects(STEP);
    vi.advanceTimersByTime(500);
    expect(written.at(-1)).toMatch(/^Reading 0 of 4/);
    vi.advanceTimersByTime(1_000);
    expect(written.at(-1)).toBe(`Waiting for 1 s: ${STEP}\n`);
    activity.end();
  });

  it("fits the width of a terminal", () => {
    const { activity, written } = started({ look: { color: false, width: 40 } });
    activity.connects(STEP);
    vi.advanceTimersByTime(2_000);
    expect(written.at(-1)?.trimEnd().length).toBeLessThan(40);
    activity.end();
  });
});
