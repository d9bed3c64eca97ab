/** Sample parameters for the messages about mandates and receipts. */
import type { mandates } from "../../src/core/messages/mandates.ts";
import type { Samples } from "./messages.ts";

const of = { file: "acme.mandate", what: "mandate" };
const variable = "HOSTFORM_APPROVERS";

export const mandateSamples: Pick<Samples, keyof typeof mandates> = {
  "mandate.file": [{ ...of, why: "max_orders: expected a whole number" }],
  "mandate.file/version": [{ ...of, version: "2", known: "1" }],
  "mandate.signature": [{ file: of.file, why: "its last line is no signature" }],
  "mandate.signers": [{ variable, why: "is not set or empty" }],
  "mandate.key": [{ variable: "HOSTFORM_MANDATE_KEY_FILE", why: "others may read or write it" }],
  "mandate.key/written": [{ file: "ana.pem", why: "another file of that name is there" }],
  "plan.address/mandate": [{ target: "client:acme" }],
  "condition.receipt": [
    { address: "hosting_service.www", mandate: "0f1e2d3c", why: "the account does not have invoice INV-7" },
  ],
  "mandate.time": [{ file: of.file, why: "it was issued at 2026-12-01T12:00:00.000Z, in the future" }],
};
