import { describe, expect, it } from "vitest";
import { PENDING_CREATE } from "../../../../../src/core/model/index.ts";
import {
  decodeMark,
  encodeMark,
  type Mark,
  withoutPendingId,
  withPendingId,
} from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import fc from "../../../../support/fc.ts";
import { saying } from "../../../../support/remedies.ts";

const PENDING = { since: "2026-11-21T09:00:00Z", operation: "createService" };
const bytes = (text: string) => new TextEncoder().encode(text);

describe("the private mark of a resource", () => {
  it("is read as it was written", () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', "\\", "\u0000", "\u2028", "é", "😀") });
    const mark: fc.Arbitrary<Mark> = fc.record(
      {
        generation: fc.integer({ min: 2, max: 9 }),
        made: text,
        host: text,
        waiting: fc.array(text, { maxLength: 3 }),
        pending: fc.record({ since: fc.constant(PENDING.since), operation: text, known: fc.array(text) }),
        replacing: fc.record({ id: text, name: text, prevented: fc.constant(true as const) }, { requiredKeys: ["id"] }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(mark, (one) => {
        expect(decodeMark(encodeMark(one))).toEqual(one);
      }),
    );
  });

  it("is JSON, and is read from JSON", () => {
    const mark: Mark = { host: "here", made: "www", pending: { ...PENDING, known: ["7"] }, waiting: ["suspended"] };
    expect(JSON.parse(new TextDecoder().decode(encodeMark(mark)))).toEqual(mark);
    expect(decodeMark(encodeMark(mark))).toEqual(mark);
  });

  it("is absent if no value must be kept, so that Terraform shows no difference", () => {
    expect(encodeMark({})).toHaveLength(0);
    expect(encodeMark({ made: undefined } as unknown as Mark)).toHaveLength(0);
    expect(decodeMark(new Uint8Array())).toEqual({});
  });

  it.each([
    ["a half", '{"made":'],
    ["a list", "[]"],
    ["a text", '"x"'],
    ["null", "null"],
    ["something else", "\u0000\u0001"],
  ])("that is damaged (%s) is refused, with what to do, and not taken for nothing", (_, text) => {
    expect(() => decodeMark(bytes(text))).toThrow(
      expect.objectContaining({
        diagnostics: [
          expect.objectContaining({
            code: "state.unreadable",
            remedies: saying(expect.stringContaining("terraform state rm")),
          }),
        ],
      }),
    );
  });
});

describe("the id of a pending create", () => {
  it("is a placeholder for Terraform, so that references to it fail, and null for the core", () => {
    const shown = withPendingId({ id: null, domain: "acme.example" }, { pending: PENDING });
    expect(shown).toEqual({ id: PENDING_CREATE, domain: "acme.example" });
    expect(withoutPendingId(shown)).toEqual({ id: null, domain: "acme.example" });
    expect(withPendingId({ domain: "acme.example" }, { pending: PENDING }), "an id that is not given is none").toEqual(
      shown,
    );
  });

  it.each([
    ["that is known", { id: "1001" }, { pending: PENDING }],
    ["of what is not pending", { id: null }, {}],
  ])("%s stays", (_, attributes, mark) => {
    expect(withPendingId(attributes, mark)).toEqual(attributes);
    expect(withoutPendingId(attributes)).toEqual(attributes);
  });
});
