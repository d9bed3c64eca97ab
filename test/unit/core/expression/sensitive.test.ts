import { describe, expect, it } from "vitest";
import { compileJson, evaluate, fromValue, type Names, toValue } from "../../../../src/core/expression/index.ts";
import { ExpressionError, type Value } from "../../../../src/core/model/index.ts";
import fc, { runs } from "../../../support/fc.ts";

/** Expressions that return or transform the secret S. Redaction cannot recognize the transformed values. */
const MADE = ["S", "upper(S)", "strrev(S)", 'replace(S, "a", "b")', "substr(S, 0, 9)", '"x${S}"', "sha1(S)", "[S][0]"];

/** Expressions with an error that concerns the value M, or a part of a secret. */
const MISTAKEN = [
  "[1][M]",
  "{ a = 1 }[M]",
  "tomap({ a = 1 })[M]",
  "M + 1",
  "-M",
  "M ? 1 : 2",
  "!M",
  "[for x in [1] : x if M]",
  "{ for x in [1, 2] : M => x }",
  "{ (M) = 1, (M) = 2 }",
  "tonumber(M)",
  "tobool(M)",
  'formatdate(M, "2026-01-01T00:00:00Z")',
  "parseint(M, 36) * parseint(M, 36)",
  "parseint(sha512(M), 16)",
  "[for k, v in { (M) = 1 } : [1][k]]",
  "[for k, v in { (M) = 1 } : tonumber(k)]",
  "{ for k, v in { (M) = 1, b = 2 } : [1][k] => v }",
  '[for v in split("", M) : [1][v]]',
  "[for k, v in { (M) = 1 } : { for i in [1, 2] : k => i }]",
  'true ? { (M) = "x" } : tomap({ a = 1 })',
  "{ (M) = 1 }.a",
  "M.a",
  "M[*].a",
  "values({ (M) = M })[M]",
  "jsondecode(M)",
  "format(M, 1)",
  "lookup({ a = 1 }, M)",
  'regex("^$", M)',
  "base64decode(M)",
  'timeadd("2026-01-01T00:00:00Z", M)',
];

const LETTERS = "abcdefghijklmnopqrstuvwxyz".split("");
const secrets = fc.array(fc.constantFrom(...LETTERS), { minLength: 12, maxLength: 20 }).map((all) => all.join(""));

function messageOf(expression: string, secret: Value): string | undefined {
  const names: Names = {
    resolve: () => ({ value: { ...fromValue(secret), secret: { from: ["env.SECRET"] } }, used: 1 }),
  };
  try {
    toValue(evaluate(compileJson(`\${${expression.replaceAll("S", "var.s")}}`), names));
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
  return undefined;
}

describe("an error in an expression", () => {
  it("contains no secret and no derived value: the text is the same for any two secrets", () => {
    const about = fc.record({ made: fc.constantFrom(...MADE), mistaken: fc.constantFrom(...MISTAKEN) });
    let said = 0;
    fc.assert(
      fc.property(about, secrets, secrets, ({ made, mistaken }, one, other) => {
        const [first, second] = [one, other].map((secret) => messageOf(mistaken.replaceAll("M", `(${made})`), secret));
        // A random value may be a valid date, number or base64 string.
        if (first === undefined || second === undefined) return;
        said++;
        expect(first).toBe(second);
      }),
      { numRuns: runs(400) },
    );
    expect(said).toBeGreaterThan(runs(300));
  });

  it("repeats no secret key of a map, and no number computed from a secret", () => {
    const names = {
      resolve: () => ({ value: { ...fromValue({ hushhush: "x" }), secret: { from: ["env.SECRET"] } }, used: 1 }),
    };
    const fails = (expression: string) => () => evaluate(compileJson(`\${${expression}}`), names);
    expect(fails("[for k, v in var.s : tonumber(v)]")).toThrow("not shown, because it involves a secret");
    expect(fails("[1][keys(var.s)[0]]")).toThrow("this secret is not a number");
    expect(messageOf("parseint(sha512(S), 16)", "x")).toBe(
      "the number has more digits than a number can have; round it, or write it as a string",
    );
  });
});
