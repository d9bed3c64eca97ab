import { describe, expect, test } from "vitest";
import { BackgroundFaults, backgroundFaultOf } from "../../../src/sandbox/faults.ts";
import { parseProfile } from "../../../src/sandbox/index.ts";
import { fc } from "../../support/fc.ts";
import { START, start } from "./harness.ts";

const flaky = (seed: string): BackgroundFaults => new BackgroundFaults(seed, parseProfile("flaky"));

describe("weather=flaky", () => {
  test("the fault of a request follows from the seed and its number; most requests have none, and every kind of fault occurs", () => {
    const count = (seed: string): Map<string | undefined, number> => {
      const met = new Map<string | undefined, number>();
      for (let number = 1; number <= 2_000; number += 1) {
        const kind = backgroundFaultOf(seed, number);
        expect(backgroundFaultOf(seed, number)).toBe(kind);
        met.set(kind, (met.get(kind) ?? 0) + 1);
      }
      return met;
    };
    const met = count("one");
    expect(met).not.toEqual(count("another"));
    for (const kind of ["failing", "unavailable", "refused", "cut", "lost", "slow"]) {
      expect((met.get(kind) ?? 0) / 2_000, kind).toBeGreaterThan(0.01);
      expect((met.get(kind) ?? 0) / 2_000, kind).toBeLessThan(0.07);
    }
    expect((met.get(undefined) ?? 0) / 2_000).toBeGreaterThan(0.75);
  });

  test("a repeated request succeeds at the third attempt at the latest", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 400 }), (seed, requests) => {
        const background = flaky(seed);
        const inARow = new Map<string, number>();
        for (const request of requests) {
          const strike = background.inject(request, START);
          const failed = strike !== undefined && strike.delayMs === undefined;
          const failures = failed ? (inARow.get(request) ?? 0) + 1 : 0;
          if (strike?.delayMs === undefined) inARow.set(request, failures);
          expect(failures).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 50 },
    );
  });

  test("the value calm injects nothing; after a clear the same faults occur again", () => {
    const calm = new BackgroundFaults("seed", parseProfile(""));
    const injected = (faults: BackgroundFaults) =>
      Array.from({ length: 200 }, (_, at) => faults.inject(String(at), START));
    expect(injected(calm).filter((strike) => strike !== undefined)).toEqual([]);
    const background = flaky("seed");
    const first = injected(background);
    expect(first.filter((strike) => strike !== undefined).length).toBeGreaterThan(10);
    background.clear();
    expect(injected(background)).toEqual(first);
  });

  test("over HTTP: failures, rejections with Retry-After and cut connections, in the profile's formats; the log names them", async () => {
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      slept += ms;
    };
    const { send, sandbox } = await start({ profile: "flaky,error_bodies=html,retry_after=seconds", sleep });
    const seen: Record<string, number> = {};
    for (let at = 0; at < 150; at += 1) {
      const answer = await send("GET", `/plans?page=${at + 1}`).catch(() => "cut" as const);
      const name = answer === "cut" ? "cut" : String(answer.status);
      seen[name] = (seen[name] ?? 0) + 1;
      if (answer === "cut") continue;
      if (answer.status >= 500) expect(answer.headers.get("content-type")).toContain("text/html");
      if (answer.status === 429) {
        expect(answer.body).toEqual({ message: "Too Many Attempts." });
        expect(answer.headers.get("retry-after")).toBe("2");
      }
    }
    expect(Object.keys(seen).sort()).toEqual(["200", "429", "500", "503", "cut"]);
    expect(slept).toBeGreaterThan(0);
    const injected = sandbox.control.requests().filter(({ fault }) => fault === 0);
    expect(injected.length).toBeGreaterThanOrEqual(150 - (seen["200"] ?? 0));
  });

  test("a requested fault has priority", async () => {
    const { send, sandbox } = await start({ profile: "flaky" });
    sandbox.control.addFault({ path: "/plans", phase: "before", status: 418, times: 40 });
    for (let at = 0; at < 40; at += 1) expect((await send("GET", "/plans")).status).toBe(418);
  });
});
