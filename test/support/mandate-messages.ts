/** Sample parameters for the messages about mandates and receipts. */
import type { mandates } from "../../src/core/messages/mandates.ts";
import type { Samples } from "./messages.ts";

const of = { file: "acme.mandate", what: "mandate" };
const variable = "HOSTFORM_APPROVERS";
const variables = ["HOSTFORM_MANDATE_KEY_COMMAND", "HOSTFORM_MANDATE_KEY_FILE"];

const order = { address: "hosting_service.www", mandate: "0f1e2d3c" };
const invoice = "invoice INV-7";

export const mandateSamples: Pick<Samples, keyof typeof mandates> = {
  "mandate.file": [{ ...of, why: "max_orders: expected a whole number" }],
  "mandate.file/version": [{ ...of, version: "2", known: "1" }],
  "mandate.signature": [of],
  "mandate.signature/unsigned": [of],
  "mandate.signature/stranger": [{ file: of.file, key: "ed25519:AAAA", variable }],
  "mandate.signers": [{ variable, why: "is not set or empty" }],
  "mandate.key": [{ variable: "HOSTFORM_MANDATE_KEY_FILE", why: "others may read or write it" }],
  "mandate.key/missing": [{ variables }],
  "mandate.key/several": [{ variables }],
  "mandate.key/written": [{ file: "ana.pem", why: "another file of that name is there" }],
  "mandate.file/unknown": [undefined, "0f1e2d3c"].map((near) => ({ id: "0f1e2d3d", near })),
  "mandate.file/unchanged": [{ file: "acme.plan" }],
  "plan.address/mandate": [{ target: "client:acme" }],
  "condition.receipt/unknown": [order],
  "condition.receipt/missing": [{ ...order, invoice }],
  "condition.receipt/differs": [{ ...order, invoice, account: "12.00 USD", receipt: "9.00 USD" }],
  "condition.receipt/other": [{ ...order, invoice, account: "12.00 USD" }],
  "mandate.time": [{ file: of.file, why: "it was issued at 2026-12-01T12:00:00.000Z, in the future" }],
};
