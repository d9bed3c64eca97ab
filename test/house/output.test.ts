import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const src = path.resolve(import.meta.dirname, "../../src");
const files = globSync("**/*.ts", { cwd: src });

/** The files in which a pattern occurs, comments left out. */
function using(pattern: RegExp): string[] {
  return files
    .filter((file) => {
      const code = readFileSync(path.join(src, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      return pattern.test(code);
    })
    .sort();
}

// All that a command writes goes through the guard (cli/guarded-io.ts), which hides secrets and shows what would act on
// a terminal. These tests hold the list of what does not.
describe("output", () => {
  it("is found at all", () => {
    expect(using(/\bterminal\.out\(/).length).toBeGreaterThan(10);
  });

  it("reaches the streams of the process in few places: the real ones of the guard, before anything is loaded, and where Terraform reads", () => {
    expect(using(/\bprocess\.(?:stdout|stderr)\.write|\bstd(?:out|err)\.write\(|\bconsole\./)).toEqual([
      "cli/executable.ts",
      "cli/main.ts",
      "cli/streams.ts",
      "cli/system-io.ts",
      "fronts/terraform/wire/log.ts",
    ]);
    expect(using(/\bwrite(?:Sync|To)\(\s*(?:[12]\b|STD(?:OUT|ERR)\b)|\/dev\/(?:stdout|stderr|tty)/)).toEqual([
      "fronts/terraform/wire/log.ts",
    ]);
    expect(using(/\b(?:printLine|complain)\(/)).toEqual(["fronts/terraform/main.ts", "fronts/terraform/wire/log.ts"]);
  });

  it("is put behind the guard in one place, and the real streams are opened in one", () => {
    expect(using(/\bguardIo\(/)).toEqual(["cli/cli.ts", "cli/guarded-io.ts"]);
    expect(using(/\bsystemIo\(/)).toEqual(["cli/executable.ts", "cli/main.ts", "cli/system-io.ts"]);
  });

  it("is revealed by the commands that are asked for a secret, and by no other", () => {
    expect(using(/\b(?:reveal(?:Json)?|terminal\.exact)\(/)).toEqual([
      "cli/fmt.ts",
      "cli/guarded-io.ts",
      "cli/output.ts",
      "cli/sandbox.ts",
      "cli/service.ts",
      "cli/state.ts",
      "cli/terminal.ts",
    ]);
  });

  it("has escape sequences from the colours and the guard alone", () => {
    expect(using(/["'`](?:[^"'`\n]*[^\\])?\\(?:u001b|x1b|e)\[/i)).toEqual(["cli/guarded-io.ts"]);
  });
});
