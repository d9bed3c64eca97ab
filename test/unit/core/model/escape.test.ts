import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { inQuotes } from "../../../../src/core/model/index.ts";

// The key of a grant is an e-mail address, and that of jane.o'brien has a quote in it.
it("a text in quotes is one word of a shell, whatever is in it", () => {
  const texts = ['hosting_grant.a["jane.o\'brien@x.example"]', "'", "a b", "$HOME `id` \\ \n", ""];
  const words = texts.map(inQuotes).join(" ");
  const printed = execFileSync("/bin/sh", ["-c", `for word in ${words}; do printf '%s\\0' "$word"; done`], {
    encoding: "utf8",
  });
  expect(printed.split("\0").slice(0, -1)).toEqual(texts);
  expect(inQuotes("hosting_service.acme")).toBe("'hosting_service.acme'");
});
