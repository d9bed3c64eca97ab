import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import type { JsonObject } from "../../../../../src/core/model/index.ts";
import { newConnection } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/index.ts";
import { decodeIdentity } from "../../../../../src/fronts/terraform/schema/identity.ts";
import {
  Diagnostic_Severity,
  GetResourceIdentitySchemas_ResponseSchema,
  UpgradeResourceIdentity_RequestSchema,
  UpgradeResourceIdentity_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";

describe("the calls about identities", () => {
  const connection = newConnection({ env: {}, log: () => {} });
  const grant = kinds.get("hosting_grant") ?? expect.fail("no grants");

  async function upgraded(version: bigint, json: string) {
    const request = create(UpgradeResourceIdentity_RequestSchema, {
      typeName: grant.type,
      version,
      rawIdentity: { json: new TextEncoder().encode(json) },
    });
    const bytes = await calls.UpgradeResourceIdentity?.(
      toBinary(UpgradeResourceIdentity_RequestSchema, request),
      connection,
    );
    const { upgradedIdentity, diagnostics } = fromBinary(
      UpgradeResourceIdentity_ResponseSchema,
      bytes ?? new Uint8Array(),
    );
    return { identity: upgradedIdentity && decodeIdentity(grant, upgradedIdentity), diagnostics };
  }

  it("return the schema of each kind, before the provider is configured", async () => {
    const bytes = await calls.GetResourceIdentitySchemas?.(new Uint8Array(), connection);
    const { identitySchemas } = fromBinary(GetResourceIdentitySchemas_ResponseSchema, bytes ?? new Uint8Array());
    expect(Object.keys(identitySchemas).sort()).toEqual([...kinds.keys()].sort());
  });

  it.each<[string, string, JsonObject | null]>([
    [
      "a complete identity",
      '{"id":"7","service_id":"1001","origin":"https://a.example"}',
      { id: "7", service_id: "1001", origin: "https://a.example" },
    ],
    ["missing values, as null", '{"id":7}', { id: "7", service_id: null, origin: null }],
    [
      "without unknown values",
      '{"id":"7","service_id":"1001","region":"eu"}',
      { id: "7", service_id: "1001", origin: null },
    ],
    ["a missing identity", "", null],
    ["null", "null", null],
  ])("upgrade %s", async (_, json, expected) => {
    expect(await upgraded(0n, json)).toEqual({ identity: expected, diagnostics: [] });
  });

  it.each([
    ["of a newer provider", 1n, "{}"],
    ["that is not JSON", 0n, "{"],
  ])("refuse an identity %s", async (_, version, json) => {
    const { identity, diagnostics } = await upgraded(version, json);
    expect(identity).toBeUndefined();
    expect(diagnostics.map(({ severity }) => severity)).toEqual([Diagnostic_Severity.ERROR]);
  });
});
