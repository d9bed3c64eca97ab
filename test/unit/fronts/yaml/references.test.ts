import { describe, expect, it } from "vitest";
import { declare, reported } from "./fakes.ts";

const service = (domain: string) => `services:\n  a:\n    domain: ${domain}\n  b: {grants: {x@b.example: view}}\n`;

describe("references", () => {
  it.each([
    ["${hosting_service.b.id}"],
    ['${hosting_grant.b["x@b.example"].id}'],
    ["${env.SET}-${hosting_service.b.status}.example"],
    ["'${env.EMPTY}'"],
    ["$${hosting_service.nobody.id}"],
  ])("%s is accepted", (domain) => {
    const { desired, diagnostics } = declare(service(domain), { SET: "x", EMPTY: "" });
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.resources[0]?.config.domain).toBe(domain.replaceAll("'", ""));
  });

  it.each([
    [
      "x-${hosting_service.c.id}",
      15,
      'config.reference: No resource hosting_service.c is declared. Did you mean "hosting_service.a"?',
    ],
    [
      "${hosting_servce.b.id}",
      13,
      'config.reference: No resource hosting_servce.b is declared. Did you mean "hosting_service.b"?',
    ],
    [
      "${hosting_grant.b.id}",
      13,
      'config.reference: hosting_grant.b has several instances. Use the address of one instance. Did you mean "hosting_grant.b["x@b.example"]"?',
    ],
    [
      "${hosting_service.b.domian}",
      13,
      'config.reference: A service has no attribute "domian". Did you mean "domain"?',
    ],
    ["${hosting_service.b.toString}", 13, 'config.reference: A service has no attribute "toString".'],
    [
      "${hosting_service.b.password}",
      13,
      "config.reference: hosting_service.b.password is write-only: it is sent but not stored, so it cannot be referenced",
    ],
    ["${env.UNSET}", 13, "config.environment: The environment variable UNSET is not set"],
    ["${env.toString}", 13, "config.environment: The environment variable toString is not set"],
    ["a ${hosting_service.b", 15, "config.expression: This `${` is not closed by a `}`"],
    [
      "${upper(x)}",
      13,
      'config.expression: "upper(x)" is not a reference; expected TYPE.NAME.ATTRIBUTE (hosting_service.acme.id) or env.NAME',
    ],
  ])("%s is an error at column %i", (domain, column, expected) => {
    expect(reported(declare(service(domain)).diagnostics)).toEqual([`4:${column} ${expected}`]);
  });

  it.each([
    ["double quotes with escapes before it", '"\\t\\u00e9 ${env.UNSET}"', 4, 23],
    ["single quotes with a quote before it", "'it''s ${env.UNSET}'", 4, 20],
    ["after another one", "${env.SET}${env.UNSET}", 4, 23],
    ["after a literal one", "$${env.SET} ${env.UNSET}", 4, 25],
    ["a block", "|\n      first\n      then ${env.UNSET}", 6, 12],
    ["a folded line", ">-\n      first\n      then ${env.UNSET}", 6, 12],
    ["a plain text on two lines", "first\n      then ${env.UNSET}", 5, 12],
    ["letters outside the basic plane, as editors count", "😀${env.UNSET}", 4, 15],
    ["a notation without it: the string itself", '"\\x24{env.UNSET}"', 4, 13],
  ])("the position in %s", (_, domain, line, column) => {
    const { diagnostics } = declare(service(domain), { SET: "x" });
    expect(diagnostics.map(({ code, range }) => [code, range?.line, range?.column])).toEqual([
      ["config.environment", line, column],
    ]);
    expect(diagnostics[0]).toMatchObject({ address: "hosting_service.a", attribute: ["domain"] });
  });

  it("are found inside lists and maps", () => {
    const { diagnostics } = declare('webhooks:\n  a:\n    events: [x, "${env.A}"]\n    labels: {k: ["${env.B}"]}\n');
    expect(diagnostics.map(({ attribute }) => attribute)).toEqual([
      ["events", 1],
      ["labels", "k", 0],
    ]);
  });
});

describe("cycles", () => {
  const text = (domains: Record<string, string>) =>
    `services:\n${Object.entries(domains)
      .map(([name, rest]) => `  ${name}: {${rest}}\n`)
      .join("")}`;

  it.each([
    ["itself", { a: "domain: '${hosting_service.a.id}'" }, ["3:16 config.circle: hosting_service.a refers to itself"]],
    [
      "two, reported once",
      { a: "domain: '${hosting_service.b.id}'", b: "domain: '${hosting_service.a.id}'" },
      ["4:16 config.circle: References form a cycle: hosting_service.a -> hosting_service.b -> hosting_service.a"],
    ],
    [
      "through depends_on",
      { a: "depends_on: [hosting_service.b]", b: "domain: '${hosting_service.a.id}'" },
      ["4:16 config.circle: References form a cycle: hosting_service.a -> hosting_service.b -> hosting_service.a"],
    ],
    [
      "through the reference that nesting implies",
      { a: "depends_on: [hosting_grant.a], grants: {x@a.example: view}" },
      [
        '3:47 config.circle: References form a cycle: hosting_service.a -> hosting_grant.a["x@a.example"] -> hosting_service.a',
      ],
    ],
    [
      "none: two ways to the same",
      { a: "depends_on: [hosting_service.b, hosting_service.c]", b: "depends_on: [hosting_service.c]", c: "term: 1" },
      [],
    ],
  ])("%s", (_, domains, expected) => {
    expect(reported(declare(text(domains)).diagnostics)).toEqual(expected);
  });
});
