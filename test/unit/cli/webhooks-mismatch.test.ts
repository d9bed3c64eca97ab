import { createHmac } from "node:crypto";

import { describe, expect, it } from "vitest";
import { mismatchOf } from "../../../src/cli/webhooks/verify.ts";
import fc from "../../support/fc.ts";
import { fixOf } from "../../support/remedies.ts";

const SECRET = "whsec_0123456789abcdef0123456789abcdef01234567";
const sign = (body: string | Uint8Array, key: string | Uint8Array = SECRET) =>
  createHmac("sha256", key).update(body).digest("hex");
const bytes = (text: string) => Buffer.from(text);

const EVENT = { event: "invoice.paid", data: { id: 5003, url: "https://acme.example/ქართული" }, timestamp: "2026" };
const BODY = JSON.stringify(EVENT);
const PHP = BODY.replaceAll("/", "\\/").replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);

describe("the explanation of a wrong signature", () => {
  it.each<[why: string, body: string, signed: string, words: RegExp]>([
    ["an editor added a final line break", `${BODY}\n`, BODY, /final line break is left out/],
    ["so did one on Windows", `${BODY}\r\n`, BODY, /final line break is left out/],
    ["the shell took the final line break", BODY, `${BODY}\n`, /line break is added at the end/],
    ["line breaks were made CR LF", "{\r\n}\r\n", "{\n}\n", /LF, not CR LF/],
    ["line breaks were made LF", "{\n}\n", "{\r\n}\r\n", /CR LF, not LF/],
    ["a byte order mark was put before it", `\uFEFF${BODY}`, BODY, /white space around it/],
    ["it was indented", JSON.stringify(EVENT, null, 2), BODY, /re-serialised/],
    ["the sender escapes slashes and letters", BODY, PHP, /re-serialised/],
    ["white space was put around it", `  ${BODY}`, BODY, /white space around it/],
  ])("says so when %s", (_, body, signed, words) => {
    expect(mismatchOf(bytes(body), sign(signed), ["other secret", SECRET]).detail).toMatch(words);
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    ["a line break belongs to the sender's secret", `${SECRET}\n`, /line break at its end/],
  ])("says so when %s", (_, key, words) => {
    const mismatch = mismatchOf(bytes(BODY), sign(BODY, key), [SECRET]);
    expect(mismatch.detail).toMatch(words);
    expect(fixOf(mismatch)).toMatch(/secret/);
  });

  it.each<[string, string, RegExp]>([
    ["empty", " ", /empty/],
    ["too short", sign(BODY).slice(1), /63 hexadecimal digits, not 64/],
    ["prefixed", `sha256=${sign(BODY)}`, /text before.*The digits are correct/],
    ["the whole header", `X-Service-Signature: ${sign(BODY)}`, /text before.*The digits are correct/],
    ["prefixed, and of another body", `sha256=${sign("other")}`, /text before the 64 hexadecimal digits\.$/],
    ["in base64", Buffer.from(sign(BODY), "hex").toString("base64"), /base64, not hexadecimal.*The digits are correct/],
    ["a word", "none", /not hexadecimal/],
  ])("says what is wrong with a signature that is %s", (_, signature, words) => {
    expect(mismatchOf(bytes(BODY), signature, [SECRET]).detail).toMatch(words);
  });

  it.each([
    ["lists", "[".repeat(100_000) + "]".repeat(100_000)],
    ["objects behind a text of brackets", `["${"]".repeat(99)}",${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}]`],
  ])("does not go down into %s that are nested without end", (_, body) => {
    expect(mismatchOf(bytes(body), sign("something else"), [SECRET]).detail).toContain("neither this body");
  });

  it("names no cause if none matches", () => {
    const { detail, remedies } = mismatchOf(bytes(BODY), sign("something else"), [SECRET, "another one"]);
    expect(detail).toContain("any of the 2 secrets");
    expect(fixOf({ remedies })).toContain("each has its own");
  });

  it("never contains the signature or the secret, whatever the input", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.string(),
        fc.string({ minLength: 12 }),
        (body, given, secret) => {
          const { detail, remedies } = mismatchOf(body, given, [secret]);
          expect(`${detail} ${fixOf({ remedies })}`).not.toContain(sign(body, secret));
          expect(`${detail} ${fixOf({ remedies })}`).not.toContain(secret);
        },
      ),
      { numRuns: 200 },
    );
  });
});
