import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Report, summary } from "../../../scripts/test.ts";
import { CHROMIUM, POSTGRES, PROGRAMS, type Program, TERRAFORM, verdictOn } from "../../support/programs.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const without = (program: Program): Program => ({ ...program, path: undefined });
const present = (program: Program): Program => ({ ...program, path: "/usr/bin/it" });

describe("a test that needs a program", () => {
  it("runs if its programs are installed, in CI and elsewhere", () => {
    for (const CI of ["true", undefined])
      expect(verdictOn([present(TERRAFORM), present(POSTGRES)], { CI })).toEqual({ do: "run" });
  });

  it.each(PROGRAMS.filter(({ debian }) => debian !== undefined))("fails in CI without $name", (program) => {
    const verdict = verdictOn([present(TERRAFORM), without(program)], { CI: "true" });
    expect(verdict).toMatchObject({ do: "fail", message: expect.stringContaining(`${program.name} is missing`) });
    expect(verdict).toMatchObject({ message: expect.stringContaining(program.debian ?? "") });
  });

  it("is skipped without Terraform, even in CI, and elsewhere without any program", () => {
    expect(verdictOn([without(TERRAFORM)], { CI: "true" })).toMatchObject({ do: "skip", program: "Terraform" });
    expect(verdictOn([without(CHROMIUM)], {})).toMatchObject({ do: "skip", program: "Chromium" });
  });

  it("fails in CI if Terraform and another program are missing, because CI can install the other one", () => {
    expect(verdictOn([without(TERRAFORM), without(POSTGRES)], { CI: "true" }).do).toBe("fail");
  });
});

describe("the end of a run", () => {
  const file = (name: string, seconds: number, ...tests: readonly [status: string, missing?: string][]) => ({
    ...{ name: path.join(root, "test", name), startTime: 5_000, endTime: 5_000 + seconds * 1_000 },
    assertionResults: tests.map(([status, missing]) => ({ status, meta: missing === undefined ? {} : { missing } })),
  });
  const report = (...testResults: Report["testResults"]): Report => ({ testResults });

  it("counts the skipped tests of each missing program in one line with the command that installs it", () => {
    const some = report(
      file("a", 1, ["passed"], ["skipped", "Terraform"], ["skipped"]),
      file("b", 1, ["skipped", "Terraform"], ["skipped", "Chromium"]),
    );
    expect(summary(some, 0)).toEqual([
      `SKIPPED: 2 tests did not run, because Terraform is missing. ${TERRAFORM.get}`,
      `SKIPPED: 1 test did not run, because Chromium is missing. ${CHROMIUM.get}`,
    ]);
    expect(summary(report(file("a", 1, ["passed"], ["skipped"])), 360_000)).toEqual([]);
  });

  it("names the ten slowest files of a run that takes longer than six minutes", () => {
    const files = Array.from({ length: 12 }, (_, at) => file(`${at}.test.ts`, at * 1.5));
    const [heading, ...lines] = summary(report(...files), 361_000);
    expect(heading).toBe("The tests took 361 s. The slowest files:");
    expect(lines).toHaveLength(10);
    expect([lines.at(0), lines.at(-1)]).toEqual(["   16.5 s  test/11.test.ts", "    3.0 s  test/2.test.ts"]);
  });

  it("in CI contains that line for Terraform, and a failure for a program that CI can install", {
    timeout: 60_000,
  }, () => {
    const files = ["test/unit/core/record/terraform.test.ts", "test/unit/scripts/man.test.ts"];
    const env = { ...process.env, PATH: "/nowhere", CI: "true" };
    const ended = spawnSync(process.execPath, ["scripts/test.ts", ...files], { env, encoding: "utf8" });
    expect(ended.stdout).toMatch(/^SKIPPED: [1-9]\d* tests? did not run, because Terraform is missing\./m);
    expect(ended.stdout.match(/^SKIPPED/gm)).toHaveLength(1);
    expect(ended.stdout + ended.stderr).toContain("mandoc is missing, and CI skips no test for it");
    expect(ended.status).toBe(1);
  });
});
