import { describe, expect, it } from "vitest";
import { evaluate, isSecret, type Names, parseTemplate, toValue } from "../../../../src/core/expression/index.ts";
import { bool, text, unknown, whole } from "../../../../src/core/expression/typed-value.ts";
import { UNKNOWN } from "../../../../src/core/model/index.ts";

const values = {
  n: whole(1),
  b: bool(true),
  t: text("1"),
  u: unknown("any"),
};
const names: Names = {
  resolve: ({ root, steps: [name] }) => {
    const value = values[String(name) as keyof typeof values];
    return value && { value: root === "secret" ? { ...value, secret: { from: ["env.SECRET"] } } : value, used: 1 };
  },
};
const run = (expression: string, within = names) => evaluate(parseTemplate(`\${${expression}}`), within);

const OF_NUMBERS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!="];
const OF_BOOLS = ["&&", "||", "==", "!="];

describe("an operator", () => {
  // A comparison reveals one bit of its operands.
  it.each([
    ...OF_NUMBERS.flatMap((sign) => [`secret.n ${sign} open.n`, `open.n ${sign} secret.n`]),
    ...OF_BOOLS.flatMap((sign) => [`secret.b ${sign} open.b`, `open.b ${sign} secret.b`]),
    "-secret.n",
    "!secret.b",
    "secret.b ? open.n : open.n",
    "open.b ? secret.n : open.n",
    '"a${secret.t}"',
  ])("returns a secret if an operand is secret: %s", (expression) => {
    expect(isSecret(run(expression))).toBe(true);
    expect(isSecret(run(expression.replaceAll("secret.", "open.")))).toBe(false);
  });

  it.each(["secret.n + open.u", "open.u + secret.n", "open.u < secret.n", "secret.b && open.u"])(
    "gives a secret where one goes in beside what is not known yet: %s",
    (expression) => {
      expect(isSecret(run(expression))).toBe(true);
    },
  );

  // Terraform's table (hclsyntax, since 1.12): the side that decides the result, and the side whose errors count.
  it.each([
    ["true || bad", true, "error"],
    ["bad || true", true, "error"],
    ["false && bad", false, "error"],
    ["bad && false", false, "error"],
    ["false || bad", "error", "error"],
    ["true && bad", "error", "error"],
    ["bad || bad", "error", "error"],
    ["open.u || bad", UNKNOWN, "error"],
    ["bad || open.u", "error", "error"],
    ["open.u && false", false, UNKNOWN],
    ["open.u || true", true, UNKNOWN],
    ["open.u || false", UNKNOWN, UNKNOWN],
    ["open.u && open.u", UNKNOWN, UNKNOWN],
    ["null || true", true, "error"],
    ["null && true", false, "error"],
    ["null || false", "error", "error"],
    ['"no" || true', "error", "error"],
    ["true || false && bad", true, "error"],
  ])("%s is %s in the newest language, %s in 1.11", (expression, newest, older) => {
    const text = expression.replaceAll("bad", 'tobool("bad")');
    const verdict = (language: "1.11" | "1.12" | undefined) => {
      try {
        return toValue(run(text, { ...names, ...(language && { language }) }));
      } catch {
        return "error";
      }
    };
    expect([verdict(undefined), verdict("1.12"), verdict("1.11")]).toEqual([newest, newest, older]);
  });

  it.each(["secret.b || open.b", "open.b || secret.b", "secret.u || open.b", "open.u && secret.u"])(
    "gives a secret where one goes in, also on the side that does not decide: %s",
    (expression) => {
      expect(isSecret(run(expression))).toBe(true);
    },
  );

  it.each([
    ["1 < 1", false],
    ["1 <= 1", true],
    ["1 > 1", false],
    ["1 >= 1", true],
    ["1 < 2", true],
    ["2 <= 1", false],
    ["1 > 2", false],
    ["1 >= 2", false],
  ])("%s is %s", (expression, expected) => {
    expect(toValue(run(expression))).toBe(expected);
  });
});
