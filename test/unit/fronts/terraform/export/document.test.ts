import { describe, expect, it } from "vitest";
import { renderHcl, type TfDocument } from "../../../../../src/fronts/terraform/export/document.ts";

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
        [{ name: "provider", value: { code: "hosting.beta" } }],
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
        [{ name: "depends_on", value: [{ code: "hosting_service.a" }] }],
      ],
    },
    { block: "import", labels: [], body: [[{ name: "to", value: { code: 'hosting_grant.a["b"]' } }]] },
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
});
