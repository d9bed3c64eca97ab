import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { ValueObject } from "../../../../../src/core/model/index.ts";
import { UNKNOWN } from "../../../../../src/core/model/index.ts";
import { newConnection, requireSession } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls, createProvider } from "../../../../../src/fronts/terraform/calls/index.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { encodeDynamic } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import type { ProviderSession } from "../../../../../src/fronts/terraform/index.ts";
import { type Peer, STATUS } from "../../../../../src/fronts/terraform/wire/grpc.ts";
import {
  ConfigureProvider_RequestSchema,
  ConfigureProvider_ResponseSchema,
  Diagnostic_Severity,
  GetFunctions_RequestSchema,
  GetFunctions_ResponseSchema,
  GetMetadata_RequestSchema,
  GetMetadata_ResponseSchema,
  GetProviderSchema_RequestSchema,
  GetProviderSchema_ResponseSchema,
  ReadResource_RequestSchema,
  ReadResource_ResponseSchema,
  ValidateProviderConfig_RequestSchema,
  ValidateProviderConfig_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";

const TOKEN = "1|abcdefghijklmnopqrstuvwxyz0123456789ABCD";
const env = { HOSTFORM_LEDGER: "memory", HOSTING_TOKEN: TOKEN };
const log = () => {};

/** Makes one call as it goes over the wire. */
async function call<I extends DescMessage, O extends DescMessage>(
  handle: (request: Uint8Array) => Promise<Uint8Array>,
  input: I,
  output: O,
  request: MessageInitShape<I>,
): Promise<MessageShape<O>> {
  return fromBinary(output, await handle(toBinary(input, create(input, request))));
}

const provider = (values: Readonly<Record<string, string>> = env): Peer => createProvider({ env: values, log });

const configuration = (config: ValueObject) => encodeDynamic(config, catalogue.provider.attributes);

const configure = (one: Peer, config: ValueObject) =>
  call((r) => one.handle("ConfigureProvider", r), ConfigureProvider_RequestSchema, ConfigureProvider_ResponseSchema, {
    terraformVersion: "1.11.4",
    config: configuration(config),
  });

describe("what there is", () => {
  it("is described by schemas, one for each type and function", async () => {
    const schema = await call(
      (r) => provider().handle("GetProviderSchema", r),
      GetProviderSchema_RequestSchema,
      GetProviderSchema_ResponseSchema,
      {},
    );
    expect(Object.keys(schema.resourceSchemas).sort()).toEqual([...catalogue.resources.keys()].sort());
    expect(Object.keys(schema.dataSourceSchemas).sort()).toEqual([...catalogue.dataSources.keys()].sort());
    expect(Object.keys(schema.ephemeralResourceSchemas)).toEqual([...catalogue.ephemeral.keys()]);
    expect(schema.provider?.block?.attributes.map(({ name }) => name)).toEqual(
      Object.keys(catalogue.provider.attributes),
    );
    const password = schema.resourceSchemas.hosting_service?.block?.attributes.find(({ name }) => name === "password");
    expect(password).toMatchObject({ writeOnly: true, optional: true, sensitive: true });
  });

  it("has functions with typed parameters", async () => {
    const { functions } = await call(
      (r) => provider().handle("GetFunctions", r),
      GetFunctions_RequestSchema,
      GetFunctions_ResponseSchema,
      {},
    );
    const signature = functions.webhook_signature;
    expect(signature?.parameters.map(({ name, type }) => [name, Buffer.from(type).toString()])).toEqual([
      ["body", '"string"'],
      ["secret", '"string"'],
    ]);
    expect(Buffer.from(signature?.return?.type ?? []).toString()).toBe('"string"');
    expect(signature?.summary).toMatch(/\w/);
  });

  it("is listed by GetMetadata as by the schemas, with the same capabilities", async () => {
    const metadata = await call(
      (r) => provider().handle("GetMetadata", r),
      GetMetadata_RequestSchema,
      GetMetadata_ResponseSchema,
      {},
    );
    expect(metadata.resources.map(({ typeName }) => typeName)).toEqual([...catalogue.resources.keys()]);
    expect(metadata.dataSources.map(({ typeName }) => typeName)).toEqual([...catalogue.dataSources.keys()]);
    expect(metadata.ephemeralResources.map(({ typeName }) => typeName)).toEqual([...catalogue.ephemeral.keys()]);
    expect(metadata.functions.map(({ name }) => name)).toEqual([...catalogue.functions.keys()]);
    expect(metadata.serverCapabilities).toMatchObject({
      planDestroy: true,
      getProviderSchemaOptional: true,
    });
  });
});

describe("ValidateProviderConfig", () => {
  const validate = (config: ValueObject) =>
    call(
      (r) => provider().handle("ValidateProviderConfig", r),
      ValidateProviderConfig_RequestSchema,
      ValidateProviderConfig_ResponseSchema,
      { config: configuration(config) },
    );

  it("finds nothing wrong with an empty or an unknown configuration", async () => {
    expect((await validate({})).diagnostics).toEqual([]);
    expect((await validate({ base_url: UNKNOWN, token: UNKNOWN })).diagnostics).toEqual([]);
  });

  it("says at which attribute something is wrong", async () => {
    const { diagnostics } = await validate({ requests_per_minute: 6_001 });
    expect(diagnostics).toMatchObject([
      {
        severity: Diagnostic_Severity.ERROR,
        attribute: { steps: [{ selector: { case: "attributeName", value: "requests_per_minute" } }] },
      },
    ]);
  });
});

describe("ConfigureProvider", () => {
  it("opens an account for the calls that follow", async () => {
    const connection = newConnection({ env, log });
    const { ConfigureProvider } = calls;
    const { diagnostics } = await call(
      async (r) => (await ConfigureProvider?.(r, connection)) ?? r,
      ConfigureProvider_RequestSchema,
      ConfigureProvider_ResponseSchema,
      { terraformVersion: "1.11.4", config: configuration({ base_url: "https://api.example", project: "acme" }) },
    );
    expect(diagnostics).toEqual([]);
    expect(requireSession(connection).project).toBe("acme");
    await connection.session?.close();
  });

  it("says what is missing, where it belongs, and leaves the connection as it was not configured", async () => {
    const { HOSTING_TOKEN: _, ...without } = env;
    const connection = newConnection({ env: without, log });
    const { diagnostics } = await call(
      async (r) => (await calls.ConfigureProvider?.(r, connection)) ?? r,
      ConfigureProvider_RequestSchema,
      ConfigureProvider_ResponseSchema,
      { config: configuration({ base_url: "https://api.example" }) },
    );
    expect(diagnostics).toMatchObject([
      {
        severity: Diagnostic_Severity.ERROR,
        attribute: { steps: [{ selector: { case: "attributeName", value: "token" } }] },
      },
    ]);
    expect(() => requireSession(connection)).toThrow("The provider is not configured");
  });

  it("closes the account that was open before", async () => {
    const closed: string[] = [];
    const connection = newConnection({ env, log });
    connection.session = { close: async () => void closed.push("the first") } as unknown as ProviderSession;
    await call(
      async (r) => (await calls.ConfigureProvider?.(r, connection)) ?? r,
      ConfigureProvider_RequestSchema,
      ConfigureProvider_ResponseSchema,
      { config: configuration({ base_url: "https://api.example" }) },
    );
    expect(closed).toEqual(["the first"]);
    expect(connection.session).toBeDefined();
    await connection.session.close();
  });

  it("keeps the token out of its answer", async () => {
    const answer = await configure(provider(), { base_url: `https://${TOKEN}@api.example`, token_env: TOKEN });
    expect(answer.diagnostics.length).toBeGreaterThan(0);
    expect(JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
      TOKEN,
    );
  });
});

describe("a connection", () => {
  it("with a policy that lost its name is refused", async () => {
    const answer = await configure(provider({ ...env, HOSTFORM_POLICY: "" }), { base_url: "http://127.0.0.1:1" });
    expect(answer.diagnostics).toMatchObject([
      { severity: Diagnostic_Severity.ERROR, summary: "HOSTFORM_POLICY is set, but empty" },
    ]);
  });

  it("that is not configured answers what needs the account with a diagnostic, not with a failed call", async () => {
    const type = [...catalogue.resources.keys()][0] ?? "";
    const { attributes } = catalogue.resources.get(type) ?? { attributes: {} };
    const { diagnostics, newState } = await call(
      (r) => provider().handle("ReadResource", r),
      ReadResource_RequestSchema,
      ReadResource_ResponseSchema,
      { typeName: type, currentState: encodeDynamic({ id: "7" }, attributes) },
    );
    expect(diagnostics.map(({ summary }) => summary)).toEqual(["The provider is not configured"]);
    expect(newState, "what is recorded stays").toEqual(encodeDynamic({ id: "7" }, attributes));
  });

  it("refuses a method that it does not have", async () => {
    for (const method of ["MoveResourceState", "GetResourceIdentitySchemas", "constructor", ""]) {
      await expect(provider().handle(method, new Uint8Array())).rejects.toMatchObject({ status: STATUS.unimplemented });
    }
  });

  it("is stopped by StopProvider and by its own end; each has its own", async () => {
    const [stopped, other] = [newConnection({ env, log }), newConnection({ env, log })];
    await calls.StopProvider?.(new Uint8Array(), stopped);
    expect([stopped.stop.signal.aborted, other.stop.signal.aborted]).toEqual([true, false]);
  });

  it("can be closed, configured or not", async () => {
    const [bare, open] = [provider(), provider()];
    await configure(open, { base_url: "https://api.example" });
    for (const one of [bare, open]) {
      one.stop();
      await expect(one.close()).resolves.toBeUndefined();
    }
  });
});
