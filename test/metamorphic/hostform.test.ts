/**
 * Tests each fault, change and kind with YAML and stacks. In some cells, Terraform wrote the state or uses it after
 * the test. `npm test` runs a sample; `npm run test:long metamorphic` runs all cells.
 */
import { it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { cellsOf, expectAllSound } from "./suite.ts";

describeWith(TERRAFORM)("a change of several objects by hostform", { timeout: 3_600_000 }, () => {
  it("ends with the declared account and state after each fault", async () => {
    await expectAllSound("YAML and stacks", cellsOf({ fronts: ["yaml", "stack"], crashes: false }, 8));
  });
});
