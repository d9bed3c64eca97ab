import { describe, expect, it } from "vitest";
import { createRedact, tokenForms } from "../../../../src/core/api/token.ts";

describe("the server's text in an error", () => {
  const redact = createRedact("7|canary-token-Zq81xYp4");

  it.each<[string, string, string]>([
    ["the token", "token 7|canary-token-Zq81xYp4 is bad", "token [redacted] is bad"],
    ["the part of it after the bar", "it is canary-token-Zq81xYp4.", "it is [redacted]."],
    ["the token as an address has it", "at 7%7Ccanary-token-Zq81xYp4", "at [redacted]"],
    ["other bearer credentials", "Authorization bearer abc.def next", "Authorization bearer [redacted] next"],
    [
      "the value of a field that is named like a secret",
      '{"api_key":"abc","name":"x"}',
      '{"api_key":[redacted],"name":"x"}',
    ],
    ["the value after such a name in a query", "password=abc&name=x", "password=[redacted]&name=x"],
    ["white space and controls, to one space", "a\n\t b\u0000\u007fc ", "a b c"],
  ])("is without %s", (_, text, expected) => expect(redact(text)).toBe(expected));

  it("contains no secret of this request, neither raw nor as JSON", () => {
    expect(redact('a se"cret b', ['se"cret'])).toBe("a [redacted] b");
    expect(redact('a se\\"cret b', ['se"cret'])).toBe("a [redacted] b");
    expect(redact("a b", [""]), "an empty one is none").toBe("a b");
  });

  it.each([
    [400, "x".repeat(400)],
    [401, "xxxxx…"],
  ])("is at most 400 characters long (%i)", (length, expected) => {
    expect(redact("x".repeat(length))).toBe(expected);
  });

  it("contains a token in no form; a part of less than eight characters is no token", () => {
    expect(tokenForms('12345678|a"b')).toEqual(['12345678|a"b', "12345678%7Ca%22b", '12345678|a\\"b', "12345678"]);
    expect(tokenForms("1234567|7654321")).toEqual(["1234567|7654321", "1234567%7C7654321", "1234567|7654321"]);
    expect(createRedact('to"ken')('a to\\"ken b')).toBe("a [redacted] b");
  });
});
