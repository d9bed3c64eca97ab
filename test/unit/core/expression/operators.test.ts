import { describe, expect, it } from "vitest";
import { evaluate, isSecret, type Names, parseTemplate, toValue } from "../../../../src/core/expression/index.ts";
import { bool, number, text, unknown } from "../../../../src/core/expression/value.ts";

const values = {
  n: number({ digits: 1n, exponent: 0 }),
  b: bool(true),
  t: text("1"),
  u: unknown("any"),
};
const names: Names = {
  resolve: ({ root, steps: [name] }) => {
    const value = values[String(name) as keyof typeof values];
    return value && { value: root === "secret" ? { ...value, secret: true } : value, used: 1 };
  },
};
const run = (expression: string) => evaluate(parseTemplate(`\${${expression}}`), names);

const OF_NUMBERS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!="];
const OF_BOOLS = ["&&", "||", "==", "!="];

describe("an operator", () => {
  // A comparison reveals a bit of what it compares.
  it.each([
    ...OF_NUMBERS.flatMap((sign) => [`secret.n ${sign} open.n`, `open.n ${sign} secret.n`]),
    ...OF_BOOLS.flatMap((sign) => [`secret.b ${sign} open.b`, `open.b ${sign} secret.b`]),
    "-secret.n",
    "!secret.b",
    "secret.b ? open.n : open.n",
    "open.b ? secret.n : open.n",
    '"a${secret.t}"',
  ])("gives a secret where one goes in: %s", (expression) => {
    expect(isSecret(run(expression))).toBe(true);
    expect(isSecret(run(expression.replaceAll("secret.", "open.")))).toBe(false);
  });

  it.each(["secret.n + open.u", "open.u + secret.n", "open.u < secret.n", "secret.b && open.u"])(
    "gives a secret where one goes in beside what is not known yet: %s",
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
