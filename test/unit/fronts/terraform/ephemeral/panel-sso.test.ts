import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/data.ts";
import { decodeDynamic, encodeDynamic } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { ephemeralResources } from "../../../../../src/fronts/terraform/data/index.ts";
import {
  OpenEphemeralResource_RequestSchema,
  OpenEphemeralResource_ResponseSchema,
  ValidateEphemeralResourceConfig_RequestSchema,
  ValidateEphemeralResourceConfig_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { type OpenAccount, openAccount, reportedBy } from "../account.ts";

const typeName = "hosting_panel_sso";
const attributes = ephemeralResources.find(({ name }) => name === typeName)?.schema.attributes ?? {};
const configured = (service_id: ValueObject[string]) => encodeDynamic({ service_id, url: null }, attributes);
const none = new Uint8Array();

async function open(account: OpenAccount, id: string) {
  const request = create(OpenEphemeralResource_RequestSchema, { typeName, config: configured(id) });
  const bytes = await calls.OpenEphemeralResource?.(
    toBinary(OpenEphemeralResource_RequestSchema, request),
    account.connection,
  );
  const { result, diagnostics } = fromBinary(OpenEphemeralResource_ResponseSchema, bytes ?? none);
  return { result: decodeDynamic(result, attributes), reported: reportedBy(diagnostics) };
}

describe("hosting_panel_sso", () => {
  it("opens a sign-on URL, another one each time, and keeps nothing", async () => {
    const account = await openAccount({ token: "customer" });
    const first = await open(account, "1001");
    expect(first).toEqual({
      result: { service_id: "1001", url: expect.stringMatching(/^https?:\/\/\S+$/) },
      reported: [],
    });
    expect((await open(account, "1001")).result?.url).not.toBe(first.result?.url);
    expect(account.sent()).toEqual(["GET /services/1001/panel-sso", "GET /services/1001/panel-sso"]);
  });

  it("asks again when the answer was lost: a URL that nobody got signs nobody on", async () => {
    const account = await openAccount({ token: "customer" });
    account.control.addFault({ path: "/services/:id/panel-sso", phase: "after", drop: true });
    expect((await open(account, "1001")).reported).toEqual([]);
    expect(account.sent()).toHaveLength(2);
  });

  it("is an error at the service when there is none", async () => {
    const account = await openAccount();
    expect(await open(account, "9")).toMatchObject({
      result: null,
      reported: ["error at service_id: There is no service 9 to sign on to"],
    });
  });

  it("says why a sign-on is refused", async () => {
    const account = await openAccount({ token: "viewer" });
    const [service] = account.control.seedServices();
    const { result, reported } = await open(account, String(service?.id));
    expect(result).toBeNull();
    expect(reported).toEqual([expect.stringContaining("403")]);
  });

  it("hands on web addresses only", async () => {
    const account = await openAccount({ token: "customer" });
    const body = { data: { url: "javascript:alert(1)" } };
    account.control.addFault({ path: "/services/:id/panel-sso", phase: "before", status: 200, body });
    expect((await open(account, "1001")).reported).toEqual([
      "error: The API's sign-on URL is not an http or https URL",
    ]);
  });

  it("needs a provider whose configuration is known", async () => {
    const account = await openAccount({ config: { token: UNKNOWN } });
    expect((await open(account, "1001")).reported).toEqual(["error: The provider's `token` is known only after apply"]);
  });

  it("is valid as soon as it fits its schema; there is nothing to renew or to close", async () => {
    const account = await openAccount();
    const validate = create(ValidateEphemeralResourceConfig_RequestSchema, { typeName, config: configured(UNKNOWN) });
    const { connection } = account;
    const validated = await calls.ValidateEphemeralResourceConfig?.(
      toBinary(ValidateEphemeralResourceConfig_RequestSchema, validate),
      connection,
    );
    expect(fromBinary(ValidateEphemeralResourceConfig_ResponseSchema, validated ?? none).diagnostics).toEqual([]);
    expect(await calls.RenewEphemeralResource?.(none, connection)).toEqual(none);
    expect(await calls.CloseEphemeralResource?.(none, connection)).toEqual(none);
    expect(account.sent()).toEqual([]);
  });

  it("never shows the URL as plain text", () => {
    expect(attributes.url).toMatchObject({ sensitive: true, computed: true });
  });
});
