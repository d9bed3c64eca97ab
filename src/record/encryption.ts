import { pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { z } from "zod";
import type { JsonObject } from "../model/index.ts";
import { fail } from "../model/index.ts";
import type { RandomBytes } from "./cipher.ts";
import { decrypt, encrypt, fingerprint } from "./cipher.ts";
import type { Seal } from "./sealing.ts";
import type { KeyVariables, StateKey } from "./state-key.ts";
import { KEY_VARIABLES } from "./state-key.ts";

/** As OpenTofu has it by default, and OWASP recommends at least 210,000 for this function. */
export const PBKDF2_ITERATIONS = 600_000;
/** A file must not make its reader compute for hours: this many take a few seconds. */
const MOST_ITERATIONS = 10_000_000;
const SALT_BYTES = 32;
const KEY_BYTES = 32;

const id = z.string().regex(/^[0-9a-f]{16}$/);
const header = z.discriminatedUnion("from", [
  z.strictObject({
    from: z.literal("passphrase"),
    kdf: z.literal("pbkdf2-sha512"),
    iterations: z.int().min(1).max(MOST_ITERATIONS),
    /** Base64, at least 16 bytes. */
    salt: z.string().regex(/^[A-Za-z0-9+/]{22,}={0,2}$/),
    /** The fingerprint of the derived key: tells a wrong passphrase from a damaged file. */
    id,
  }),
  z.strictObject({ from: z.literal("key"), id }),
]);

/** What stands beside what was sealed: everything that is needed to open it, except the secret. */
export type KeyHeader = z.infer<typeof header>;

export interface EncryptionOptions {
  /** Undefined: nothing can be sealed, and nothing that is sealed can be opened. */
  readonly key: StateKey | undefined;
  /** Where a key is expected, for messages. */
  readonly variables?: KeyVariables;
  /** PBKDF2 rounds of what is newly sealed. */
  readonly iterations?: number;
  readonly random?: RandomBytes;
}

/** Makes seals from one passphrase or key. A key is derived once for each salt that is met. */
export class Encryption {
  readonly key: StateKey | undefined;
  readonly #variables: KeyVariables;
  readonly #iterations: number;
  readonly #random: RandomBytes;
  readonly #derived = new Map<string, Promise<Buffer>>();

  constructor({ key, variables, iterations, random }: EncryptionOptions) {
    this.key = key;
    this.#variables = variables ?? KEY_VARIABLES;
    this.#iterations = iterations ?? PBKDF2_ITERATIONS;
    this.#random = random ?? randomBytes;
  }

  /** @throws HostformError `state.key` when there is none. */
  required(): StateKey {
    if (this.key !== undefined) return this.key;
    const { passphrase, key } = this.#variables;
    return fail("state.key", `Neither ${passphrase} nor ${key} is set`, {
      fix: `Set ${passphrase} to a long passphrase, or ${key} to 32 random bytes in base64 (\`openssl rand -base64 32\`).`,
    });
  }

  /** A seal that nothing was sealed with yet: with a passphrase, of a new salt. @throws HostformError `state.key`. */
  async fresh(): Promise<Seal> {
    const key = this.required();
    if (key.from === "key") return this.#seal(key.bytes, { from: "key", id: fingerprint(key.bytes) });
    const iterations = this.#iterations;
    const salt = this.#random(SALT_BYTES).toString("base64");
    const bytes = await this.#derive(key.passphrase, salt, iterations);
    return this.#seal(bytes, { from: "passphrase", kdf: "pbkdf2-sha512", iterations, salt, id: fingerprint(bytes) });
  }

  /** The seal that made something, by its header. @throws HostformError `state.key`, `state.unreadable`. */
  async from(found: JsonObject): Promise<Seal> {
    const of = parseHeader(found);
    const bytes = await this.#keyFor(of);
    if (fingerprint(bytes) !== of.id) return this.#refuseWrong(of, fingerprint(bytes));
    return this.#seal(bytes, of);
  }

  async #keyFor(of: KeyHeader): Promise<Buffer> {
    if (this.key?.from === "key" && of.from === "key") return this.key.bytes;
    if (this.key?.from === "passphrase" && of.from === "passphrase") {
      return this.#derive(this.key.passphrase, of.salt, of.iterations);
    }
    return this.#refuseMissing(of);
  }

  #derive(passphrase: string, salt: string, iterations: number): Promise<Buffer> {
    const name = `${iterations} ${salt}`;
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const derived = promisify(pbkdf2)(passphrase, Buffer.from(salt, "base64"), iterations, KEY_BYTES, "sha512");
    this.#derived.set(name, derived);
    return derived;
  }

  #seal(bytes: Buffer, of: KeyHeader): Seal {
    return {
      header: of,
      seal: (text, bound) => encrypt(bytes, text, bound, this.#random),
      open: (sealed, bound) => decrypt(bytes, sealed, bound),
    };
  }

  #refuseMissing({ from }: KeyHeader): never {
    const variable = this.#variables[from];
    fail("state.key", `The state is encrypted, and ${variable} is not set`, {
      detail:
        this.key === undefined
          ? `It was encrypted with a ${from}.`
          : `It was encrypted with a ${from}, and ${this.key.variable} holds a ${this.key.from}.`,
      fix: `Set ${variable} to the ${from} that it was encrypted with${this.key ? `, and unset ${this.key.variable}` : ""}.`,
    });
  }

  #refuseWrong({ from, id: expected }: KeyHeader, given: string): never {
    const variable = this.#variables[from];
    fail("state.key", `The ${from} in ${variable} is not the one that the state was encrypted with`, {
      // The fingerprint of a derived key says nothing to people: it differs from salt to salt.
      ...(from === "key" && { detail: `The fingerprint of that key is ${expected}, that of the one given ${given}.` }),
      fix: `Set ${variable} to the ${from} that it was encrypted with.`,
    });
  }
}

function parseHeader(found: JsonObject): KeyHeader {
  const checked = header.safeParse(found);
  if (checked.success) return checked.data;
  return fail("state.unreadable", "The encrypted state does not say in a known way what it is encrypted with", {
    detail: "Its `key` was changed or damaged, or a newer version of hostform wrote it.",
    fix: "Restore it from a backup, or use the version of hostform that wrote it.",
  });
}
