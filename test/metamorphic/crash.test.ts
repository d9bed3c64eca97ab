/**
 * Kills processes at a request of a change: Terraform, its provider, both, or hostform. `npm test` runs a sample; `npm
 * run test:long metamorphic` runs all cells.
 */
import { it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { FRONTS } from "./declaration.ts";
import { cellsOf, expectAllSound } from "./suite.ts";

/** Kills only the provider, which test/terraform/chaos.test.ts never does. */
const SAMPLE = [
  "client_account / create / for_each / crash of the provider, after@POST1 / terraform>terraform>terraform / same",
];

describeWith(TERRAFORM)("a change of several objects whose process dies", { timeout: 3_600_000 }, () => {
  it("is completed by the next applies", async () => {
    await expectAllSound("crashes", cellsOf({ fronts: FRONTS, crashes: true }, SAMPLE));
  });
});
