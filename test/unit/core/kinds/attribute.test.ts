import { describe, expect, it } from "vitest";
import { z } from "zod";
import { freeMap, freeMapBody, identifier, kinds, metaOf, sameSet, textMap } from "../../../../src/core/kinds/index.ts";
import { attributesOf } from "../../../../src/core/lifecycle/index.ts";

describe("sameSet", () => {
  it.each([
    [["a", "b"], ["b", "a"], true, "order means nothing"],
    [["a", "a"], ["a"], true, "nor does how often"],
    [["a"], ["a", "b"], false, "more"],
    [[], [], true, "nothing"],
    [["1"], [1], false, "a number is not a text"],
    ["a", ["a"], false, "not a list"],
  ])("of %j and %j is %j: %s", (a, b, expected, _why) => {
    expect(sameSet(a, b)).toBe(expected);
  });
});

describe("an identifier", () => {
  it.each([
    [1001, "1001"],
    ["1001", "1001"],
    ["a-b", "a-b"],
  ])("%j is %j", (given, expected) => {
    expect(identifier().parse(given)).toBe(expected);
  });

  it.each([[""], [1.5], [Number.MAX_SAFE_INTEGER + 1], [null], [true], [["1"]]])("is not %j", (given) => {
    expect(identifier().safeParse(given).success).toBe(false);
  });
});

describe("a free map", () => {
  it("keeps strings, converts other values to strings, and omits null", () => {
    expect(
      freeMap().parse({ source: "cpanel", size: 12, email: true, none: null, list: ["a", 1], map: { b: { c: 1 } } }),
    ).toEqual({ source: "cpanel", size: "12", email: "true", list: '["a",1]', map: '{"b":{"c":1}}' });
  });

  it.each([["text"], [["a"]], [1]])("is not %j", (given) => {
    expect(freeMap().safeParse(given).success).toBe(false);
  });

  it("sends lists and objects as JSON values, and their text forms as strings", () => {
    expect(freeMapBody({ a: '["x"]', b: '{"c":1}', d: "[not json", e: "12", f: "true", g: "" })).toEqual({
      a: ["x"],
      b: { c: 1 },
      d: "[not json",
      e: "12",
      f: "true",
      g: "",
    });
  });
});

describe("a map of texts", () => {
  it("converts numbers and booleans to strings, and omits null", () => {
    expect(textMap().parse({ a: "[1]", b: 12, c: true, d: null })).toEqual({ a: "[1]", b: "12", c: "true" });
  });

  it.each([[["a"]], [{ b: 1 }], ["\u0000"], ["a\u0007"], ["\u009b"]])("rejects %j", (value) => {
    expect(textMap().safeParse({ a: value }).success).toBe(false);
  });
});

describe.each([...kinds.values()])("$type", (kind) => {
  const attributes = attributesOf(kind);

  it("has an id from the API, and a description of every attribute", () => {
    expect(attributes.map(({ name }) => name)).toContain("id");
    for (const { name, type, meta } of attributes) {
      expect(metaOf(type)).toEqual(meta);
      expect(meta.description, name).toMatch(/^[A-Z`].*[.)]$/s);
    }
    expect(attributes.find(({ name }) => name === "id")?.meta).toMatchObject({ computed: true });
    expect(kind.description).not.toBe("");
    expect(kind.example.split("\n")[0]).toBe(`${kind.nested === undefined ? kind.section : "services"}:`);
  });

  it("has only attributes that are declared or returned by the API", () => {
    for (const { name, meta } of attributes) expect(meta.change ?? (meta.computed && "given"), name).toBeTruthy();
  });

  it("agrees with its metadata", () => {
    const changes = new Set(attributes.map(({ meta }) => meta.change));
    expect(kind.replacement !== undefined).toBe(changes.has("replace"));
    expect(kind.update !== undefined).toBe(changes.has("in-place"));
    expect(kind.remove !== undefined).toBe(kind.removal === "delete");
    expect(attributes.some(({ name }) => name === "deletion_policy")).toBe(kind.removal === "policy");
    if (kind.creation === "listable") expect(kind.list).toBeDefined();
    for (const { name, meta } of attributes) if (meta.writeOnly) expect(meta.change, name).toBe("in-place");
  });

  it("has valid examples and defaults", () => {
    for (const { name, type, meta } of attributes) {
      for (const value of [meta.example, meta.default]) {
        if (value === undefined) continue;
        expect(type.safeParse(value).success, `${name}: ${JSON.stringify(value)}`).toBe(true);
      }
    }
  });
});

describe("metadata", () => {
  it("is required for every attribute", () => {
    expect(() => metaOf(z.string())).toThrow(/attribute\(…\)/);
  });
});
