/** Messages about mandates and receipts: their files, keys and times. */
import { type Catalogue, error, type Words, warning } from "./message.ts";

const NEW_FILE = "Ask the approver for a new file. A signed file must not be edited.";

const ASK_HOST = "Compare the invoice with the receipt, and ask the host about the difference.";

export const mandates = {
  "mandate.file": error({ summary: "{file} is not a valid {what}: {why}", remedies: [NEW_FILE] }),
  "mandate.file/version": error({
    summary: "{file} is a {what} of version {version}, and this program does not know it",
    detail: "It knows version {known}.",
    remedies: ["Use the program version that wrote the file, or a later one."],
  }),
  "mandate.signature": error({
    summary: "{file} was edited: its content does not match its signature",
    detail: "At least one byte of the {what} is different.",
    remedies: [NEW_FILE],
  }),
  "mandate.signature/unsigned": error({
    summary: "{file} is not signed: its last line is not the signature of the {what}",
    remedies: [NEW_FILE],
  }),
  "mandate.signature/stranger": error({
    summary: "{file} is signed with a key that {variable} does not contain",
    detail: "The key is {key}.",
    remedies: ["If you trust the owner of this key, add the key to {variable}."],
  }),
  "mandate.signers": error({
    summary: "{variable} {why}",
    detail: "Without valid public keys, no signature is accepted.",
    remedies: ["Set {variable} to public keys: NAME=ed25519:BASE64, separated by spaces or commas."],
  }),
  "mandate.key": error({
    summary: "The private key in {variable} cannot be used: {why}",
    remedies: ["Use a private key for Ed25519 as PKCS#8 in PEM. Its file must have mode 0600."],
  }),
  "mandate.key/missing": error(({ variables }: { readonly variables: readonly string[] }) => ({
    summary: "No private key is set, so nothing can be signed",
    remedies: [`Set ${variables.join(" or ")} to the key of the approver.`],
  })),
  "mandate.key/several": error(({ variables }: { readonly variables: readonly string[] }) => ({
    summary: `${variables.join(" and ")} are both set`,
    remedies: ["Unset one of them."],
  })),
  "mandate.key/written": error({
    summary: "No private key was written to {file}: {why}",
    remedies: ["Pass the path of a new file."],
  }),
  "mandate.file/unknown": error(({ id, near }: Words<"id"> & { readonly near: string | undefined }) => ({
    summary: `${id} is neither a file nor the id of a known mandate`,
    remedies: [near === undefined ? "Pass the file of the mandate, or its id." : `Pass ${near}.`],
  })),
  "mandate.file/unchanged": error({
    summary: "The plan in {file} has no changes, so it needs no mandate",
    remedies: ["Save a plan with changes."],
  }),
  "plan.address/mandate": warning({
    summary: "The target {target} matches no resource now",
    detail: "The mandate allows it as soon as a resource matches.",
    remedies: ["If it is a mistake, revoke this mandate and create another one."],
  }),
  "condition.receipt/unknown": warning({
    summary: "{address}: the order under mandate {mandate} has no id, because its response was lost",
    remedies: [{ do: "resolve" }],
  }),
  "condition.receipt/missing": warning({
    summary: "{address}: the account does not have {invoice} of the order under mandate {mandate}",
    remedies: [ASK_HOST],
  }),
  "condition.receipt/differs": warning({
    summary: "{address}: {invoice} is {account}, but the receipt of mandate {mandate} has {receipt}",
    remedies: [ASK_HOST],
  }),
  "condition.receipt/other": warning({
    summary: "{address}: no receipt of mandate {mandate} has {invoice} ({account})",
    detail: "The invoice is due before the first renewal.",
    remedies: [ASK_HOST],
  }),
  "mandate.time": error({
    summary: "The mandate in {file} is not in force: {why}",
    remedies: ["Ask the approver for a new mandate. If the times are wrong, check the clock of this machine."],
  }),
} satisfies Catalogue;
