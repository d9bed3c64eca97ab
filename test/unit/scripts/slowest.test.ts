import { describe, expect, it } from "vitest";
import { LONG_RUN_MS, slowestFiles } from "../../../scripts/slowest.ts";

const report = {
  testResults: Array.from({ length: 12 }, (_, at) => ({
    name: `/home/nino/hostform/test/${at}.test.ts`,
    startTime: 5_000,
    endTime: 5_000 + at * 1_500,
  })),
};

describe("a run of all tests", () => {
  it("that takes longer than six minutes names its ten slowest files, the slowest first", () => {
    const [heading, ...files] = slowestFiles(report, LONG_RUN_MS + 1_000, "/home/nino/hostform");
    expect(heading).toBe("The tests took 361 s, more than 360 s. The slowest files:");
    expect(files).toHaveLength(10);
    expect(files.at(0)).toBe("   16.5 s  test/11.test.ts");
    expect(files.at(-1)).toBe("    3.0 s  test/2.test.ts");
  });

  it("that takes six minutes or less names none", () => {
    expect(slowestFiles(report, LONG_RUN_MS, "/home/nino/hostform")).toEqual([]);
  });
});
