import { describe, expect, it } from "vitest";
import { canConvert, unify } from "../../../../src/core/expression/conversion.ts";
import {
  convert,
  evaluate,
  fromValue,
  jsonOfType,
  parseExpression,
  parseType,
  type Type,
  typeOfAttribute,
} from "../../../../src/core/expression/index.ts";
import type { Typed } from "../../../../src/core/expression/typed-value.ts";
import { sameType, withoutOptional } from "../../../../src/core/expression/types.ts";
import { ExpressionError, type Json, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";
import fc, { runs } from "../../../support/fc.ts";
import { mistake, NAMES, shown } from "./context.ts";

const converted = (expression: string, type: string) =>
  convert(evaluate(parseExpression(expression), NAMES), parseType(type));

describe("conversion", () => {
  it.each<[string, string, Json, Json]>([
    ['"11"', "number", 11, "number"],
    ["1.10", "string", "1.1", "string"],
    ['"1"', "bool", true, "bool"],
    ["[1, true]", "list(string)", ["1", "true"], ["list", "string"]],
    ['["b", "a", "b"]', "set(string)", ["a", "b"], ["set", "string"]],
    ["[10, 9, 1]", "set(number)", [1, 9, 10], ["set", "number"]],
    ['["é", "z", "😀", "\\uffff", "a"]', "set(string)", ["a", "z", "é", "\uffff", "😀"], ["set", "string"]],
    [
      "[{a = 1}, {a = 2}, {a = 0}, {a = 10}]",
      "set(object({a = number}))",
      [{ a: 0 }, { a: 10 }, { a: 1 }, { a: 2 }],
      ["set", ["object", { a: "number" }]],
    ],
    ['[null, "a"]', "set(string)", ["a", null], ["set", "string"]],
    ["var.set", "list(string)", ["a", "z"], ["list", "string"]],
    ["{a = 1, b = 2}", "map(string)", { a: "1", b: "2" }, ["map", "string"]],
    ["{a = 1, b = 2}", "object({a = string})", { a: "1" }, ["object", { a: "string" }]],
    ["var.map", "object({a = string})", { a: "1" }, ["object", { a: "string" }]],
    [
      "{}",
      "object({a = optional(string), b = optional(number, 3)})",
      { a: null, b: 3 },
      ["object", { a: "string", b: "number" }],
    ],
    ["{a = null}", 'object({a = optional(string, "d")})', { a: "d" }, ["object", { a: "string" }]],
    [
      "[{}, {x = 1}]",
      'list(object({x = optional(string, "d")}))',
      [{ x: "d" }, { x: "1" }],
      ["list", ["object", { x: "string" }]],
    ],
    [
      "{k = {}}",
      "map(object({x = optional(object({y = optional(number, 1)}), {})}))",
      { k: { x: { y: 1 } } },
      ["map", ["object", { x: ["object", { y: "number" }] }]],
    ],
    ['[1, "a", true]', "list(any)", ["1", "a", "true"], ["list", "string"]],
    [
      "{a = [1], b = [true]}",
      "any",
      { a: [1], b: [true] },
      ["object", { a: ["tuple", ["number"]], b: ["tuple", ["bool"]] }],
    ],
    ["[1, 2]", "tuple([string, any])", ["1", 2], ["tuple", ["string", "number"]]],
    ["null", "list(string)", null, ["list", "string"]],
    ["[null, 1]", "list(string)", [null, "1"], ["list", "string"]],
    ["var.later", "number", "(later)", "number"],
    ["[var.later]", "list(number)", ["(later)"], ["list", "number"]],
    ["var.later_list", "set(any)", "(later)", ["set", "string"]],
    ["[]", "list(any)", [], ["list", "dynamic"]],
  ])("%s as %s", (expression, type, expected, wanted) => {
    const result = converted(expression, type);
    expect([shown(result), jsonOfType(result.type)]).toEqual([expected, wanted]);
  });

  it.each([
    ['"x"', "number", "a number is required"],
    ['"True"', "bool", 'use lowercase "true"'],
    ["[1]", "string", "string is required, but the value is tuple"],
    ["[1, [2]]", "list(string)", "list of string is required, but the value is tuple"],
    ['[1, "x"]', "list(number)", "element 1: a number is required"],
    ['{a = {b = "x"}}', "object({a = object({b = number})})", 'attribute "a": attribute "b": a number is required'],
    ["{b = 1}", "object({a = string})", 'attribute "a" is required'],
    ["{}", "object({a = string, b = string})", 'attributes "a", "b" are required'],
    ["var.map", "object({z = string})", 'attribute "z" is required'],
    ["[1]", "map(string)", "map of string is required"],
    ["[1]", "tuple([string, string])", "tuple is required"],
  ])("refuses %s as %s", (expression, type, message) => {
    expect(mistake(() => converted(expression, type))).toContain(message);
  });

  const SECRET = { from: ["env.SECRET"] };

  it("keeps secrets secret, and keeps the mark of an element at the element", () => {
    expect(converted("var.secret", "string").secret).toEqual(SECRET);
    expect(converted("var.secrets", "set(string)").secret).toEqual(SECRET);
    const list = converted("[var.secret, 1]", "list(string)");
    expect(list.secret).toBeUndefined();
    expect((list.content as readonly Typed[]).map(({ secret }) => secret)).toEqual([SECRET, undefined]);
    expect(converted("[var.secret, 1]", "set(string)").secret).toEqual(SECRET);
  });

  it("finds the common type of several types", () => {
    const common = (...types: string[]) => {
      const found = unify(types.map((type) => withoutOptional(parseType(type))));
      return found === undefined ? undefined : jsonOfType(found);
    };
    expect(common("string", "number")).toBe("string");
    expect(common("number", "bool")).toBeUndefined();
    expect(common("any", "number")).toBe("number");
    expect(common("list(number)", "tuple([string])")).toEqual(["list", "string"]);
    expect(common("map(number)", "object({a = string})")).toEqual(["map", "string"]);
    expect(common("object({a = number})", "object({b = bool})")).toBeUndefined();
    expect(common("set(string)", "list(string)")).toEqual(["list", "string"]);
    expect(common("object({a = any})", "tuple([])")).toBeUndefined();
  });
});

describe("types", () => {
  it.each<[string, Json]>([
    ["string", "string"],
    ["any", "dynamic"],
    ["list(set(map(bool)))", ["list", ["set", ["map", "bool"]]]],
    ["tuple([string, any])", ["tuple", ["string", "dynamic"]]],
    ["object({\n a = string\n b = optional(number, 3)\n})", ["object", { a: "string", b: "number" }]],
    ["object({})", ["object", {}]],
  ])("%s", (text, json) => {
    expect(jsonOfType(parseType(text))).toEqual(json);
  });

  it.each([
    ["text", "there is no type text"],
    ["list", "there is no type list; a type is string, number, bool, any, list(…)"],
    ["list()", "a type is string, number"],
    ["vector(string)", "there is no type vector"],
    ["tuple(string)", "tuple([…])"],
    ["object(string)", "object({…})"],
    ["object({a = string, a = number})", "duplicate attribute a"],
    ['object({a = optional(number, "x")})', "the default does not match the type"],
    ["object({a = optional(number, 1, 2)})", "takes a type"],
    ["optional(string)", "there is no type optional"],
    ["list(string", 'expected ")"'],
    ['"string"', "a type is string, number"],
  ])("refuses %s", (text, message) => {
    expect(mistake(() => parseType(text))).toContain(message);
  });

  it("come from the attributes of a schema", () => {
    const attributes = {
      email: { type: "string", description: "" },
      tags: { type: { set: "string" }, description: "" },
    } as const;
    expect(typeOfAttribute("number")).toBe("number");
    expect(typeOfAttribute({ nesting: "list", attributes })).toEqual({
      list: { object: { email: "string", tags: { set: "string" } } },
    });
    expect(jsonOfType(typeOfAttribute({ nesting: "single", attributes }))).toEqual([
      "object",
      { email: "string", tags: ["set", "string"] },
    ]);
  });

  const types: fc.Arbitrary<Type> = fc.letrec<{ type: Type }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom<Type>("string", "number", "bool", "any"),
      tie("type").map((list) => ({ list })),
      tie("type").map((set) => ({ set })),
      tie("type").map((map) => ({ map })),
      fc.array(tie("type"), { maxLength: 3 }).map((tuple) => ({ tuple })),
      fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("type"), { maxKeys: 2 }).map((object) => ({ object })),
    ),
  })).type;
  const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Value>(null, true, "", "1", "true", "x", 0, 1.5, UNKNOWN),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("value"), { maxKeys: 2 }),
    ),
  })).value;

  it("convert to the same value again, or fail with an ExpressionError", () => {
    fc.assert(
      fc.property(values, types, (value, type) => {
        let once: ReturnType<typeof convert>;
        try {
          once = fromValue(value, type);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
          return;
        }
        expect(convert(once, type)).toEqual(once);
        expect(shown(convert(once, once.type))).toEqual(shown(once));
      }),
      { numRuns: runs(400) },
    );
  });

  it("unify to a type that all of them convert to, in any order", () => {
    fc.assert(
      fc.property(fc.array(types, { minLength: 1, maxLength: 3 }), (some) => {
        const common = unify(some);
        if (common === undefined) return;
        for (const type of some) expect(canConvert(type, common)).toBe(true);
        if (some.every((type) => sameType(type, some[0] ?? "any")))
          expect(sameType(common, some[0] ?? "any")).toBe(true);
      }),
      { numRuns: runs(400) },
    );
  });
});
