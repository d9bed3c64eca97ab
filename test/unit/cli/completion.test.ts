import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { describeWith } from "../../support/needing.ts";
import { BASH, FISH, ZSH } from "../../support/programs.ts";
import { runIn } from "./harness.ts";

const HARMFUL = 'hosting_grant.www["$(touch harmed)`touch harmed`@x.example"]';

/** Creates a folder whose state contains these addresses. */
async function withState(...addresses: readonly string[]): Promise<string> {
  const dir = temporaryFolder();
  const resources = addresses.map((address) => {
    const [, type, name, , key] = /^(\w+)\.([\w-]+)(\["(.*)"\])?$/.exec(address) ?? [];
    const attributes = { id: "1", domain: `${name}.acme.example`, client: "acme" };
    const mark = Buffer.from(JSON.stringify({ client: "acme" })).toString("base64");
    const instance = { schema_version: 0, attributes, private: mark, ...(key !== undefined && { index_key: key }) };
    return {
      mode: "managed",
      type,
      name,
      provider: 'provider["registry.terraform.io/hostform/hosting"]',
      instances: [instance],
    };
  });
  const state = { version: 4, terraform_version: "1.9.0", serial: 1, lineage: "a", outputs: {}, resources };
  await writeFile(path.join(dir, "hosting.tfstate"), JSON.stringify(state));
  return dir;
}

/** Returns the candidates of `__complete`, without their descriptions. */
async function candidates(dir: string, words: readonly string[]): Promise<string[]> {
  const { stdout, stderr, code } = await runIn(dir, ["__complete", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
}

describe("__complete", () => {
  it.each([
    ["commands of the program", ["pla"], ["plan", "plans", "force-unlock"]],
    ["commands of a group", ["state", "p"], ["pull", "push"]],
    ["commands after an option with a value", ["-C", "state", "pla"], ["plan", "plans"]],
    ["commands for help", ["help", "pla"], ["plan"]],
    ["options of a command", ["apply", "--auto"], ["--auto-approve", "--chdir", "-C"]],
    ["options of a command without arguments", ["plan", ""], ["--detailed-exitcode"]],
    ["choices of an option", ["sandbox", "--token", "v"], ["viewer"]],
    ["choices of an assigned option", ["plan", "--format=h"], ["--format=html"]],
    ["choices of an argument", ["completion", "f"], ["fish"]],
    ["files for an argument", ["state", "push", ""], [":files"]],
    ["files for an option", ["plan", "--out", ""], [":files"]],
    ["folders for an option", ["-C", "b"], [":folders"]],
  ])("prints %s", async (_, words, expected) => {
    expect(await candidates(temporaryFolder(), words)).toEqual(expect.arrayContaining(expected));
  });

  it.each([
    ["addresses", ["sso", "hosting_s"], ["hosting_service.shop", "hosting_service.www"]],
    ["addresses and clients", ["plan", "--target", ""], ["client:acme", "hosting_service.shop", "hosting_service.www"]],
    ["clients", ["adopt", "--client", ""], ["acme"]],
    ["domains", ["adopt", "--select", ""], ["shop.acme.example", "www.acme.example"]],
    ["nothing of another folder", ["-C", "elsewhere", "sso", ""], []],
    ["nothing after --", ["sandbox", "--", ""], []],
  ])("prints %s of the state", async (_, words, expected) => {
    expect(await candidates(await withState("hosting_service.www", "hosting_service.shop"), words)).toEqual(expected);
  });

  it("prints nothing if the state is unreadable", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.tfstate"), "{");
    expect(await candidates(dir, ["sso", ""])).toEqual([]);
  });
});

describe("completion", () => {
  it("rejects an unknown shell", async () => {
    expect(await runIn(temporaryFolder(), ["completion", "tcsh"])).toMatchObject({ code: 1 });
  });

  /** Runs shell lines after the completion script. A fake `hostform` prints `answer` and its arguments. */
  async function inShell(shell: string, answer: string, lines: string): Promise<string[]> {
    const dir = temporaryFolder();
    await mkdir(path.join(dir, "bin"));
    await writeFile(path.join(dir, "answer"), answer);
    const fake = `#!/bin/sh\necho "$*" > ${dir}/given\ncat ${dir}/answer\n`;
    await writeFile(path.join(dir, "bin/hostform"), fake, { mode: 0o755 });
    const { stdout: script } = await runIn(dir, ["completion", shell]);
    // The script is in a file, because fish does not read a script from a child's standard input, which is a socket.
    const file = path.join(dir, "script");
    await writeFile(file, shell === "zsh" ? `compdef() { }\n${script}\n${lines}\n` : `${script}\n${lines}\n`);
    const { stdout, stderr } = spawnSync(shell, [file], {
      cwd: dir,
      env: { PATH: `${path.join(dir, "bin")}:${process.env.PATH}`, HOME: dir },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(readdirSync(dir), "nothing in an address is run").not.toContain("harmed");
    return [readFileSync(path.join(dir, "given"), "utf8").trim(), ...stdout.split("\n").filter((word) => word !== "")];
  }

  const RECORDED = `hosting_service.www\n${HARMFUL}\n`;
  const COMMANDS = "plan\tshow what would change\nplans\tlist plans\nstate\tshow the state\n";

  describeWith(BASH)("in bash", () => {
    const offered = (answer: string, ...words: readonly string[]) => {
      const typed = words.map((word) => `'${word}'`).join(" ");
      const line = `COMP_WORDS=(hostform ${typed}); COMP_CWORD=${words.length}; _hostform; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return inShell("bash", answer, line);
    };

    it.each([
      ["commands that begin with the word", COMMANDS, ["-C", "x", "pla"], ["plan", "plans"]],
      ["addresses", RECORDED, ["sso", "hosting_s"], ["hosting_service.www"]],
      ["files", ":files\n", ["state", "push", "ans"], ["answer"]],
      ["folders", ":folders\n", ["-C", "b"], ["bin"]],
    ])("offers %s", async (_, answer, words, expected) => {
      expect(await offered(answer, ...words)).toEqual([`__complete ${words.join(" ")}`, ...expected]);
    });

    it("quotes an address, and executes nothing in it", async () => {
      const [, grant = ""] = await offered(RECORDED, "state", "rm", "hosting_g");
      expect(await offered(RECORDED, "state", "rm", "hosting_grant.www\\["), "quoted as bash has it").toContain(grant);
      expect(spawnSync("bash", ["-c", `printf %s ${grant}`], { encoding: "utf8" }).stdout).toBe(HARMFUL);
    });
  });

  describeWith(FISH)("in fish", () => {
    it.each([
      ["commands", COMMANDS, "pla", ["plan\tshow what would change", "plans\tlist plans"]],
      ["addresses", RECORDED, "state rm hosting_", [HARMFUL, "hosting_service.www"]],
      ["files", ":files\n", "state push ans", ["answer"]],
      ["folders", ":folders\n", "-C b", ["bin/\tDirectory"]],
    ])("offers %s", async (_, answer, words, expected) => {
      const offered = await inShell("fish", answer, `complete -C 'hostform ${words}'`);
      expect(offered).toEqual([`__complete ${words}`, ...expected]);
    });
  });

  describeWith(ZSH)("in zsh", () => {
    it.each([
      ["commands", COMMANDS, "state ", ["plan:show what would change", "plans:list plans", "state:show the state"]],
      ["addresses", RECORDED, "state rm ", ["hosting_service.www", HARMFUL]],
      ["files", ":files\n", "state push ", ["files"]],
      ["folders", ":folders\n", "-C ", ["files -/"]],
    ])("passes %s to its functions of completion", async (_, answer, words, expected) => {
      const functions = `_files() { print -r -- files $@ }; _describe() { print -rl -- "\${(@P)2}" }`;
      const line = `words=(hostform ${words} ''); CURRENT=\${#words}; _hostform`;
      expect(await inShell("zsh", answer, `${functions}\n${line}`)).toEqual([
        `__complete ${words.trim()}`,
        ...expected,
      ]);
    });
  });

  it("powershell asks the program", async () => {
    expect((await runIn(temporaryFolder(), ["completion", "powershell"])).stdout).toContain(
      "hostform __complete @typed",
    );
  });
});
