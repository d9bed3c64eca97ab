import { describe, expect, it } from "vitest";

import { declare, declareFiles, reported } from "../yaml/fakes.ts";

/** Each text follows the line `project: p`. `why` is the damage that the error prevents. */
const MISTAKES: { why: string; text: string; reported: string[] }[] = [
  {
    why: "a misspelt section would silently be left out",
    text: "service:\n  a: {}\n",
    reported: ['2:1 config.unknown_key: A declaration has no "service". Did you mean "services"?'],
  },
  {
    why: "people who know Terraform write the type for the section",
    text: "hosting_webhook:\n  a: {}\n",
    reported: ['2:1 config.unknown_key: A declaration has no "hosting_webhook". Did you mean "webhooks"?'],
  },
  {
    why: "a nested section at the top has no parent",
    text: "grants:\n  a@b.example: view\n",
    reported: ["2:1 config.structure: `grants` is not a top-level section"],
  },
  {
    why: "a list gives resources no addresses",
    text: "services:\n  - name: a\n    domain: a.example\n",
    reported: ["3:3 config.structure: `services` must be a map of services by name"],
  },
  {
    why: "a name that Terraform does not accept could never move there",
    text: 'services:\n  "www.a.example": {domain: a.example}\n',
    reported: ['3:3 config.structure: "www.a.example" cannot be the name of a service'],
  },
  {
    why: "a resource without a map has nothing to compare",
    text: "services:\n  a: a.example\n  b:\n",
    reported: [
      '3:6 config.structure: The service "a" must be a map of attributes',
      '4:3 config.structure: The service "b" must be a map of attributes',
    ],
  },
  {
    why: "a misspelt attribute would order the wrong thing",
    text: "services:\n  a: {plan_di: 1}\n",
    reported: ['3:7 config.unknown_key: A service has no attribute "plan_di". Did you mean "plan_id"?'],
  },
  {
    why: "names of object methods are no attributes",
    text: "services:\n  a: {constructor: 1, __proto__: {plan_id: 1}}\n",
    reported: [
      '3:7 config.unknown_key: A service has no attribute "constructor".',
      '3:23 config.structure: "__proto__" is not accepted as a key',
    ],
  },
  {
    why: "the API gives it: declaring it would promise what cannot be kept",
    text: "services:\n  a: {status: active}\n",
    reported: ['3:7 config.computed: "status" is set by the API and cannot be declared'],
  },
  {
    why: "of two values nobody knows which is meant",
    text: "services:\n  a:\n    domain: a.example\n    term: 1\n    domain: b.example\n",
    reported: ['6:5 config.duplicate: "domain" is declared twice in the same map'],
  },
  {
    why: "a dependency that is not one would change the order silently",
    text: "services:\n  a: {depends_on: hosting_service.b}\n  b: {depends_on: [1, hosting_service.c, $x]}\n",
    reported: [
      "3:19 config.structure: `depends_on` must be a list of addresses",
      "4:20 config.structure: An item of `depends_on` must be an address",
      '4:23 config.reference: No resource hosting_service.c is declared. Did you mean "hosting_service.a"?',
      "4:42 config.reference: This is not the address of a resource",
    ],
  },
  {
    why: "an id that is not known yet cannot be adopted",
    text: 'services:\n  a: {import: [1]}\n  b: {import: "${env.ID}"}\n  c: {import: }\n',
    reported: [
      "3:15 config.structure: `import` must be an id",
      "4:15 config.structure: `import` must be an id",
      "5:7 config.structure: `import` must be an id",
    ],
  },
  {
    why: "a resource would go to the wrong account",
    text: "providers: {beta: {}}\nservices:\n  a: {provider: betta}\n  b: {provider: 1}\n",
    reported: [
      '4:17 provider.unknown: No provider "betta" is declared. Did you mean "beta"?',
      "5:17 config.structure: `provider` must be the name of a provider",
    ],
  },
  {
    why: "an address cannot be computed",
    text: 'services:\n  a:\n    grants:\n      "${env.MAIL}": view\n',
    reported: ["5:7 config.expression: The key of a grant is part of its address and cannot be an expression"],
  },
  {
    why: "what the block says already could contradict it, and the account is the service's",
    text: "services:\n  a:\n    grants:\n      x@a.example: {email: y@a.example, service_id: 1, provider: beta}\n",
    reported: [
      '5:21 config.structure: "email" cannot be given inside `grants`',
      '5:41 config.structure: "service_id" cannot be given inside `grants`',
      '5:56 config.unknown_key: A grant has no attribute "provider".',
    ],
  },
  {
    why: "a nested section is a map like every other",
    text: "services:\n  a:\n    grants: [x@a.example]\n  b:\n    grants:\n      x@a.example: 1\n      y@a.example:\n",
    reported: [
      "4:13 config.structure: `grants` must be a map, keyed by email",
      '7:20 config.structure: The grant "x@a.example" must be a map of attributes or a single word, the permission',
      '8:7 config.structure: The grant "y@a.example" must be a map of attributes or a single word, the permission',
    ],
  },
  {
    why: "not a number to any API",
    text: "services:\n  a: {term: .inf, plan_id: .nan}\n",
    reported: [
      "3:13 config.structure: This number is not finite, so it cannot be sent",
      "3:28 config.structure: This number is not finite, so it cannot be sent",
    ],
  },
  {
    why: "tabs look like indentation and are not",
    text: "services:\n\ta: {}\n",
    reported: ["3:1 config.syntax: The YAML cannot be parsed: tabs are not allowed as indentation"],
  },
  {
    why: "a tag changes the value in a way that would be overlooked",
    text: "services:\n  a: {domain: !Ref x}\n",
    reported: ["3:15 config.syntax: The YAML cannot be parsed: unresolved tag: !Ref"],
  },
  {
    why: "inside brackets `${` begins a map: what the parser says of that helps nobody, and the rest follows from it",
    text: "guards:\n  {max_orders: ${env.N},\n  max_spend: {USD: 5}}\n",
    reported: ["3:17 config.syntax: The YAML cannot be parsed: `${env.N}` needs quotes inside {…} and […]"],
  },
  {
    why: "the same in a list, and for a template that has no end",
    text: "webhooks:\n  a: {events: [${env.N\n",
    reported: ["3:17 config.syntax: The YAML cannot be parsed: `${…}` needs quotes inside {…} and […]"],
  },
];

describe("errors in one document", () => {
  it.each(MISTAKES)("$why", ({ text, reported: expected }) => {
    const { desired, diagnostics } = declare(text);
    expect(reported(diagnostics)).toEqual(expected);
    expect(desired).toBeUndefined();
  });

  it("are reported once for a shared position", () => {
    const { diagnostics } = declare("x-all: &all {plan_di: 1}\nservices:\n  a: *all\n  b: {<<: *all}\n");
    expect(reported(diagnostics)).toEqual([
      '2:14 config.unknown_key: A service has no attribute "plan_di". Did you mean "plan_id"?',
    ]);
  });

  it("are counted beyond a thousand", () => {
    const many = Array.from({ length: 1500 }, (_, i) => `k${i}: 1`).join("\n");
    const { diagnostics } = declare(many);
    expect(diagnostics).toHaveLength(1001);
    expect(diagnostics.at(-1)?.summary).toBe("500 more errors are not shown");
  });

  it("keep the valid parts for further checks, and a misspelt attribute gets its intended name", () => {
    const { desired, partial } = declare("services:\n  a: {plan_di: 7, domain: a.example}\n  b: 1\n");
    expect(desired).toBeUndefined();
    expect(partial?.resources.map(({ address }) => address)).toEqual(["hosting_service.a"]);
    expect(partial?.resources[0]?.config).toEqual({ plan_id: 7, domain: "a.example" });
    expect(partial?.resources[0]?.locate(["plan_id"])).toMatchObject({ line: 3, column: 16 });
  });
});

describe("errors in the project", () => {
  it("do not prevent further checks", () => {
    const { desired, partial } = declareFiles({ "hosting.yaml": "services: {a: {term: 1}}" });
    expect(desired).toBeUndefined();
    expect(partial?.resources.map(({ address }) => address)).toEqual(["hosting_service.a"]);
  });

  it.each([
    ["", "1:1 config.missing_attribute: The declaration has no `project`"],
    ["project:", "1:1 config.structure: `project` must be a name"],
    ["project: 7", "1:10 config.structure: `project` must be a name"],
    ["project: a b", "1:10 config.structure: `project` must be a name"],
    ["project: -a", "1:10 config.structure: `project` must be a name"],
    [`project: ${"a".repeat(65)}`, "1:10 config.structure: `project` must be a name"],
    ["project: ${env.A}", "1:10 config.structure: `project` must be a name, not an expression"],
    ["- project", "1:1 config.structure: A declaration must be a map"],
  ])("%s", (text, expected) => {
    expect(reported(declareFiles({ "hosting.yaml": text }).diagnostics)).toContain(expected);
  });

  it("are reported at both positions if two values differ", () => {
    const { diagnostics } = declareFiles({ "a.hosting.yaml": "project: p", "b.hosting.yaml": "project: q" });
    expect(diagnostics.map(({ code, range, detail }) => [code, range?.file, detail])).toEqual([
      ["config.duplicate", "a.hosting.yaml", 'The project is named "q" in b.hosting.yaml:1:10.'],
      ["config.duplicate", "b.hosting.yaml", 'The project is named "p" in a.hosting.yaml:1:10.'],
    ]);
  });
});

describe("errors across files", () => {
  it("are reported at both positions if two files declare one resource", () => {
    const text = "services:\n  a: {domain: a.example}\n";
    const { diagnostics } = declareFiles({ "a.hosting.yaml": `project: p\n${text}`, "b.hosting.yaml": text });
    expect(diagnostics.map(({ range, summary, detail }) => [range?.file, range?.line, summary, detail])).toEqual([
      ["a.hosting.yaml", 3, "hosting_service.a is declared twice", "The other place is b.hosting.yaml:2:3."],
      ["b.hosting.yaml", 2, "hosting_service.a is declared twice", "The other place is a.hosting.yaml:3:3."],
    ]);
  });

  it("do not include resources that an unreadable document may declare", () => {
    const { diagnostics } = declareFiles({
      "a.hosting.yaml": "services: {\n",
      "b.hosting.yaml": "services:\n  b: {provider: beta, domain: '${hosting_service.a.id}'}\n",
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(["config.syntax"]);
  });
});
