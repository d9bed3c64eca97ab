/**
 * Tests each fault, change and kind with the real Terraform. In some cells, hostform wrote the state or uses it
 * afterwards. `npm test` runs a sample; `npm run test:long metamorphic` runs all cells.
 */
import { it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { cellsOf, expectAllSound } from "./suite.ts";

/** Cells that failed before, and one cell of each change. */
const SAMPLE = [
  "service / create / count / outage before@POST2 / terraform>terraform>terraform / same",
  "webhook / create / for_each / outage after@POST1 / terraform>terraform>terraform / same",
  "client_account / add / blocks / 5xx before@POST1+ / terraform>terraform>terraform / fresh",
  "domain / create / for_each / lost@POST1 / terraform>terraform>terraform / same",
  "grant / shift / count / 5xx before@DELETE1 / terraform>terraform>terraform / same",
  "webhook / swap / blocks / none@POST1 / yaml>terraform>stack / same",
  "grant / rename / for_each / 429@GET1 / terraform>terraform>terraform / same",
  "service / rename add / blocks / none@GET1 / stack>terraform>yaml / same",
  "migration_request / for_each to count / for_each / none@GET1 / terraform>terraform>terraform / same",
  "webhook / taint / count / cut@POST1 / terraform>terraform>terraform / same",
  "service / import held / blocks / none@GET1 / terraform>terraform>terraform / same",
  "client_account / replace / blocks / none@GET1 / terraform>terraform>terraform / same",
];

describeWith(TERRAFORM)("a change of several objects by Terraform", { timeout: 3_600_000 }, () => {
  it("ends with the declared account and state after each fault", async () => {
    await expectAllSound("Terraform", cellsOf({ fronts: ["terraform"], crashes: false }, SAMPLE));
  });
});
