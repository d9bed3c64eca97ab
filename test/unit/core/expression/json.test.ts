import { describe, expect, it } from "vitest";
import {
  compileJson,
  evaluate,
  parseExpression,
  parseTemplate,
  traversalsOf,
} from "../../../../src/core/expression/index.ts";
import { ExpressionError, type Json } from "../../../../src/core/model/index.ts";
import { mistake, NAMES, shown, typed } from "./context.ts";

/** Returns the path in the JSON value and the offset in its string at which the error is. */
function placeOf(value: Json): [path: readonly (string | number)[], offset: number] {
  try {
    evaluate(compileJson(value), NAMES);
  } catch (error) {
    if (error instanceof ExpressionError) return [error.path, error.offset];
    throw error;
  }
  throw new Error("no error");
}

describe("values in JSON", () => {
  it.each<[Json, Json]>([
    [
      { a: "${var.text}", "${var.text}k": [1, "${var.number}", "plain"] },
      { a: "v", vk: [1, 3, "plain"] },
    ],
    [
      ["${var.list}", 1.5, null, true],
      [["a", "b"], 1.5, null, true],
    ],
    ["e\u0301", "é"],
    [{ "e\u0301": "$${x}" }, { é: "${x}" }],
    [JSON.parse('{"__proto__": {"a": "${1}"}}'), JSON.parse('{"__proto__": {"a": 1}}')],
    [0, 0],
  ])("%j is %j", (value, expected) => {
    expect(shown(typed(value))).toEqual(expected);
  });

  it.each<[Json, readonly (string | number)[], number]>([
    ["${var.list[9]}", [], 2],
    [{ a: ["x", "y ${upper(}"] }, ["a", 1], 10],
    [{ a: [{ b: "x ${1 + null}" }] }, ["a", 0, "b"], 4],
    [{ a: { "${null}": 1 } }, ["a", "${null}"], 0],
    [{ a: 1, '${"a"}': 2 }, ['${"a"}'], 0],
    [{ a: "${var.zz}" }, ["a"], 2],
    [{ a: '${file("x")}' }, ["a"], 2],
  ])("have errors with a position: %j", (value, path, offset) => {
    expect(placeOf(value)).toEqual([path, offset]);
  });

  it.each<Json>([
    -8.109073448161234e298,
    -1.6218146896322468e299,
    "site--8.109073448161234e+298",
    "${-8.109073448161234e+298 + 1}",
    "${TfToken[TOKEN.3]}",
    "a TfToken[TOKEN.3] b",
    ['${upper("Token[TOKEN.12]")}'],
  ])("explain a token of CDKTF in %j", (value) => {
    expect(mistake(() => compileJson(value))).toMatch(/token of CDKTF.*use Fn/);
  });

  it("treat no plain text as a token", () => {
    for (const text of ["myToken[0]", "Token[abc]", "1.5e+29", "e+298"]) expect(shown(typed(text))).toBe(text);
  });

  it("reject numbers that JSON has already rounded", () => {
    expect(mistake(() => compileJson({ a: 2 ** 60 }))).toContain("write it as a string");
  });
});

describe("the names in an expression", () => {
  const names = (value: Json) => traversalsOf(compileJson(value)).map(({ text, path, offset }) => [text, path, offset]);

  it("have their static steps and their positions", () => {
    expect(names({ a: "x ${hosting_service.acme[0].id}", "${var.k}": ["${local.a[var.i].b}"] })).toEqual([
      ["hosting_service.acme[0].id", ["a"], 4],
      ["var.k", ["${var.k}"], 2],
      ["local.a", ["${var.k}", 0], 2],
      ["var.i", ["${var.k}", 0], 10],
    ]);
  });

  it("exclude names that a for expression defines, and keys of objects", () => {
    expect(names("${[for k, v in var.m : { k = v.x, (k) = w } if v.ok]} ${v}").map(([text]) => text)).toEqual([
      "var.m",
      "w",
      "v",
    ]);
  });

  it("may have steps of both kinds", () => {
    const [found] = traversalsOf(parseExpression('data.hosting_plans.all.plans[0]["name"].0[*].id'));
    expect(found).toMatchObject({ root: "data", steps: ["hosting_plans", "all", "plans", 0, "name", 0], path: [] });
    expect(found?.text).toBe('data.hosting_plans.all.plans[0]["name"].0');
  });

  it("are found in every construct", () => {
    const text =
      '${a ? b : c} ${d + -e} ${f(g, h...)} ${[i, {(j) = k}]} ${l[m]} ${(n).x} ${o[*].p} %{if q}${r}%{else}${s}%{endif}%{for t in u}${t}${v}%{endfor} ${"${w}"}';
    expect(traversalsOf(parseTemplate(text)).map(({ root }) => root)).toEqual([..."abcdeghijklmnoqrsuvw"]);
  });
});
