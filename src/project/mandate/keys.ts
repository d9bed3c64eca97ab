/** The keys of signatures: the private key of this run, and the public keys that it trusts. Ed25519, by Node's crypto. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import path from "node:path";
import { openPrivate, read, requirePrivate } from "../../core/files/index.ts";
import { raise } from "../../core/messages/index.ts";
import { attempt, type EnvVars, fileFailure, utf8 } from "../../core/model/index.ts";
import { keyFromCommand, wordsOf } from "../key-command.ts";
import { type Project, tokensOf } from "../project.ts";

/** Environment variables of a signer. */
interface Signer {
  /** Command that prints the private key. */
  readonly command: string;
  /** File with the private key. */
  readonly file: string;
  /** Trusted public keys. */
  readonly trusted: string;
}

/** Signs mandates. */
export const APPROVER: Signer = {
  command: "HOSTFORM_MANDATE_KEY_COMMAND",
  file: "HOSTFORM_MANDATE_KEY_FILE",
  trusted: "HOSTFORM_APPROVERS",
};

/** Signs receipts. */
export const RUNNER: Signer = {
  command: "HOSTFORM_RECEIPT_KEY_COMMAND",
  file: "HOSTFORM_RECEIPT_KEY_FILE",
  trusted: "HOSTFORM_RUNNERS",
};

/** The parts of a project that read a private key. */
type Signing = Pick<Project, "source" | "host" | "redaction"> & {
  readonly declaration: Pick<Project["declaration"], "providers">;
};

/** Maximum size of a key file, in bytes. */
const MOST_BYTES = 16 * 1024;

/**
 * Reads the private key of a signer from its command or its file. Undefined if neither is set.
 * @throws HostformError `mandate.key`, never with the key.
 */
export async function privateKeyOf(parts: Signing, { command, file }: Signer): Promise<KeyObject | undefined> {
  const { env, cwd } = parts.source;
  const set = [command, file].filter((name) => env[name] !== undefined);
  const [variable, another] = set;
  if (variable === undefined) return undefined;
  const refuse = (why: string) => raise("mandate.key", { variable, why });
  if (another !== undefined) return refuse(`${another} is also set`);
  const value = env[variable]?.trim();
  if (!value) return refuse("the variable is empty");
  const other = {
    code: "mandate.key",
    prints: "a private key for Ed25519 as PKCS#8 in PEM, and nothing else",
  } as const;
  const text =
    variable === command
      ? await keyFromCommand(parts, wordsOf(value, variable, "mandate.key"), {
          variable,
          tokens: await tokensOf(parts.declaration),
          other,
        })
      : await keyInFile(path.resolve(cwd, value)).catch((error: unknown) => refuse(fileFailure(error)));
  parts.redaction.learn(
    `key in ${variable}`,
    text.split("\n").filter((line) => !line.startsWith("-")),
  );
  const key = attempt(
    () => createPrivateKey(text),
    () => refuse("it is not an unencrypted private key as PKCS#8 in PEM"),
  );
  const type = key.asymmetricKeyType;
  return type === "ed25519" ? key : refuse(`it is a key for ${type}, not for ed25519`);
}

/** @throws PathRefused for a link, another owner, and permissions of other users; Node's errors. */
async function keyInFile(file: string): Promise<string> {
  requirePrivate(file);
  return utf8(await read(file, { limit: MOST_BYTES, links: false }));
}

/** Returns the text of a public key: `ed25519:` and its 32 bytes in base64. @param key Public or private key. */
export function publicText(key: KeyObject): string {
  const { x = "" } = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
  return `ed25519:${Buffer.from(x, "base64url").toString("base64")}`;
}

/**
 * Returns the public keys that a variable trusts, by their text, with the names of their owners. A key without a name has its text as
 * name.
 * @throws HostformError `mandate.signers` for a missing, empty or wrong value.
 */
export function trustedKeys(env: EnvVars, { trusted: variable }: Signer): ReadonlyMap<string, TrustedKey> {
  const words = (env[variable] ?? "").split(/[\s,]+/).filter(Boolean);
  if (words.length === 0) raise("mandate.signers", { variable, why: "is not set or empty" });
  return new Map(
    words.map((word, at) => {
      const [, name, text = ""] = /^(?:([\w.@+-]+)=)?(ed25519:[A-Za-z0-9+/]{43}=)$/.exec(word) ?? [];
      const key = publicKeyOf(text);
      if (key === undefined)
        return raise("mandate.signers", { variable, why: `has an invalid key at place ${at + 1}` });
      return [text, { name: name ?? text, key }];
    }),
  );
}

export interface TrustedKey {
  readonly name: string;
  readonly key: KeyObject;
}

/** Returns undefined unless the text is the canonical text of a public key. */
function publicKeyOf(text: string): KeyObject | undefined {
  const x = Buffer.from(text.slice("ed25519:".length), "base64").toString("base64url");
  const key = attempt(
    () => createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }),
    () => undefined,
  );
  return key !== undefined && publicText(key) === text ? key : undefined;
}

/**
 * Creates a file with a new private key. Only the owner can read the file.
 * @returns the text of its public key. @throws PathRefused, Node's errors; an existing file stays.
 */
export function createKey(file: string): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const made = openPrivate(file, "create");
  try {
    made.append(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  } finally {
    made.close();
  }
  return publicText(privateKey);
}
