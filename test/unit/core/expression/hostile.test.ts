import { describe, expect, it } from "vitest";
import {
  compileJson,
  evaluate,
  parseExpression,
  parseTemplate,
  parseType,
  type Typed,
  toValue,
} from "../../../../src/core/expression/index.ts";
import { ExpressionError, type Json } from "../../../../src/core/model/index.ts";
import fc, { character } from "../../../support/fc.ts";
import { mistake, NAMES, typed } from "./context.ts";

describe("hostile expressions", () => {
  it.each([
    ["parentheses", `\${${"(".repeat(5000)}1${")".repeat(5000)}}`],
    ["lists", `\${${"[".repeat(5000)}1${"]".repeat(5000)}}`],
    ["signs", `\${${"-".repeat(50_000)}1}`],
    ["strings", `${'${"'.repeat(3000)}`],
    ["a chain of operators", `\${1${" + 1".repeat(20_000)}}`],
    ["a chain of conditions", `\${${"true ? 1 : ".repeat(20_000)}1}`],
    ["a chain of indexes", `\${a${"[b]".repeat(20_000)}}`],
    ["a chain of splats", `\${a${"[*]".repeat(20_000)}}`],
    ["directives", "%{if true}".repeat(5000)],
  ])("are rejected if %s nest without end", (_, text) => {
    expect(mistake(() => parseTemplate(text))).toMatch(/nested too deeply|too long/);
  });

  it("are rejected if JSON nests without end", () => {
    let value: Json = "x";
    for (let i = 0; i < 5000; i++) value = [value];
    expect(mistake(() => compileJson(value))).toContain("nested too deeply");
  });

  it("are rejected if loops multiply", () => {
    const wide = `[${Array.from({ length: 300 }, (_, i) => i).join(",")}]`;
    const expression = `\${[for a in ${wide} : [for b in ${wide} : [for c in ${wide} : 1]]]}`;
    expect(mistake(() => typed(expression))).toContain("takes too long");
  });

  it("are rejected if a value doubles with every line", () => {
    let value: Typed = typed([1, 1]);
    for (let i = 0; i < 40; i++) value = { type: { tuple: [value.type, value.type] }, content: [value, value] };
    expect(mistake(() => toValue(value))).toContain("too large");
  });

  it("may be long and flat", () => {
    const many = `\${[${"1 + 1, ".repeat(20_000)}]}`;
    expect(typed(many).content).toHaveLength(20_000);
  });

  const word = fc.constantFrom(
    ...'${ %{ } { [ ] ( ) " \\ . * , : ? ! - + / % == != && || => ... ~ ~} # // /* */ :: = < >= 0 1.5 1e9 a var.list var.later var.secret for in if else endif endfor true null upper try can _ é 😀'.split(
      " ",
    ),
    " ",
    "\n",
    "\r",
    "\ufeff",
    "\ud800",
  );

  it("return a value or an ExpressionError, whatever the text", () => {
    const text = fc.oneof(
      fc.array(word, { maxLength: 14 }).map((words) => words.join("")),
      fc.string({ unit: character, maxLength: 20 }),
    );
    fc.assert(
      fc.property(text, (content) => {
        const wrapped = [content, `\${${content}}`, `%{for x in ${content}}${content}%{endfor}`];
        for (const run of [
          ...wrapped.map((one) => () => void toValue(evaluate(parseTemplate(one), NAMES))),
          () => void evaluate(parseExpression(content), NAMES),
          () => void parseType(content),
        ]) {
          try {
            run();
          } catch (error) {
            expect(error, JSON.stringify(content)).toBeInstanceOf(ExpressionError);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("return the literal text if it contains no sequences", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (content) => {
        fc.pre(!content.includes("${") && !content.includes("%{"));
        expect(toValue(evaluate(parseTemplate(content), NAMES))).toBe(content.normalize("NFC"));
        const quoted = JSON.stringify(content).replace(/\$\{|%\{/g, (sign) => sign.charAt(0) + sign);
        if (!/[\b\f\v\p{Cc}]/u.test(content)) expect(toValue(typed(`\${${quoted}}`))).toBe(content.normalize("NFC"));
      }),
    );
  });
});
