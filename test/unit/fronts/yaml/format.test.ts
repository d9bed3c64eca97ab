import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { formatYaml } from "../../../../src/fronts/yaml/format.ts";
import fc from "../../../support/fc.ts";

const format = (text: string) => formatYaml({ path: "hosting.yaml", text }, kinds);

describe("the one form of a declaration", () => {
  it("has two spaces, keys in the order of the schema, an empty line between blocks, and every comment", () => {
    expect(
      format(
        `# the head
services: # all of them
    www:
        # of the first site
        domain: www.acme.example   # its name
        grants: { dev@acme.example: manage }
        plan_id: 007
        "currency": 'USD'
    shop:
        client: a
        import: "12"
        domain: shop.acme.example



        term: ~
# before the project
project: acme
`,
      ),
    ).toMatchInlineSnapshot(`
      "# before the project
      project: acme

      # the head
      services:
        # all of them
        www:
          # of the first site
          plan_id: 007
          "currency": 'USD'
          domain: www.acme.example # its name
          grants: {dev@acme.example: manage}

        shop:
          domain: shop.acme.example

          term: ~
          client: a
          import: "12"
      "
    `);
  });

  it("keeps an anchor before what refers to it", () => {
    const text = "services:\n  a: &site {term: 1}\nproject: p\nguards: {x: *site}\n";
    expect(format(text)).toBe(text.replace("project", "\nproject"));
  });

  it("refuses what is not YAML, at its place", () => {
    expect(() => format("services: [")).toThrow(/cannot be parsed/);
  });

  it.each(globSync("examples/**/*.yaml", { cwd: path.resolve(import.meta.dirname, "../../../..") }))(
    "is reached in one step by %s",
    (file) => {
      const once = format(readFileSync(path.resolve(import.meta.dirname, "../../../..", file), "utf8"));
      expect(format(once)).toBe(once);
    },
  );

  it("is reached in one step, whatever the order, the comments and the notation", () => {
    const word = fc.constantFrom("1", "007", "~", "true", "'a b'", '"${env.A}"', "1e3", "text", "{a: 1, b: [x, y]}");
    const note = fc.constantFrom("", " # note");
    const line = fc.tuple(fc.constantFrom("domain", "plan_id", "term", "client", "x_other"), word, note);
    const block = fc.tuple(
      fc.uniqueArray(line, { selector: ([key]) => key, minLength: 1 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
    );
    const section = fc.tuple(
      fc.constantFrom("services", "webhooks", "domains", "x-a"),
      fc.array(block, { maxLength: 4 }),
    );
    const texts = fc.uniqueArray(section, { selector: ([name]) => name }).map((sections) =>
      sections
        .map(([name, blocks]) => {
          const body = blocks.map(([lines, apart, by], n) => {
            const pad = " ".repeat(by);
            const inner = lines.map(([key, value, comment]) => `  ${pad}${key}: ${value}${comment}\n`).join("");
            return `${apart ? "\n  # apart\n" : ""}  b${n}:\n${inner}`;
          });
          return `${name}:\n${body.join("")}`;
        })
        .concat("project: p\n")
        .join(""),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const once = format(text);
        expect(format(once)).toBe(once);
      }),
      { numRuns: 200 },
    );
  });
});
