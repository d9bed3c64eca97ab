import { describe, expect, it } from "vitest";
import { evaluate, parseTemplate } from "../../../../src/core/expression/index.ts";
import { Refusal } from "../../../../src/core/expression/refusal.ts";
import type { Json } from "../../../../src/core/model/index.ts";
import { mistake, NAMES, shown, type, typed, value } from "./context.ts";

const template = (text: string) => shown(evaluate(parseTemplate(text), NAMES));
const fails = (expression: string) => mistake(() => typed(`\${${expression}}`));

// test/terraform/expressions compares the values of 800 expressions with the values of Terraform.
describe("an expression with a mistake", () => {
  it.each([
    // names and steps
    ["var.list[5]", "there is no element with this index"],
    ["[][0]", "there is no element with this index"],
    ["var.list[0.5]", "whole number"],
    ["var.list[-1]", "whole number of 0 or more"],
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
    // for
    ["[for x in null : x]", "null has no elements"],
    ['[for x in "abc" : x]', "list is required, but the value is string"],
    ["[for x in [1, null] : x if null]", "the condition is null"],
    ["[for x in [] : 5 if 3]", "not a bool"],
    ["{for x in [1, 1] : x => x}", 'two elements have the key "1"'],
    ["{for x in [1] : null => x}", "a key is null"],
    ["{for x in [1] : [] => x}", "this cannot be a key"],
    ["[for x in [1] : x...]", "only a for in { } can group"],
    ["[for x in [1] : x => 1]", "has no keys"],
    ["{for x in [1] : x}", '"=>"'],
    // lists and objects
    ["{a.b = 1}", "write it in parentheses"],
    ["{a = 1 b = 2}", "a comma, a line break"],
    ["{(null) = 1}", "a key is null"],
    ["{[1] = 2}", "this cannot be a key"],
    ["[1 2]", 'expected "]"'],
    // operators
    ['3 - "x"', "right operand: a number is required"],
    ['"b" > "a"', "left operand: a number is required"],
    ["1 + null", "an operand of + is null"],
    ["1 && true", "left operand"],
    ['true && "x"', "a bool is required"],
    ['true && tobool("x")', "tobool"],
    ["-null", "is null"],
    ['!"True"', 'use lowercase "true"'],
    // conditions
    ["true ? 1 : [1]", "inconsistent types"],
    ["true ? {a = null, b = 1} : {a = [1], c = 2}", "inconsistent types"],
    ["null ? 1 : 2", "the condition is null"],
    ['"yes" ? 1 : 2', "the condition is not a bool"],
    ['true ? tonumber("x") : 1', "a number"],
    // functions
    ["uper(1)", 'no such function. Did you mean "upper"?'],
    ['file("x")', "this function of Terraform is not supported"],
    ["provider::x::y()", "there is no such function"],
    ["max(null...)", "null has no elements"],
    ["max({}...)", "list is required, but the value is object"],
    ["try()", "all arguments of try fail"],
    ["can(1, 2)", "can() takes one expression"],
  ])("%s is rejected", (expression, message) => {
    expect(fails(expression)).toContain(message);
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
    ['${"\\ud800"}', "is not a character"],
    ['${"}', "not closed by a quote"],
  ])("the template %j is rejected", (text, message) => {
    expect(mistake(() => evaluate(parseTemplate(text), NAMES))).toContain(message);
  });

  it("refuses a heredoc", () => {
    expect(() => parseTemplate("${<<EOT\nabc\nEOT\n}")).toThrow(Refusal);
  });

  it("names a function that exists only in OpenTofu", () => {
    for (const code of [
      'urldecode("a%20b")',
      'core::cidrcontains("10.0.0.0/8", "10.1.1.1")',
      "can(assumenotnull(1))",
    ]) {
      expect(() => typed(`\${${code}}`)).toThrow(Refusal);
      expect(() => typed(`\${${code}}`)).toThrow("exists only in OpenTofu");
    }
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

  it("rejects unsupported functions and unknown names even inside try", () => {
    for (const inner of ['file("x")', "uper(1)", "var.zz", "nothing.x", "1 / 0"]) {
      expect(() => typed(`\${try(${inner}, 1)}`), inner).toThrow(Refusal);
      expect(() => typed(`\${can(${inner})}`), inner).toThrow(Refusal);
      expect(() => typed(`\${true ? 1 : ${inner}}`), inner).toThrow(Refusal);
    }
  });
});

describe("an expression with unknown values", () => {
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

  it("still reports errors that no value can fix", () => {
    expect(fails("var.later.x")).toContain("a string has no indexes");
    expect(fails("null + tonumber(var.later)")).toContain("is null");
    expect(template("%{ if tobool(var.later) }x%{ endif }")).toBe("(later)");
    expect(template("%{ for x in var.later_list }a%{ endfor }")).toBe("(later)");
  });
});
