/**
 * Kills processes at a request of a change: Terraform, its provider, both, or hostform. `npm test` runs a sample; `npm
 * run test:long metamorphic` runs all cells.
 */
import { it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { FRONTS } from "./declaration.ts";
import { cellsOf, expectAllSound } from "./suite.ts";

/** One cell for each killed process. */
const SAMPLE = [
  "client_account / create / for_each / crash of the provider, after@POST1 / terraform>terraform>terraform / same",
  "grant / add / keyed / crash of both, after@POST1 / terraform>terraform>terraform / fresh",
  "webhook / create / blocks / crash of both, after@POST2 / yaml>yaml>yaml / same",
];

describeWith(TERRAFORM)("a change of several objects whose process dies", { timeout: 3_600_000 }, () => {
  it("is completed by the next applies", async () => {
    await expectAllSound("crashes", cellsOf({ fronts: FRONTS, crashes: true }, SAMPLE));
  });
});
