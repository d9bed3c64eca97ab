/** Messages about mandates and receipts: their files, keys and times. */
import { type Catalogue, error, type Words, warning } from "./message.ts";

const NEW_FILE = "Ask the approver for a new file. A signed file must not be edited.";

/** Returns an error about the file or the variable in `of`. */
const refusal = (summaryOf: (of: string) => string, ...remedies: readonly string[]) =>
  error(({ of, why }: Words<"of" | "why">) => ({ summary: `${summaryOf(of)}: ${why}`, remedies }));

/** Returns a warning about the mandate with this id. */
const notice = (summaryOf: (id: string) => string, ...remedies: readonly string[]) =>
  warning(({ id }: Words<"id">) => ({ summary: summaryOf(id), remedies }));

export const mandates = {
  "mandate.file": error(({ file, what, why }: Words<"file" | "what" | "why">) => ({
    summary: `${file} is not a valid ${what}: ${why}`,
    remedies: [NEW_FILE],
  })),
  "mandate.file/read": error({
    summary: "The mandate {file} cannot be read: {why}",
    remedies: ["Check the path of the mandate."],
  }),
  "mandate.signature/key": error({
    summary: "{trusted} does not have the key of {of}: {key}",
    remedies: ["If you trust its owner, add the key to {trusted}. Else ask an approver for a new file."],
  }),
  "mandate.signature": refusal((of) => `${of} has no valid signature`, NEW_FILE),
  "mandate.signers": refusal(
    (of) => `No signature is accepted, because ${of} has no valid public keys`,
    "Set the variable to public keys: NAME=ed25519:BASE64, separated by spaces or commas.",
  ),
  "mandate.key": refusal(
    (of) => `The private key in ${of} cannot be used`,
    "Use a private key for Ed25519 as PKCS#8 in PEM. Its file must have mode 0600.",
  ),
  "mandate.key/unset": error({
    summary: "No private key is set for mandates",
    remedies: ["Set HOSTFORM_MANDATE_KEY_FILE or HOSTFORM_MANDATE_KEY_COMMAND."],
  }),
  "mandate.key/written": refusal((of) => `No private key was written to ${of}`, "Pass the path of a new file."),
  "mandate.time": refusal(
    (of) => `${of} is not in force`,
    "Ask the approver for a new mandate. If the times are wrong, check the clock of this machine.",
  ),
  "mandate.revoked/local": notice(
    (id) => `Mandate ${id} is revoked on this machine only, because the store of the account is on this machine`,
    "To stop the mandate on other machines, change the state, or remove the approver's key from HOSTFORM_APPROVERS.",
  ),
  "mandate.revoked/unknown": notice(
    (id) => `The store has no use of mandate ${id}`,
    "If the mandate was used, check its id and its account, or pass its file and set HOSTFORM_APPROVERS.",
  ),
  "plan.address/mandate": notice(
    (target) => `The target ${target} matches no resource now. The mandate allows it as soon as a resource matches`,
    "If it is a mistake, revoke this mandate and create another one.",
  ),
  "condition.receipt": warning(({ address, mandate, why }: Words<"address" | "mandate" | "why">) => ({
    summary: `${address}: ${why} (mandate ${mandate})`,
    remedies: ["Compare the receipt with the invoices, and ask the host about the difference."],
  })),
} satisfies Catalogue;
