import { describe, expect, it } from "vitest";
import { listenAddress } from "../../../src/cli/listen-address.ts";
import { COALESCE_MS, Schedule } from "../../../src/project/watch/schedule.ts";
import { fc } from "../../support/fc.ts";

const MINUTE = 60_000;
const END = { requests: 4, perMinute: 60, outcome: "ended" } as const;

describe("checks of everything", () => {
  it("become rarer with each failure, down to once an hour, and return to the interval after a success", () => {
    const schedule = new Schedule(10 * MINUTE, 0);
    const gaps = [1, 2, 3, 4, 5, 6].map(() => {
      schedule.ended({ kind: "whole", at: 0, ...END, outcome: "failed" });
      return schedule.next().at / MINUTE;
    });
    expect(gaps).toEqual([10, 20, 40, 60, 60, 60]);
    schedule.ended({ kind: "whole", at: 0, ...END });
    expect(schedule.next().at).toBe(10 * MINUTE);
  });

  it("stay at an interval of more than an hour after failures", () => {
    const schedule = new Schedule(120 * MINUTE, 0);
    for (let i = 0; i < 5; i++) schedule.ended({ kind: "whole", at: 0, ...END, outcome: "failed" });
    expect(schedule.next().at).toBe(120 * MINUTE);
  });
});

describe("checks for events", () => {
  const afterWhole = (requests = 1) => {
    const schedule = new Schedule(60 * MINUTE, 0);
    schedule.ended({ kind: "whole", at: 0, ...END, requests });
    return schedule;
  };

  it("wait for the events that come within two seconds of the first", () => {
    const schedule = afterWhole();
    schedule.hint(100_000);
    schedule.hint(101_500);
    expect(schedule.next()).toEqual({ kind: "hinted", at: 100_000 + COALESCE_MS });
    schedule.covered();
    expect(schedule.next().kind).toBe("whole");
  });

  it("leave ten seconds between them, and more after an expensive check", () => {
    const cheap = afterWhole(2);
    cheap.hint(0);
    expect(cheap.next().at).toBe(10_000);
    const dear = afterWhole(40);
    dear.hint(0);
    expect(dear.next().at).toBe(80_000);
  });

  it("are delayed after repeated corrections, and other checks do not shorten the delay", () => {
    const schedule = afterWhole();
    expect([3, 4, 5, 9].map((times) => schedule.contended(0, times) / MINUTE)).toEqual([4, 8, 16, 60]);
    schedule.ended({ kind: "hinted", at: 5 * MINUTE, ...END });
    schedule.hint(6 * MINUTE);
    expect(schedule.next()).toEqual({ kind: "whole", at: 60 * MINUTE });
  });

  it("never postpone a check of everything", () => {
    const schedule = afterWhole();
    for (let at = 0; at < 60 * MINUTE; at += 15_000) {
      schedule.hint(at);
      schedule.covered();
      schedule.ended({ kind: "hinted", at, ...END });
    }
    expect(schedule.next()).toEqual({ kind: "whole", at: 60 * MINUTE });
  });

  it("use at most half of the request budget, however many events come", () => {
    const look = fc.record({ requests: fc.integer({ min: 1, max: 200 }), pause: fc.integer({ min: 0, max: 30_000 }) });
    fc.assert(
      fc.property(
        fc.array(look, { minLength: 2, maxLength: 40 }),
        fc.integer({ min: 1, max: 60 }),
        (looks, perMinute) => {
          const schedule = new Schedule(1e12, 0);
          schedule.ended({ kind: "whole", at: 0, requests: 1, perMinute, outcome: "ended" });
          let now = 0;
          const spent: { at: number; requests: number }[] = [];
          for (const { requests, pause } of looks) {
            now += pause;
            schedule.hint(now);
            now = Math.max(now, schedule.next().at);
            schedule.covered();
            schedule.ended({ kind: "hinted", at: now, requests, perMinute, outcome: "ended" });
            spent.push({ at: now, requests });
          }
          // The time until the next check allows twice the requests of each check.
          for (const [i, { at, requests }] of spent.entries()) {
            const next = spent[i + 1];
            if (next !== undefined && ((next.at - at) / MINUTE) * perMinute < 2 * requests - 1e-6) return false;
          }
          return true;
        },
      ),
    );
  });
});

describe("--listen", () => {
  it.each([
    ["8787", "127.0.0.1", 8787],
    ["0", "127.0.0.1", 0],
    ["0.0.0.0:80", "0.0.0.0", 80],
    ["[::1]:8787", "::1", 8787],
    ["hooks.acme.example:443", "hooks.acme.example", 443],
  ])("%s is host %s, port %i", (text, host, port) => {
    expect(listenAddress(text)).toEqual({ host, port });
  });

  it.each(["", "x", "65536", ":80", "1.2.3.4:", "http://a:80", "::1:80", "[::1]", "-1", "80/x", "a b:80"])(
    "%j is refused",
    (text) => {
      expect(() => listenAddress(text)).toThrow("Expected a port");
    },
  );
});
