import { domainToASCII } from "node:url";
import { describe, expect, it } from "vitest";
import {
  domainProblem,
  folded,
  foldedDomain,
  foldedEmail,
  isNameLike,
  nearText,
  sameDomain,
  sameEmail,
  sameFolded,
  sameUrl,
  sentEmail,
  sentUrl,
  shownName,
  similarDomain,
  similarName,
} from "../../../../src/core/model/index.ts";
import fc, { runs } from "../../../support/fc.ts";

describe("nearText", () => {
  it.each([
    ["Alpha", "ALPHA", true],
    ["Alpha", "Alpha Ltd", true],
    ["Alpha Holding", "Alpha", true],
    ["Caf\u00e9 M\u00fcller", "cafe-muller", true],
    ["Alpha", "Omega", false],
    ["Alpha", "The Alpha", false],
    ["Alpha", "\u2026", true],
    ["https://a.example/in", "https://a.example/in?x=1", true],
    ["https://a.example/in", "https://b.example/in", false],
  ])("of %j and %j is %j, in both directions", (one, other, expected) => {
    expect([nearText(one, other), nearText(other, one)]).toEqual([expected, expected]);
  });
});

describe("sameFolded", () => {
  it.each([
    ["Dev@Acme.example", "dev@acme.example", true],
    [" www.acme.example", "WWW.acme.example ", true],
    ["Smith & Sons", "Smith &amp; Sons", true],
    ["Smith & Sons", "Smith &amp;amp; Sons", true],
    ["O'Hara", "O&#039;Hara", true],
    ["M\u00fcller", "Mu\u0308ller", true],
    ["Acme  Ltd", "Acme\u00a0Ltd\n", true],
    ["Acme &bogus; Ltd", "Acme Ltd", false],
    ["a", "b", false],
    [null, null, false],
    [1, 1, false],
  ])("of %j and %j is %j", (a, b, expected) => {
    expect(sameFolded(a, b)).toBe(expected);
  });
});

describe("sameDomain", () => {
  it.each([
    ["WWW.acme.example", "www.acme.example", true, "case"],
    ["www.acme.example.", "www.acme.example", true, "the root's dot"],
    ["b\u00fccher.example", "xn--bcher-kva.example", true, "the ASCII form of an international name"],
    ["B\u00dcCHER.example", "bu\u0308cher\u3002example", true, "decomposed letters and another dot"],
    ["XN--BCHER-KVA.example.", "b\u00fccher.example", true, "an A-label in capitals with the root's dot"],
    ["www.acme.example", "acme.example", false, "another name"],
    ["10.20", "10.0.0.20", false, "numbers are no IP address"],
    ["www.acme.example:80", "www.acme.example", false, "a port is no part of a name"],
    ["www%2eacme.example", "www.acme.example", false, "a percent sign is no part of a name"],
    ["not a domain", "not a domain", true, "what is no domain is compared as it is"],
    [null, null, false, "nothing"],
  ])("of %j and %j is %j: %s", (a, b, expected, _why) => {
    expect(sameDomain(a, b)).toBe(expected);
    expect(sameDomain(b, a)).toBe(expected);
  });
});

it("sameDomain uses the normal form of Node, even if it skips the call", () => {
  const label = fc.string({ unit: fc.constantFrom(..."abz09-xn".split("")), maxLength: 70 });
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), (labels) => {
      const domain = labels.join(".").replace(/\.+$/, "");
      expect(foldedDomain(domain)).toBe(domainToASCII(`${domain}.invalid`).slice(0, -8));
    }),
    { numRuns: runs(2000) },
  );
});

describe("isNameLike", () => {
  it.each([
    ["www.acme.example", "WWW.acme.example.", true, "case and the root's dot"],
    ["*.acme.example", "www.acme.example", true, "a name below"],
    ["*.acme.example", "acme.example", false, "the name itself"],
    ["*.acme.example", "www.notacme.example", false, "another name with the same end"],
    ["*.b\u00fccher.example", "www.xn--bcher-kva.example", true, "a U-label in the pattern"],
    ["*.xn--bcher-kva.example", "www.b\u00fccher.example", true, "an A-label in the pattern"],
    ["b\u00fc*.example", "xn--bcher-kva.example", true, "a part of a U-label"],
    ["*@b\u00fccher.example", "Dev@xn--bcher-kva.example", true, "a U-label in an e-mail address"],
    ["acme l?d*", "ACME  Ltd.", true, "one character of a name"],
    ["a.b", "axb", false, "a dot"],
    ["*", null, false, "no text"],
    ["a*b?c*c", "a-bxcc", true, "parts in order"],
    ["*b*a*", "ab", false, "parts in another order"],
    [`${"*a".repeat(60)}*b`, "a".repeat(250), false, "many parts, at once"],
  ])("of %j and %j is %j: %s", (pattern, domain, expected, _why) => {
    expect(isNameLike(pattern, domain)).toBe(expected);
  });
});

describe("sameUrl", () => {
  it.each([
    ["https://a.example", "https://a.example/", true, "a path that is added"],
    ["HTTPS://A.example:443/x", "https://a.example/x", true, "case and the default port"],
    ["https://a.example/x", "https://a.example/X", false, "another path"],
    ["https://a.example/x", "https://a.example/x/", false, "a slash inside a path means something"],
    ["https://a.example/%c3%bc", "https://a.example/%C3%BC", true, "the case of a percent escape"],
    ["https://a.example/\u00fc?b=\u00fc", "https://a.example/%c3%BC?b=%c3%bc", true, "a letter and its escape"],
    ["https://a.example/%7ea%2db", "https://a.example/~a-b", true, "an unreserved character and its escape"],
    ["https://a.example/a%2fb", "https://a.example/a/b", false, "a reserved character and its escape"],
    ["no url", "no url", true, "what is no URL is compared as it is"],
    [null, null, false, "nothing"],
  ])("of %j and %j is %j: %s", (a, b, expected, _why) => {
    expect(sameUrl(a, b)).toBe(expected);
    expect(sameUrl(b, a)).toBe(expected);
  });
});

describe("sameEmail", () => {
  it.each([
    ["Dev@Acme.example", "dev@acme.EXAMPLE", true, "case"],
    ["dev@b\u00fccher.example", "dev@xn--bcher-kva.example", true, "both forms of the domain"],
    ["dev@acme.example", "dev@acme.example.", true, "the root's dot"],
    ["dev@acme.example", "de.v@acme.example", false, "another local part"],
    [null, null, false, "nothing"],
  ])("of %j and %j is %j: %s", (a, b, expected, _why) => {
    expect(sameEmail(a, b)).toBe(expected);
    expect(sameEmail(b, a)).toBe(expected);
  });
});

it("each folded form is its own folded form", () => {
  const unit = fc.oneof(
    fc.constantFrom(..."&;#aAmp39. @\u0301\u00c5\u212b\u00df\u0130\u037e\u3002\u00a0".split("")),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      for (const form of [folded, foldedDomain, foldedEmail]) expect(form(form(text))).toBe(form(text));
    }),
    { numRuns: runs(2000) },
  );
});

describe("a request", () => {
  it("contains the domain of an e-mail address as A-labels, and the local part as declared", () => {
    expect(sentEmail(" Ana.Acme@M\u00dcNCHEN.example")).toBe("Ana.Acme@xn--mnchen-3ya.example");
  });

  it.each([
    ["https://hooks.acme.example", "https://hooks.acme.example"],
    ["https://hooks.acme.example/%c3%bc", "https://hooks.acme.example/%c3%bc"],
    ["https://hooks.m\u00fcnchen.example/a?b=\u00fc", "https://hooks.xn--mnchen-3ya.example/a?b=%C3%BC"],
  ])("contains the URL %j as %j", (url, expected) => expect(sentUrl(url)).toBe(expected));
});

describe("a displayed name", () => {
  it.each([
    ["m\u00fcnchen.example", "m\u00fcnchen.example (xn--mnchen-3ya.example)"],
    ["xn--mnchen-3ya.example", "m\u00fcnchen.example (xn--mnchen-3ya.example)"],
    ["\u0430pple.example", "\u0430pple.example (xn--pple-43d.example, mixed scripts: Cyrillic and Latin)"],
    ["dev@M\u00fcnchen.example", "dev@m\u00fcnchen.example (dev@xn--mnchen-3ya.example)"],
    ["www.acme.example", "www.acme.example"],
    ["WWW.Acme.example", "WWW.Acme.example"],
    ["xn--.example", "xn--.example"],
    ["no domain at all", "no domain at all"],
    ["https://a.example/in?token=t#f", "https://a.example/in?\u2026"],
    ["HTTPS://user:pass@a.example/in", "HTTPS://\u2026@a.example/in"],
    ["https://a.example/@in", "https://a.example/@in"],
    [
      "https://\u0430pple.example/in?t=1",
      "https://\u0430pple.example/in?\u2026 (xn--pple-43d.example, mixed scripts: Cyrillic and Latin)",
    ],
    ["https://xn--mnchen-3ya.example/in", "https://xn--mnchen-3ya.example/in (m\u00fcnchen.example)"],
  ])("of %j is %j", (name, expected) => expect(shownName(name)).toBe(expected));
});

describe("domainProblem returns a reason for an invalid domain name", () => {
  it.each([
    ["www.acme.example", undefined],
    ["shop.example.", undefined],
    ["WWW.ACME.EXAMPLE", undefined],
    ["m\u00fcnchen.example", undefined],
    ["xn--mnchen-3ya.example", undefined],
    ["\u0441\u0430\u0439\u0442.\u0440\u0444", undefined],
    ["\u0915\u094d\u0937.\u092d\u093e\u0930\u0924", undefined],
    ["", "it is empty"],
    ["bad..name", "it has an empty label"],
    [".acme.example", "it has an empty label"],
    ["acme.example..", "it has an empty label"],
    ["localhost", "it has one label, and a domain name has at least two"],
    ["*.wild.example", "it has a wild card"],
    ["my_shop.example", "it has an underscore, which no host name has"],
    ["_dmarc.acme.example", "it has an underscore, which no host name has"],
    ["acme.example:443", 'it has the character ":"'],
    ["acme .example", 'it has the character " "'],
    ["acme%2eexample.org", 'it has the character "%"'],
    ["https://acme.example", 'it has the character ":"'],
    ["-a.example", "one of its labels begins or ends with a hyphen"],
    [`${"a".repeat(64)}.example`, "one of its labels has 64 characters, and 63 are allowed"],
    [`${"\u00fc".repeat(60)}.example`, expect.stringContaining("characters, and 63 are allowed")],
    [`${"abcdefg.".repeat(32)}example`, "it has 263 characters, and 253 are allowed"],
    ["xn--a.example", "one of its labels begins with xn-- and is no A-label"],
    ["192.0.2.1", "its last label is a number, as in an IP address"],
    ["acme.e", "its last label is a single letter"],
    ["\u0663x.example", "its letters have no form for the domain name system (UTS 46)"],
  ])("%j: %s", (text, reason) => expect(domainProblem(text)).toEqual(reason));

  it("every name without a reason has a normal form without a reason", () => {
    const label = fc.string({ unit: fc.constantFrom(..."ab09-_*\u00fc\u0431\u05d0\u0301".split("")), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(label, { maxLength: 4 }), (labels) => {
        const name = labels.join(".");
        if (domainProblem(name) === undefined) expect(domainProblem(foldedDomain(name) ?? "")).toBeUndefined();
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe("a returned name that may be the declared one", () => {
  it.each([
    ["Smith & Sons International Trading", "Smith & Sons Interna", true, "cut at 20 characters"],
    ["Smith & Sons International Trading", "Smith &amp; Sons Int", true, "escaped, then cut at 20"],
    ["Smith & Sons Tbilisi & Partners", "Smith & Sons Tbilisi &am", true, "cut within an entity"],
    ["Georgian Wine Company of Kakheti", "Georgian Wine Compan", true, "cut within a word"],
    ["Georgian Wine Company of Kakheti", "georgian wine company", true, "cut at a blank"],
    ["Georgian Wine Company", "Georgian...", true, "cut with an ellipsis"],
    ["M\u00fcller GmbH", "Muller GmbH", true, "without accents"],
    ["M\u00fcller GmbH", "M&uuml;ller GmbH", true, "with a named entity"],
    ["Acme, Ltd.", "ACME LTD", true, "without punctuation"],
    ["Acme", "Acme Ltd", false, "a longer name that is shown is another one"],
    ["Acme Ltd", "Acme", false, "a short name is not a cut one"],
    ["Acme Georgia", "Acme Armenia", false, "another name"],
    ["Georgian Wine Company of Kakheti", "Georgian Wine Company of Imereti", false, "a common beginning"],
    ["Client 1", "Client 10", false, "a number"],
    ["---", "!!!", false, "no letters"],
    ["Acme", null, false, "none shown"],
  ])("%j, returned as %j: %j (%s)", (declared, shown, expected, _why) => {
    expect(similarName(declared, shown)).toBe(expected);
  });

  it.each([
    ["www.acme.example", "acme.example", true],
    ["m\u00fcnchen.example", "www.xn--mnchen-3ya.example", true],
    ["www.acme.example", "www.acme.example", false],
    ["shop.acme.example", "acme.example", false],
    ["acme.example", null, false],
  ])("%j and the domain %j: %j", (declared, shown, expected) => expect(similarDomain(declared, shown)).toBe(expected));
});
