import * as crypto from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { signatureOf, verifySignature, verifySignatureAsync } from "../../../src/webhooks/index.ts";
import { character, fc } from "../../support/fc.ts";

vi.mock("node:crypto", async (original) => {
  const actual = await original<typeof import("node:crypto")>();
  return { ...actual, timingSafeEqual: vi.fn(actual.timingSafeEqual) };
});
const compared = vi.mocked(crypto.timingSafeEqual);
beforeEach(() => {
  compared.mockClear();
});

const SECRET = "whsec-0c9f-hunter22";
const BODY = '{"event":"invoice.paid","data":{"id":5003},"timestamp":"2026-11-22T10:00:00+00:00"}';
const GOOD = signatureOf(BODY, SECRET);

/** Verifies with both functions, and expects the same result. */
async function verify(...args: Parameters<typeof verifySignature>): Promise<boolean> {
  const sync = verifySignature(...args);
  expect(await verifySignatureAsync(...args)).toBe(sync);
  return sync;
}

describe("the signature of a delivery (§6)", () => {
  // Test cases 1 and 2 of RFC 4231, the reference for HMAC-SHA256.
  it.each([
    ["Hi There", "\x0b".repeat(20), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    ["what do ya want for nothing?", "Jefe", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ])("of %j", async (body, secret, expected) => {
    expect(signatureOf(body, secret)).toBe(expected);
    expect(await verify(body, expected, secret)).toBe(true);
  });

  it("is equal for a string and its UTF-8 bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.string({ minLength: 1 }), async (body, text) => {
        const secret = `.${text}.`;
        const signature = signatureOf(body, secret);
        const bytes = new TextEncoder().encode(body);
        expect(signature).toMatch(/^[0-9a-f]{64}$/);
        expect(signatureOf(bytes, secret)).toBe(signature);
        expect(await verify(body, signature, secret)).toBe(true);
        expect(await verify(bytes, [signature.toUpperCase()], ["another", secret])).toBe(true);
      }),
    );
  });
});

describe("an invalid signature", () => {
  it("results from a body with any flipped bit", () => {
    const bytes = new TextEncoder().encode(BODY);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Uint8Array.from(bytes, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(verifySignature(altered, GOOD, SECRET), `bit ${bit}`).toBe(false);
    }
  });

  it("results from any flipped bit of the signature", () => {
    for (let bit = 0; bit < 256; bit++) {
      const given = Buffer.from(GOOD, "hex").map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(verifySignature(BODY, Buffer.from(given).toString("hex"), SECRET), `bit ${bit}`).toBe(false);
    }
  });

  it("results from any replaced character of the header, except the same digit in the other case", () => {
    for (let at = 0; at < 64; at += 7) {
      for (let code = 0; code < 256; code++) {
        const character = String.fromCharCode(code);
        const given = GOOD.slice(0, at) + character + GOOD.slice(at + 1);
        expect(verifySignature(BODY, given, SECRET)).toBe(given.toLowerCase() === GOOD);
      }
    }
  });

  it.each<readonly [string, Parameters<typeof verifySignature>[1]]>([
    ["no header", undefined],
    ["null", null],
    ["an empty one", ""],
    ["no values", []],
    ["the good one twice", [GOOD, GOOD]],
    ["the good one and another", `${GOOD}, ${"0".repeat(64)}`],
    ["a prefix", `sha256=${GOOD}`],
    ["0x", `0x${GOOD.slice(2)}`],
    ["spaces around it", ` ${GOOD} `],
    ["a line break behind it", `${GOOD}\n`],
    ["one digit less", GOOD.slice(1)],
    ["one digit more", `${GOOD}0`],
    ["twice as long", GOOD + GOOD],
    ["its beginning, filled up", GOOD.slice(0, 32).padEnd(64, "0")],
    ["fullwidth digits", GOOD.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
    ["Arabic digits", GOOD.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))],
    ["Base64", Buffer.from(GOOD, "hex").toString("base64")],
    ["the SHA-256 of the body", crypto.createHash("sha256").update(BODY).digest("hex")],
    ["that of another method", crypto.createHmac("sha512", SECRET).update(BODY).digest("hex").slice(0, 64)],
    ["that of the body formatted again", signatureOf(JSON.stringify(JSON.parse(BODY), null, 2), SECRET)],
  ])("is %s", async (_, header) => {
    expect(await verify(BODY, header, SECRET)).toBe(false);
    expect(await verify(BODY, header, ["other", SECRET])).toBe(false);
  });

  it("results from each of 10,000 forged or altered signatures", () => {
    const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 64, maxLength: 64 });
    const forged = fc.oneof(
      { weight: 3, arbitrary: hex.map((header) => ({ header, body: BODY })) },
      // Correct signature with another secret.
      fc.string({ minLength: 1 }).map((secret) => ({ header: signatureOf(BODY, `${secret}.`), body: BODY })),
      // Signature of another body.
      fc.string().map((body) => ({ header: GOOD, body })),
      // Signature with two exchanged digits.
      fc.tuple(fc.nat(63), fc.nat(63)).map(([a, b]) => {
        const digits = [...GOOD];
        [digits[a], digits[b]] = [digits[b] ?? "", digits[a] ?? ""];
        return { header: digits.join(""), body: BODY };
      }),
      // Cut, doubled or random signature.
      fc.nat(63).map((length) => ({ header: GOOD.slice(0, length), body: BODY })),
      fc.string({ unit: character, maxLength: 80 }).map((header) => ({ header, body: BODY })),
    );
    let refused = 0;
    const genuine = (header: string, body: string) => body === BODY && header.toLowerCase() === GOOD;
    fc.assert(
      fc.property(
        forged.filter(({ header, body }) => !genuine(header, body)),
        ({ header, body }) => {
          expect(verifySignature(body, header, [SECRET, "the-new-one"])).toBe(false);
          refused++;
        },
      ),
      { numRuns: 10_000 },
    );
    expect(refused).toBe(10_000);
  });
});

describe("the comparison", () => {
  const lengths = () => compared.mock.calls.map(([a, b]) => [a.byteLength, b.byteLength]);

  it("takes constant time, and compares with every secret, whichever matches", () => {
    for (const secrets of [
      [SECRET, "b", "c"],
      ["a", SECRET, "c"],
      ["a", "b", SECRET],
      ["a", "b", "c"],
      [SECRET, SECRET, SECRET],
    ]) {
      compared.mockClear();
      expect(verifySignature(BODY, GOOD, secrets)).toBe(secrets.includes(SECRET));
      expect(lengths()).toEqual([
        [32, 32],
        [32, 32],
        [32, 32],
      ]);
    }
  });

  it("is skipped for a header that is no signature, because its length is no secret", () => {
    for (const header of [GOOD.slice(2), `${GOOD}00`, "", undefined, [GOOD, GOOD]]) {
      expect(verifySignature(BODY, header, SECRET)).toBe(false);
    }
    expect(compared).not.toHaveBeenCalled();
  });
});

describe("a mistake in the program", () => {
  it.each<readonly [string, unknown, unknown, RegExp]>([
    ["a parsed body", { event: "invoice.paid" }, SECRET, /this is object\. A parsed body cannot be verified/],
    ["no body", undefined, SECRET, /this is undefined/],
    ["an ArrayBuffer", new ArrayBuffer(2), SECRET, /new Uint8Array\(buffer\)/],
    ["no secret", BODY, [], /No signing secret is given/],
    ["an empty secret", BODY, "", /is empty, so anybody could sign/],
    ["an empty secret beside a good one", BODY, [SECRET, ""], /is empty/],
    ["a secret that is not set", BODY, undefined, /undefined is given\. Is it set\?/],
    ["a null among secrets", BODY, [SECRET, null], /null is given/],
    ["a secret out of a file, with its line break", BODY, `${SECRET}\n`, /white space.*trim/],
    ["a secret out of a list, with the space before it", BODY, ["new", ` ${SECRET}`], /white space/],
  ])("%s is thrown as a sentence", async (_, body, secret, words) => {
    const args = [body, GOOD, secret] as Parameters<typeof verifySignature>;
    expect(() => verifySignature(...args)).toThrow(TypeError);
    expect(() => verifySignature(...args)).toThrow(words);
    await expect(verifySignatureAsync(...args)).rejects.toThrow(words);
    expect(() => verifySignature(...args)).not.toThrow(/hunter22/);
    expect(() => verifySignature(args[0], undefined, args[2])).toThrow(words);
  });
});
