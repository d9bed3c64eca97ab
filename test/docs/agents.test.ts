/** Files for agents: `llms.txt`, `AGENTS.md` and the skill name only pages, commands and options that exist. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { llmsText } from "../../scripts/generate/llms.ts";
import type { CliCommand } from "../../src/cli/command.ts";
import { buildProgram } from "../../src/cli/program.ts";
import type { GuardedIo } from "../../src/cli/terminal.ts";
import { root } from "./markdown.ts";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const skill = read("integrations/agent/SKILL.md");
const program = buildProgram({ columns: undefined } as GuardedIo);

/** Returns the command of a text such as `edit suspend --dry-run`, and the words after its name. */
function commandOf(words: readonly string[], at: CliCommand = program): readonly [CliCommand, readonly string[]] {
  const [word = "", ...rest] = words;
  const found = (at.commands as CliCommand[]).find((one) => one.name() === word.split("|")[0]);
  return found === undefined ? [at, words] : commandOf(rest, found);
}

describe("files for agents", () => {
  it("llms.txt has each link of the table in docs/README.md, and each linked file exists", () => {
    const text = read("llms.txt");
    expect(text === llmsText(read("docs/README.md")), "run `npm run generate`").toBe(true);
    const files = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(40);
    const descriptions = [...text.matchAll(/^- \[.+\): (.+)$/gm)].map(([, description]) => description);
    expect(new Set(descriptions).size, "each description is of one link").toBe(files.length - 1);
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  it("the skill has a name and a description", () => {
    expect(/^---\nname: ([a-z-]+)\ndescription: (.+)\n---\n/.exec(skill)?.slice(1)).toEqual([
      "hostform",
      expect.stringMatching(/^.{40,500}$/),
    ]);
  });

  it.each([
    ...["adopt", "import", "password", "state mv", "state rm", "project split", "project join", "fleet run"],
    ...["--reorder", "--replace"],
  ])("the skill forbids %s without a person", (text) => {
    expect(skill.split("## Never")[1]).toContain(`\`${text}\``);
  });

  it("the skill names commands and options that exist", () => {
    const quoted = [...skill.matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) =>
      text.replace(/^hostform /, "").split(" "),
    );
    const lines = quoted.filter(([word = ""]) => /^[a-z-]+$/.test(word) && commandOf([word])[0] !== program);
    const options = (command: CliCommand) => [...command.options, ...program.options].map(({ long }) => long);
    const unknown = lines.flatMap((line) => {
      const [command, rest] = commandOf(line);
      return rest.filter((word) => word.startsWith("--") && word !== "--" && !options(command).includes(word));
    });
    expect(lines.length).toBeGreaterThan(12);
    expect(unknown).toEqual([]);
    const every = (command: CliCommand): (string | undefined)[] => [
      ...options(command),
      ...(command.commands as CliCommand[]).flatMap(every),
    ];
    const alone = quoted.flatMap(([word = "", ...rest]) => (rest.length === 0 && word.startsWith("--") ? [word] : []));
    expect(alone.filter((option) => !every(program).includes(option))).toEqual([]);
    const verbs = /hostform edit ([a-z|-]+)/.exec(skill)?.[1]?.split("|") ?? [];
    expect(verbs.sort()).toEqual(
      commandOf(["edit"])[0]
        .commands.map((one) => one.name())
        .sort(),
    );
  });
});
