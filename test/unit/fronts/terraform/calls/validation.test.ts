/** The checks of terraform-plugin-framework for a provider, over the wire: test/terraform/framework-checks.md. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { UNKNOWN, type Value, type ValueObject } from "../../../../../src/core/model/index.ts";
import { type Attribute, type Attributes, isNested, type SchemaType } from "../../../../../src/core/model/schema.ts";
import { newConnection } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/index.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { decodeDynamic, encodeDynamic, encodeValue } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import {
  CallFunction_RequestSchema,
  CallFunction_ResponseSchema,
  MoveResourceState_RequestSchema,
  MoveResourceState_ResponseSchema,
  UpgradeResourceState_RequestSchema,
  UpgradeResourceState_ResponseSchema,
  ValidateDataResourceConfig_RequestSchema,
  ValidateDataResourceConfig_ResponseSchema,
  ValidateEphemeralResourceConfig_RequestSchema,
  ValidateEphemeralResourceConfig_ResponseSchema,
  ValidateResourceConfig_RequestSchema,
  ValidateResourceConfig_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { complete, reportedBy } from "../account.ts";

type Block = "resource" | "data" | "ephemeral";

const RPCS = {
  resource: ["ValidateResourceConfig", ValidateResourceConfig_RequestSchema, ValidateResourceConfig_ResponseSchema],
  data: [
    "ValidateDataResourceConfig",
    ValidateDataResourceConfig_RequestSchema,
    ValidateDataResourceConfig_ResponseSchema,
  ],
  ephemeral: [
    "ValidateEphemeralResourceConfig",
    ValidateEphemeralResourceConfig_RequestSchema,
    ValidateEphemeralResourceConfig_ResponseSchema,
  ],
} as const;

const schemas = { resource: catalogue.resources, data: catalogue.dataSources, ephemeral: catalogue.ephemeral };

async function called(name: string, request: Uint8Array): Promise<Uint8Array> {
  const answer = await calls[name]?.(request, newConnection({ env: {}, log: () => {} }));
  return answer ?? Promise.reject(new Error(`no ${name}`));
}

/** Returns the diagnostics of a block before the provider is configured. */
async function validated(
  block: Block,
  typeName: string,
  given: ValueObject,
  writeOnlyAttributesAllowed = true,
): Promise<string[]> {
  const attributes = schemas[block].get(typeName)?.attributes ?? {};
  const config = encodeDynamic(complete(attributes, given), attributes);
  const [name, input, output] = RPCS[block];
  const clientCapabilities = block === "resource" ? { clientCapabilities: { writeOnlyAttributesAllowed } } : {};
  const request = toBinary(input, create(input, { typeName, config, ...clientCapabilities }));
  return reportedBy(fromBinary(output, await called(name, request)).diagnostics);
}

const isReadOnly = ({ computed, optional, required }: Attribute) => computed && !optional && !required;

function sample(type: Attribute["type"] | SchemaType): Value {
  if (type === "string") return "x";
  if (type === "number") return 4;
  if (type === "bool") return true;
  if (isNested(type)) return type.nesting === "single" ? objectOf(type.attributes) : [objectOf(type.attributes)];
  if ("map" in type) return { a: sample(type.map) };
  return [sample("list" in type ? type.list : type.set)];
}

const objectOf = (attributes: Attributes): ValueObject =>
  Object.fromEntries(Object.entries(attributes).map(([name, { type }]) => [name, sample(type)]));

const blocks = (["resource", "data", "ephemeral"] as const).flatMap((block) =>
  [...schemas[block]].map(([name, schema]) => [block, name, schema.attributes] as const),
);

describe.each(blocks)("%s %s", (block, name, attributes) => {
  const readOnly = Object.entries(attributes).filter(([, attribute]) => isReadOnly(attribute));

  it("refuses a value, known or unknown, for each read-only attribute", async () => {
    expect(readOnly).not.toEqual([]);
    for (const [attribute, { type }] of readOnly) {
      for (const value of [sample(type), UNKNOWN] as const) {
        const found = await validated(block, name, { [attribute]: value });
        expect(found).toContain(`error at ${attribute}: \`${attribute}\` is set by the API and cannot be declared`);
      }
    }
  });

  it("refuses null for each required attribute, and takes unknown values for all that can be set", async () => {
    const required = Object.entries(attributes).flatMap(([attribute, one]) => (one.required ? [attribute] : []));
    const found = await validated(block, name, {});
    for (const attribute of required)
      expect(found.filter((text) => text.startsWith(`error at ${attribute}:`))).toHaveLength(1);
    const settable = Object.entries(attributes).filter(([, attribute]) => !isReadOnly(attribute));
    const unknown: ValueObject = Object.fromEntries(settable.map(([attribute]) => [attribute, UNKNOWN] as const));
    expect(await validated(block, name, unknown)).toEqual([]);
  });
});

const hook: ValueObject = { url: "https://a.example", events: ["invoice.paid"] };
const site: ValueObject = { plan_id: 11, currency: "USD", domain: "a.example" };
const registration: ValueObject = { domain: "a.example", years: 1, currency: "USD", nameserver_mode: "default" };
const output = (given: ValueObject): ValueObject => ({
  ...hook,
  secret_output: { file: null, env_file: null, command: null, outside_project: null, ...given },
});

describe("the known part of a value with unknown parts", () => {
  it.each<[string, string, ValueObject, string[]]>([
    ["an element of a set", "hosting_webhook", { ...hook, events: ["invoice.lost", UNKNOWN] }, ["events.0"]],
    [
      "an entry of a map",
      "hosting_domain",
      { ...registration, registrant_contact: { email: UNKNOWN, name: "\u0000" } },
      ["registrant_contact.name"],
    ],
    [
      "an attribute of a nested object",
      "hosting_webhook",
      output({ env_file: { path: UNKNOWN, name: "1 2" } }),
      ["secret_output.env_file.name"],
    ],
    [
      "a required attribute of a nested object",
      "hosting_webhook",
      output({ env_file: { path: UNKNOWN, name: null } }),
      ["secret_output.env_file.name"],
    ],
    [
      "a list beside an unknown one",
      "hosting_webhook",
      output({ file: UNKNOWN, command: [null] }),
      ["secret_output.command.0"],
    ],
    ["a duration", "hosting_webhook", { ...hook, timeouts: { create: UNKNOWN, delete: "soon" } }, ["timeouts.delete"]],
    ["nothing", "hosting_webhook", output({ file: UNKNOWN, command: ["cat"] }), []],
    ["nothing of a whole", "hosting_webhook", { ...hook, events: [UNKNOWN] }, []],
  ])("is checked: %s", async (_, type, given, at) => {
    const found = await validated("resource", type, given);
    expect(found.map((text) => /^error at (\S+):/.exec(text)?.[1])).toEqual(at);
  });
});

describe("attributes that depend on one another", () => {
  const passwordAlone = 'error at password: "password" requires "password_version"';
  it.each<[ValueObject, string[]]>([
    [{ password: "long enough" }, [passwordAlone]],
    [{ password: "long enough", password_version: UNKNOWN }, []],
    // The unknown value may become null.
    [{ password: UNKNOWN }, []],
    [{ password_version: 1 }, []],
  ])("%j is checked as far as it is known", async (given, expected) => {
    expect(await validated("resource", "hosting_service", { ...site, ...given })).toEqual(expected);
  });

  it.each<[ValueObject, string[]]>([
    [{}, ["error: `plan_id` or `name` is required"]],
    [{ plan_id: 1, name: "a" }, ["error at name: Only one of `plan_id` or `name` can be set"]],
    [{ plan_id: UNKNOWN, name: UNKNOWN }, []],
    [{ plan_id: 1, name: UNKNOWN }, []],
  ])("of which exactly one is given: %j", async (given, expected) => {
    expect(await validated("data", "hosting_plan", given)).toEqual(expected);
  });
});

it("a Terraform that would record a write-only attribute is refused it", async () => {
  const given = { ...site, password: "long enough", password_version: 1 };
  expect(await validated("resource", "hosting_service", given, false)).toEqual([
    "error at password: password needs Terraform 1.11 or later (OpenTofu 1.11)",
  ]);
});

describe("a value of a data source or an ephemeral resource", () => {
  it.each<[Block, string, ValueObject, string]>([
    ["data", "hosting_service", { id: "" }, 'error at id: id: expected a value, found ""'],
    ["data", "hosting_grants", { service_id: "" }, 'error at service_id: service_id: expected a value, found ""'],
    ["data", "hosting_plans", { currency: "GBP" }, 'error at currency: There is no currency "GBP"'],
    ["data", "hosting_services", { phase: "up" }, 'error at phase: There is no phase "up"'],
    ["data", "hosting_domain_availability", { domains: [null] }, "error at domains.0: null is not a domain name"],
    [
      "ephemeral",
      "hosting_panel_sso",
      { service_id: "" },
      'error at service_id: service_id: expected a value, found ""',
    ],
  ])("that can find nothing is refused before a request: %s %s %j", async (block, type, given, expected) => {
    expect(await validated(block, type, given)).toEqual([expected]);
  });
});

describe("a null", () => {
  it("is refused as an element of a list or a set, and left out of a nested object", async () => {
    expect(await validated("resource", "hosting_webhook", { ...hook, events: ["invoice.paid", null] })).toEqual([
      expect.stringContaining("error at events.1: events.1: expected one of"),
    ]);
    expect(await validated("resource", "hosting_webhook", output({ command: ["cat", null] }))).toEqual([
      "error at secret_output.command.1: secret_output.command.1: expected a string",
    ]);
    expect(await validated("resource", "hosting_webhook", output({ file: "a" }))).toEqual([]);
  });
});

describe("a function", () => {
  const call = async (args: readonly Value[]) => {
    const packed = args.map((argument) => ({ msgpack: encodeValue(argument, "string") }));
    const request = create(CallFunction_RequestSchema, { name: "webhook_signature", arguments: packed });
    const bytes = await called("CallFunction", toBinary(CallFunction_RequestSchema, request));
    return fromBinary(CallFunction_ResponseSchema, bytes).error;
  };

  it.each<[Value]>([[null], [UNKNOWN]])("refuses %s at the argument", async (value) => {
    expect(await call([value, "s"])).toMatchObject({ functionArgument: 0n, text: "the body must be a string" });
    expect(await call(["b", value])).toMatchObject({ functionArgument: 1n, text: "the secret must be a string" });
  });
});

describe("a recorded state", () => {
  it("of a newer version is refused", async () => {
    const rawState = { json: new TextEncoder().encode('{"id":"1"}') };
    const typeName = "hosting_service";
    const request = create(UpgradeResourceState_RequestSchema, { typeName, version: 99n, rawState });
    const bytes = await called("UpgradeResourceState", toBinary(UpgradeResourceState_RequestSchema, request));
    const { upgradedState, diagnostics } = fromBinary(UpgradeResourceState_ResponseSchema, bytes);
    expect(upgradedState).toBeUndefined();
    expect(reportedBy(diagnostics)).toEqual([
      "error: A newer provider wrote the state of this service (schema version 99)",
    ]);
  });

  it("of a newer version is not moved", async () => {
    const typeName = "hosting_service";
    const request = create(MoveResourceState_RequestSchema, {
      sourceProviderAddress: "registry.opentofu.org/hostform/hosting",
      sourceTypeName: typeName,
      sourceSchemaVersion: 99n,
      sourceState: { json: new TextEncoder().encode('{"id":"1"}') },
      targetTypeName: typeName,
    });
    const bytes = await called("MoveResourceState", toBinary(MoveResourceState_RequestSchema, request));
    const { targetState, diagnostics } = fromBinary(MoveResourceState_ResponseSchema, bytes);
    expect(targetState).toBeUndefined();
    expect(reportedBy(diagnostics)).toEqual([
      "error: A newer provider wrote the state of this service (schema version 99)",
    ]);
  });

  it.each([...catalogue.resources.keys()])(
    "of a %s with an attribute that the schema no longer has is read without it",
    async (typeName) => {
      const { attributes, version } = catalogue.resources.get(typeName) ?? { attributes: {}, version: 0 };
      const rawState = {
        json: new TextEncoder().encode(JSON.stringify({ id: "1", removed: { from: ["the schema"] } })),
      };
      const request = create(UpgradeResourceState_RequestSchema, { typeName, version: BigInt(version), rawState });
      const bytes = await called("UpgradeResourceState", toBinary(UpgradeResourceState_RequestSchema, request));
      const { upgradedState, diagnostics } = fromBinary(UpgradeResourceState_ResponseSchema, bytes);
      expect(diagnostics).toEqual([]);
      expect(decodeDynamic(upgradedState, attributes)).toEqual(complete(attributes, { id: "1" }));
    },
  );
});
