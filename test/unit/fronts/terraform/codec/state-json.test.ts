import { describe, expect, it } from "vitest";
import { HostformError } from "../../../../../src/core/model/index.ts";
import type { Attribute, Attributes } from "../../../../../src/core/model/schema.ts";
import { fromStateJson } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { fc } from "../../../../support/fc.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { attributes, objectOf, orderedType } from "./arbitrary.ts";

const of = (type: Attribute["type"], writeOnly = false): Attribute => ({
  type,
  description: "One.",
  optional: true,
  writeOnly,
});
const schema: Attributes = {
  id: of("string"),
  plan_id: of("number"),
  suspended: of("bool"),
  password: of("string", true),
  events: of({ set: "string" }),
  output: of({ nesting: "single", attributes: { file: of("string"), key: of("string", true) } }),
  parts: of({ nesting: "list", attributes: { name: of("string"), key: of("string", true) } }),
};
const nothing = { id: null, plan_id: null, suspended: null, password: null, events: null, output: null, parts: null };

function refusal(text: string) {
  try {
    fromStateJson(text, schema);
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics[0];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("the attributes of a recorded instance", () => {
  it("are filled up with null, and rid of what the schema does not know", () => {
    expect(fromStateJson('{"colour":"red"}', schema)).toEqual(nothing);
    expect(fromStateJson('{"output":{"file":"a","age":3}}', schema).output).toEqual({ file: "a", key: null });
  });

  it("never hold a write-only value, at any depth", () => {
    const text = '{"password":"p","output":{"file":"a","key":"p"},"parts":[{"name":"a","key":"p"},null]}';
    const read = fromStateJson(text, schema);
    expect(JSON.stringify(read)).not.toContain('"p"');
    expect(read).toMatchObject({ output: { file: "a", key: null }, parts: [{ name: "a", key: null }, null] });
  });

  it("have sets as lists in a canonical order", () => {
    expect(fromStateJson('{"events":["b","a","b"]}', schema).events).toEqual(["a", "b"]);
  });

  it("turn what an earlier form wrote without loss", () => {
    expect(fromStateJson('{"id":42,"plan_id":"101","suspended":"true"}', schema)).toEqual({
      ...nothing,
      id: "42",
      plan_id: 101,
      suspended: true,
    });
    // The id keeps every digit.
    expect(fromStateJson('{"id":12345678901234567890}', schema).id).toBe("12345678901234567890");
  });

  it.each([
    ['{"id":[]}', ["id"], "The state of id cannot be read: expected a string, found a list"],
    ['{"plan_id":{}}', ["plan_id"], "expected a number, found an object"],
    ['{"plan_id":9007199254740993}', ["plan_id"], "found a longer one"],
    ['{"suspended":1}', ["suspended"], "expected true or false"],
    ['{"events":[["a"]]}', ["events", 0], "The state of events[0]"],
    ['{"output":{"file":{}}}', ["output", "file"], "The state of output.file"],
    ['{"output":"a"}', ["output"], "expected an object, found a string"],
    ["[]", undefined, "expected an object, found a list"],
    ["null", undefined, "expected an object, found null"],
    ["{", undefined, "its attributes are not JSON"],
  ])("are refused at the attribute: %s", (text, attribute, words) => {
    const refused = refusal(text);
    expect(refused?.code).toBe("state.unreadable");
    expect(refused?.attribute).toEqual(attribute);
    expect(refused?.summary).toContain(words);
    expect(fixOf(refused)).toBeTruthy();
  });

  it("are the same when nothing is to be done", () => {
    const cases = attributes(orderedType).chain((one) => fc.tuple(fc.constant(one), objectOf(one, false)));
    fc.assert(
      fc.property(cases, ([one, value]) => {
        expect(fromStateJson(JSON.stringify(value), one)).toEqual(value);
      }),
    );
  });
});
