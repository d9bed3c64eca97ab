// What is hidden and what is not, place by place: the properties of redaction.test.ts say that nothing gets out, these that
// nothing else is taken.
import { describe, expect, it } from "vitest";
import { createRedact, tokenForms } from "../../../src/core/api/token.ts";
import { SECRET_MARK as M, Redaction } from "../../../src/project/redaction.ts";
import { jsonText } from "../../../src/report/index.ts";

const knowing = (...secrets: unknown[]) => {
  const redaction = new Redaction();
  redaction.learn(...secrets);
  return redaction;
};
const PLAIN = "hunter2secret";

describe("a secret", () => {
  it.each<[string, string, string]>([
    ["alone", PLAIN, M],
    ["at the beginning", `${PLAIN} after`, `${M} after`],
    ["at the end", `before ${PLAIN}`, `before ${M}`],
    ["twice", `a ${PLAIN} b ${PLAIN} c`, `a ${M} b ${M} c`],
    ["twice without a gap", `${PLAIN}${PLAIN}`, `${M}${M}`],
    ["wrapped over lines", "a hunter2\n   secret b", `a ${M} b`],
    ["with a backslash in it", "a hunter2\\secret b", `a ${M} b`],
    ["with a colour in it", "a hunter2\u001b[31msecret b", `a ${M} b`],
    ["with a colour of several numbers in it", "a hunter2\u001b[1;31msecret b", `a ${M} b`],
    [
      "with an escape in it that is no colour: not hidden, and not looked for",
      "a hunter2\u001b[31xsecret b",
      "a hunter2\u001b[31xsecret b",
    ],
    ["with a colour within its first six characters", "a hun\u001b[31mter2secret b", `a ${M} b`],
    ["with the end of a colour in it", "a hunter2\u001b[msecret b", `a ${M} b`],
    ["with what is no colour, for it does not begin as one", "a hunter2[31msecret b", "a hunter2[31msecret b"],
    ["with another sequence in it", "a hunter2\u001b(31msecret b", "a hunter2\u001b(31msecret b"],
    ["with another character in it", "a hunter2!secret b", "a hunter2!secret b"],
    ["cut off by an ellipsis: it is not there, and what is there may be a guess", "a hunter2sec… b", "a hunter2sec… b"],
    ["cut off by the end: it is not there", "a hunter2secre", "a hunter2secre"],
    ["of which something else is the beginning", "a hunter2second b", "a hunter2second b"],
    ["of another", "a hunter3secret b", "a hunter3secret b"],
  ])("%s", (_, text, expected) => expect(knowing(PLAIN).redact(text)).toBe(expected));

  it.each<[string, string, string, string]>([
    ["the longest of those that begin alike", "secret-one-two", "x secret-one-two y", `x ${M} y`],
    ["the shorter where the longer is not whole", "secret-one-two", "x secret-one-tw y", `x ${M}-tw y`],
  ])("is %s", (_, longer, text, expected) => {
    expect(knowing("secret-one", longer).redact(text)).toBe(expected);
    expect(knowing(longer, "secret-one").redact(text)).toBe(expected);
  });

  it("that overlaps another is one part with it, as far as either goes", () => {
    expect(knowing("abcdefgh", "efghijkl").redact("-abcdefghijkl-")).toBe(`-${M}-`);
    expect(knowing("abcdefghij", "cdefgh").redact("-abcdefghijkl-")).toBe(`-${M}kl-`);
    expect(knowing("abcdef", "ghijkl").redact("-abcdefghijkl-"), "side by side are two").toBe(`-${M}${M}-`);
  });

  it.each<[string, unknown, string, string]>([
    ["of six characters", "abcdef", "x abcdef y", `x ${M} y`],
    ["of five characters is too short to be one", "abcde", "x abcde y", "x abcde y"],
    ["that is no text is none", 123_456, "x 123456 y", "x 123456 y"],
    [
      "of several lines: each line of it",
      "first-line\nsecond-line\r\nthird-line",
      "x second-line y third-line z",
      `x ${M} y ${M} z`,
    ],
    ["of few characters and much space", "a b c d", "x a b c d y", `x ${M} y`],
    ["of few characters and much space, as JSON writes it", "a\tb\tc\td", "x a\\tb\\tc\\td y", `x ${M} y`],
    ["of few characters and many backslashes", "a\\\\b\\\\c\\\\", "x a\\b\\c\\ y", `x ${M} y`],
    ["of few characters, some of which mean something in patterns", "a . ( *", "x a . ( * y", `x ${M} y`],
    ["of space alone is none", "        ", "x         y", "x         y"],
    ["that has what could be the rest of a colour", "abc[1mdefgh", "x abc[1mdefgh y", `x ${M} y`],
    ["with quotes, in JSON", 'say "secret"', JSON.stringify('say "secret"'), `"${M}"`],
    ["in HTML", "a<b>&c'secret", "a&lt;b&gt;&amp;c&#39;secret", M],
    ["in an address", "p@ss word/1", "https://x.example/p%40ss%20word%2F1", `https://x.example/${M}`],
    ["in an address, in lower case", "p@ss word/1", "https://x.example/p%40ss%20word%2f1", `https://x.example/${M}`],
    ["in a query", "p@ss word/1", "?q=p%40ss+word%2F1", `?q=${M}`],
    ["in an address that is strict about brackets", "pass(word)!*'", "pass%28word%29%21%2A%27", M],
    ["in base64", PLAIN, Buffer.from(PLAIN).toString("base64"), `${M}==`],
    ["in base64 for addresses", "??>>~~secret", Buffer.from("??>>~~secret").toString("base64url"), M],
  ])("%s", (_, secret, text, expected) => expect(knowing(secret).redact(text)).toBe(expected));

  it("of few characters and much space is hidden each time, however wide the space", () => {
    expect(knowing("a b c d").redact("x a  b\n c d y a b c d z")).toBe(`x ${M} y ${M} z`);
  });

  it("in base64 for addresses that differs from the other by an underscore", () => {
    expect(knowing("???secret???").redact(Buffer.from("???secret???").toString("base64url"))).toBe(M);
  });

  it("that overlaps another after a first one is one part with it alone", () => {
    expect(knowing("abcdefgh", "efghijkl").redact("abcdefgh - abcdefghijkl -")).toBe(`${M} - ${M} -`);
  });

  it("in a longer base64 text is hidden to the bit: what holds a part of a neighbour stays", () => {
    for (const before of [0, 1, 2, 3, 4]) {
      for (const after of [1, 2, 3]) {
        const around = (byte: number) =>
          Buffer.concat([Buffer.alloc(before, byte), Buffer.from(PLAIN), Buffer.alloc(after, byte)]).toString("base64");
        const [text, other] = [around(0x55), around(0xaa)];
        // What is the same whatever stands around it is the secret's alone.
        const own = [...text.replace(/=+$/, "")].map((character, i) => character === other[i]);
        const [start, end] = [own.indexOf(true), own.lastIndexOf(true) + 1];
        const expected = `${text.slice(0, start)}${M}${text.slice(end)}`;
        expect(knowing(PLAIN).redact(text), `${before} before, ${after} after`).toBe(expected);
      }
    }
  });

  it("that is escaped in JSON for a terminal, or only for JSON", () => {
    const secret = "key\b\u202esecret";
    expect(knowing(secret).redact(JSON.stringify({ secret }))).toBe(`{"secret":"${M}"}`);
    expect(knowing(secret).redact(jsonText({ secret }))).toMatch(/^\{\s*"secret":\s*"\(secret\)"\s*\}$/);
  });

  it("after a backslash that is written as two leaves both", () => {
    expect(knowing(PLAIN).redact(`a\\\\${PLAIN}`)).toBe(`a\\\\${M}`);
  });

  it("in the middle of a longer base64 text, at any of the three places, leaves the neighbours", () => {
    for (const before of ["", "x", "xy", "xyz"]) {
      const text = Buffer.from(`${before}${PLAIN}after`).toString("base64");
      const out = knowing(PLAIN).redact(text);
      expect(out).toContain(M);
      expect(out.length, "not much more than it is taken").toBeGreaterThan(M.length + 2);
    }
  });

  it("that is learned twice, or with others, is the same", () => {
    const redaction = knowing(PLAIN, PLAIN, "another-secret");
    redaction.learn(PLAIN);
    expect(redaction.redact(`${PLAIN} another-secret`)).toBe(`${M} ${M}`);
  });

  it("is looked for in the whole of a long text", () => {
    const filler = "lorem ipsum dolor ".repeat(500);
    expect(knowing(PLAIN).redact(`${filler}${PLAIN}${filler}`)).toBe(`${filler}${M}${filler}`);
  });
});

describe("the end of a text that may go on", () => {
  const open = (text: string, ...secrets: string[]) =>
    text.slice(knowing(...(secrets.length > 0 ? secrets : [PLAIN])).undecided(text));

  it.each<[string, string, string]>([
    ["may be the first character of a secret", "all of h", "h"],
    ["may be most of a secret", "all of hunter2secre", "hunter2secre"],
    ["is decided where the secret is whole", `all of ${PLAIN}`, ""],
    ["is decided where nothing begins so", "all of this is fine", ""],
    ["is decided at the end of a line", "all of h\n", ""],
    ["may be a part with a colour in it", "all of hunter2\u001b[31msec", "hunter2\u001b[31msec"],
    ["may be a part with a line break in it", "all of hunter2\n  sec", "hunter2\n  sec"],
    ["may be all of it", "hunter2s", "hunter2s"],
    ["is nothing of nothing", "", ""],
  ])("%s", (_, text, expected) => expect(open(text)).toBe(expected));

  it("begins where a whole secret begins that the open one reaches into", () => {
    expect(open("x abcdefgh", "abcdefgh", "efghijkl")).toBe("abcdefgh");
    expect(open("x abcdef gh", "abcdef", "gh-secret")).toBe("gh");
    expect(open("abcdefghef", "abcdefgh", "efghijkl"), "not where the whole one ends before it").toBe("ef");
    expect(open("- xabcdefgh", "abcdefgh", "xabcdefgh-more"), "nor where it is within the open one").toBe("xabcdefgh");
  });

  it("may be all but the last character of the longest form", () => {
    const form = Buffer.from(PLAIN).toString("base64").replace(/=+$/, "").slice(0, -1);
    expect(open(`all of ${form}`)).toBe(form);
  });

  it("is decided where nothing is known", () => {
    expect(new Redaction().undecided("hunter2")).toBe(7);
  });

  it("is looked at in a long text as in a short one", () => {
    const text = `${"lorem ipsum ".repeat(1000)}hunter2s`;
    expect(open(text)).toBe("hunter2s");
  });
});

describe("what of the server's text becomes part of an error", () => {
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

  it("is without the secrets of this request, as they are and as JSON writes them", () => {
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

  it("knows a token in all its forms; a part of less than eight characters is no token", () => {
    expect(tokenForms('12345678|a"b')).toEqual(['12345678|a"b', "12345678%7Ca%22b", '12345678|a\\"b', "12345678"]);
    expect(tokenForms("1234567|7654321")).toEqual(["1234567|7654321", "1234567%7C7654321", "1234567|7654321"]);
    expect(createRedact('to"ken')('a to\\"ken b')).toBe("a [redacted] b");
  });
});
