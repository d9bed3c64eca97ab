import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { guardIo, runnerReadsErrors } from "../../../src/cli/guarded-io.ts";
import fc from "../../support/fc.ts";
import { fakeIo } from "../../support/io.ts";
import { hostile, liveCommands } from "../report/hostile.ts";

const GITHUB = { GITHUB_ACTIONS: "true" };
const pieces = fc.array(
  fc.oneof(hostile, fc.constantFrom("#", ":", "[", "##vso", "\n", " ", "#\u200b", ":\u0000", "\u00ad")),
  { maxLength: 12 },
);

describe("output in a log that a CI agent reads", () => {
  it.each(["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"])(
    "contains no command of the agent, whatever pieces the output arrives in: %s",
    (name) => {
      fc.assert(
        fc.property(pieces, fc.constantFrom("out" as const, "err" as const, "reveal" as const), (texts, way) => {
          const fake = fakeIo({ env: { [name]: "True" }, terminal: true });
          const io = guardIo(fake);
          for (const text of texts) io[way](text);
          io.flush();
          expect(liveCommands(fake.stdout() + fake.stderr())).toEqual([]);
        }),
      );
    },
  );

  it("is unchanged in a file or a pipe, whatever the environment contains", () => {
    const [fake, terminal] = [fakeIo(), fakeIo({ terminal: true })];
    for (const one of [fake, terminal]) guardIo(one).out("::debug::x ##[x]\n");
    expect(fake.stdout()).toBe(":\\u003adebug::x ##\\u005bx]\n");
    expect(terminal.stdout()).toBe("::debug::x ##[x]\n");
  });

  it("is exact or rejected if the output must be exact", () => {
    const [plain, ci] = [fakeIo(), fakeIo({ env: GITHUB })];
    guardIo(plain).exact("##[x]", "The state");
    expect(plain.stdout()).toBe("##[x]");
    expect(() => guardIo(ci).exact("##[x]", "The state")).toThrow("The state contains a command for the CI runner");
    guardIo(ci).exact("a::b", "The state");
    expect(ci.stdout()).toBe("a::b");
  });

  it("is unchanged if its lines are complete and contain no command", () => {
    const fake = fakeIo({ env: GITHUB });
    const io = guardIo(fake);
    for (const text of ["fe80", "::1 is up\n", `${" ".repeat(100)}a`, "::b\n", "1", ":\n:", " :\n"]) io.out(text);
    expect(fake.stdout()).toBe(`fe80::1 is up\n${" ".repeat(100)}a::b\n1:\n: :\n`);
  });
});

describe("secrets", () => {
  it("are sent to the runner for masking: each once, on its own line, on standard error only", () => {
    const fake = fakeIo({ env: GITHUB, runner: true });
    const io = guardIo(fake);
    io.redaction.learn("env.OLD", "of-old-1");
    io.err("half a line ");
    io.redaction.learn("env.PW", "s3cr3t%0A", "s3cr3t%0A", "short", "       ", 7);
    io.err("and its end\nnext: s3cr3t%0A");
    io.redaction.learn("env.KEY", "line-one\r\nline-two");
    io.out('{"of": "of-old-1"}\n');
    io.flush();
    expect(fake.stderr()).toBe(
      [
        "::add-mask::of-old-1",
        "half a line and its end",
        "::add-mask::s3cr3t%250A",
        "next: (sensitive: env.PW)",
        "::add-mask::line-one%0D%0Aline-two",
        "::add-mask::line-one",
        "::add-mask::line-two",
        "",
      ].join("\n"),
    );
    expect(fake.stdout()).toBe('{"of": "(sensitive: env.OLD)"}\n');
  });

  it("are not printed if no runner reads standard error", () => {
    const fake = fakeIo({ env: GITHUB });
    const io = guardIo(fake);
    io.redaction.learn("env.PW", "s3cr3t-value");
    io.flush();
    expect(fake.stdout() + fake.stderr()).toBe("");
  });
});

describe("detection of a runner on standard error", () => {
  const folders: string[] = [];
  afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

  /**
   * Simulates /proc: hostform (self), its parent shell (20), and the shell's parent `program` (10), which holds
   * `pipe:[1]`.
   */
  async function system(program: string, stderr: string): Promise<string> {
    const proc = await mkdtemp(path.join(tmpdir(), "hostform-proc-"));
    folders.push(proc);
    const processes = [
      ["self", "20", "node", stderr],
      ["20", "10", "/usr/bin/bash", "pipe:[1]"],
      ["10", "0", program, "pipe:[1]"],
    ] as const;
    for (const [process, parent, line, stream] of processes) {
      await mkdir(path.join(proc, process, "fd"), { recursive: true });
      await writeFile(path.join(proc, process, "status"), `Name:\tx\nPPid:\t${parent}\n`);
      await writeFile(path.join(proc, process, "cmdline"), `${line}\0spawnclient\0`);
      await symlink(stream, path.join(proc, process, "fd", "2"));
    }
    return proc;
  }

  const RUNNER = "/home/runner/bin/Runner.Worker";
  it.each([
    ["its own pipe", GITHUB, RUNNER, "pipe:[1]", true],
    ["another pipe: 2>&1 | tee", GITHUB, RUNNER, "pipe:[2]", false],
    ["a file: 2> log", GITHUB, RUNNER, "/tmp/log", false],
    ["a file that the runner has open", GITHUB, RUNNER, "/dev/null", false],
    ["no runner above: a container", GITHUB, "/sbin/init", "pipe:[1]", false],
    ["not GitHub", {}, RUNNER, "pipe:[1]", false],
    ["a container, and somebody says that it does", { ...GITHUB, HOSTFORM_ADD_MASK: "1" }, "init", "pipe:[2]", true],
    ["somebody says that it does not", { ...GITHUB, HOSTFORM_ADD_MASK: "0" }, RUNNER, "pipe:[1]", false],
    ["somebody says so elsewhere", { HOSTFORM_ADD_MASK: "1" }, RUNNER, "pipe:[1]", false],
  ])("%s", async (_, env, program, stderr, reads) => {
    expect(runnerReadsErrors(env, await system(program, stderr))).toBe(reads);
  });

  it("finds no runner on a system that does not describe its processes", () => {
    expect(runnerReadsErrors(GITHUB, "/nowhere/proc")).toBe(false);
  });
});
