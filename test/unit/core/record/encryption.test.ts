import { createDecipheriv, createHmac, pbkdf2Sync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/core/model/index.ts";
import { Encryption, PBKDF2_ITERATIONS } from "../../../../src/core/record/encryption.ts";
import type { StateKey } from "../../../../src/core/record/state-key.ts";
import { character, fc } from "../../../support/fc.ts";
import { fixOf, saying } from "../../../support/remedies.ts";
import { diagnosticOf } from "./builders.ts";
import { countingBytes, keyOf, passphraseKey, quick, rawKey } from "./keys.ts";

const other = (key: StateKey): StateKey =>
  key.from === "passphrase" ? { ...key, passphrase: `${key.passphrase}!` } : keyOf(9);

describe.each([
  ["a passphrase", passphraseKey],
  ["a key", rawKey],
])("what was sealed with %s", (_, key) => {
  test("opens with the same key in another process, whatever it is and is bound to", async () => {
    const seal = await quick(key).fresh();
    const reader = await quick(key).from(JSON.parse(JSON.stringify(seal.header)));
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.string(), (text, bound) => {
        const wellFormed = text.toWellFormed();
        expect(reader.open(seal.seal(wellFormed, bound), bound)).toBe(wellFormed);
      }),
    );
  });

  test("does not open in another place", async () => {
    const seal = await quick(key).fresh();
    const problem = await diagnosticOf(() => seal.open(seal.seal("text", '["state","l",1]'), '["state","l",2]'));
    expect(problem).toMatchObject({ code: "state.unreadable", summary: "The encrypted data is corrupted" });
  });

  test.each(["", "AAAA", "not base64 at all", "A".repeat(36)])("does not open when it is %j", async (text) => {
    const seal = await quick(key).fresh();
    expect((await diagnosticOf(() => seal.open(text, "place")))?.code).toBe("state.unreadable");
  });

  test("differs each time: the nonce is never the same", async () => {
    const seal = await new Encryption({ key, iterations: 1 }).fresh();
    const nonces = Array.from({ length: 500 }, () => Buffer.from(seal.seal("", ""), "base64").subarray(0, 12));
    expect(new Set(nonces.map((nonce) => nonce.toString("hex"))).size).toBe(500);
  });

  test("is refused with another one, without showing either", async () => {
    const { header } = await quick(key).fresh();
    const problem = await diagnosticOf(() => quick(other(key)).from(header));
    expect(problem).toMatchObject({
      code: "state.key",
      remedies: saying(`Set ${key.variable} to the ${key.from} of the state.`),
    });
    expect(problem?.summary).toBe(`The ${key.from} in ${key.variable} is not the ${key.from} of the state`);
    expect(JSON.stringify(problem)).not.toMatch(/correct horse|AQEBAQ|0101/);
  });

  test("is refused without any, naming the variable", async () => {
    const { header } = await quick(key).fresh();
    const problem = await diagnosticOf(() => quick(undefined).from(header));
    expect(problem).toMatchObject({
      code: "state.key",
      summary: `The state is encrypted, and ${key.variable} is not set`,
      detail: `It was encrypted with a ${key.from}.`,
    });
  });

  test("is refused with the other sort, naming both variables", async () => {
    const given = key === rawKey ? passphraseKey : rawKey;
    const { header } = await quick(key).fresh();
    const problem = await diagnosticOf(() => quick(given).from(header));
    expect(problem?.code).toBe("state.key");
    expect(problem?.detail).toBe(`It was encrypted with a ${key.from}, and ${given.variable} holds a ${given.from}.`);
    expect(fixOf(problem)).toContain(`Set ${key.variable}`);
    expect(fixOf(problem)).toContain(`unset ${given.variable}`);
  });
});

describe("the way it is sealed", () => {
  const openByHand = (key: Buffer, sealed: string, bound: string) => {
    const bytes = Buffer.from(sealed, "base64");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).setAAD(Buffer.from(bound));
    decipher.setAuthTag(bytes.subarray(-16));
    return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
  };
  const idOf = (key: Buffer) => createHmac("sha256", key).update("hostform state key").digest("hex").slice(0, 16);

  test("is AES-256-GCM under the key of PBKDF2 with SHA-512, as the header says", async () => {
    const seal = await quick(passphraseKey).fresh();
    const { salt, id, ...rest } = seal.header as { salt: string; id: string };
    expect(rest).toEqual({ from: "passphrase", kdf: "pbkdf2-sha512", iterations: 3 });
    const key = pbkdf2Sync("correct horse battery staple", Buffer.from(salt, "base64"), 3, 32, "sha512");
    expect(id).toBe(idOf(key));
    expect(openByHand(key, seal.seal("ünï¢ode", "bound"), "bound")).toBe("ünï¢ode");
  });

  test("is AES-256-GCM under the key itself", async () => {
    const seal = await quick(rawKey).fresh();
    expect(seal.header).toEqual({ from: "key", id: idOf(Buffer.alloc(32, 1)) });
    expect(openByHand(Buffer.alloc(32, 1), seal.seal("text", "bound"), "bound")).toBe("text");
  });

  test("gives the ciphertext and tag of the GCM specification (test case 14: 256 bits of zero)", async () => {
    const zero: StateKey = { from: "key", variable: "HOSTFORM_STATE_KEY", bytes: Buffer.alloc(32) };
    const seal = await new Encryption({ key: zero, random: (count) => Buffer.alloc(count) }).fresh();
    expect(Buffer.from(seal.seal("\0".repeat(16), ""), "base64").toString("hex")).toBe(
      `${"00".repeat(12)}cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919`,
    );
  });

  test("takes 600,000 rounds and a salt of 32 bytes by default", async () => {
    expect(PBKDF2_ITERATIONS).toBe(600_000);
    const seal = await new Encryption({ key: passphraseKey, random: countingBytes() }).fresh();
    expect(seal.header).toMatchObject({ iterations: 600_000 });
    expect(Buffer.from(String(seal.header.salt), "base64")).toHaveLength(32);
  });
});

describe("a header", () => {
  const good = {
    from: "passphrase",
    kdf: "pbkdf2-sha512",
    iterations: 3,
    salt: "A".repeat(43).concat("="),
    id: "0".repeat(16),
  };
  test.each<[string, JsonObject]>([
    ["is empty", {}],
    ["names another function", { ...good, kdf: "md5" }],
    ["has no rounds", { ...good, iterations: 0 }],
    ["would take hours to compute", { ...good, iterations: 10_000_001 }],
    ["has a salt of 15 bytes", { ...good, salt: Buffer.alloc(15).toString("base64") }],
    ["has a field too many", { ...good, more: 1 }],
    ["has no fingerprint", { from: "key" }],
  ])("that %s is refused", async (_, header) => {
    expect((await diagnosticOf(() => quick(passphraseKey).from(header)))?.code).toBe("state.unreadable");
  });
});
