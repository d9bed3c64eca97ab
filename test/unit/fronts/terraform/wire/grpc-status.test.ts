import { describe, expect, it } from "vitest";
import { encodeStatusMessage } from "../../../../../src/fronts/terraform/wire/grpc.ts";
import fc, { character } from "../../../../support/fc.ts";

describe("encodeStatusMessage", () => {
  it("leaves plain words as they are, and encodes the rest", () => {
    expect(encodeStatusMessage("100 % of é\n")).toBe("100 %25 of %C3%A9%0A");
  });

  it("loses nothing and holds only what a header may hold", () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (text) => {
        const encoded = encodeStatusMessage(text);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeURIComponent(encoded)).toBe(text);
      }),
    );
  });
});
