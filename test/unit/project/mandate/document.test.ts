/** The files of mandates and receipts: any changed byte is refused. */
import { sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { HostformError, utf8 } from "../../../../src/core/model/index.ts";
import {
  approverOf,
  decodeReceipt,
  MOST_BYTES,
  readMandate,
  runnerOf,
  signMandate,
  signReceipt,
} from "../../../../src/project/mandate/document.ts";
import fc, { runs } from "../../../support/fc.ts";
import { ISSUED, mandateOf, newKey, receiptOf } from "../../../support/mandates.ts";

const { key, trusted } = newKey();
const env = { HOSTFORM_APPROVERS: `ana=${trusted}`, HOSTFORM_RUNNERS: `ci=${trusted}` };
const read = (text: string, now = ISSUED, of: Record<string, string> = env) => readMandate(text, "m.yaml", of, now);
const readBytes = (bytes: Uint8Array) => read(utf8(bytes));
const readReceiptBytes = (bytes: Uint8Array) => [decodeReceipt(utf8(bytes), "r"), runnerOf(utf8(bytes), "r", env)];
const text = signMandate(mandateOf(), key);
/** Signs any lines with the key, as only another program of the approver does. */
const resigned = (change: (lines: string) => string) => {
  const body = change(text.slice(0, text.lastIndexOf("signature:")));
  return `${body}signature: "${trusted}:${sign(null, Buffer.from(body), key).toString("base64")}"\n`;
};
/** Returns the code and the summary of the refusal. */
const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const [one] = error.diagnostics;
    return `${one?.code}: ${one?.summary}`;
  }
  return "accepted";
};

describe("the file of a mandate", () => {
  it("says that a program changed its ends of lines", () => {
    expect(refusal(() => read(text.replaceAll("\n", "\r\n")))).toMatch(/its lines end with CRLF/);
    expect(refusal(() => read(text.trimEnd()))).toMatch(/its last newline is missing/);
  });

  it("is YAML with one field in each line, and returns the same mandate with the name of its approver", () => {
    expect(read(text)).toEqual(mandateOf());
    expect(approverOf(text, "m.yaml", env)).toBe("ana");
    const { form, version, signature, ...fields } = parse(text);
    expect([form, version, fields]).toEqual(["hostform mandate", 1, mandateOf()]);
    expect(signature).toContain(trusted);
    expect(text.trimEnd().split("\n")).toHaveLength(18);
  });

  it("accepts any strings and numbers of a mandate", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(), fc.nat(), (name, amount, count) => {
        const one = mandateOf({ project: name, targets: [name], max_spend: { EUR: amount }, max_orders: count });
        expect(read(signMandate(one, key))).toEqual(one);
      }),
      { numRuns: runs(100) },
    );
  });

  it("names an approver without a name by the key", () => {
    expect(approverOf(text, "m.yaml", { HOSTFORM_APPROVERS: trusted })).toBe(trusted);
  });
});

describe.each([
  ["mandate", Buffer.from(text), readBytes],
  ["receipt", Buffer.from(signReceipt(receiptOf(), key)), readReceiptBytes],
] as const)("a %s with a changed byte", (_, bytes, of) => {
  const refuses = (changed: Uint8Array) => expect(() => of(changed)).toThrow();

  it("is refused at every position: another bit, a deleted byte, a repeated byte", () => {
    expect(() => of(bytes)).not.toThrow();
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      refuses(flipped);
      refuses(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]));
      refuses(Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)]));
    }
  });

  it("is refused after any replacement, insertion or truncation", () => {
    const at = fc.nat(bytes.length);
    fc.assert(
      fc.property(at, at, fc.uint8Array({ maxLength: 4 }), (from, to, put) => {
        const [start, end] = [Math.min(from, to), Math.max(from, to)];
        const changed = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(end)]);
        fc.pre(!changed.equals(bytes));
        refuses(changed);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("is refused with other line ends, a byte order mark, a second document, or lines after the last line", () => {
    const whole = bytes.toString();
    for (const changed of [
      whole.replaceAll("\n", "\r\n"),
      `\ufeff${whole}`,
      `${whole}---\n${whole}`,
      `---\n${whole}`,
      `${whole}\n`,
      `${whole}# comment\n`,
      `${whole}${whole.trimEnd().split("\n").at(-1)}\n`,
      whole.trimEnd(),
      whole.replace(/"\n$/, ' "\n'),
    ])
      refuses(Buffer.from(changed));
  });

  it("is refused with another base64 text of the same signature", () => {
    const whole = bytes.toString();
    const [, last = "", rest = ""] = /(.)(=="\n)$/.exec(whole) ?? [];
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const other = alphabet[alphabet.indexOf(last) ^ 1] ?? "";
    const changed = `${whole.slice(0, -rest.length - 1)}${other}${rest}`;
    const signature = (of: string) => Buffer.from(/:([^:"]+)"\n$/.exec(of)?.[1] ?? "", "base64");
    expect(signature(changed)).toEqual(signature(whole));
    refuses(Buffer.from(changed));
  });
});

describe("a mandate with a valid signature", () => {
  it.each([
    [
      "a repeated field",
      (of: string) => of.replace(/^uses: 2\n/m, "uses: 2\nuses: 2\n"),
      "are not in the form of the program",
    ],
    [
      "a repeated currency",
      (of: string) => of.replace('"USD":5000', '"USD":1,"USD":5000'),
      "are not in the form of the program",
    ],
    ["another notation of a number", (of: string) => of.replace("5000", "5e3"), "are not in the form of the program"],
    [
      "another order of fields",
      (of: string) => of.replace(/(kinds: .*\n)(max_orders: .*\n)/, "$2$1"),
      "not in the form",
    ],
    ["an unknown field", (of: string) => `${of}note: "x"\n`, 'Unrecognized key: "note"'],
    ["a missing field", (of: string) => of.replace(/^uses.*\n/m, ""), "uses: expected"],
    ["a comment", (of: string) => `${of}# note\n`, "line 18 is not a field"],
    ["an unknown currency", (of: string) => of.replace("USD", "XXX"), "max_spend.XXX: "],
    ["no use", (of: string) => of.replace("uses: 2", "uses: 0"), "uses: expected at least 1"],
    ["a negative amount", (of: string) => of.replace("5000", "-1"), "max_spend.USD: expected at least 0"],
    [
      "a time in another notation",
      (of: string) => of.replace("T12:00:00.000Z", "T12:00:00Z"),
      "expires: expected a time",
    ],
    [
      "the form of a receipt",
      (of: string) => of.replace("hostform mandate", "hostform receipt"),
      "does not begin as a mandate",
    ],
    ["more than 16 MiB", (of: string) => `${of}${"x".repeat(MOST_BYTES)}\n`, "larger than 16 MiB"],
  ])("is refused with %s", (_, change, why) => {
    expect(resigned(change)).not.toBe(text);
    const found = refusal(() => read(resigned(change)));
    expect(found).toMatch(/^mandate\.file: m\.yaml is not a valid mandate: /);
    expect(found).toContain(why);
  });

  it("of a later version names the version of this program", () => {
    expect(refusal(() => read(resigned((of) => of.replace("version: 1", "version: 2"))))).toBe(
      'mandate.file: m.yaml is not a valid mandate: line 2 is not "version: 1", the only version that this program reads',
    );
  });

  it.each([
    [
      "a key that nobody trusts",
      { HOSTFORM_APPROVERS: newKey().trusted },
      /^mandate\.signature: .*HOSTFORM_APPROVERS does not have/,
    ],
    ["no trusted key", {}, /^mandate\.signers: .*HOSTFORM_APPROVERS.* not set or empty/],
    ["an empty variable", { HOSTFORM_APPROVERS: " ," }, /^mandate\.signers: .*not set or empty/],
    [
      "a wrong key beside the right one",
      { HOSTFORM_APPROVERS: `${trusted},ed25519:AAAA` },
      /key at place 2 is invalid/,
    ],
    [
      "a key in another base64",
      { HOSTFORM_APPROVERS: trusted.replace(/.=$/, "B=") },
      /key at place 1 is invalid|does not have/,
    ],
    ["a key of a runner", { HOSTFORM_RUNNERS: trusted }, /^mandate\.signers: .*HOSTFORM_APPROVERS/],
  ])("is refused with %s", (_, of, why) => {
    expect(refusal(() => read(text, ISSUED, of as Record<string, string>))).toMatch(why);
  });

  it("accepts several trusted keys, separated by commas or spaces", () => {
    const HOSTFORM_APPROVERS = ` bo=${newKey().trusted},\n ana=${trusted} `;
    expect(approverOf(text, "m.yaml", { HOSTFORM_APPROVERS })).toBe("ana");
  });

  it("is refused before its time, after its time, and for more than 90 days", () => {
    const minutes = (count: number) => ISSUED + count * 60_000;
    expect(refusal(() => read(text, minutes(-5)))).toBe("accepted");
    expect(refusal(() => read(text, minutes(-5) - 1))).toMatch(/^mandate\.time: .*in the future/);
    expect(refusal(() => read(text, minutes(120) - 1))).toBe("accepted");
    expect(refusal(() => read(text, minutes(120)))).toMatch(/^mandate\.time: .*it expired at 2026-12-01T12:00:00.000Z/);
    const long = (ms: number) =>
      signMandate(mandateOf({ expires: new Date(ISSUED + 90 * 86_400_000 + ms).toISOString() }), key);
    expect(refusal(() => read(long(0)))).toBe("accepted");
    expect(refusal(() => read(long(1)))).toMatch(/valid for more than 90 days/);
  });

  it("has no signature if its last line is missing", () => {
    expect(refusal(() => read(text.slice(0, text.lastIndexOf("signature:"))))).toMatch(
      /^mandate\.signature: .*last line is no signature/,
    );
  });
});

describe("a receipt", () => {
  it("is readable without a signature, and nobody vouches for it", () => {
    const unsigned = signReceipt(receiptOf(), undefined);
    expect(decodeReceipt(unsigned, "r")).toEqual(receiptOf());
    expect(refusal(() => runnerOf(unsigned, "r", env))).toMatch(
      /^mandate\.signature: r has no valid signature: its last line/,
    );
  });

  it("names its runner, and is no mandate", () => {
    const signed = signReceipt(receiptOf(), key);
    expect(runnerOf(signed, "r", env)).toBe("ci");
    expect(refusal(() => read(signed))).toMatch(/does not begin as a mandate/);
  });
});
