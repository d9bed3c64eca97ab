// Encrypted state of OpenTofu: an envelope with the metadata of its key providers. It has no fingerprint of the key.
import { pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import * as z from "zod";
import { isObject, type JsonObject, parsedJson } from "../model/index.ts";

/** Maximum number of iterations that a stored text may request. More iterations would take hours. */
export const MOST_ITERATIONS = 10_000_000;

/** Metadata of key providers by name: JSON in base64. */
export const metadata = z.record(z.string(), z.string());
type Metadata = z.infer<typeof metadata>;

export interface ProvidedKeys {
  readonly encryption: Buffer;
  /** Key of the text with the given metadata. */
  readonly decryption?: Buffer | undefined;
  /** Metadata of the encryption key. */
  readonly meta: JsonObject;
  /** True if new texts need other metadata, and so a new key. */
  readonly old?: boolean;
}

/** Key provider of OpenTofu. `name`: name of its metadata. */
export interface KeyProvider {
  readonly name: string;
  /** @param found metadata of the text to decrypt. @throws HostformError `state.key`. */
  provide(found?: JsonObject): Promise<ProvidedKeys>;
}

/** The first one encrypts, and all decrypt. */
export type KeyProviders = readonly [KeyProvider, ...(readonly KeyProvider[])];

const derivation = z.strictObject({
  iterations: z.int().min(1).max(MOST_ITERATIONS),
  hash_function: z.enum(["sha256", "sha512"]),
  key_length: z.literal([16, 24, 32]),
});
const derived = derivation.extend({ salt: z.base64().min(1) });

/** Parameters of OpenTofu's PBKDF2. */
export type Derivation = z.infer<typeof derivation>;

/**
 * Creates a key provider with a passphrase.
 * @param wanted parameters of new keys. @param fixed true if a text with other parameters gets a new key at its next write.
 */
export function pbkdf2Provider(
  name: string,
  passphrase: string,
  wanted: Derivation & { readonly salt_length: number },
  { fixed = false, random = randomBytes }: { readonly fixed?: boolean; random?: (count: number) => Buffer } = {},
): KeyProvider {
  const { salt_length: saltLength, ...own } = wanted;
  const derive = ({ salt, iterations, key_length: length, hash_function: hash }: z.infer<typeof derived>) =>
    promisify(pbkdf2)(passphrase, Buffer.from(salt, "base64"), iterations, length, hash);
  return {
    name,
    async provide(found) {
      const meta = derived.safeParse(found).data ?? { salt: random(saltLength).toString("base64"), ...own };
      const encryption = await derive(meta);
      if (found === undefined) return { encryption, meta };
      const old = fixed && !Object.entries(own).every(([key, value]) => found[key] === value);
      return { encryption, decryption: encryption, meta, old };
    },
  };
}

/** Returns the metadata of a provider in an envelope. Undefined if the envelope has none. */
export function metadataOf(found: Metadata, name: string): JsonObject | undefined {
  const base64 = found[name] ?? "";
  const bytes = Buffer.from(base64, "base64");
  const json = parsedJson(bytes.toString("utf8"));
  return isObject(json) && bytes.toString("base64") === base64 ? (json as JsonObject) : undefined;
}

export const encodeMetadata = (name: string, meta: JsonObject): Metadata => ({
  [name]: Buffer.from(JSON.stringify(meta), "utf8").toString("base64"),
});

/** Field of the metadata that identifies a type of key provider. */
const MARKS = { pbkdf2: "salt", external: "external_data" } as const;

/** Returns the name of the provider of a type in an envelope. */
export const nameIn = (found: Metadata, type: keyof typeof MARKS): string | undefined =>
  Object.keys(found).find((name) => MARKS[type] in (metadataOf(found, name) ?? {}));

/** Newest supported version of an envelope. */
export const VERSION = "v0";

/** Encrypted state in the fields and the order of OpenTofu. */
export const envelope = z.strictObject({
  serial: z.int().min(0),
  lineage: z.string(),
  meta: metadata,
  encrypted_data: z.string(),
  encryption_version: z.literal(VERSION),
});

/** Encodes an envelope with the bytes of OpenTofu. */
export function encodeEnvelope(parts: Omit<z.infer<typeof envelope>, "encryption_version">): string {
  return JSON.stringify({ ...parts, encryption_version: VERSION });
}
