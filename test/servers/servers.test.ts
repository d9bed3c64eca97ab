/** Runs one fixed life with a random server. `npm run test:long servers` runs a thousand other lives. */
import { describe, expect, it } from "vitest";
import { drawServer } from "./drawn.ts";
import { live, verdictText } from "./life.ts";

const SEEDS = Array.from({ length: 1 }, (_, at) => String(at + 1));

describe("a life with a random server", () => {
  it.each(SEEDS)("ends without a violation (seed %s)", { timeout: 60_000 }, async (seed) => {
    const deviations = drawServer(seed);
    const verdict = await live(deviations, seed);
    expect(verdict.outcome, verdictText(verdict, deviations, seed)).toBe("fine");
  });
});
