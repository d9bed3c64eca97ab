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
    salt: z.string().refine((text) => /^[A-Za-z0-9+/]{22,}={0,2}$/.test(text) && isCanonical(text)),
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
  /** Keys that open as well; nothing is sealed with them. Asked once something is to be opened that the key did not seal. */
  readonly old?: () => Promise<readonly StateKey[]>;
  /** Whether a state or a journal in the clear is read although there is a key. */
  readonly acceptsClear?: boolean;
  /** Where a key is expected, for messages. */
  readonly variables?: KeyVariables;
  /** PBKDF2 rounds of what is newly sealed. */
  readonly iterations?: number;
  readonly random?: RandomBytes;
}

/** Makes seals from one passphrase or key, and opens what earlier ones have sealed. A key is derived once for each salt that is met. */
export class Encryption {
  readonly key: StateKey | undefined;
  readonly acceptsClear: boolean;
  readonly #old: () => Promise<readonly StateKey[]>;
  readonly #variables: KeyVariables;
  readonly #iterations: number;
  readonly #random: RandomBytes;
  readonly #derived = new Map<string, Promise<Buffer>>();
  #last: Seal | undefined;

  constructor({ key, old, acceptsClear, variables, iterations, random }: EncryptionOptions) {
    this.key = key;
    this.acceptsClear = acceptsClear ?? false;
    this.#old = old ?? (async () => []);
    this.#variables = variables ?? KEY_VARIABLES;
    this.#iterations = iterations ?? PBKDF2_ITERATIONS;
    this.#random = random ?? randomBytes;
  }

  /** @throws HostformError `state.key` when there is none. */
  required(): StateKey {
    if (this.key !== undefined) return this.key;
    const { passphrase, key, command } = this.#variables;
    return fail("state.key", `Neither ${passphrase} nor ${key} is set`, {
      fix: `Set ${passphrase} to a long passphrase, or ${key} to 32 random bytes in base64 (\`openssl rand -base64 32\`), or ${command} to a command that prints those.`,
    });
  }

  /** Asks for the key where a command has it, so that one that fails does so before anything else is done. @throws HostformError `state.key`. */
  async ready(): Promise<void> {
    if (this.key?.from === "key") await bytesOf(this.key);
  }

  /** A seal that nothing was sealed with yet: with a passphrase, of a new salt. @throws HostformError `state.key`. */
  async fresh(): Promise<Seal> {
    const key = this.required();
    if (key.from === "key") {
      const bytes = await bytesOf(key);
      return this.#seal(bytes, { from: "key", id: fingerprint(bytes) });
    }
    const iterations = this.#iterations;
    const salt = this.#random(SALT_BYTES).toString("base64");
    const bytes = await this.#derive(key.passphrase, salt, iterations);
    return this.#seal(bytes, { from: "passphrase", kdf: "pbkdf2-sha512", iterations, salt, id: fingerprint(bytes) });
  }

  /** The seal that was used last, so that nothing has to be derived again; else a fresh one. @throws HostformError `state.key`. */
  async recent(): Promise<Seal> {
    return this.#last ?? this.fresh();
  }

  /** The seal that made something, by its header. @throws HostformError `state.key`, `state.unreadable`. */
  async from(found: JsonObject): Promise<Seal> {
    const of = parseHeader(found);
    const own = this.key && (await this.#bytesFor(of, this.key));
    if (own !== undefined && fingerprint(own) === of.id) return this.#seal(own, of);
    for (const key of await this.#old()) {
      const bytes = await this.#bytesFor(of, key);
      if (bytes !== undefined && fingerprint(bytes) === of.id) return this.#seal(bytes, of, true);
    }
    return own === undefined ? this.#refuseMissing(of) : this.#refuseWrong(of, fingerprint(own));
  }

  /** Undefined for a key of the other sort. */
  async #bytesFor(of: KeyHeader, key: StateKey): Promise<Buffer | undefined> {
    if (key.from === "key") return of.from === "key" ? bytesOf(key) : undefined;
    return of.from === "passphrase" ? this.#derive(key.passphrase, of.salt, of.iterations) : undefined;
  }

  #derive(passphrase: string, salt: string, iterations: number): Promise<Buffer> {
    const name = `${iterations} ${salt}`;
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const derived = promisify(pbkdf2)(passphrase, Buffer.from(salt, "base64"), iterations, KEY_BYTES, "sha512");
    this.#derived.set(name, derived);
    return derived;
  }

  #seal(bytes: Buffer, of: KeyHeader, old = false): Seal {
    const seal: Seal = {
      header: of,
      seal: (text, bound) => encrypt(bytes, text, bound, this.#random),
      open: (sealed, bound) => decrypt(bytes, sealed, bound),
      ...(old && { old }),
    };
    if (!old) this.#last = seal;
    return seal;
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
    const variable = this.key?.variable ?? this.#variables[from];
    fail("state.key", `The ${from} in ${variable} is not the one that the state was encrypted with`, {
      // The fingerprint of a derived key says nothing to people: it differs from salt to salt.
      ...(from === "key" && { detail: `The fingerprint of that key is ${expected}, that of the one given ${given}.` }),
      fix: `Set ${variable} to the ${from} that it was encrypted with.`,
    });
  }
}

/** The bytes of a key that is no passphrase. @throws HostformError `state.key` when the command that prints it fails. */
export async function bytesOf({ bytes }: Extract<StateKey, { from: "key" }>): Promise<Buffer> {
  return typeof bytes === "function" ? bytes() : bytes;
}

/** Whether no other text stands for the same bytes. */
function isCanonical(base64: string): boolean {
  return Buffer.from(base64, "base64").toString("base64") === base64;
}

function parseHeader(found: JsonObject): KeyHeader {
  const checked = header.safeParse(found);
  if (checked.success) return checked.data;
  return fail("state.unreadable", "The encrypted state does not say in a known way what it is encrypted with", {
    detail: "Its `key` was changed or damaged, or a newer version of hostform wrote it.",
    fix: "Restore it from a backup, or use the version of hostform that wrote it.",
  });
}
