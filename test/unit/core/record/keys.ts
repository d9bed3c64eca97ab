import { Encryption, type EncryptionOptions } from "../../../../src/core/record/encryption.ts";
import type { StateKey } from "../../../../src/core/record/state-key.ts";

export const passphraseKey: StateKey = {
  from: "passphrase",
  variable: "HOSTFORM_STATE_PASSPHRASE",
  passphrase: "correct horse battery staple",
};

/** A key of 32 times this byte. */
export const keyOf = (byte: number): StateKey => ({
  from: "key",
  variable: "HOSTFORM_STATE_KEY",
  bytes: Buffer.alloc(32, byte),
});

export const rawKey = keyOf(1);

/** Bytes that are never the same twice, and the same in each run. */
export function countingBytes(): (count: number) => Buffer {
  let calls = 0;
  return (count) => Buffer.alloc(count, ++calls);
}

/** Encryption that derives its key in no time. */
export function quick(key: StateKey | undefined, more: Partial<EncryptionOptions> = {}): Encryption {
  return new Encryption({ key, iterations: 3, random: countingBytes(), ...more });
}
