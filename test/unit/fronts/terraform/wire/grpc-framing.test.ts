import { describe, expect, it } from "vitest";
import { framed, unframed } from "../../../../../src/fronts/terraform/wire/grpc.ts";

describe("framing", () => {
  it("writes a message as five bytes and itself, and reads it back", () => {
    const body = framed(Uint8Array.of(7, 8, 9));
    expect([...body]).toEqual([0, 0, 0, 0, 3, 7, 8, 9]);
    expect([...unframed(body)]).toEqual([7, 8, 9]);
  });

  it.each([
    ["no message", []],
    ["half a prefix", [0, 0, 0]],
    ["half a message", [0, 0, 0, 0, 3, 1]],
    ["two messages", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["a compressed message", [1, 0, 0, 0, 1, 9]],
  ])("refuses %s", (_, bytes) => {
    expect(() => unframed(Buffer.from(bytes))).toThrow(/exactly one message|compressed/);
  });
});
