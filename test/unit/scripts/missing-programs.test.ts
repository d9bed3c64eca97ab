import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { installationOf, skippedLines } from "../../../scripts/missing-programs.ts";
import { CHROMIUM, POSTGRES, PROGRAMS, type Program, TERRAFORM, verdictOn } from "../../support/programs.ts";

const without = (program: Program): Program => ({ ...program, path: undefined });
const present = (program: Program): Program => ({ ...program, path: "/usr/bin/it" });
const machine = { isRoot: true, hasApt: true };

describe("a test that needs a program", () => {
  it("runs where its programs are, in CI and elsewhere", () => {
    for (const CI of ["true", undefined])
      expect(verdictOn([present(TERRAFORM), present(POSTGRES)], { CI })).toEqual({ do: "run" });
  });

  it.each(PROGRAMS.filter(({ debian }) => debian !== undefined))("fails in CI without $name", (program) => {
    const verdict = verdictOn([present(TERRAFORM), without(program)], { CI: "true" });
    expect(verdict).toMatchObject({ do: "fail", message: expect.stringContaining(`${program.name} is missing`) });
    expect(verdict).toMatchObject({ message: expect.stringContaining(program.debian ?? "") });
  });

  it("is skipped without Terraform, in CI too, and elsewhere without any program", () => {
    expect(verdictOn([without(TERRAFORM)], { CI: "true" })).toMatchObject({ do: "skip", program: "Terraform" });
    expect(verdictOn([without(CHROMIUM)], {})).toMatchObject({ do: "skip", program: "Chromium" });
  });

  it("fails in CI when Terraform and another program are missing: the other one can be installed", () => {
    expect(verdictOn([without(TERRAFORM), without(POSTGRES)], { CI: "true" }).do).toBe("fail");
  });
});

describe("the end of a run", () => {
  const test = (status: string, missing?: string) => ({ status, meta: missing === undefined ? {} : { missing } });

  it("counts the skipped tests of each missing program in one line, which says how to get the program", () => {
    const lines = skippedLines({
      testResults: [
        { assertionResults: [test("passed"), test("skipped", "Terraform"), test("skipped")] },
        { assertionResults: [test("skipped", "Terraform"), test("skipped", "Chromium")] },
      ],
    });
    expect(lines).toEqual([
      `SKIPPED: 2 tests did not run, because Terraform is missing. ${TERRAFORM.get}`,
      `SKIPPED: 1 test did not run, because Chromium is missing. ${CHROMIUM.get}`,
    ]);
  });

  it("has no line when all programs are there", () => {
    expect(skippedLines({ testResults: [{ assertionResults: [test("passed"), test("skipped")] }] })).toEqual([]);
  });

  it("in CI has that line for Terraform, and a failure for a program that CI can install", { timeout: 60_000 }, () => {
    const files = ["test/unit/core/record/terraform.test.ts", "test/unit/scripts/man.test.ts"];
    const env = { ...process.env, PATH: "/nowhere", CI: "true" };
    const ended = spawnSync(process.execPath, ["scripts/test.ts", ...files], { env, encoding: "utf8" });
    expect(ended.stdout).toMatch(/^SKIPPED: [1-9]\d* tests? did not run, because Terraform is missing\./m);
    expect(ended.stdout.match(/^SKIPPED/gm)).toHaveLength(1);
    expect(ended.stdout + ended.stderr).toContain("mandoc is missing, and CI skips no test for it");
    expect(ended.status).toBe(1);
  });
});

describe("the programs of a CI machine", () => {
  it("come from Debian's packages, only the missing ones; Terraform does not", () => {
    const programs = [without(TERRAFORM), without(CHROMIUM), present(POSTGRES)];
    expect(installationOf(programs, machine)).toEqual({
      commands: [
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "chromium"],
      ],
    });
    expect(installationOf([without(TERRAFORM), present(CHROMIUM)], machine)).toEqual({ commands: [] });
  });

  it.each([
    [{ isRoot: true, hasApt: false }, "this machine has no apt-get. Install Chromium"],
    [
      { isRoot: false, hasApt: true },
      "apt-get needs root. Run `sudo apt-get install -y --no-install-recommends chromium`",
    ],
  ])("are refused with the reason on a machine that cannot install them: %o", (where, says) => {
    expect(installationOf([without(CHROMIUM)], where)).toEqual({ refusal: expect.stringContaining(says) });
  });
});
