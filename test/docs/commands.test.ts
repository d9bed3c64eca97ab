import { readFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import type { GuardedIo } from "../../src/cli/terminal.ts";
import { guardSettings, providerSettings } from "../../src/fronts/yaml/index.ts";
import { PROFILE_SWITCHES } from "../../src/sandbox/index.ts";
import { root } from "./markdown.ts";

const page = (name: string) => readFileSync(path.join(root, "docs", name), "utf8");
const text = page("commands.md");

const program = buildProgram({ columns: undefined } as GuardedIo);

/** Every command with its full name, `state list`; groups of commands are left out. */
function commands(of: Command, names: readonly string[] = []): { name: string; command: Command }[] {
  return of.commands.flatMap((command) => {
    const path = [...names, command.name()];
    return command.commands.length > 0 ? commands(command, path) : [{ name: path.join(" "), command }];
  });
}

const all = commands(program);

describe("docs/commands.md", () => {
  it("finds the commands", () => {
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["plan", "state list", "domains check"]));
  });

  it.each(all)("mentions hostform $name and its options", ({ name, command }) => {
    expect(text).toMatch(new RegExp(`hostform (?:.*-- hostform )?${name}\\b`));
    const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? "");
    expect(options.filter((option) => !new RegExp(`${option}(?![\\w-])`).test(text))).toEqual([]);
  });

  it("mentions the options of every command", () => {
    const names = program.options.flatMap(({ short, long }) => [short, long].filter((name) => name !== undefined));
    expect(names).toContain("--lock-timeout");
    expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(text))).toEqual([]);
  });
});

describe("docs/sandbox.md", () => {
  const sandbox = page("sandbox.md");

  it("mentions every switch of the profile with its values", () => {
    const rows = Object.entries(PROFILE_SWITCHES).map(
      ([name, values]) => `| \`${name}\` | ${values.map((value) => `\`${value}\``).join(", ")} |`,
    );
    expect(rows.filter((row) => !sandbox.includes(row))).toEqual([]);
  });

  it("mentions every option of the command", () => {
    const options =
      all
        .find(({ name }) => name === "sandbox")
        ?.command.options.filter(({ hidden }) => !hidden)
        .map(({ long }) => long ?? "") ?? [];
    const common = program.options.map(({ long }) => long);
    expect(options.filter((option) => !common.includes(option) && !sandbox.includes(`\`${option}`))).toEqual([]);
  });
});

describe("docs/guards.md", () => {
  it("mentions every limit and every option", () => {
    const guards = page("guards.md");
    const flags = ["--max-orders", "--max-spend", "--allow-removals", "--allow-unknown-prices"];
    const names = [...Object.keys(guardSettings.shape).map((name) => `| \`${name}\` |`), ...flags];
    expect(names.filter((name) => !guards.includes(name))).toEqual([]);
  });
});

describe("docs/yaml.md", () => {
  it("mentions every setting of a provider", () => {
    const missing = Object.keys(providerSettings.shape).filter((name) => !page("yaml.md").includes(`| \`${name}\` |`));
    expect(missing).toEqual([]);
  });
});
