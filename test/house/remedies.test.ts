/** Parses every snippet of a remedy in the sources with the parser of its language. */

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { buildProgram } from "../../src/cli/program.ts";
import type { GuardedIo } from "../../src/cli/terminal.ts";
import { kinds } from "../../src/core/kinds/index.ts";
import { guardSettings, providerSettings } from "../../src/fronts/yaml/index.ts";
import { itWith } from "../support/needing.ts";
import { QUERY, TERRAFORM } from "../support/programs.ts";

const src = path.resolve(import.meta.dirname, "../../src");

interface Snippet {
  readonly file: string;
  readonly text: string;
}

/** Returns the texts between backticks in the strings of a source file. Each parameter is replaced with `X`. */
function snippetsOf(file: string): Snippet[] {
  const source = readFileSync(path.join(src, file), "utf8").replace(/^\s*(?:\/\*\*?|\*|\/\/).*$/gm, "");
  const inTemplates = [...source.matchAll(/\\`((?:[^`\\]|\\[^`])+)\\`/g)].map(([, text = ""]) => text);
  const inStrings = [...source.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/g)].flatMap(([, double, single]) =>
    [...(double ?? single ?? "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text),
  );
  return [...inTemplates, ...inStrings].map((text) => ({
    file,
    text: text
      .replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "X")
      .replace(/\{[a-z]\w*\}/g, "X")
      .replace(/\\"/g, '"')
      .replace(/\\n/g, "\n"),
  }));
}

const files = globSync("**/*.ts", { cwd: src }).filter(
  (file) => !/^(?:sandbox|constructs)\/|\.gen\.ts$/.test(file) && file !== "cli/completion.ts",
);
const all = files.flatMap(snippetsOf);
/** Returns false for an incomplete snippet. The scan cuts a string at the quotes of an inner string. */
const isWhole = ({ text }: Snippet) => text.split("{").length === text.split("}").length;
/**
 * Returns true for snippets for Terraform's users. Users of the command line also read the texts of `export` and of
 * the launcher.
 */
const ofHcl = ({ file }: Snippet) => /^fronts\/terraform\/(?!export\/|package\.ts)/.test(file);

describe("a command in a remedy", () => {
  const program = buildProgram({ columns: undefined } as GuardedIo);
  const commands = all.filter(({ text }) => /^hostform [a-z]/.test(text));

  /** Returns the command that the words name, and the remaining words. */
  function find(words: readonly string[]): { command: Command; rest: readonly string[] } {
    let command: Command = program;
    let rest = words;
    for (;;) {
      const [next] = rest;
      const found = command.commands.find((one) => one.name() === next);
      if (found === undefined) return { command, rest };
      command = found;
      rest = rest.slice(1);
    }
  }

  it("is found by the scan", () => expect(commands.length).toBeGreaterThan(40));

  it.each(commands)("$file: $text", ({ text }) => {
    const words = (text.match(/'[^']*'|\S+/g) ?? []).slice(1);
    const { command, rest } = find(words);
    expect(command, "a command that there is").not.toBe(program);
    const known = [...command.options, ...program.options].flatMap(({ short, long }) => [short, long]);
    const options = rest.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
  });

  it("that consists of options names options of some command", () => {
    const every = (of: Command): string[] => [
      ...of.options.flatMap(({ short, long }) => [short ?? "", long ?? ""]),
      ...of.commands.flatMap(every),
    ];
    const known = new Set([...every(program), "--help", "-h", "-V", "--version", "--global"]);
    const alone = all.filter((one) => /^--[a-z]/.test(one.text) && !ofHcl(one));
    expect(alone.length).toBeGreaterThan(5);
    expect(alone.filter(({ text }) => !known.has(text.split(/[ =]/)[0] ?? ""))).toEqual([]);
  });
});

/** Commands that older engines lack. */
const NEWER = ["query"];

describe("a command for Terraform's users", () => {
  // Terraform never shows the output of the provider's executable when a user starts it by hand.
  const own = all.filter((one) => ofHcl(one) && one.file !== "fronts/terraform/main.ts");
  const commands = own.filter(({ text }) => /^terraform [a-z]/.test(text));

  it("is found by the scan", () => expect(commands.length).toBeGreaterThan(15));

  it("is a hostform command only for the sandbox and for pending creates", () => {
    expect(own.filter(({ text }) => /^(?:hostform (?!sandbox|resolve)|--(?!adopt|absent))/.test(text))).toEqual([]);
  });

  itWith(TERRAFORM)("is a command with options that Terraform has", () => {
    const isNew = QUERY.path !== undefined;
    const helps = new Map<string, string>();
    const helpOf = (words: readonly string[]): string => {
      const key = words.join(" ");
      const known = helps.get(key);
      if (known !== undefined) return known;
      const { stdout, status } = spawnSync("terraform", [...words, "-help"], { encoding: "utf8" });
      const help = status === 0 && stdout.startsWith(`Usage: terraform [global options] ${key}`) ? stdout : "";
      helps.set(key, help);
      return help;
    };
    const wrong = commands.filter(({ text }) => {
      const [, first = "", second = "", ...rest] = text.match(/'[^']*'|\S+/g) ?? [];
      if (!isNew && NEWER.includes(first)) return false;
      const words = first === "state" ? [first, second] : [first];
      const options = [second, ...rest].filter((word) => word.startsWith("-")).map((word) => word.split("=")[0] ?? "");
      // Only the help of "plan" lists the options of a plan.
      const help = helpOf(words) + (first === "apply" ? helpOf(["plan"]) : "");
      return helpOf(words) === "" || options.some((option) => !help.includes(` ${option}`));
    });
    expect(wrong).toEqual([]);
  });
});

describe("YAML in remedies", () => {
  const yaml = all.filter((one) => /^[a-z_]+: \S/.test(one.text) && !ofHcl(one));
  const names = new Set([
    ...[...kinds.values()].flatMap(({ section, attributes }) => [section, ...Object.keys(attributes.shape)]),
    ...Object.keys(providerSettings.shape),
    ...Object.keys(guardSettings.shape),
    ...[
      "required_version",
      "variables",
      "state",
      "without_lock",
      "outside_project",
      "project",
      "providers",
      "provider",
      "guards",
      "outputs",
      "backend",
      "import",
      "include",
      "destroy",
      "sensitive",
      "depends_on",
      "client",
      "template",
      "with",
      "replace",
      "moved",
      "removed",
    ],
  ]);

  it("is found by the scan", () => expect(yaml.length).toBeGreaterThan(8));

  it.each(yaml)("$file: $text", ({ text }) => {
    const document = parseDocument(text);
    expect(document.errors).toEqual([]);
    expect(Object.keys(document.toJS()).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe("HCL in remedies", () => {
  const hcl = all.filter(
    (one) =>
      ofHcl(one) &&
      isWhole(one) &&
      /^(?:[a-z_]+ = \S|(?:import|moved|removed|provider|resource|data|variable)\b.*\{)/.test(one.text),
  );

  it("is found by the scan", () => expect(hcl.length).toBeGreaterThan(5));

  it.each(hcl)("$file: $text has at most one argument in a block of one line", ({ text }) => {
    // `block { a = 1, b = 2 }` is invalid: commas are allowed only in objects, which follow an equals sign.
    for (const line of text.split("\n"))
      expect(line).not.toMatch(/^\s*[a-z_]+(?: "[^"]*")* \{[^{}]*=[^{}]*[,=][^{}]*=/);
  });

  itWith(TERRAFORM)("is HCL to Terraform itself", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "hostform-remedies-"));
    try {
      for (const [index, { text }] of hcl.entries()) writeFileSync(path.join(folder, `s${index}.tf`), `${text}\n`);
      const { stderr, status } = spawnSync("terraform", ["fmt", "-no-color", "-write=false", "-list=false", folder], {
        encoding: "utf8",
      });
      expect(stderr.match(/^Error: .*(?:\n.*){4}/gm) ?? []).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
