import { describe, expect, test } from "vitest";
import { canonical, parseJson, printJson } from "../../../../src/core/record/state-json.ts";

describe("JSON that loses nothing", () => {
  test.each([
    ["an integer beyond 2^53", "12345678901234567890"],
    ["a fraction with more digits than a double has", "0.1234567890123456789012"],
    ["a spelling that JavaScript would change", "1.0"],
    ["an exponent", "1E5"],
    ["minus zero", "-0"],
    ["a number beyond doubles", "1e999"],
  ])("keeps %s", (_reason, digits) => {
    expect(printJson(parseJson(`[${digits}]`))).toBe(`[\n  ${digits}\n]\n`);
  });

  test("escapes what Terraform escapes", () => {
    expect(printJson("<a>&\u2028\u2029é")).toBe('"\\u003ca\\u003e\\u0026\\u2028\\u2029é"\n');
  });

  test("keeps a key named __proto__ an ordinary key", () => {
    const text = '{\n  "__proto__": {\n    "x": 1\n  }\n}\n';
    expect(printJson(canonical(parseJson(text)))).toBe(text);
  });

  test("canonical form: sorted at every depth, numbers with all their digits", () => {
    const value = canonical(parseJson('{"b":[{"z":1.50,"a":null}],"a":12345678901234567890}'));
    expect(JSON.stringify(value)).toBe('{"a":12345678901234567890,"b":[{"a":null,"z":1.5}]}');
  });
});
