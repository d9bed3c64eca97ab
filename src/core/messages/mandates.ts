/** Messages about mandates and receipts: their files, keys and times. */
import { type Catalogue, error, warning } from "./message.ts";

const NEW_FILE = "Ask the approver for a new file. A signed file must not be edited.";

export const mandates = {
  "mandate.file": error({ summary: "{file} is not a valid {what}: {why}", remedies: [NEW_FILE] }),
  "mandate.file/version": error({
    summary: "{file} is a {what} of version {version}, and this program does not know it",
    detail: "It knows version {known}.",
    remedies: ["Use the program version that wrote the file, or a later one."],
  }),
  "mandate.signature": error({ summary: "{file} has no valid signature: {why}", remedies: [NEW_FILE] }),
  "mandate.signers": error({
    summary: "{variable} {why}",
    detail: "Without valid public keys, no signature is accepted.",
    remedies: ["Set {variable} to public keys: NAME=ed25519:BASE64, separated by spaces or commas."],
  }),
  "mandate.key": error({
    summary: "The private key in {variable} cannot be used: {why}",
    remedies: ["Use a private key for Ed25519 as PKCS#8 in PEM. Its file must have mode 0600."],
  }),
  "mandate.key/written": error({
    summary: "No private key was written to {file}: {why}",
    remedies: ["Pass the path of a new file."],
  }),
  "plan.address/mandate": warning({
    summary: "The target {target} matches no resource now",
    detail: "The mandate allows it as soon as a resource matches.",
    remedies: ["If it is a mistake, revoke this mandate and create another one."],
  }),
  "condition.receipt": warning({
    summary: "{address}: {why} (mandate {mandate})",
    remedies: ["Compare the receipt with the invoices, and ask the host about the difference."],
  }),
  "mandate.time": error({
    summary: "The mandate in {file} is not in force: {why}",
    remedies: ["Ask the approver for a new mandate. If the times are wrong, check the clock of this machine."],
  }),
} satisfies Catalogue;
