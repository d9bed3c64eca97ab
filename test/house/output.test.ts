import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const src = path.resolve(import.meta.dirname, "../../src");
const files = globSync("**/*.ts", { cwd: src });

/** Returns the files that contain a pattern outside of comments. */
function using(pattern: RegExp): string[] {
  return files
    .filter((file) => {
      const code = readFileSync(path.join(src, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      return pattern.test(code);
    })
    .sort();
}

// All output of a command passes the guard (cli/guarded-io.ts), which hides secrets and escapes control characters for
// the terminal. These tests list the exceptions.
describe("output", () => {
  it("occurs in the files that the search reads", () => {
    expect(using(/\bterminal\.out\(/).length).toBeGreaterThan(10);
  });

  it("uses the streams of the process only in the guard, before modules are loaded, and for Terraform", () => {
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

  it("enters the guard in one file, and one file opens the real streams", () => {
    expect(using(/\bguardIo\(/)).toEqual(["cli/cli.ts", "cli/guarded-io.ts"]);
    expect(using(/\bsystemIo\(/)).toEqual(["cli/executable.ts", "cli/main.ts", "cli/system-io.ts"]);
  });

  it("reveals secrets only in commands whose purpose is to print a secret", () => {
    expect(using(/\b(?:reveal(?:Json)?|terminal\.exact)\(/)).toEqual([
      "cli/fmt.ts",
      "cli/guarded-io.ts",
      "cli/mandate.ts",
      "cli/output.ts",
      "cli/sandbox.ts",
      "cli/service.ts",
      "cli/state.ts",
      "cli/terminal.ts",
    ]);
  });

  it("contains escape sequences only from the colours and the guard", () => {
    expect(using(/["'`](?:[^"'`\n]*[^\\])?\\(?:u001b|x1b|e)\[/i)).toEqual(["cli/guarded-io.ts"]);
  });
});
