import { describe, expect, it } from "vitest";
import {
  renderHcl,
  renderTfJson,
  renderValue,
  type TfDocument,
  type TfValue,
} from "../../../../../src/fronts/terraform/export/document.ts";

const DOCUMENT: TfDocument = {
  comments: ["What it is,", "and more."],
  blocks: [
    {
      block: "terraform",
      labels: [],
      body: [[], [{ block: "backend", labels: ["local"], body: [[{ name: "path", value: "a.tfstate" }]] }]],
    },
    { block: "provider", labels: ["hosting"], body: [[{ name: "project", value: "acme" }]] },
    {
      block: "provider",
      labels: ["hosting"],
      comments: ["The other one."],
      body: [[{ name: "alias", value: "beta" }]],
    },
    {
      block: "resource",
      labels: ["hosting_service", "www"],
      body: [
        [{ name: "provider", value: { refer: "hosting.beta" } }],
        [
          { name: "plan_id", value: 11 },
          { name: "domain", value: { code: "var.domain" } },
          {
            name: "map",
            value: {
              map: [
                ["long_name", 1],
                ["b c", null],
              ],
            },
          },
          { name: "on", value: true, comments: ["Why."] },
          { name: "off", value: false },
        ],
        [{ block: "lifecycle", labels: [], body: [[{ name: "create_before_destroy", value: true }]] }],
        [{ name: "depends_on", value: [{ refer: "hosting_service.a" }] }],
      ],
    },
    { block: "import", labels: [], body: [[{ name: "to", value: { refer: 'hosting_grant.a["b"]' } }]] },
    { block: "variable", labels: ["empty"], body: [] },
  ],
};

describe("a configuration in Terraform's language", () => {
  it("is laid out as terraform fmt leaves it", () => {
    expect(renderHcl(DOCUMENT)).toBe(`# What it is,
# and more.

terraform {
  backend "local" {
    path = "a.tfstate"
  }
}

provider "hosting" {
  project = "acme"
}

# The other one.
provider "hosting" {
  alias = "beta"
}

resource "hosting_service" "www" {
  provider = hosting.beta

  plan_id = 11
  domain  = var.domain
  map = {
    long_name = 1
    "b c"     = null
  }
  # Why.
  on  = true
  off = false

  lifecycle {
    create_before_destroy = true
  }

  depends_on = [hosting_service.a]
}

import {
  to = hosting_grant.a["b"]
}

variable "empty" {}
`);
  });

  it("keeps a comment on its line, whatever stands in it", () => {
    const text = renderHcl({ comments: ["a\nresource {}\u202e"], blocks: [] });
    expect(text).toBe("# a\\nresource {}\\u202e\n");
  });

  it.each<[string, TfValue, string]>([
    ["a number", 1.5, "1.5"],
    ["an empty map", { map: [] }, "{}"],
    ["an empty list", [], "[]"],
    ["a short list", ["a", 1, null], '["a", 1, null]'],
    [
      "keys that are words of the language",
      {
        map: [
          ["for", 1],
          ["null", 2],
          ["x-1", 3],
          ["1", 4],
        ],
      },
      '{\n  "for"  = 1\n  "null" = 2\n  x-1    = 3\n  "1"    = 4\n}',
    ],
    [
      "keys of composed characters",
      {
        map: [
          ["e\u0301 e\u0301", 1],
          ["abcd efg", 2],
        ],
      },
      '{\n  "e\u0301 e\u0301"      = 1\n  "abcd efg" = 2\n}',
    ],
    ["quotes and breaks", 'a"b\\c\nd\te\rf', '"a\\"b\\\\c\\nd\\te\\rf"'],
    ["what cannot be seen", "a\u202eb\u{e0001}c\u0000", '"a\\u202eb\\U000e0001c\\u0000"'],
    ["a lone surrogate", "a\ud800b", '"a\ufffdb"'],
    ["literal openings", "${a} %{b} $%", '"$${a} %%{b} $%"'],
    ["literal openings after signs", "$${a} %${b}", '"${"$"}$${a} ${"%"}$${b}"'],
    ["a template", { template: ["a$", { code: "x.y" }, "${", "}b"] }, '"a${"$"}${x.y}$${}b"'],
    ["texts that only together open something", { template: ["$", "{", { code: "x" }] }, '"$${${x}"'],
  ])("%s", (_, value, expected) => expect(renderValue(value)).toBe(expected));

  it("breaks a list that is too long for a line, and one of maps", () => {
    const long = Array.from({ length: 12 }, (_, index) => `item ${index}`);
    expect(renderValue(long).split("\n")).toHaveLength(14);
    expect(renderValue(long)).toMatch(/^\[\n {2}"item 0",\n[\s\S]*"item 11",\n\]$/);
    expect(renderValue([{ map: [["a", 1]] }])).toBe("[\n  {\n    a = 1\n  },\n]");
  });
});

describe("a configuration in Terraform's JSON", () => {
  it("has blocks as objects, the same labels twice as a list, and comments in //", () => {
    expect(JSON.parse(renderTfJson(DOCUMENT))).toEqual({
      "//": "What it is, and more.",
      terraform: { backend: { local: { path: "a.tfstate" } } },
      provider: { hosting: [{ project: "acme" }, { "//": "The other one.", alias: "beta" }] },
      resource: {
        hosting_service: {
          www: {
            "//": "on: Why.",
            provider: "hosting.beta",
            plan_id: 11,
            domain: "${var.domain}",
            map: { long_name: 1, "b c": null },
            on: true,
            off: false,
            lifecycle: { create_before_destroy: true },
            depends_on: ["hosting_service.a"],
          },
        },
      },
      import: { to: 'hosting_grant.a["b"]' },
      variable: { empty: {} },
    });
  });

  it("escapes what would be evaluated, in keys too, and keeps a third block of one name", () => {
    const blocks = ["a", "b", "c"].map((name) => ({
      block: "import",
      labels: [],
      body: [[{ name, value: { map: [["${k}", { template: ["%", { code: "x" }] }]] } as TfValue }]],
    }));
    expect(JSON.parse(renderTfJson({ comments: [], blocks })).import).toEqual([
      { a: { "$${k}": '${"%"}${x}' } },
      { b: { "$${k}": '${"%"}${x}' } },
      { c: { "$${k}": '${"%"}${x}' } },
    ]);
  });

  it("is not led astray by keys that objects have", () => {
    const map: TfValue = {
      map: [
        ["__proto__", "a"],
        ["constructor", "b"],
      ],
    };
    const text = renderTfJson({
      comments: [],
      blocks: [{ block: "locals", labels: [], body: [[{ name: "m", value: map }]] }],
    });
    expect(text).toContain('"__proto__": "a"');
    expect(JSON.parse(text).locals.m.constructor).toBe("b");
  });
});
