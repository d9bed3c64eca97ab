import { expect, it } from "vitest";
import { diagnosed, toDiagnostics } from "../../../../../src/fronts/terraform/calls/call.ts";
import { Diagnostic_Severity as Severity } from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import fc from "../../../../support/fc.ts";
import { COMMANDS, hostile, liveCommands } from "../../../report/hostile.ts";

it("a diagnostic holds no command of a CI's agent where Terraform prints it into a log of one", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...COMMANDS), hostile), { maxLength: 6 }), (parts) => {
      const text = parts.join("");
      const given = [{ severity: "error", code: "internal", summary: text, detail: text, remedies: [text] }] as const;
      const [{ summary, detail } = { summary: text, detail: text }] = toDiagnostics(given);
      expect(liveCommands(`${summary}\n${detail}`)).toEqual([]);
    }),
  );
});

it("failures of an object that waits are warnings for Terraform, which recreates an object after an error", async () => {
  const waiting = [{ severity: "error", code: "api.server", summary: "The API failed" }] as const;
  const found = { diagnostics: [{ ...waiting[0], summary: "The run failed" }], waiting };
  expect(await diagnosed(async () => found)).toMatchObject([
    { summary: "The API failed", severity: Severity.WARNING },
    { summary: "The run failed", severity: Severity.ERROR },
  ]);
});
