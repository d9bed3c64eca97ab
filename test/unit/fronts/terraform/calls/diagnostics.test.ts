import { expect, it } from "vitest";
import { toDiagnostics } from "../../../../../src/fronts/terraform/calls/call.ts";
import fc from "../../../../support/fc.ts";
import { COMMANDS, hostile, liveCommands } from "../../../report/hostile.ts";

it("a diagnostic holds no command of a CI's agent where Terraform prints it into a log of one", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...COMMANDS), hostile), { maxLength: 6 }), (parts) => {
      const text = parts.join("");
      const given = [{ severity: "error", code: "internal", summary: text, detail: text, remedies: [text] }] as const;
      const [{ summary, detail } = { summary: text, detail: text }] = toDiagnostics(given, undefined, {
        GITHUB_ACTIONS: "true",
      });
      expect(liveCommands(`${summary}\n${detail}`)).toEqual([]);
    }),
  );
});
