import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { manPages } from "../../../scripts/build/man.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { itWith } from "../../support/needing.ts";
import { MANDOC } from "../../support/programs.ts";

const pages = manPages("1.2.3");

describe("manual pages", () => {
  it("exist for the program and each command, with arguments, options, choices and examples", () => {
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(["hostform.1", "hostform-plan.1", "hostform-state-list.1", "hostform-webhooks-verify.1"]),
    );
    const plan = pages.get("hostform-plan.1") ?? "";
    expect(plan).toContain('.TH HOSTFORM\\-PLAN 1 "" "hostform 1.2.3" "hostform"');
    expect(plan).toContain(".B \\-\\-target \\fI<address>\\fR");
    expect(plan).toContain("One of: text, json, markdown, html.");
    expect(plan).toContain(".B hostform plan \\-\\-base origin/main");
    expect(pages.get("hostform-import.1")).toContain(".I address\n");
    expect(pages.get("hostform-state.1")).toContain(".B list\nlist the resources in the state");
    expect(pages.get("hostform-state-list.1"), "what shells ask for is no option for people").not.toContain(
      "\\-\\-complete",
    );
  });

  it.each([...pages])("%s: each control line is one of man(7)", (_, text) => {
    const macros = text.split("\n").filter((line) => /^[.']/.test(line));
    expect(macros.filter((line) => !/^\.(?:\\"|TH|SH|TP|B|BR|I)( |$)/.test(line))).toEqual([]);
  });

  itWith(MANDOC)("have no error for mandoc", () => {
    const folder = temporaryFolder();
    for (const [name, page] of pages) writeFileSync(path.join(folder, name), page);
    const lint = ["-T", "lint", "-W", "error", ...pages.keys()];
    expect(spawnSync("mandoc", lint, { cwd: folder, encoding: "utf8" }).stdout).toBe("");
  });
});
