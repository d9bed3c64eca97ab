import { create } from "@bufbuild/protobuf";
import { ExtData, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { HostformError, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import type { Attribute, Attributes } from "../../../../../src/core/model/schema.ts";
import { decodeDynamic, decodeValue, encodeDynamic } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { DynamicValueSchema } from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { fc } from "../../../../support/fc.ts";
import { attributes, objectOf, orderedType, text } from "./arbitrary.ts";

const of = (type: Attribute["type"]): Attribute => ({ type, description: "One.", optional: true });
const service: Attributes = {
  id: of("string"),
  plan_id: of("number"),
  suspended: of("bool"),
  events: of({ set: "string" }),
  questions: of({ map: "string" }),
  secret_output: of({ nesting: "single", attributes: { file: of("string"), command: of({ list: "string" }) } }),
  found: of({ nesting: "list", attributes: { domain: of("string"), available: of("bool") } }),
};
const empty: ValueObject = Object.fromEntries(Object.keys(service).map((name) => [name, null]));

const sent = (tree: unknown) => create(DynamicValueSchema, { msgpack: encode(tree) });

function refusal(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics[0];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("what comes from Terraform", () => {
  it("is null where there is no object", () => {
    expect(decodeDynamic(undefined, service)).toBeNull();
    expect(decodeDynamic(create(DynamicValueSchema), service)).toBeNull();
    expect(decodeDynamic(sent(null), service)).toBeNull();
  });

  it("has every attribute, and none that the schema does not know", () => {
    expect(decodeDynamic(sent({ id: "7", colour: "red" }), service)).toEqual({ ...empty, id: "7" });
  });

  it("has unknown parts, whatever Terraform says about them", () => {
    const refined = new ExtData(12, new Uint8Array([0x81, 0x01, 0xc3]));
    const long = new ExtData(12, new Uint8Array(300));
    const timestamp = new ExtData(-1, new Uint8Array(4));
    const value = { id: refined, plan_id: long, events: ["b", timestamp, "a"], secret_output: { file: refined } };
    expect(decodeDynamic(sent(value), service)).toEqual({
      ...empty,
      id: UNKNOWN,
      plan_id: UNKNOWN,
      events: ["a", "b", UNKNOWN],
      secret_output: { file: UNKNOWN, command: null },
    });
  });

  it("is unknown in every attribute when it is unknown as a whole", () => {
    const all = Object.fromEntries(Object.keys(service).map((name) => [name, UNKNOWN]));
    expect(decodeDynamic(sent(new ExtData(0, new Uint8Array(1))), service)).toEqual(all);
  });

  it("has sets in an order of their own, each element once", () => {
    const shuffled = fc
      .uniqueArray(text, { maxLength: 6 })
      .chain((items) => fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length })));
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const read = decodeValue(encode(one), { set: "string" });
        expect(decodeValue(encode([...other, ...other]), { set: "string" })).toEqual(read);
        expect([...(read as string[])].sort()).toEqual([...one].map((item) => item.toWellFormed()).sort());
      }),
    );
  });

  it.each([
    [
      "an integer beyond 2^53",
      { plan_id: 9007199254740993n },
      ["plan_id"],
      "a number of at most 15 digits, found a longer one",
    ],
    ["a third", { plan_id: "0.33333333333333333333333" }, ["plan_id"], "found a longer one"],
    ["a list for a text", { id: [] }, ["id"], "expected a string, found a list"],
    ["a text for a number", { plan_id: "many" }, ["plan_id"], "found a string"],
    ["a number for a boolean", { suspended: 1 }, ["suspended"], "expected true or false, found a number"],
    ["an element of a set", { events: ["a", {}] }, ["events", 1], "events[1]: expected a string, found an object"],
    ["a list for a map", { questions: [] }, ["questions"], "expected a map, found a list"],
    ["a map's value", { questions: { a: {} } }, ["questions", "a"], "questions.a: expected a string"],
    ["a text for a set", { events: "a" }, ["events"], "expected a set, found a string"],
    ["a list for an object", { secret_output: [] }, ["secret_output"], "expected an object, found a list"],
    ["an object for a list", { found: {} }, ["found"], "expected a list, found an object"],
    [
      "a part of a part",
      { found: [{ domain: false, available: [] }] },
      ["found", 0, "available"],
      "found[0].available",
    ],
  ])("is refused at the attribute: %s", (_, value, path, words) => {
    const refused = refusal(() =>
      decodeDynamic({ ...sent(null), msgpack: encode(value, { useBigInt64: true }) }, service),
    );
    expect(refused).toMatchObject({ code: "config.invalid_value", attribute: path });
    expect(refused?.summary).toContain(words);
  });

  it("is refused without its text, which may be secret", () => {
    const refused = refusal(() => decodeDynamic(sent({ plan_id: "hunter22" }), service));
    expect(JSON.stringify(refused)).not.toContain("hunter22");
  });

  it.each([
    ["half a value", new Uint8Array([0x81, 0xa1])],
    ["two values", new Uint8Array([0xc0, 0xc0])],
    ["a byte that means nothing", new Uint8Array([0xc1])],
  ])("is refused as a defect: %s", (_, msgpack) => {
    expect(refusal(() => decodeDynamic(create(DynamicValueSchema, { msgpack }), service))?.code).toBe("internal");
  });

  it("has no key __proto__", () => {
    const msgpack = new Uint8Array([0x81, 0xa9, ...new TextEncoder().encode("__proto__"), 0xa1, 0x61]);
    const refused = refusal(() => decodeValue(msgpack, { map: "string" }));
    expect(refused).toMatchObject({ code: "config.invalid_value" });
    expect(refused?.summary).toContain("__proto__");
  });
});

describe("what goes to Terraform", () => {
  it("is written in the bytes that Terraform expects", () => {
    const { msgpack } = encodeDynamic(
      { id: UNKNOWN, price: 9.99, term: 12, off: false },
      {
        id: of("string"),
        price: of("number"),
        term: of("number"),
        off: of("bool"),
        note: of("string"),
      },
    );
    const bytes = Buffer.from(msgpack).toString("hex");
    const word = (letters: string) => (0xa0 + letters.length).toString(16) + Buffer.from(letters).toString("hex");
    const expected = [
      "85",
      word("id"),
      "d40000",
      word("price"),
      word("9.99"),
      word("term"),
      "0c",
      word("off"),
      "c2",
      word("note"),
      "c0",
    ];
    expect(bytes).toBe(expected.join(""));
  });

  it("has U+FFFD for half a pair of UTF-16", () => {
    const questions = { "a\ud800": "\udc00b" };
    const read = decodeDynamic(encodeDynamic({ questions }, service), service);
    expect(read?.questions).toEqual({ "a\ufffd": "\ufffdb" });
  });

  it.each([
    ["an attribute that the schema does not know", { colour: "red" }, "colour"],
    ["a part that the schema does not know", { secret_output: { fil: "x" } }, "secret_output.fil"],
    ["a number for a text", { id: 7 }, "id"],
    ["a text for a number", { plan_id: "7" }, "plan_id"],
    ["no number", { plan_id: Number.NaN }, "plan_id"],
    ["a text for a boolean", { suspended: "true" }, "suspended"],
    ["a map for a set", { events: {} }, "events"],
    ["a list for a map", { questions: [] }, "questions"],
    ["an element", { events: ["a", 7] }, "events[1]"],
    ["a list for an object", { secret_output: [] }, "secret_output"],
    ["an object for a list", { found: {} }, "found"],
  ])("is refused as a defect: %s", (_, value: ValueObject, place) => {
    const refused = refusal(() => encodeDynamic(value, service));
    expect(refused).toMatchObject({ code: "internal" });
    expect(refused?.summary).toMatch(new RegExp(`: ${place.replace(/[[\]]/g, "\\$&")}$`));
  });
});

describe("there and back", () => {
  it("is the same for values of any form, unknown at any depth", () => {
    const cases = attributes(orderedType).chain((schema) => fc.tuple(fc.constant(schema), objectOf(schema)));
    fc.assert(
      fc.property(cases, ([schema, value]) => {
        expect(decodeDynamic(encodeDynamic(value, schema), schema)).toEqual(value);
      }),
    );
  });
});
