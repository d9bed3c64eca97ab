// Encryption with AES-256-GCM. The key is given, or derived from a passphrase with PBKDF2.
import { createHmac, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import * as z from "zod";
import { decrypt, encrypt, type RandomBytes } from "../files/index.ts";
import { raise } from "../messages/index.ts";
import { attempt, ifExplained, type JsonObject } from "../model/index.ts";
import {
  encodeMetadata,
  type KeyProvider,
  type KeyProviders,
  MOST_ITERATIONS,
  metadata,
  metadataOf,
  nameIn,
  type ProvidedKeys,
  pbkdf2Provider,
} from "./opentofu.ts";
import { KEY_VARIABLES, type KeyVariables, type StateKey, TF_ENCRYPTION } from "./state-key.ts";

/** Encrypts and decrypts texts. Each text is bound to its place, so that it cannot replace another text. */
export interface Seal {
  /** Clear-text header: everything that decryption needs, except the key. */
  readonly header: JsonObject;
  /** Encrypts a text. @param bound place of the text (lineage, serial …). @returns one line of base64. */
  seal(text: string, bound: string): string;
  /**
   * Decrypts a text of `seal`. The fingerprint in the header has proved the key, so a failure means that the text is corrupted.
   * @throws HostformError `state.unreadable` if a byte was changed, or the text is in another place.
   */
  open(sealed: string, bound: string): string;
  /** True for an old key, which only decrypts. */
  readonly old?: boolean;
}

/** Default number of iterations, as in OpenTofu. OWASP recommends at least 210,000 for this function. */
export const PBKDF2_ITERATIONS = 600_000;
const SALT_BYTES = 32;
const KEY_BYTES = 32;

const id = z.string().regex(/^[0-9a-f]{16}$/);
const header = z.discriminatedUnion("from", [
  z.strictObject({
    from: z.literal("passphrase"),
    kdf: z.literal("pbkdf2-sha512"),
    iterations: z.int().min(1).max(MOST_ITERATIONS),
    /** Base64, at least 16 bytes. */
    salt: z.string().refine((text) => /^[A-Za-z0-9+/]{22,}={0,2}$/.test(text) && isCanonical(text)),
    /** Fingerprint of the derived key. It distinguishes a wrong passphrase from a corrupted file. */
    id,
  }),
  z.strictObject({ from: z.literal("key"), id }),
  /** Keys of OpenTofu. `data`: encrypted state, which proves the key without a fingerprint. */
  z.strictObject({ from: z.literal("opentofu"), meta: metadata, id: id.optional(), data: z.string().optional() }),
]);

type Header = z.infer<typeof header>;
type TofuHeader = Extract<Header, { readonly from: "opentofu" }>;
type KeyHeader = Exclude<Header, TofuHeader>;

export interface EncryptionOptions {
  /** Current key. Without it, no text can be encrypted or decrypted. */
  readonly key: StateKey | undefined;
  /** Returns old keys, which only decrypt. Called if the current key cannot decrypt a text. */
  readonly old?: () => Promise<readonly StateKey[]>;
  /** Accepts a clear-text state or journal although a key is set. The next write encrypts it, except for "keep". */
  readonly acceptsClear?: boolean | "keep";
  /** Form of new encrypted states. Each other form is replaced at its next write. Default: the form of the stored state, else hostform's. */
  readonly format?: "opentofu" | undefined;
  /** Variables that hold a key, for messages. */
  readonly variables?: KeyVariables;
  /** PBKDF2 iterations of new texts. */
  readonly iterations?: number;
  readonly random?: RandomBytes;
}

/** Creates seals from one passphrase or key, and opens texts of old keys. A key is derived once for each salt. */
export class Encryption {
  readonly key: StateKey | undefined;
  readonly acceptsClear: boolean | "keep";
  readonly #isTofu: boolean;
  readonly #options: Required<Omit<EncryptionOptions, "key" | "acceptsClear" | "format">>;
  readonly #derived = new Map<string, Promise<Buffer>>();
  readonly #provided = new Map<string, Promise<ProvidedKeys>>();
  #last: Seal | undefined;

  constructor({ key, acceptsClear = false, format, ...options }: EncryptionOptions) {
    this.key = key;
    this.#isTofu = format === "opentofu" || key?.from === "configuration";
    this.acceptsClear = acceptsClear;
    const defaults = {
      old: async () => [],
      variables: KEY_VARIABLES,
      iterations: PBKDF2_ITERATIONS,
      random: randomBytes,
    };
    this.#options = { ...defaults, ...options };
  }

  /** Returns the current key. @throws HostformError `state.key` if no key is set. */
  required(): StateKey {
    if (this.key !== undefined) return this.key;
    return raise("state.key/unset", this.#options.variables);
  }

  /** Runs the command that prints the key, or reads the key providers, so that a failure ends the run early. @throws HostformError `state.key`. */
  async ready(): Promise<void> {
    if (this.key?.from === "key") await bytesOf(this.key);
    if (this.key?.from === "configuration") await this.key.providers();
  }

  /**
   * Returns a new seal. A passphrase gets a new salt.
   * @param like header whose form and name of the key provider are kept.
   * @throws HostformError `state.key`.
   */
  async fresh(like?: JsonObject): Promise<Seal> {
    const key = this.required();
    const found = like && parseHeader(like);
    if (key.from === "configuration" || this.#isTofu || found?.from === "opentofu") {
      const [provider] = await this.#providers(key, found?.from === "opentofu" ? found.meta : {});
      return this.#tofuSeal(provider.name, await provider.provide());
    }
    if (key.from === "key") {
      const bytes = await bytesOf(key);
      return this.#seal(bytes, { from: "key", id: fingerprint(bytes) });
    }
    const { iterations, random } = this.#options;
    const salt = random(SALT_BYTES).toString("base64");
    const bytes = await this.#derive(key.passphrase, salt, iterations);
    return this.#seal(bytes, { from: "passphrase", kdf: "pbkdf2-sha512", iterations, salt, id: fingerprint(bytes) });
  }

  /** Returns the last seal, which needs no derivation, or a new one. @throws HostformError `state.key`. */
  async recent(): Promise<Seal> {
    return this.#last ?? this.fresh();
  }

  /** Returns the seal of a header. @throws HostformError `state.key`, `state.unreadable`. */
  async from(found: JsonObject): Promise<Seal> {
    const of = parseHeader(found);
    if (of.from === "opentofu") return this.#fromTofu(of);
    const own = this.key && (await this.#bytesFor(of, this.key));
    if (own !== undefined && fingerprint(own) === of.id) return this.#seal(own, of, this.#isTofu);
    for (const key of await this.#options.old()) {
      const bytes = await this.#bytesFor(of, key);
      if (bytes !== undefined && fingerprint(bytes) === of.id) return this.#seal(bytes, of, true);
    }
    return own === undefined ? this.#refuseMissing(of) : this.#refuseWrong(of, fingerprint(own));
  }

  /** Returns the bytes of a key for a header. Undefined if the header needs a key of another type. */
  async #bytesFor(of: KeyHeader, key: StateKey): Promise<Buffer | undefined> {
    if (key.from === "key") return of.from === "key" ? bytesOf(key) : undefined;
    return of.from === "passphrase" && key.from === "passphrase"
      ? this.#derive(key.passphrase, of.salt, of.iterations)
      : undefined;
  }

  #derive(passphrase: string, salt: string, iterations: number): Promise<Buffer> {
    const name = `${iterations} ${salt}`;
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const derived = promisify(pbkdf2)(passphrase, Buffer.from(salt, "base64"), iterations, KEY_BYTES, "sha512");
    this.#derived.set(name, derived);
    return derived;
  }

  /** Returns the key providers of a key. @param like metadata whose names are kept. */
  async #providers(key: StateKey, like: TofuHeader["meta"]): Promise<KeyProviders> {
    if (key.from === "configuration") return key.providers();
    const { iterations, random } = this.#options;
    const type = key.from === "passphrase" ? "pbkdf2" : "external";
    const name = nameIn(like, type) ?? `key_provider.${type}.hostform`;
    if (key.from === "passphrase") {
      const wanted = { iterations, hash_function: "sha512", key_length: KEY_BYTES, salt_length: SALT_BYTES } as const;
      return [pbkdf2Provider(name, key.passphrase, wanted, { random })];
    }
    const provide = async (meta: JsonObject = { external_data: {} }) => {
      const bytes = await bytesOf(key);
      return { encryption: bytes, decryption: bytes, meta };
    };
    return [{ name, provide }];
  }

  async #fromTofu(of: TofuHeader): Promise<Seal> {
    const proves = (key: Buffer) =>
      of.data === undefined
        ? fingerprint(key) === of.id
        : attempt(
            () => decrypt(key, of.data ?? "", "") !== undefined,
            ifExplained(() => false),
          );
    for (const isOld of [false, true]) {
      const keys = isOld ? await this.#options.old() : [this.key ?? []].flat();
      const providers = (await Promise.all(keys.map((key) => this.#providers(key, of.meta)))).flat();
      for (const [at, provider] of providers.entries()) {
        const meta = metadataOf(of.meta, provider.name);
        const provided = meta && (await this.#provide(provider, meta, `${isOld} ${at}`));
        if (provided?.decryption !== undefined && proves(provided.decryption))
          return this.#tofuSeal(provider.name, provided, isOld || at > 0);
      }
    }
    return this.#refuseTofu(of);
  }

  #provide(provider: KeyProvider, meta: JsonObject, of: string): Promise<ProvidedKeys> {
    const name = JSON.stringify([of, provider.name, meta]);
    const provided = this.#provided.get(name) ?? provider.provide(meta);
    this.#provided.set(name, provided);
    return provided;
  }

  #tofuSeal(name: string, { encryption, decryption, meta, old }: ProvidedKeys, isOld = false): Seal {
    const header: TofuHeader = { from: "opentofu", meta: encodeMetadata(name, meta), id: fingerprint(encryption) };
    return this.#seal(encryption, header, isOld || old, decryption);
  }

  #refuseTofu({ meta }: TofuHeader): never {
    const isKnown = nameIn(meta, "pbkdf2") ?? nameIn(meta, "external");
    const why = isKnown === undefined ? "unsupported" : this.key === undefined ? "missing" : "wrong";
    const { variable = TF_ENCRYPTION } = this.key ?? {};
    raise("state.key/opentofu", { why, variable, names: Object.keys(meta).join(", ") || "no key provider" });
  }

  #seal(bytes: Buffer, of: Header, old = false, decryption = bytes): Seal {
    const seal: Seal = {
      header: of,
      seal: (text, bound) => encrypt(bytes, text, bound, this.#options.random),
      open: (sealed, bound) => decrypt(decryption, sealed, bound),
      ...(old && { old }),
    };
    if (!old) this.#last = seal;
    return seal;
  }

  #refuseMissing({ from }: KeyHeader): never {
    const variable = this.#options.variables[from];
    raise("state.key/missing", { variable, from, other: this.key?.variable, otherFrom: this.key?.from });
  }

  #refuseWrong({ from, id: expected }: KeyHeader, found: string): never {
    const variable = this.key?.variable ?? this.#options.variables[from];
    raise("state.key/wrong", { variable, from, expected, found });
  }
}

/** Returns the bytes of a key. @throws HostformError `state.key` if its command fails. */
export async function bytesOf({ bytes }: Extract<StateKey, { from: "key" }>): Promise<Buffer> {
  return typeof bytes === "function" ? bytes() : bytes;
}

/** Returns true if no other text encodes the same bytes. */
function isCanonical(base64: string): boolean {
  return Buffer.from(base64, "base64").toString("base64") === base64;
}

function parseHeader(found: JsonObject): Header {
  const checked = header.safeParse(found);
  if (checked.success) return checked.data;
  return raise("state.unreadable/encryption");
}

/** Returns 16 hexadecimal digits that identify a key without revealing it. */
export function fingerprint(key: Buffer): string {
  return createHmac("sha256", key).update("hostform state key").digest("hex").slice(0, 16);
}
