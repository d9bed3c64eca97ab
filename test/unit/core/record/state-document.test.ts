import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  formatAddress,
  type JsonObject,
  PENDING_CREATE,
  type ResourceState,
  type State,
} from "../../../../src/core/model/index.ts";
import {
  decodeState,
  emptyDocument,
  encodeState,
  taintedAddresses,
  unmanagedAddresses,
} from "../../../../src/core/record/index.ts";
import fc from "../../../support/fc.ts";
import { entry, file, instance, resource, withoutResources, withResource } from "./builders.ts";

/** A state of Terraform 1.11, with added hostform resources in Terraform's form. */
const terraformText = readFileSync(new URL("fixtures/written-by-terraform.txt", import.meta.url), "utf8");

const decoded = (text: string) => decodeState(text, "hosting.tfstate");

describe("encoding", () => {
  test("writes a first resource in the registry of the engine that wrote the file", () => {
    const plans = {
      mode: "data",
      type: "hosting_plans",
      name: "all",
      provider: 'provider["registry.opentofu.org/hostform/hosting"]',
      instances: [],
    };
    const document = withResource(decoded(file([plans])), resource("hosting_service.acme", "42"));
    const { resources } = JSON.parse(encodeState(document));
    expect(resources.map((one: typeof plans) => one.provider)).toEqual([plans.provider, plans.provider]);
  });

  test("writes format 4 exactly as Terraform would", () => {
    const resources = [
      resource('hosting_grant.acme["dev@acme.example"]', "g1", {
        dependencies: ['hosting_service.acme["x"]', "hosting_service.acme"],
      }),
      resource("hosting_service.acme", "42", {
        provider: "beta",
        schemaVersion: 1,
        attributes: { reference: "a", password: "<p>" },
        sensitive: ["password"],
        private: { generation: 2 },
      }),
    ];
    const document = withResource(emptyDocument(), ...resources);
    expect(encodeState({ ...document, state: { ...document.state, lineage: "l-1", serial: 7 } })).toBe(`{
  "version": 4,
  "terraform_version": "1.5.0",
  "serial": 7,
  "lineage": "l-1",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "hosting_grant",
      "name": "acme",
      "provider": "provider[\\"registry.terraform.io/hostform/hosting\\"]",
      "instances": [
        {
          "index_key": "dev@acme.example",
          "schema_version": 0,
          "attributes": {
            "id": "g1"
          },
          "sensitive_attributes": [],
          "dependencies": [
            "hosting_service.acme"
          ]
        }
      ]
    },
    {
      "mode": "managed",
      "type": "hosting_service",
      "name": "acme",
      "provider": "provider[\\"registry.terraform.io/hostform/hosting\\"].beta",
      "instances": [
        {
          "schema_version": 1,
          "attributes": {
            "id": "42",
            "password": "\\u003cp\\u003e",
            "reference": "a"
          },
          "sensitive_attributes": [
            [
              {
                "type": "get_attr",
                "value": "password"
              }
            ]
          ],
          "private": "eyJnZW5lcmF0aW9uIjoyfQ=="
        }
      ]
    }
  ],
  "check_results": null
}
`);
  });

  test("a pending create lives in the mark of its instance, which is not tainted: Terraform would replace it", () => {
    const pending = { since: "2026-01-02T03:04:05Z", operation: "create", idempotencyKey: "k" };
    const document = withResource(emptyDocument(), resource("hosting_service.acme", null, { private: { pending } }));
    const text = encodeState({ ...document, state: { ...document.state, lineage: "l-1" } });
    const again = decoded(text);
    expect(JSON.parse(text).resources[0].instances[0]).not.toHaveProperty("status");
    expect(again.state.resources.get("hosting_service.acme")?.private).toEqual({ pending });
    expect(taintedAddresses(again)).toEqual([]);
    const settled = withResource(again, resource("hosting_service.acme", null));
    expect(JSON.parse(encodeState(settled)).resources[0].instances[0]).not.toHaveProperty("status");
  });

  describe("a pending create that Terraform's provider marked", () => {
    const pending = { id: "i1", since: "2026-01-02T03:04:05Z", operation: "create" };
    const mark = Buffer.from(JSON.stringify({ pending, host: "h1" })).toString("base64");
    const attributes = { id: PENDING_CREATE };
    const more = {
      status: "tainted",
      attributes,
      sensitive_attributes: [],
      private: mark,
      create_before_destroy: true,
    };
    const text = file([entry([instance(more)]), entry([instance(more)], { name: "shop" })]);
    const instanceOf = (document: ReturnType<typeof decoded>, name: string) =>
      JSON.parse(encodeState(document)).resources.find((one: { name: string }) => one.name === name).instances[0];

    test("stays as it is while another resource changes", () => {
      const changed = withResource(decoded(text), resource("hosting_service.shop", "1004"));
      expect(instanceOf(changed, "acme")).toEqual(JSON.parse(text).resources[0].instances[0]);
      expect(taintedAddresses(changed)).toEqual([]);
    });

    test("loses the mark with the doubt, and keeps the rest: the object is the one that it requested", () => {
      const adopted = instanceOf(withResource(decoded(text), resource("hosting_service.acme", "1004")), "acme");
      expect(adopted).toMatchObject({ attributes: { id: "1004" }, create_before_destroy: true });
      expect(adopted).not.toHaveProperty("status");
      expect(JSON.parse(Buffer.from(adopted.private, "base64").toString())).toEqual({ host: "h1" });
    });
  });

  const words = fc.stringMatching(/^[a-z][a-z0-9_-]{0,6}$/);
  const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
  const generated: fc.Arbitrary<ResourceState> = fc.record({
    address: fc
      .record(
        {
          type: fc.constantFrom("hosting_service", "hosting_grant"),
          name: words,
          key: fc.oneof(fc.string(), fc.nat(9)),
        },
        { requiredKeys: ["type", "name"] },
      )
      .map(formatAddress),
    provider: fc.constantFrom("default", "beta"),
    schemaVersion: fc.nat(3),
    attributes: fc
      .record({ id: fc.option(fc.string()), more: fc.dictionary(fc.string(), json) })
      .map(({ id, more }): JsonObject => ({ ...more, id })),
    sensitive: fc.uniqueArray(words).map((names) => names.sort()),
    private: fc.record(
      {
        generation: fc.integer({ min: 1, max: 9 }),
        deposed: fc.dictionary(fc.string(), json),
        pending: fc.constant({ since: "s", operation: "o" }),
      },
      { requiredKeys: [] },
    ),
    dependencies: fc.uniqueArray(words.map((name) => `hosting_service.${name}`)).map((names) => names.sort()),
  });
  const states = fc.record({
    lineage: fc.uuid(),
    serial: fc.nat(),
    resources: fc
      .uniqueArray(generated, { selector: (each) => each.address, maxLength: 6 })
      .map((list) => new Map(list.map((each) => [each.address, each]))),
  });

  test("decode(encode(state)) is the state, whatever it holds", () => {
    fc.assert(
      fc.property(states, (state: State) => {
        const text = encodeState({ state, remainder: emptyDocument().remainder });
        expect(decoded(text).state).toEqual(state);
      }),
    );
  });
});

describe("a file written by Terraform", () => {
  const document = decoded(terraformText);

  test("comes back byte for byte", () => {
    expect(encodeState(document)).toBe(terraformText);
  });

  test("gives our resources, and names what is not ours", () => {
    expect([...document.state.resources.keys()]).toEqual([
      'hosting_grant.acme["dev@acme.example"]',
      'hosting_grant.acme["ops@acme.example"]',
      "hosting_service.acme",
      "hosting_webhook.hook",
    ]);
    expect(document.state.resources.get("hosting_service.acme")).toMatchObject({
      provider: "default",
      schemaVersion: 1,
      sensitive: ["password"],
      private: { generation: 2 },
    });
    expect(document.state.resources.get("hosting_webhook.hook")?.provider).toBe("beta");
    expect(taintedAddresses(document)).toEqual(['hosting_grant.acme["ops@acme.example"]']);
    expect(unmanagedAddresses(document)).toEqual([
      "data.terraform_remote_state.q",
      "hosting_webhook.hook (deposed object 8d3a1b2c)",
      "module.m.terraform_data.inner",
      'terraform_data.a["a\\"<&>\u2028é"]',
      'terraform_data.a["b@x.y"]',
      "terraform_data.c[0]",
      "terraform_data.c[1]",
    ]);
  });

  test("what we do not manage stays when everything of ours goes", () => {
    const empty = withoutResources(document, [...document.state.resources.keys()]);
    const left = JSON.parse(encodeState(empty));
    const before = JSON.parse(terraformText);
    expect(left.outputs).toEqual(before.outputs);
    expect(left.check_results).toEqual(before.check_results);
    expect(unmanagedAddresses(decoded(JSON.stringify(left)))).toEqual(unmanagedAddresses(document));
    expect(encodeState(empty)).toContain("12345678901234567890.5");
  });

  test("Terraform's marks stay with an object that changes, and leave with it", () => {
    const address = 'hosting_grant.acme["ops@acme.example"]';
    const ops = document.state.resources.get(address) ?? resource(address, "missing");
    const changed = withResource(document, { ...ops, attributes: { ...ops.attributes, permission: "view" } });
    const replaced = withResource(document, { ...ops, attributes: { ...ops.attributes, id: "g3" } });
    const written = (each: typeof document) => JSON.parse(encodeState(each)).resources[1].instances[1];
    expect(written(changed)).toMatchObject({ status: "tainted", create_before_destroy: true });
    expect(taintedAddresses(changed)).toEqual([address]);
    expect(written(replaced)).not.toHaveProperty("status");
    expect(written(replaced)).not.toHaveProperty("create_before_destroy");
    expect(taintedAddresses(replaced)).toEqual([]);
  });

  test("other programs' private data stays beside our mark", () => {
    const acme = document.state.resources.get("hosting_service.acme") ?? resource("hosting_service.acme", "missing");
    const text = encodeState(withResource(document, { ...acme, private: { generation: 3 } }));
    const { private: mark } = JSON.parse(text).resources[2].instances[0];
    expect(JSON.parse(Buffer.from(mark, "base64").toString())).toEqual({ generation: 3, terraform: { timeouts: 1 } });
  });

  test.each([
    ["OpenTofu's registry", "registry.opentofu.org"],
    ["a private registry", "terraform.acme.example:8443"],
  ])("%s stays the registry of the file, for new resources too", (_reason, registry) => {
    const provider = `provider["${registry}/hostform/hosting"]`;
    const next = withResource(decoded(file([entry([instance()], { provider })])), resource("hosting_service.b", "2"));
    const providers = JSON.parse(encodeState(next)).resources.map((each: { provider: string }) => each.provider);
    expect(providers).toEqual([provider, provider]);
  });

  test.each([
    ["a module's", entry([instance()], { module: "module.m" })],
    ["a data source", entry([instance()], { mode: "data" })],
    ["another provider's of our type name", entry([instance()], { provider: 'provider["x.io/other/hosting"]' })],
    ["a name that is no address here", entry([instance()], { name: "café" })],
    ["flat attributes of old", entry([{ schema_version: 0, attributes_flat: { id: "1" } }])],
  ])("leaves alone and keeps: %s", (_reason, each) => {
    const document = decoded(file([each]));
    expect(document.state.resources.size).toBe(0);
    expect(JSON.parse(encodeState(document)).resources).toEqual([each]);
  });

  test("a secret deep inside an attribute makes the attribute secret, and the path is kept", () => {
    const path = [
      { type: "get_attr", value: "contact" },
      { type: "index", value: { value: "tax_id", type: "string" } },
    ];
    const text = file([entry([instance({ attributes: { contact: {}, id: "1" }, sensitive_attributes: [path] })])]);
    const document = decoded(text);
    expect(document.state.resources.get("hosting_service.acme")?.sensitive).toEqual(["contact"]);
    expect(JSON.parse(encodeState(document)).resources[0].instances[0].sensitive_attributes).toEqual([path]);
  });
});

describe("what Terraform's provider recorded before it was done", () => {
  const waiting = Buffer.from(JSON.stringify({ waiting: ["password_version"], generation: 2 })).toString("base64");
  const text = file([
    entry([instance({ attributes: { id: "1", password_version: 3, domain: "a.example" }, private: waiting })]),
  ]);

  test("counts as not done", () => {
    const read = decoded(text).state.resources.get("hosting_service.acme");
    expect(read?.attributes).toEqual({ id: "1", password_version: null, domain: "a.example" });
    expect(read?.private).toEqual({ generation: 2 });
  });

  test("and the next write removes its note, so that it does not count indefinitely", () => {
    const document = decoded(text);
    const read = document.state.resources.get("hosting_service.acme");
    if (read === undefined) throw new Error("the resource is missing");
    const written = encodeState(
      withResource(document, { ...read, attributes: { ...read.attributes, password_version: 3 } }),
    );
    expect(decoded(written).state.resources.get("hosting_service.acme")?.attributes.password_version).toBe(3);
  });
});
