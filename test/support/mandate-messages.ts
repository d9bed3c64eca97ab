/** Sample parameters for the messages about mandates and receipts. */
import type { mandates } from "../../src/core/messages/mandates.ts";
import type { Samples } from "./messages.ts";

const of = "acme.mandate";

export const mandateSamples: Pick<Samples, keyof typeof mandates> = {
  "mandate.file": [{ file: of, what: "mandate", why: "max_orders: expected a whole number" }],
  "mandate.file/read": [{ file: of, why: "no such file" }],
  "mandate.signature/key": [{ of, trusted: "HOSTFORM_APPROVERS", key: "ed25519:KSf0LpK" }],
  "mandate.key/unset": [{}],
  "mandate.signature": [{ of, why: "its last line is no signature" }],
  "mandate.signers": [{ of: "HOSTFORM_APPROVERS", why: "the variable is not set or empty" }],
  "mandate.key": [{ of: "HOSTFORM_MANDATE_KEY_FILE", why: "others may read or write it" }],
  "mandate.key/written": [{ of: "ana.pem", why: "another file of that name is there" }],
  "mandate.revoked/local": [{ id: "0f1e2d3c" }],
  "mandate.revoked/unknown": [{ id: "0f1e2d3c" }],
  "plan.address/mandate": [{ id: "client:acme" }],
  "condition.receipt": [
    { address: "hosting_service.www", mandate: "0f1e2d3c", why: "the account does not have invoice INV-7" },
  ],
  "mandate.time": [
    { of: "The mandate in acme.mandate", why: "it was issued at 2026-12-01T12:00:00.000Z, in the future" },
  ],
};
