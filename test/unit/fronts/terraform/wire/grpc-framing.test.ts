import { describe, expect, it } from "vitest";
import { Body, framed, GrpcError, STATUS } from "../../../../../src/fronts/terraform/wire/grpc.ts";
import fc from "../../../../support/fc.ts";

function bodyOf(...pieces: readonly Uint8Array[]): Body {
  const body = new Body();
  for (const piece of pieces) body.add(Buffer.from(piece));
  return body;
}

const failureOf = (step: () => unknown) => {
  try {
    step();
  } catch (error) {
    if (error instanceof GrpcError) return [error.status, error.message];
  }
  return undefined;
};

describe("framing", () => {
  it("writes a message as five bytes and itself", () => {
    expect([...framed(Uint8Array.of(7, 8, 9))]).toEqual([0, 0, 0, 0, 3, 7, 8, 9]);
  });

  it("reads a message however its bytes are cut", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(305), { maxLength: 12 }), (message, cuts) => {
        const bytes = framed(message);
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const pieces = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
        expect(Buffer.compare(bodyOf(...pieces).message(), message)).toBe(0);
      }),
    );
  });

  it.each([
    { reason: "no message", pieces: [], status: STATUS.internal, words: "ended before its message began" },
    { reason: "half a prefix", pieces: [[0, 0, 0]], status: STATUS.internal, words: "ended before its message began" },
    { reason: "half a message", pieces: [[0, 0, 0, 0, 3, 1]], status: STATUS.internal, words: "after 1 of 3 bytes" },
    {
      reason: "two messages",
      pieces: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
      status: STATUS.internal,
      words: "more than one",
    },
  ])("refuses $reason", ({ pieces, status, words }) => {
    const body = bodyOf(...pieces.map((bytes) => Uint8Array.from(bytes)));
    expect(failureOf(() => body.message())).toEqual([status, expect.stringContaining(words)]);
  });

  it("refuses a compressed message as soon as its prefix is there", () => {
    const body = bodyOf(Uint8Array.of(1, 0, 0));
    expect(failureOf(() => body.add(Buffer.of(0, 9)))).toEqual([
      STATUS.unimplemented,
      "compressed messages are not understood",
    ]);
  });

  it("refuses a message that is announced to be larger than any, before it comes", () => {
    expect(failureOf(() => bodyOf(Uint8Array.of(0, 0xff, 0, 0, 0)))).toEqual([
      STATUS.resourceExhausted,
      expect.stringContaining("bytes"),
    ]);
  });
});
