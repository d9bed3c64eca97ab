import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { inQuotes, shellPath, shellWord } from "../../../../src/core/model/index.ts";
import fc, { runs } from "../../../support/fc.ts";

// A grant's key is an e-mail address, and jane.o'brien's address contains a quote.
it("a quoted text is one word of a shell, whatever its content", () => {
  const texts = ['hosting_grant.a["jane.o\'brien@x.example"]', "'", "a b", "$HOME `id` \\ \n", ""];
  const words = texts.map(inQuotes).join(" ");
  const printed = execFileSync("/bin/sh", ["-c", `for word in ${words}; do printf '%s\\0' "$word"; done`], {
    encoding: "utf8",
  });
  expect(printed.split("\0").slice(0, -1)).toEqual(texts);
  expect(inQuotes("hosting_service.acme")).toBe("'hosting_service.acme'");
});

const ODD = [
  "my dir",
  "it's",
  "$HOME",
  "a`id`",
  "a\nb",
  "tab\there",
  "-rf",
  "--",
  "~",
  "=x",
  "",
  "ü",
  "a\u202eb",
  "\\'",
  "#x",
  "!x",
  "*",
];

it.each(["sh", "bash"])(
  "a path that is printed is one word of %s, on one line and without a control character",
  (shell) => {
    const dash = shell === "sh" && execFileSync("/bin/sh", ["-c", "printf %s $'a'"], { encoding: "utf8" }) !== "a";
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: "grapheme" })), { minLength: 1 }),
        (given) => {
          const texts = given.map((text) => text.replaceAll("\0", ""));
          const words = texts.map(shellWord);
          expect(words.join(" ")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          // dash has no quotes with escapes, and it does not execute their content.
          if (dash && words.some((word) => word.startsWith("$'"))) return;
          const printed = execFileSync(shell, [
            "-c",
            `for word in ${words.join(" ")}; do printf '%s\\0' "$word"; done`,
          ]);
          expect(printed.toString().split("\0").slice(0, -1)).toEqual(texts);
        },
      ),
      { numRuns: runs(25) },
    );
  },
);

it("a file name that begins with a hyphen is not read as an option", () => {
  expect(["-x", "a b", "plain/file.json", "-a b"].map(shellPath)).toEqual([
    "./-x",
    "'a b'",
    "plain/file.json",
    "'./-a b'",
  ]);
});
