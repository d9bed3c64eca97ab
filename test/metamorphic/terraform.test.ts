/**
 * Tests each fault, change and kind with the real Terraform. In some cells, hostform wrote the state or uses it after
 * the test. `npm test` runs a sample; `npm run test:long metamorphic` runs all cells.
 */
import { it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { cellsOf, expectAllSound } from "./suite.ts";

/** Cells that failed before. */
const SAMPLE = [
  "webhook / create / for_each / outage after@POST1 / terraform>terraform>terraform / same",
  "client_account / add / blocks / 5xx before@POST1+ / terraform>terraform>terraform / fresh",
  "grant / shift / count / 5xx before@DELETE1 / terraform>terraform>terraform / same",
  "webhook / swap / blocks / none@POST1 / yaml>terraform>stack / same",
  "service / rename add / blocks / none@GET1 / stack>terraform>yaml / same",
  "webhook / taint / count / cut@POST1 / terraform>terraform>terraform / same",
];

describeWith(TERRAFORM)("a change of several objects by Terraform", { timeout: 3_600_000 }, () => {
  it("ends with the declared account and state after each fault", async () => {
    await expectAllSound("Terraform", cellsOf({ fronts: ["terraform"], crashes: false }, SAMPLE));
  });
});
