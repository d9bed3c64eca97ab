import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { quoteValue, withAssignment } from "../../../../src/core/files/secret-files.ts";
import { fc } from "../../../support/fc.ts";

describe("an assignment in an env file", () => {
  it.each<[why: string, before: string, after: string]>([
    ["the file is empty", "", "KEY=new\n"],
    ["there is none yet", "A=1\n", "A=1\nKEY=new\n"],
    ["the last line is open", "A=1", "A=1\nKEY=new\n"],
    ["lines end as on Windows", "A=1\r\n", "A=1\r\nKEY=new\r\n"],
    ["there is one", "A=1\nKEY=old\nB=2\n", "A=1\nKEY=new\nB=2\n"],
    ["there is one, on Windows", "KEY=old\r\nB=2\r\n", "KEY=new\r\nB=2\r\n"],
    ["it is exported", "  export KEY=old\n", "  export KEY=new\n"],
    ["it is empty", "KEY=\nB=2\n", "KEY=new\nB=2\n"],
    ["it has space around its sign", "KEY = old\n", "KEY=new\n"],
    ["it is quoted, with a remark", "KEY='a b' # old\n", "KEY=new\n"],
    ["its value has several lines", 'KEY="a\nb"\nB=2\n', "KEY=new\nB=2\n"],
    ["it is given twice: the first and the last have the new value", "KEY=1\nKEY=2\n", "KEY=new\nKEY=new\n"],
    ["another begins like it", "KEY2=1\nMY_KEY=2\n", "KEY2=1\nMY_KEY=2\nKEY=new\n"],
    ["it is commented out", "# KEY=old\n", "# KEY=old\nKEY=new\n"],
    ["it stands in the value of another", "A='x\nKEY=old\n'\n", "A='x\nKEY=old\n'\nKEY=new\n"],
    ["the same in the other quotes, one of them escaped", 'A="\\"\nKEY=old\n"\n', 'A="\\"\nKEY=old\n"\nKEY=new\n'],
    ["another's value holds a quote", "A=it's\nKEY=old\n", "A=it's\nKEY=new\n"],
    ["the file begins with a byte order mark", "\uFEFFKEY=old\n", "\uFEFFKEY=new\n"],
  ])("when %s", (_, before, after) => {
    expect(withAssignment(before, "KEY", "new")).toBe(after);
  });
});

describe("a quoted value", () => {
  it.each([
    ["whsec_0a1b2c", "whsec_0a1b2c"],
    ["a+b/c==", "a+b/c=="],
    ["", "''"],
    ["two words", "'two words'"],
    ["#no-remark", "'#no-remark'"],
    ["$HOME`id`\\n!", "'$HOME`id`\\n!'"],
    ['say "yes"', `'say "yes"'`],
    ["it's", `"it's"`],
    // Shells and dotenv have no common notation for these values.
    [`it's "$5"`, undefined],
    ["it's \\n", undefined],
    ["two\nlines", undefined],
    ["\u001b[0m", undefined],
  ])("%j is written %j", (value, written) => {
    expect(quoteValue(value)).toBe(written);
  });

  it("is read unchanged by a dotenv reader, whatever its content", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (value, other) => {
        const quoted = quoteValue(value);
        fc.pre(quoted !== undefined);
        const text = withAssignment(`A=${quoteValue(other) ?? "1"}\n`, "KEY", quoted);
        expect(parseEnv(text).KEY).toBe(value);
      }),
    );
  });

  it("is read unchanged by a shell", () => {
    const values = fc.sample(fc.string(), 200).filter((value) => quoteValue(value) !== undefined);
    const lines = values.map((value, i) => `V${i}=${quoteValue(value)}\n`).join("");
    const folder = mkdtempSync(path.join(tmpdir(), "hostform-env-"));
    try {
      writeFileSync(path.join(folder, ".env"), lines);
      const print = values.map((_, i) => `printf '%s\\0' "$V${i}"`).join("; ");
      const out = execFileSync("sh", ["-c", `set -a; . ./.env; ${print}`], { cwd: folder, encoding: "utf8" });
      expect(out.split("\0").slice(0, -1)).toEqual(values);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
