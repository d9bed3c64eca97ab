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
import { newConnection, requireSession } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls, createProvider } from "../../../../../src/fronts/terraform/calls/index.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { encodeDynamic } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { type Peer, STATUS } from "../../../../../src/fronts/terraform/wire/grpc.ts";
import {
  ConfigureProvider_RequestSchema,
  ConfigureProvider_ResponseSchema,
  Diagnostic_Severity,
  GetMetadata_RequestSchema,
  GetMetadata_ResponseSchema,
  ReadResource_RequestSchema,
  ReadResource_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";

const TOKEN = "1|abcdefghijklmnopqrstuvwxyz0123456789ABCD";
const env = { HOSTFORM_LEDGER: "memory", HOSTING_TOKEN: TOKEN };
const log = () => {};

/** Makes one call in its wire format. */
async function call<I extends DescMessage, O extends DescMessage>(
  handle: (request: Uint8Array) => Promise<Uint8Array | undefined>,
  input: I,
  output: O,
  request: MessageInitShape<I>,
): Promise<MessageShape<O>> {
  return fromBinary(output, (await handle(toBinary(input, create(input, request)))) ?? new Uint8Array());
}

const provider = (values: Readonly<Record<string, string>> = env): Peer => createProvider({ env: values, log });

const configuration = (config: ValueObject) => encodeDynamic(config, catalogue.provider.attributes);

const configure = (one: Peer, config: ValueObject) =>
  call((r) => one.handle("ConfigureProvider", r), ConfigureProvider_RequestSchema, ConfigureProvider_ResponseSchema, {
    terraformVersion: "1.11.4",
    config: configuration(config),
  });

describe("what there is", () => {
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
    expect(metadata.actions.map(({ typeName }) => typeName)).toEqual([...catalogue.actions.keys()]);
    expect(metadata.functions.map(({ name }) => name)).toEqual([...catalogue.functions.keys()]);
    expect(metadata.serverCapabilities).toMatchObject({
      planDestroy: true,
      getProviderSchemaOptional: true,
    });
  });
});

describe("ConfigureProvider", () => {
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
    for (const method of ["ReadStateBytes", "GetStates", "constructor", ""]) {
      await expect(provider().handle(method, new Uint8Array())).rejects.toMatchObject({ status: STATUS.unimplemented });
    }
  });
});
