import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { describeWith, itWith } from "../../support/needing.ts";
import { BASH, FISH, ZSH } from "../../support/programs.ts";
import { runIn } from "./harness.ts";

const scriptOf = async (shell: string) => (await runIn(temporaryFolder(), ["completion", shell])).stdout;

describe("completion", () => {
  it.each(["bash", "zsh", "fish", "powershell"])("%s: knows commands, parts, options and choices", async (shell) => {
    const script = await scriptOf(shell);
    for (const word of ["force-unlock", "state list", "auto-approve", "detailed-exitcode", "viewer"]) {
      expect(script).toContain(word);
    }
  });

  // In a file: fish refuses to read a script from the socket that a child's standard input is.
  for (const [program, flag] of [
    [BASH, "-n"],
    [ZSH, "-n"],
    [FISH, "--no-execute"],
  ] as const) {
    const shell = program.name;
    itWith(program)(`${shell}: the script parses`, async () => {
      const file = path.join(temporaryFolder(), `completion.${shell}`);
      await writeFile(file, await scriptOf(shell));
      expect(spawnSync(shell, [flag, file], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
      await writeFile(file, "if true; (\n");
      expect(spawnSync(shell, [flag, file]).status, "the check itself works").not.toBe(0);
    });
  }

  it("refuses another shell", async () => {
    expect((await runIn(temporaryFolder(), ["completion", "tcsh"])).code).toBe(1);
  });

  describeWith(BASH)("in bash", () => {
    const HARMFUL = 'hosting_grant.www["$(touch harmed)`touch harmed`@x.example"]';

    /** What bash offers for the last of these words, with a `hostform` that prints these addresses. */
    async function offered(words: readonly string[], addresses: readonly string[] = [], kind = "addresses") {
      const dir = temporaryFolder();
      await mkdir(path.join(dir, "bin"));
      const listing = addresses.map((address) => `${address}\n`).join("");
      await writeFile(path.join(dir, "addresses"), listing);
      const fake = path.join(dir, "bin/hostform");
      await writeFile(fake, `#!/bin/sh\n[ "$*" = "state list --quiet --complete ${kind}" ] && cat ${dir}/addresses\n`, {
        mode: 0o755,
      });
      const given = words.map((word) => `'${word}'`).join(" ");
      const input = `${await scriptOf("bash")}
COMP_WORDS=(hostform ${given}); COMP_CWORD=${words.length}; _hostform; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", {
        input,
        cwd: dir,
        env: { PATH: `${path.join(dir, "bin")}:${process.env.PATH}` },
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      expect(spawnSync("ls", [dir], { encoding: "utf8" }).stdout, "nothing in an address is run").not.toContain(
        "harmed",
      );
      return stdout.split("\n").filter((line) => line !== "");
    }

    it.each([
      ["commands", ["pla"], ["plan", "plans"]],
      ["parts of a command", ["state", "p"], ["pull", "push"]],
      ["options", ["apply", "--auto"], ["--auto-approve"]],
      ["what follows an option with a value", ["-C", "state", "pla"], ["plan", "plans"]],
      ["choices of an option", ["sandbox", "--token", "v"], ["viewer"]],
      ["choices of an argument", ["completion", "f"], ["fish"]],
      ["the formats of a plan", ["plan", "--format", "h"], ["html"]],
      ["the formats of an export", ["export", "--format", ""], ["hcl", "tf-json"]],
      ["files", ["state", "push", "addr"], ["addresses"]],
      ["folders", ["-C", "b"], ["bin"]],
    ])("offers %s", async (_, words, expected) => {
      expect(await offered(words)).toEqual(expected);
    });

    it.each([
      ["targets", ["plan", "--target", "client:"], ["hosting_service.www", "client:acme"], ["client:acme"]],
      ["targets", ["state", "list", "client:"], ["client:acme"], ["client:acme"]],
      ["clients", ["adopt", "--client", "a"], ["acme", "beta"], ["acme"]],
      ["domains", ["adopt", "--select", "www"], ["www.acme.example"], ["www.acme.example"]],
      ["domains", ["domains", "check", "www"], ["www.acme.example"], ["www.acme.example"]],
    ])("offers %s of the state: %j", async (kind, words, recorded, expected) => {
      expect(await offered(words, recorded, kind)).toEqual(expected);
    });

    it("offers addresses from the state, quoted, without running what is in them", async () => {
      const addresses = ["hosting_service.www", HARMFUL];
      expect(await offered(["sso", "hosting_s"], addresses)).toEqual(["hosting_service.www"]);
      const [grant] = await offered(["state", "rm", "hosting_g"], addresses);
      expect(await offered(["state", "rm", "hosting_grant.www\\["], addresses), "quoted as bash has it").toEqual([
        grant,
      ]);
      expect(spawnSync("bash", ["-c", `printf %s ${grant}`], { encoding: "utf8" }).stdout).toBe(HARMFUL);
    });
  });
});
