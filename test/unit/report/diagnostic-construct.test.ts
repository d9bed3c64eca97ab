import { expect, it } from "vitest";
import type { Diagnostic } from "../../../src/core/model/index.ts";
import { diagnosticJson, renderDiagnostics } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";

const range = { file: "main.ts", line: 3, column: 5, endLine: 3, endColumn: 6, construct: "app/acme\u001b/www" };
const diagnostic: Diagnostic = { severity: "error", code: "config.reference", summary: "No.", range };

it("an error in a stack names its construct", () => {
  const located = { ...diagnostic, address: "hosting_service.www" };
  expect(renderDiagnostics([diagnostic], { remedies: fixOf, color: false })).toContain(
    "on main.ts:3:5 (construct app/acme\\u001b/www)\n",
  );
  expect(renderDiagnostics([located], { remedies: fixOf, color: false })).toContain(
    "on main.ts:3:5 (hosting_service.www, construct app/acme\\u001b/www)\n",
  );
  expect(diagnosticJson(diagnostic, fixOf)).toMatchObject({
    construct: range.construct,
    range: { filename: "main.ts" },
  });
});

it("people know a construct by its path, without the `Default` inside; programs get the path as it is", () => {
  const shown = (construct: string) =>
    renderDiagnostics([{ ...diagnostic, range: { ...range, construct } }], { remedies: fixOf, color: false });
  expect(shown("prod/w/Default")).toContain("(construct prod/w)\n");
  expect(shown("prod/Default/w")).toContain("(construct prod/Default/w)\n");
  expect(shown("prod/NoDefault")).toContain("(construct prod/NoDefault)\n");
  expect(shown("Default")).toContain("(construct Default)\n");
  const inside = { ...range, construct: "prod/w/Default" };
  expect(diagnosticJson({ ...diagnostic, range: inside }, fixOf).construct).toBe("prod/w/Default");
});
