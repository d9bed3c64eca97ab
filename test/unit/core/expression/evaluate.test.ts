import { describe, expect, it } from "vitest";
import { evaluate, parseTemplate, type Typed } from "../../../../src/core/expression/index.ts";
import { Refusal } from "../../../../src/core/expression/refusal.ts";
import type { Json } from "../../../../src/core/model/index.ts";
import { mistake, NAMES, shown, type, typed, value } from "./context.ts";

const template = (text: string) => shown(evaluate(parseTemplate(text), NAMES));
const fails = (expression: string) => mistake(() => typed(`\${${expression}}`));

// Every value here is what Terraform 1.11.4 gives.
describe("names and steps", () => {
  it.each<[string, Json]>([
    ["var.list[0]", "a"],
    ['var.list["1"]', "b"],
    ["var.list.0", "a"],
    ["var.map.a", 1],
    ['var.map["b"]', 2],
    ["var.map[var.list[0]]", 1],
    ["var.object.b", 3],
    ["var.object.c[0].x", "d"],
    ["var.objects[1].id", "i2"],
    ["(var.objects[0]).id", "i1"],
    ['{"0" = 5}.0', 5],
    ['{"true" = 1}[true]', 1],
    ["[1, 2, 3][length([1])]", 2],
    ["var . text", "v"],
    ["upper (var.text)[*]", ["V"]],
  ])("%s", (expression, expected) => {
    expect(value(expression)).toEqual(expected);
  });

  it.each([
    ["var.list[5]", "there is no element with this index"],
    ["[][0]", "the list is empty"],
    ["var.list[0.5]", "whole number"],
    ["var.list[-1]", "not negative"],
    ['var.list["x"]', "a list has no attribute x"],
    ["var.list[[]]", "does not name an element"],
    ["var.objects.id", "or use [*] for all elements"],
    ["var.map.z", "no element with attribute z"],
    ["var.map[null]", "the index is null"],
    ["var.object.zz", "the object has no attribute zz"],
    ["var.set[0]", "a set has no indexes"],
    ["var.text.a", "a string has no indexes or attributes"],
    ["var.none.a", "is null"],
    ["null[0]", "is null"],
    ["nothing.here", "nothing.here does not exist"],
  ])("refuses %s", (expression, message) => {
    expect(fails(expression)).toContain(message);
  });
});

describe("splats", () => {
  it.each<[string, Json, Json]>([
    ["var.objects[*].id", ["i1", "i2"], ["list", "string"]],
    ["var.objects.*.n", [1, 2], ["list", "number"]],
    ["var.objects[*].id[0]", "refused", null],
    ["var.objects.*.id[0]", "i1", "string"],
    ["var.objects.*.id.0", "refused", null],
    ['var.objects[*]["id"]', ["i1", "i2"], ["list", "string"]],
    ['var.objects[*][var.yes ? "id" : "n"]', ["i1", "i2"], ["list", "string"]],
    ["var.text[*]", ["v"], ["tuple", ["string"]]],
    ["var.none[*]", [], ["tuple", []]],
    ["null[*]", [], ["tuple", []]],
    ["var.set[*]", ["a", "z"], ["list", "string"]],
    ["[{a = [{b = 1}, {b = 2}]}][*].a[*].b", [[1, 2]], ["tuple", [["tuple", ["number", "number"]]]]],
    ["[[1, 2], [3]][*][0]", [1, 3], ["tuple", ["number", "number"]]],
    ["[var.objects][0][*].id", ["i1", "i2"], ["list", "string"]],
  ])("%s", (expression, expected, wanted) => {
    if (expected === "refused") expect(fails(expression)).toMatch(/no indexes/);
    else expect([value(expression), type(expression)]).toEqual([expected, wanted]);
  });

  it("refuses a splat of a null list", () => {
    expect(fails("tolist(null)[*]")).toContain("null");
  });
});

describe("for", () => {
  it.each<[string, Json]>([
    ["[for x in var.list : upper(x)]", ["A", "B"]],
    ['[for i, x in var.list : "${i}${x}"]', ["0a", "1b"]],
    ["[for k, v in var.map : k if v > 1]", ["b"]],
    ["[for k, x in var.set : k]", ["a", "z"]],
    ["{for x in var.objects : x.id => x.n}", { i1: 1, i2: 2 }],
    ["{for i, x in var.list : i => x}", { "0": "a", "1": "b" }],
    ["{for k, v in {a = 1, b = 2, c = 1} : v => k...}", { "1": ["a", "c"], "2": ["b"] }],
    ['{for k, v in {a = 1, b = 2, c = 1} : v => k... if k != "b"}', { "1": ["a", "c"] }],
    ["[for x in [[1, 2], [3]] : [for y in x : y + 1]]", [[2, 3], [4]]],
    ["[for x in [1] : [for x in [2] : x]]", [[2]]],
    ["[for var in [1] : var]", [1]],
    ["[for x in {} : x]", []],
    ['[for x in [1, 2] : x if "true"]', [1, 2]],
    ["[for\nx\nin\nvar.list:\nx]", ["a", "b"]],
  ])("%s", (expression, expected) => {
    expect(value(expression)).toEqual(expected);
  });

  it.each([
    ["[for x in null : x]", "iterate over null"],
    ['[for x in "abc" : x]', "for cannot iterate over a string"],
    ["[for x in [1, null] : x if null]", "the condition of the for is null"],
    ["[for x in [] : 5 if 3]", "not a bool"],
    ["{for x in [1, 1] : x => x}", 'two elements have the key "1"'],
    ["{for x in [1] : null => x}", "a key is null"],
    ["{for x in [1] : [] => x}", "this cannot be a key"],
    ["[for x in [1] : x...]", "only a for in { } can group"],
    ["[for x in [1] : x => 1]", "has no keys"],
    ["{for x in [1] : x}", '"=>"'],
  ])("refuses %s", (expression, message) => {
    expect(fails(expression)).toContain(message);
  });
});

describe("lists and objects", () => {
  it.each<[string, Json]>([
    ["[1, 'a'", "refused"],
    ["[1,\n2,\n]", [1, 2]],
    ["{\n a = 1\n b = 2\n}", { a: 1, b: 2 }],
    ["{a: 1, b = 2,}", { a: 1, b: 2 }],
    ['{(var.text) = 1, "${var.text}x" = 2}', { v: 1, vx: 2 }],
    ["{true = 1, null = 2, 1.50 = 3}", { "1.5": 3, null: 2, true: 1 }],
    ["{a = 1, a = 2}", { a: 2 }],
    ["{é = 1, a-b = 2}", { "a-b": 2, é: 1 }],
    ['{"__proto__" = {x = 1}}["__proto__"].x', 1],
  ])("%s", (expression, expected) => {
    if (expected === "refused") expect(fails(expression)).toContain("unexpected character");
    else expect(value(expression)).toEqual(expected);
  });

  it("keeps each element's own type", () => {
    expect(type('[1, "a", true, null]')).toEqual(["tuple", ["number", "string", "bool", "dynamic"]]);
    expect(type("{b = 1, a = [2]}")).toEqual(["object", { a: ["tuple", ["number"]], b: "number" }]);
  });

  it.each([
    ["{a.b = 1}", "put it in parentheses"],
    ["{a = 1 b = 2}", "a comma, a line break"],
    ["{(null) = 1}", "a key is null"],
    ["{[1] = 2}", "this cannot be a key"],
    ["[1 2]", "a comma in the list"],
  ])("refuses %s", (expression, message) => {
    expect(fails(expression)).toContain(message);
  });
});

describe("operators", () => {
  it.each<[string, Json]>([
    ["1 + 2 * 3 == 7 && !false || false", true],
    ["1 - 2 - 3", -4],
    ["2 * 3 % 4", 2],
    ["-var.number + 5", 2],
    ["--1", 1],
    ["!!true", true],
    ["-1 - -1", 0],
    ['"3" + 4', 7],
    ['2 > "1"', true],
    ["1 < 2 == true", true],
    ['true && "true"', true],
    ['"1" && true', true],
    ["true ? true ? 1 : 2 : 3", 1],
    ["1 == 1.0", true],
    ['1 == "1"', false],
    ["[1] == tolist([1])", false],
    ["{a = 1} == tomap({a = 1})", false],
    ['{a = 1} == {a = "1"}', false],
    ["tolist([1]) == tolist([1])", true],
    ['toset(["b", "a"]) == toset(["a", "b"])', true],
    ["null == null", true],
    ["var.none == null", true],
    ["[null] == [null]", true],
    ["var.text != null", true],
    ["ceil(10 / 3)", 4],
    ["floor((length(var.list) + 1) / length(var.list))", 1],
    ["1 # comment\n + 2 // another\n /* and */ + 3", 6],
  ])("%s", (expression, expected) => {
    expect(value(expression)).toEqual(expected);
  });

  it.each([
    ['3 - "x"', "right operand: a number is required"],
    ['"b" > "a"', "left operand: a number is required"],
    ["1 + null", "an operand of + is null"],
    ["1 && true", "left operand"],
    ['true && "x"', "a bool is required"],
    ['true && tobool("x")', "tobool"],
    ["-null", "is null"],
    ['!"True"', 'use lowercase "true"'],
  ])("refuses %s", (expression, message) => {
    expect(fails(expression)).toContain(message);
  });

  it("refuses a quotient whose digits depend on where its operands come from", () => {
    expect(() => value("tostring(var.number / 7)")).not.toThrow();
    expect(() => value("tostring(var.number / length(var.tuple[0]))")).not.toThrow();
    expect(() => value("tostring(1 * var.map.a / var.number)")).not.toThrow();
    expect(() => typed("${tostring(var.map.a / var.number)}")).toThrow(Refusal);
    expect(value("tostring(length([1]) / length([1, 2, 3]))")).toBe("0.33333333333333333334");
    expect(() => typed("${1 / 0}")).toThrow(Refusal);
    expect(value("length([1]) / length([1, 2])")).toBe(0.5);
  });
});

describe("conditions", () => {
  it.each<[string, Json, Json]>([
    ['true ? 1 : "a"', "1", "string"],
    ["true ? 1 : var.list[9]", 1, "number"],
    ['true ? 1 : 2 + "x"', 1, "number"],
    ['true ? [1] : ["a"]', ["1"], ["tuple", ["string"]]],
    ['true ? [1, 2] : ["a"]', ["1", "2"], ["list", "string"]],
    ["true ? {a = 1} : {b = 2}", { a: 1 }, ["map", "number"]],
    ["true ? {} : {a = 1}", {}, ["map", "number"]],
    ["true ? {a = 1} : null", { a: 1 }, ["object", { a: "number" }]],
    ["true ? [] : var.list", [], ["list", "string"]],
    ['true ? var.map : {a = "x"}', { a: "1", b: "2" }, ["map", "string"]],
    ['true ? toset(["a"]) : ["b"]', ["a"], ["set", "string"]],
    ['true ? toset(["a"]) : var.list', ["a"], ["list", "string"]],
    ["true ? {a = {b = 1}} : {a = {c = 1}}", { a: { b: 1 } }, ["object", { a: ["map", "number"] }]],
    ['"true" ? 1 : 2', 1, "number"],
  ])("%s", (expression, expected, wanted) => {
    expect([value(expression), type(expression)]).toEqual([expected, wanted]);
  });

  it.each([
    ["true ? 1 : [1]", "inconsistent types"],
    ["true ? {a = null, b = 1} : {a = [1], c = 2}", "inconsistent types"],
    ["null ? 1 : 2", "the condition is null"],
    ['"yes" ? 1 : 2', "the condition is not a bool"],
    ['true ? tonumber("x") : 1', "a number"],
  ])("refuses %s", (expression, message) => {
    expect(fails(expression)).toContain(message);
  });
});

describe("templates", () => {
  it.each<[string, Json]>([
    ["plain", "plain"],
    ["${1}", 1],
    ["a${1}", "a1"],
    ["a${true}b${1.50}", "atrueb1.5"],
    ["z${0 * -1}", "z-0"],
    ["$${x} %%{x} a$b a%b $$ %% $", "${x} %{x} a$b a%b $$ %% $"],
    ["$$${var.text}", "$${var.text}"],
    ['${"a${"b"}c"}', "abc"],
    ['${"\\n\\t\\"\\\\\\u00e9\\U0001F600"}', '\n\t"\\é😀'],
    ["${null}", null],
    ["%{ if true }a%{ else }b%{ endif }", "a"],
    ["%{ if false }a%{ endif }", ""],
    ["%{ for i, x in var.list }${i}${x},%{ endfor }", "0a,1b,"],
    ['%{ for x in var.list }%{ if x == "a" }A%{ else }B%{ endif }%{ endfor }', "AB"],
    ["a %{~ if true ~} b %{~ endif ~} c", "abc"],
    ["x\n %{ for x in var.list ~}\n  ${x}\n %{ endfor ~}\n y", "x\n   a\n   b\n  y"],
    ["x \n  ${~ var.text ~} \n  y", "x \nv  y"],
    ["a\r\n${var.text}", "a\r\nv"],
    ["a\rb${var.text}", "a\rb${var.text}"],
    ["\ufeff${var.text}", "v"],
    ["\ufeffplain", "plain"],
    ["e\u0301${1}", "é1"],
  ])("%j", (text, expected) => {
    expect(template(text)).toEqual(expected);
  });

  it.each([
    ["a${null}", "null cannot be part of a string"],
    ["a${[1]}", "this cannot be part of a string"],
    ["%{ if true }a", "has no %{endif}"],
    ["%{ endif }", "has no matching"],
    ["%{ for x in [] }%{ endif }", "expected %{endfor}, found %{endif}"],
    ["%{ foo }", "begins a directive"],
    ["${1 2}", "expected the } that closes ${"],
    ["${", "expected an expression"],
    ["a${b", "not closed"],
    ['${"a\nb"}', "several lines"],
    ['${"\\x"}', "unknown escape"],
    ['${"\\ud800"}', "is no character"],
    ['${"}', "not closed by a quote"],
  ])("refuses %j", (text, message) => {
    expect(mistake(() => evaluate(parseTemplate(text), NAMES))).toContain(message);
  });

  it("refuses heredocs rather than read them otherwise", () => {
    expect(() => parseTemplate("${<<EOT\nabc\nEOT\n}")).toThrow(Refusal);
  });
});

describe("functions", () => {
  it.each<[string, Json]>([
    ['upper("a")', "A"],
    ['core::upper("a",)', "A"],
    ["max([1, 5, 3]...)", 5],
    ['join(",", var.list...)', "refused"],
    ["provider::hosting::echo(1)", 1],
    ['try(var.object.zz, "d")', "d"],
    ["try(var.list[9], var.list[8], 1)", 1],
    ["try(null, 1)", null],
    ["can(var.object.zz)", false],
    ["can(var.object.a)", true],
  ])("%s", (expression, expected) => {
    if (expected === "refused") expect(fails(expression)).toContain("join");
    else expect(value(expression)).toEqual(expected);
  });

  it.each([
    ["uper(1)", 'no such function. Did you mean "upper"?'],
    ['file("x")', "this function of Terraform is not supported"],
    ["provider::x::y()", "there is no such function"],
    ["max(null...)", "the argument before ... is null"],
    ["max({}...)", "not a list"],
    ["try()", "no argument of try succeeds"],
    ["can(1, 2)", "can takes one expression"],
  ])("refuses %s", (expression, message) => {
    expect(fails(expression)).toContain(message);
  });

  it("lets no try pass over what hostform does not support, or over a wrong name", () => {
    for (const inner of ['file("x")', "uper(1)", "var.zz", "nothing.x", "1 / 0"]) {
      expect(() => typed(`\${try(${inner}, 1)}`), inner).toThrow(Refusal);
      expect(() => typed(`\${can(${inner})}`), inner).toThrow(Refusal);
      expect(() => typed(`\${true ? 1 : ${inner}}`), inner).toThrow(Refusal);
    }
  });
});

describe("what is known later", () => {
  it.each<[string, Json, Json]>([
    ["var.later", "(later)", "string"],
    ['"x${var.later}"', "(later)", "string"],
    ["[var.later, 1]", ["(later)", 1], ["tuple", ["string", "number"]]],
    ["{(var.later) = 1}", "(later)", "dynamic"],
    ["var.later == 1", false, "bool"],
    ['var.later == "x"', "(later)", "bool"],
    ["var.later == null", "(later)", "bool"],
    ['[1, var.later] == [2, "x"]', false, "bool"],
    ["var.later_any == 1", "(later)", "bool"],
    ["tobool(var.later) && true", "(later)", "bool"],
    ["tobool(var.later) || false", "(later)", "bool"],
    ['tobool(var.later) ? 1 : "a"', "(later)", "string"],
    ["tobool(var.later) ? 2 : 2", 2, "number"],
    ["tobool(var.later) ? null : null", null, "dynamic"],
    ["true ? 1 : var.later", "1", "string"],
    ["true ? {a = 1} : var.later_any", { a: 1 }, ["object", { a: "number" }]],
    ["var.later_list[0]", "(later)", "string"],
    ["var.later_list[*]", "(later)", ["list", "string"]],
    ["var.list[tonumber(var.later)]", "(later)", "string"],
    ["[1, 2][tonumber(var.later)]", "(later)", "dynamic"],
    ["var.map[var.later]", "(later)", "number"],
    ["{a = 1}[var.later]", "(later)", "dynamic"],
    ["var.later_any.x[0].y", "(later)", "dynamic"],
    ["[for x in var.later_list : x]", "(later)", "dynamic"],
    ["[for x in [var.later] : upper(x)]", ["(later)"], ["tuple", ["string"]]],
    ["[for x in [1] : x if tobool(var.later)]", "(later)", "dynamic"],
    ["{for x in [var.later] : x => 1}", "(later)", "dynamic"],
    ["try(var.later, 1)", "(later)", "dynamic"],
    ["can(var.later)", "(later)", "bool"],
    ["try([var.later].x, 1)", 1, "number"],
    ['tolist(toset([var.later, "x"]))', "(later)", ["list", "string"]],
    ["max(var.later_list...)", "(later)", "dynamic"],
  ])("%s", (expression, expected, wanted) => {
    expect([value(expression), type(expression)]).toEqual([expected, wanted]);
  });

  it("still reports what can never be right", () => {
    expect(fails("var.later.x")).toContain("a string has no indexes");
    expect(fails("null + tonumber(var.later)")).toContain("is null");
    expect(template("%{ if tobool(var.later) }x%{ endif }")).toBe("(later)");
    expect(template("%{ for x in var.later_list }a%{ endfor }")).toBe("(later)");
  });
});

describe("secrets", () => {
  const marks = (result: Typed): Json =>
    result.secret
      ? "secret"
      : result.content instanceof Map
        ? Object.fromEntries([...result.content].map(([key, item]: [string, Typed]) => [key, marks(item)]))
        : Array.isArray(result.content)
          ? result.content.map(marks)
          : "plain";

  // As `terraform plan` marks them.
  it.each<[string, Json]>([
    ["var.secret", "secret"],
    ['"x${var.secret}"', "secret"],
    ["[var.secret, 1]", ["secret", "plain"]],
    ["{a = var.secret, b = 1}", { a: "secret", b: "plain" }],
    ["{(var.secret) = 1}", "secret"],
    ["var.secrets[0]", "secret"],
    ["var.list[length(var.secrets) - 1]", "secret"],
    ['var.secret == "x"', "secret"],
    ["[var.secret] == [1]", "secret"],
    ['!(var.secret == "x")', "secret"],
    ["true ? var.secret : 1", "secret"],
    ["true ? 1 : var.secret", "secret"],
    ['var.secret == "x" ? 1 : 2', "secret"],
    ["[for x in var.secrets : x]", "secret"],
    ["[for x in [var.secret, 1] : x]", ["secret", "plain"]],
    ['[for x in [1] : x if var.secret != ""]', "secret"],
    ["{for x in [1] : var.secret => x}", "secret"],
    ["[var.secret, 1][*]", ["secret", "plain"]],
    ["toset([var.secret])", "secret"],
    ["try(var.secret, 1)", "secret"],
    ["upper(var.secret)", "secret"],
    ["tostring(max([length(var.secrets)]...))", "secret"],
    ["var.list", ["plain", "plain"]],
  ])("%s", (expression, expected) => {
    expect(marks(typed(`\${${expression}}`))).toEqual(expected);
  });

  it("names no secret in an error", () => {
    for (const expression of [
      "var.map[var.secret]",
      "{for x in [1, 2] : var.secret => x}",
      "1 + var.secret",
      "{a = 1}[var.secret]",
      "tonumber(var.secret)",
      '"x${[var.secret]}"',
    ]) {
      const message = fails(expression);
      expect(message, expression).not.toContain("hush");
    }
  });
});
