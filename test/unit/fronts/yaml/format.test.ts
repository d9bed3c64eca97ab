import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { parseDeclaration } from "../../../../src/fronts/yaml/declaration.ts";
import { expandedYaml, formatYaml } from "../../../../src/fronts/yaml/format.ts";
import fc, { runs } from "../../../support/fc.ts";

const format = (text: string) => formatYaml({ path: "hosting.yaml", text }, kinds);

describe("the normal form of a declaration", () => {
  it("keeps the source text of quoted strings and keys on one line, with their escapes", () => {
    const values = [
      ...[String.raw`"a\u00a0b"`, String.raw`"a\u200bb"`, String.raw`"\u202eabc"`, String.raw`"a\u2028b"`],
      ...[String.raw`"\u0000"`, String.raw`"\x41\_\/"`, String.raw`"\U0001F600"`, "'it''s'", '"a # b"', '"a\u00a0b"'],
    ];
    for (const value of values) {
      const text = `project: ${value}\nx-a: {${value}: [${value}, &a ${value}]}\n`;
      expect(format(text)).toBe(text);
    }
  });

  it("writes a quoted string of several lines with escapes for invisible characters", () => {
    const text = format('x-a:   "a\\u00a0b\\u202e\\u200b\n    c\\U000E0001\\0"\n');
    expect(text).toBe('x-a: "a\\u00a0b\\u202e\\u200b c\\U000e0001\\0"\n');
  });

  it("has an indentation of two, keys in the order of the schema, an empty line between blocks, and every comment", () => {
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

  it.each([
    [
      "a line for editors",
      "# yaml-language-server: $schema=a.json\n# b\nservices: {}\nproject: p\n",
      "# yaml-language-server: $schema=a.json\nproject: p\n# b\nservices: {}\n",
    ],
    [
      "a line for JetBrains editors",
      "# $schema: a.json\nservices: {}\nproject: p\n",
      "# $schema: a.json\nproject: p\nservices: {}\n",
    ],
    [
      "a comment with an empty line below",
      "# a\r\n# b  \r\n\r\n\r\nservices: {}\r\nproject: p\r\n",
      "# a\n# b\n\nproject: p\nservices: {}\n",
    ],
  ])("begins with %s if the source does", (_, text, result) => {
    expect(format(text)).toBe(result);
    expect(format(result)).toBe(result);
  });

  it.each([
    ["", ""],
    ["\n\n", ""],
    ["---\n", ""],
    ["# a", "# a\n"],
    ["\n# a  \r\n\n\n\n  # b\n#c\n\n", "# a\n\n# b\n#c\n"],
    ["\uFEFF# a\n---\n# b\n--- # c\n...\n", "# a\n\n# b\n# c\n"],
  ])("of a text without values, %j, contains its comments", (text, result) => {
    expect(format(text)).toBe(result);
    expect(format(result)).toBe(result);
  });

  it("keeps an anchor before its aliases", () => {
    const text = "services:\n  a: &site {term: 1}\nproject: p\nguards: {x: *site}\n";
    expect(format(text)).toBe(text.replace("project", "\nproject"));
  });

  it("keeps the comments below a key without a value for the next key", () => {
    const text = `project: p

services:
  a:
    term: &none

  # of b
  b:
    plan_id:
    # of the term
    term: # none
    grants:
      -

      # the second
      -

# the end
`;
    expect(format(text)).toBe(text);
    expect(
      format(text.replace("services", "defaults: {a: , b: [x, {c: }]}\n\nservices").replaceAll("\n", "\r\n")),
    ).toContain("# of b\n");
  });

  it("sorts templates and defaults like their blocks", () => {
    expect(
      format(`services: {}
templates:
  hook:
    events: [invoice.paid]
    url: "https://\${host}/"
    parameters: {host: }
  site:
    client: a
    grants:
      dev@acme.example:
        role: manage
    domain: acme.example
    plan_id: 11
    template: base
defaults:
  grants: {role: view}
  services:
    domain: a.example
    plan_id: 12
include: [b.yaml]
project: p
`),
    ).toMatchInlineSnapshot(`
      "project: p
      include: [b.yaml]

      defaults:
        grants: {role: view}

        services:
          plan_id: 12
          domain: a.example

      templates:
        hook:
          parameters: {host:}
          url: "https://\${host}/"
          events: [invoice.paid]

        site:
          template: base
          plan_id: 11
          domain: acme.example
          grants:
            dev@acme.example:
              role: manage
          client: a

      services: {}
      "
    `);
  });

  it("rejects invalid YAML, with its position", () => {
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
    const word = fc.constantFrom(
      "1",
      "007",
      "~",
      "true",
      "'a b'",
      '"${env.A}"',
      "1e3",
      "text",
      "{a: 1, b: [x, y]}",
      '""',
      "",
      "&a",
    );
    const note = fc.constantFrom("", " # note");
    const above = fc.constantFrom("", "\n", "# above\n", "\n# above\n", "\n    # above\n\n");
    const line = fc.tuple(fc.constantFrom("domain", "plan_id", "term", "client", "x_other"), word, note, above);
    const block = fc.tuple(
      fc.uniqueArray(line, { selector: ([key]) => key, minLength: 1 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
    );
    const section = fc.tuple(
      fc.constantFrom("services", "webhooks", "templates", "defaults", "x-a"),
      fc.array(block, { maxLength: 3 }),
    );
    const texts = fc.uniqueArray(section, { selector: ([name]) => name }).map((sections) =>
      sections
        .map(([name, blocks]) => {
          const body = blocks.map(([lines, apart, by], n) => {
            const pad = " ".repeat(by);
            const inner = lines
              .map(([key, value, note, above]) => `${above}  ${pad}${key}: ${value}${note}\n`)
              .join("");
            return `${apart ? "\n  # apart\n" : ""}  b${n}:\n${inner}`;
          });
          return `${name}:\n${body.join("")}`;
        })
        .concat("project: p\n")
        .join(""),
    );
    fc.assert(
      fc.property(
        fc.constantFrom("", "# yaml-language-server: $schema=x\n", "# head\n\n", "# head\n"),
        texts,
        (first, rest) => {
          const text = first + rest;
          const once = format(text);
          if (/server|\n\n/.test(first)) expect(once.startsWith(first.trimEnd())).toBe(true);
          expect(format(once)).toBe(once);
        },
      ),
      { numRuns: runs(60) },
    );
  });
});

/** Returns the declared values of the files, without their positions. */
function declaredIn(files: readonly { path: string; text: string }[]) {
  const { desired, diagnostics } = parseDeclaration(files, { kinds, env: {} });
  expect(diagnostics.map(({ summary }) => summary)).toEqual([]);
  const { project, guards, resources = [], providers = new Map() } = desired ?? {};
  return {
    ...{ project, guards },
    resources: resources.map(({ address, config, provider, client, importId }) => ({
      address,
      config,
      provider,
      client,
      importId,
    })),
    providers: [...providers.values()].map(({ range: _, ...rest }) => rest),
  };
}

describe("an expanded declaration", () => {
  const FILES = [
    {
      path: "hosting.yaml",
      text: `project: agency
include: clients/*.yaml
x-note: &note {plan_id: 7}
providers: {beta: {base_url: https://beta.example, token_file: ../token}}
defaults: {services: {currency: USD, password: {env: PASSWORD}}}
templates:
  site:
    parameters: {domain: , plan: 11}
    plan_id: \${plan}
    domain: www.\${domain}
    client: \${name}
    grants: {dev@agency.example: manage}
services:
  acme: {template: site, with: {domain: "00123.example"}}
  own: {<<: *note, domain: "$\${x}.example"}
`,
    },
    {
      path: "clients/b.yaml",
      text: `provider: beta
services:
  b: {template: site, with: {domain: b.example, plan: 12}, grants: {dev@agency.example: , it@b.example: view}}
---
webhooks: {hook: {url: "https://b.example/\${hosting_service.b.id}", events: [invoice.paid]}}
`,
    },
  ];

  it("declares the same, contains no templates, and is stable", () => {
    const text = expandedYaml(FILES, kinds);
    expect(text).not.toMatch(/template|defaults|include|parameters|x-note|with:/);
    const alone = [{ path: "hosting.yaml", text }];
    expect(declaredIn(alone)).toEqual(declaredIn(FILES));
    expect(expandedYaml(alone, kinds).replaceAll(/^# .*\n\n/gm, "")).toBe(text.replaceAll(/^# .*\n\n/gm, ""));
    expect(text).toContain("# clients/b.yaml\n");
  });

  it.each([
    ["a mistake in a template", "services: {a: {template: none}}", 'No template "none" is declared'],
    ["a mistake in the syntax", "services: {", "hosting.yaml"],
  ])("is rejected with %s", (_, text, message) => {
    expect(() => expandedYaml([{ path: "hosting.yaml", text }], kinds)).toThrow(
      message === "hosting.yaml" ? undefined : message,
    );
  });
});
