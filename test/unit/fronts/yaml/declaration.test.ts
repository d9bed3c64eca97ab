import { describe, expect, it } from "vitest";
import { declare, declareFiles, reported } from "./fakes.ts";

describe("a declaration", () => {
  it("becomes resources in order, nested ones after their parent", () => {
    const { desired, diagnostics } = declare(
      `services:
  acme:
    plan_id: 101
    domain: www.acme.example
    import: 7
    grants:
      boss@acme.example: view
      "dev@acme.example":
        permission: manage
        depends_on: [hosting_webhook.ops]
webhooks:
  ops:
    url: https://ops.example/\${hosting_service.acme.id}
    events: [a, b]
    depends_on: [hosting_grant.acme]
`.replace("        depends_on: [hosting_webhook.ops]\n", ""),
    );
    expect(reported(diagnostics)).toEqual([]);
    const resources = desired?.resources.map(
      ({ locate: _, references: __, evaluate: ___, originOf: ____, ...resource }) => resource,
    );
    expect(resources).toEqual([
      {
        address: "hosting_service.acme",
        type: "hosting_service",
        provider: "default",
        config: { plan_id: 101, domain: "www.acme.example" },
        dependsOn: [],
        importId: "7",
        isConstant: true,
      },
      {
        address: 'hosting_grant.acme["boss@acme.example"]',
        type: "hosting_grant",
        provider: "default",
        config: { email: "boss@acme.example", service_id: "${hosting_service.acme.id}", permission: "view" },
        dependsOn: [],
      },
      {
        address: 'hosting_grant.acme["dev@acme.example"]',
        type: "hosting_grant",
        provider: "default",
        config: { email: "dev@acme.example", service_id: "${hosting_service.acme.id}", permission: "manage" },
        dependsOn: [],
      },
      {
        address: "hosting_webhook.ops",
        type: "hosting_webhook",
        provider: "default",
        config: { url: "https://ops.example/${hosting_service.acme.id}", events: ["a", "b"] },
        dependsOn: ['hosting_grant.acme["boss@acme.example"]', 'hosting_grant.acme["dev@acme.example"]'],
      },
    ]);
  });

  it("has clients of a block and of its nested blocks, as strings without expressions", () => {
    const clients = (text: string) => {
      const { desired, diagnostics } = declare(`services:\n  a:\n    ${text}\n    grants: {b@a.example: view}\n`);
      return desired?.resources.map(({ client }) => client) ?? diagnostics.map(({ range }) => range?.column);
    };
    expect(clients("client: acme")).toEqual(["acme", "acme"]);
    expect(clients("client: 4711")).toEqual(["4711", "4711"]);
    for (const wrong of ['""', "[acme]", "${env.WHO}", "a".repeat(101)])
      expect(clients(`client: ${wrong}`)).toEqual([13]);
  });

  it("may have empty sections", () => {
    const { desired, diagnostics } = declare("services:\nwebhooks: {}\nproviders:\n");
    expect(diagnostics).toEqual([]);
    expect(desired?.resources).toEqual([]);
  });

  it("uses a top-level `provider` for the resources of its document, and nested ones with their parent", () => {
    const { desired } = declareFiles({
      "hosting.yaml": `project: p
providers: {beta: {}, gamma: {}}
provider: beta
services:
  a: {grants: {x@a.example: view}}
  b: {provider: gamma, grants: {x@a.example: view}}
  c: {provider: default}
---
services:
  d: {term: 1}
`,
    });
    expect(desired?.resources.map(({ address, provider }) => [address, provider])).toEqual([
      ["hosting_service.a", "beta"],
      ['hosting_grant.a["x@a.example"]', "beta"],
      ["hosting_service.b", "gamma"],
      ['hosting_grant.b["x@a.example"]', "gamma"],
      ["hosting_service.c", "default"],
      ["hosting_service.d", "default"],
    ]);
  });

  it("is rejected with more resources than the limit of a project", () => {
    const many = Array.from({ length: 20_001 }, (_, i) => `  s${i}: {}`).join("\n");
    const { desired, partial, diagnostics } = declare(`services:\n${many}\n`);
    expect([desired, partial]).toEqual([undefined, undefined]);
    expect(reported(diagnostics)).toEqual([
      "20003:3 config.too_large: The declaration has 20001 resources; at most 20000 are accepted",
    ]);
  });
});

describe("locate", () => {
  const { desired } = declare(`x-base: &base
  plan_id: 101
x-labels: &labels
  tier: gold
services:
  acme:
    <<: *base
    term:
webhooks:
  ops:
    url: "https://ops.example"
    events:
      - one
      - two
    labels: *labels
`);
  const [service, webhook] = desired?.resources ?? [];

  it.each([
    ["the resource's key", service, [], [7, 3]],
    ["a merged value, where it is written", service, ["plan_id"], [3, 12]],
    ["the key of a value that is not written", service, ["term"], [9, 5]],
    ["the resource for an attribute that is not declared", service, ["domain"], [7, 3]],
    ["a quoted value", webhook, ["url"], [12, 10]],
    ["an item of a list", webhook, ["events", 1], [15, 9]],
    ["the list for an item that it does not have", webhook, ["events", 2], [14, 7]],
    ["a value behind an alias", webhook, ["labels", "tier"], [5, 9]],
    ["the deepest part that there is", webhook, ["labels", "tier", "x"], [5, 9]],
  ] as const)("%s", (_, resource, path, [line, column]) => {
    expect(resource?.locate(path)).toMatchObject({ file: "hosting.yaml", line, column });
  });
});
