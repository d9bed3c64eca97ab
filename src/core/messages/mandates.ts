/** Messages about mandates and receipts: their files, keys and times. */
import { some } from "../model/index.ts";
import { type Catalogue, error, type Words } from "./message.ts";

/** `file`: path for people. `what`: mandate or receipt. */
type Of = Words<"file" | "what">;
type Variable = Words<"variable">;

const NEW_FILE = "Ask the approver for a new file. A signed file must not be edited.";

export const mandates = {
  "mandate.file": error(({ file, what, why }: Of & Words<"why">) => ({
    summary: `${file} is not a valid ${what}: ${why}`,
    remedies: [NEW_FILE],
  })),
  "mandate.file/version": error(({ file, what, version, known }: Of & Words<"version" | "known">) => ({
    summary: `${file} is a ${what} of version ${version}, and this program does not know it`,
    detail: `It knows version ${known}.`,
    remedies: ["Use the program version that wrote the file, or a later one."],
  })),
  "mandate.signature": error(({ file, what }: Of) => ({
    summary: `${file} was edited: its content does not match its signature`,
    detail: `At least one byte of the ${what} is different.`,
    remedies: [NEW_FILE],
  })),
  "mandate.signature/unsigned": error(({ file, what }: Of) => ({
    summary: `${file} is not signed: its last line is not the signature of the ${what}`,
    remedies: [NEW_FILE],
  })),
  "mandate.signature/stranger": error(({ file, key, variable }: Variable & Words<"file" | "key">) => ({
    summary: `${file} is signed with a key that ${variable} does not contain`,
    detail: `The key is ${key}.`,
    remedies: [`If you trust the owner of this key, add the key to ${variable}.`],
  })),
  "mandate.signers": error(({ variable, why }: Variable & Words<"why">) => ({
    summary: `${variable} ${why}`,
    detail: "Without valid public keys, no signature is accepted.",
    remedies: [`Set ${variable} to public keys: NAME=ed25519:BASE64, separated by spaces or commas.`],
  })),
  "mandate.key": error(({ variable, why }: Variable & Words<"why">) => ({
    summary: `The private key in ${variable} cannot be used: ${why}`,
    remedies: ["Use a private key for Ed25519 as PKCS#8 in PEM. Its file must have mode 0600."],
  })),
  "mandate.key/missing": error(({ variables }: { readonly variables: readonly string[] }) => ({
    summary: "No private key is set, so nothing can be signed",
    remedies: [`Set ${some(variables)} to the key of the approver.`],
  })),
  "mandate.key/several": error(({ variables }: { readonly variables: readonly string[] }) => ({
    summary: `${some(variables)} are both set`,
    remedies: ["Unset one of them."],
  })),
  "mandate.time": error(({ file, why }: Words<"file" | "why">) => ({
    summary: `The mandate in ${file} is not in force: ${why}`,
    remedies: ["Ask the approver for a new mandate. If the times are wrong, check the clock of this machine."],
  })),
} satisfies Catalogue;
