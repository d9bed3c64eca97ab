/**
 * Every fault, change and kind behind YAML and stacks, in part with a state that Terraform wrote or goes on with. `npm test` takes a
 * sample; `npm run test:long metamorphic` all cells.
 */
import { it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { cellsOf, expectAllSound } from "./suite.ts";

describeWith(TERRAFORM)("a change of several objects by hostform", { timeout: 3_600_000 }, () => {
  it("ends as declared, whatever fails on the way", async () => {
    await expectAllSound("YAML and stacks", cellsOf({ fronts: ["yaml", "stack"], crashes: false }, 8));
  });
});
