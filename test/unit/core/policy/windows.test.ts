import { describe, expect, it } from "vitest";
import { isWithin, type TimeWindow } from "../../../../src/core/model/index.ts";

describe("a window of time", () => {
  const BERLIN = { time_zone: "Europe/Berlin" };
  it.each<[string, TimeWindow, string, boolean]>([
    ["without conditions", {}, "2026-11-27T12:00Z", true],
    ["a day", { days: ["fri"] }, "2026-11-27T23:59Z", true],
    ["another day", { days: ["fri"] }, "2026-11-28T00:00Z", false],
    ["the first minute", { from: "17:00" }, "2026-11-27T17:00Z", true],
    ["the minute before", { from: "17:00" }, "2026-11-27T16:59Z", false],
    ["the end is exclusive", { to: "17:00" }, "2026-11-27T17:00Z", false],
    ["over midnight, before", { days: ["fri"], from: "22:00", to: "06:00" }, "2026-11-27T23:00Z", true],
    ["over midnight, after", { days: ["fri"], from: "22:00", to: "06:00" }, "2026-11-28T05:59Z", true],
    [
      "over midnight, the morning of that day",
      { days: ["fri"], from: "22:00", to: "06:00" },
      "2026-11-27T05:00Z",
      false,
    ],
    ["the last day", { until: "2026-11-27" }, "2026-11-27T23:59Z", true],
    ["after the last day", { until: "2026-11-27" }, "2026-11-28T00:00Z", false],
    ["before the first day", { since: "2026-11-28" }, "2026-11-27T23:59Z", false],
    ["a zone that is a day ahead", { ...BERLIN, days: ["sat"] }, "2026-11-27T23:30Z", true],
    ["summer time", { ...BERLIN, from: "17:00", to: "18:00" }, "2026-07-01T15:30Z", true],
    ["winter time", { ...BERLIN, from: "17:00", to: "18:00" }, "2026-12-01T15:30Z", false],
    [
      "the hour that summer time skips",
      { ...BERLIN, days: ["sat"], from: "23:00", to: "03:30" },
      "2026-03-29T01:15Z",
      true,
    ],
  ])("%s", (_, window, at, expected) => {
    expect(isWithin(window, Date.parse(at.replace("Z", ":00Z")))).toBe(expected);
  });
});
