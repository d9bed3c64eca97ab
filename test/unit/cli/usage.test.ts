import { describe, expect, it } from "vitest";
import { inOurSpelling } from "../../../src/cli/options.ts";
import { buildProgram } from "../../../src/cli/program.ts";
import type { GuardedIo } from "../../../src/cli/terminal.ts";
import { runIn } from "./harness.ts";

const run = (...args: readonly string[]) => runIn("/nowhere", args);
const flat = (text: string) => text.replaceAll(/\s+/g, " ").trim();

describe("a usage error", () => {
  it.each([
    ["stat", 'Unknown command "stat"', 'Did you mean "state"? See `hostform help --all`.'],
    ["state lst", 'Unknown command "state lst"', 'Did you mean "list"? See `hostform help state`.'],
    ["help pln", 'Unknown command "pln"', 'Did you mean "plan"? See `hostform help --all`.'],
    ["plan --oyt=x", "Unknown option --oyt=x", 'Did you mean "--out"? See `hostform help plan`.'],
    ["plan --out", "--out requires a value", "See `hostform help plan`."],
    ["import", "The argument <address> is missing", "See `hostform help import`."],
    ["webhooks verify x", "--signature is required", "See `hostform help webhooks verify`."],
    ["completion tcsh", 'The value "tcsh" of <shell> is not valid', "Allowed choices are bash, zsh, fish, powershell."],
    ["plan --max-orders x", 'The value "x" of --max-orders is not valid', "Expected a whole number from 0 to 1000000."],
    ["plan --chdir=", 'The value "" of --chdir is not valid', "It is empty. Is a variable unset?"],
    ["sandbox --rate-limit -1", 'The value "-1" of --rate-limit is not valid', "Expected a whole number"],
    ["plan x", "Too many arguments for 'plan'", "Expected 0 arguments but got 1: x."],
    ["taint a.b", 'Unknown command "taint"', "Use `hostform apply --replace ADDRESS`."],
    ["up", 'Unknown command "up"', "Use `hostform apply`."],
    ["plan -input=false", "Unknown option -input=false", "hostform asks only at a terminal."],
    ["apply -lock=false", "Unknown option -lock=false", "commands that change something lock the state."],
    ["force-unlock -force", "Unknown option --force", "Use `--yes`."],
    ["apply --yes", "Unknown option --yes", "Pass `--auto-approve`"],
  ])("of %s names the mistake and the fix", async (line, summary, fix) => {
    const { code, stdout, stderr } = await run(...line.split(" "));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(flat(stderr)).toContain(`Error: ${summary} [usage]`);
    expect(flat(stderr)).toContain(fix);
  });

  it("is a diagnostic on standard output with --json", async () => {
    const { code, stderr, json } = await run("plan", "--oyt", "--json");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const fix = 'Did you mean "--out"? See `hostform help plan`.';
    const diagnostic = { severity: "error", code: "usage", summary: "Unknown option --oyt", detail: "", fix };
    expect(json()).toEqual({ format_version: "1.0", errored: true, diagnostics: [diagnostic] });
  });
});

describe("Terraform's spelling", () => {
  const program = buildProgram({ columns: undefined } as GuardedIo);

  it.each([
    ["plan -out=x -target a.b", "plan --out=x --target a.b"],
    ["-chdir=x apply -auto-approve", "--chdir=x apply --auto-approve"],
    ["apply --auto-approve=true --json=false", "apply --auto-approve"],
    ["apply --wait=false", "apply --no-wait"],
    ["plan -refresh=false -refresh=true", "plan --refresh=false --refresh=all"],
    ["plan -lock=false -refresh=false", "plan --refresh=false"],
    ["apply -lock=false -auto-approve", "apply -lock=false --auto-approve"],
    ["fmt -check -diff", "fmt --check --diff"],
    ["plan -var a=b -var=c=d -var-file=x", "plan --var a=b --var=c=d --var-file=x"],
    ["plan -variety -e prod -", "plan -variety -e prod -"],
    ["sandbox -open -- x -var e", "sandbox --open -- x -var e"],
  ])("of %s is %s", (given, expected) => {
    expect(inOurSpelling(given.split(" "), program)).toEqual(expected.split(" "));
  });
});

describe("help", () => {
  it("of the program lists the main commands and refers to the others", async () => {
    for (const line of [[], ["--help"], ["help"]]) {
      const { code, stdout } = await run(...line);
      expect(code).toBe(0);
      expect(stdout.match(/(?<=^ {2})[a-z]+(?= )/gm)).toEqual(
        "init adopt plan apply status watch doctor import state hostform hostform hostform hostform".split(" "),
      );
      expect(stdout).not.toContain("--insecure-http");
      expect(stdout).toMatch(/All commands and options: hostform help --all\n$/);
    }
  });

  it("with --all lists every command and every common option", async () => {
    const { stdout } = await run("help", "--all");
    for (const word of ["force-unlock", "migrations", "--insecure-http", "--var-file"]) expect(stdout).toContain(word);
  });

  it("of a command lists its own options and refers to the common options", async () => {
    const { stdout } = await run("plan", "--help");
    expect(stdout).toContain("--detailed-exitcode");
    expect(stdout).not.toContain("--insecure-http");
    expect(stdout).toMatch(/Common options: hostform help options\n$/);
    expect(stdout).toContain("Examples:\n  hostform plan");
    expect((await run("help", "plan")).stdout).toBe(stdout);
    expect((await run("help", "state", "push")).stdout).toBe((await run("state", "push", "--help")).stdout);
    const common = await run("help", "options");
    expect(common.stdout).toContain("--insecure-http");
    expect(common.stdout).not.toContain("force-unlock");
  });
});
