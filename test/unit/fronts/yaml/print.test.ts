import { describe, expect, it } from "vitest";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Json, JsonObject } from "../../../../src/core/model/index.ts";
import { DiagnosticCollector } from "../../../../src/fronts/source/diagnostics.ts";
import { Source } from "../../../../src/fronts/source/source.ts";
import { toJson } from "../../../../src/fronts/source/tree.ts";
import { formatYaml } from "../../../../src/fronts/yaml/format.ts";
import { appendDocument, insertNested, printDocument, printTemplates } from "../../../../src/fronts/yaml/index.ts";
import { readPlain } from "../../../../src/fronts/yaml/plain.ts";
import { yamlRemedies } from "../../../../src/fronts/yaml/remedies.ts";
import { OWN_LIMITS, parseYaml, readYaml } from "../../../../src/fronts/yaml/yaml.ts";
import { character, fc, runs } from "../../../support/fc.ts";

/** Returns the values of a text. Expects that every reader returns the same values. */
function valuesOf(text: string): Json[] {
  const diags = new DiagnosticCollector();
  const file = { path: "hosting.yaml", text };
  const values = readYaml(file, 0, diags, OWN_LIMITS).documents.map(toJson);
  expect({ text, diagnostics: diags.list() }).toEqual({ text, diagnostics: [] });
  const source = new Source(file);
  expect(parseYaml(source, diags, OWN_LIMITS).documents.map(toJson)).toEqual(values);
  const plain = readPlain(source, OWN_LIMITS);
  if (plain !== undefined) expect([toJson(plain)]).toEqual(values);
  return values;
}

const WORDS =
  "1e3 1.10 0x10 0o17 1_000 010 .5 1. +5 -0 1e400 .inf -.INF .nan null Null NULL ~ true True yes no on off 12:30 2026-11-28 +1.7035551230 9007199254740993 12345678901234567890 - -- --- ... ? : # * & ! | > % @ ` << = ${x} $${x} {} [] [1] {a: 1}".split(
    " ",
  );
const text = fc.oneof(
  {
    arbitrary: fc.constantFrom(
      ...WORDS,
      "",
      " ",
      " a",
      "a ",
      "a: b",
      "a #b",
      "- a",
      "a\nb",
      "a\n",
      "\na",
      " a\n b\n\n",
      "\t",
      "a\r\nb",
      "\u2028",
      "\u0085",
      "\uFEFF",
      "'",
      '"',
      "\\n",
      "a\n---\nb",
    ),
    weight: 2,
  },
  { arbitrary: fc.string({ unit: character, maxLength: 12 }), weight: 1 },
  { arbitrary: fc.stringMatching(/^[-+]?[0-9._]{1,5}(?:[eE][-+]?[0-9]{1,3})?$/), weight: 1 },
);
const key = text.filter((name) => name !== "" && name !== "__proto__");
const values = fc.dictionary(
  key,
  fc.oneof(
    text,
    text,
    fc.dictionary(key, text, { minKeys: 1, maxKeys: 3 }),
    fc.array(text, { minLength: 1, maxLength: 3 }),
  ),
  {
    minKeys: 1,
    maxKeys: 4,
  },
);

describe("YAML that hostform writes is read as the same strings", () => {
  it("with each invisible character as an escape in double quotes", () => {
    const printed = fc.property(fc.string({ unit: character }), fc.string({ unit: character }), (key, value) => {
      const text = printDocument([{ section: "services", name: "www", body: { [`k${key}`]: value } }]);
      expect(text).not.toMatch(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0]/u);
      expect(valuesOf(text)).toEqual([{ services: { www: { [`k${key}`]: value } } }]);
    });
    fc.assert(printed);
    const text = printDocument([{ section: "services", name: "www", body: { domain: "a\u00a0b\u{e0001}\u202e" } }]);
    expect(text).toContain(String.raw`domain: "a\u00a0b\U000e0001\u202e"`);
  });

  it("in a document, in templates and in an added document", () => {
    fc.assert(
      fc.property(values, values, (body, other) => {
        const document = printDocument([{ section: "services", name: "a", body: body as JsonObject }], "beta");
        const read = { provider: "beta", services: { a: body } };
        expect(valuesOf(document)).toEqual([read]);
        expect(valuesOf(appendDocument(document, printTemplates({ t: other as JsonObject })))).toEqual([
          read,
          { templates: { t: other } },
        ]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("in an existing block", () => {
    fc.assert(
      fc.property(values, values, (body, grants) => {
        const block = { section: "services", name: "a", body: { domain: "a.example", ...body } as JsonObject };
        const place = { section: "services", name: "a", nested: "new grants" };
        const after = insertNested(printDocument([block]), place, grants as JsonObject);
        expect(valuesOf(after ?? "")).toEqual([{ services: { a: { ...block.body, "new grants": grants } } }]);
      }),
      { numRuns: runs(300) },
    );
  });

  it("in the normal form", () => {
    fc.assert(
      fc.property(values, (body) => {
        const document = printDocument([{ section: "x", name: "a", body: body as JsonObject }]);
        expect(valuesOf(formatYaml({ path: "a.yaml", text: document }, kinds))).toEqual(valuesOf(document));
      }),
      { numRuns: runs(300) },
    );
  });

  it("in the edit that a message proposes", () => {
    fc.assert(
      fc.property(text, (value) => {
        const [shown = ""] =
          /`[\s\S]*`/.exec(yamlRemedies({ remedies: [{ do: "set", attribute: "a", value }] }) ?? "") ?? [];
        expect(valuesOf(shown.slice(1, -1))).toEqual([{ a: value.replaceAll("${", () => "$${") }]);
      }),
      { numRuns: runs(300) },
    );
  });
});
