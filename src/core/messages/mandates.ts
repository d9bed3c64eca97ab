/** Messages about mandates and receipts: their files, keys and times. */
import { type Catalogue, error, type Words, warning } from "./message.ts";

const NEW_FILE = "Ask the approver for a new file. A signed file must not be edited.";

export const mandates = {
  "mandate.file": error(({ file, what, why }: Words<"file" | "what" | "why">) => ({
    summary: `${file} is not a valid ${what}: ${why}`,
    remedies: [NEW_FILE],
  })),
  "mandate.signature": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `${file} has no valid signature: ${why}`,
    remedies: [NEW_FILE],
  })),
  "mandate.signers": error(({ variable, why }: Words<"variable" | "why">) => ({
    summary: `${variable} ${why}`,
    detail: "Without valid public keys, no signature is accepted.",
    remedies: [`Set ${variable} to public keys: NAME=ed25519:BASE64, separated by spaces or commas.`],
  })),
  "mandate.key": error(({ variable, why }: Words<"variable" | "why">) => ({
    summary: `The private key in ${variable} cannot be used: ${why}`,
    remedies: ["Use a private key for Ed25519 as PKCS#8 in PEM. Its file must have mode 0600."],
  })),
  "mandate.key/written": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `No private key was written to ${file}: ${why}`,
    remedies: ["Pass the path of a new file."],
  })),
  "mandate.revoked/local": warning(({ id }: Words<"id">) => ({
    summary: `Mandate ${id} is revoked on this machine only, because the store of the account is on this machine`,
    remedies: [
      "To stop the mandate on other machines, change the state, or remove the approver's key from HOSTFORM_APPROVERS.",
    ],
  })),
  "mandate.revoked/unknown": warning(({ id }: Words<"id">) => ({
    summary: `The store has no use of mandate ${id}`,
    remedies: ["If the mandate was used, check its id and its account, or pass its file."],
  })),
  "plan.address/mandate": warning(({ target }: Words<"target">) => ({
    summary: `The target ${target} matches no resource now`,
    detail: "The mandate allows it as soon as a resource matches.",
    remedies: ["If it is a mistake, revoke this mandate and create another one."],
  })),
  "condition.receipt": warning(({ address, mandate, why }: Words<"address" | "mandate" | "why">) => ({
    summary: `${address}: ${why} (mandate ${mandate})`,
    remedies: ["Compare the receipt with the invoices, and ask the host about the difference."],
  })),
  "mandate.time": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `The mandate in ${file} is not in force: ${why}`,
    remedies: ["Ask the approver for a new mandate. If the times are wrong, check the clock of this machine."],
  })),
} satisfies Catalogue;
