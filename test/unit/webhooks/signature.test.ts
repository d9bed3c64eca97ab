import { describe, expect, it } from "vitest";
import { signatureOf } from "../../../src/webhooks/index.ts";
import { fc } from "../../support/fc.ts";

describe("the signature of a delivery (§6)", () => {
  // RFC 4231, test cases 1 and 2: what every implementation of HMAC-SHA256 is held to.
  it.each([
    ["Hi There", "\x0b".repeat(20), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    ["what do ya want for nothing?", "Jefe", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ])("of %j", (body, secret, expected) => {
    expect(signatureOf(body, secret)).toBe(expected);
  });

  it("is the same for a text and for its bytes in UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ minLength: 1 }), (body, secret) => {
        const signature = signatureOf(body, secret);
        expect(signature).toMatch(/^[0-9a-f]{64}$/);
        expect(signatureOf(new TextEncoder().encode(body), secret)).toBe(signature);
      }),
    );
  });
});
