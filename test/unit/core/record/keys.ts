import { Encryption, type EncryptionOptions } from "../../../../src/core/record/encryption.ts";
import type { StateKey } from "../../../../src/core/record/state-key.ts";

export const passphraseKey: StateKey = {
  from: "passphrase",
  variable: "HOSTFORM_STATE_PASSPHRASE",
  passphrase: "correct horse battery staple",
};

/** A key that consists of this byte 32 times. */
export const keyOf = (byte: number): StateKey => ({
  from: "key",
  variable: "HOSTFORM_STATE_KEY",
  bytes: Buffer.alloc(32, byte),
});

export const rawKey = keyOf(1);

/** Returns a generator of bytes: each call returns other bytes, and each run returns the same sequence. */
export function countingBytes(): (count: number) => Buffer {
  let calls = 0;
  return (count) => Buffer.alloc(count, ++calls);
}

/** Encryption whose key derivation takes almost no time. */
export function quick(key: StateKey | undefined, more: Partial<EncryptionOptions> = {}): Encryption {
  return new Encryption({ key, iterations: 3, random: countingBytes(), ...more });
}
