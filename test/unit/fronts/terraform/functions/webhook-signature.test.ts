import { createHmac } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { newConnection } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/data.ts";
import { decodeValue, encodeValue } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { webhookSignature } from "../../../../../src/fronts/terraform/data/index.ts";
import { FunctionError } from "../../../../../src/fronts/terraform/index.ts";
import {
  CallFunction_RequestSchema,
  CallFunction_ResponseSchema,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { fc } from "../../../../support/fc.ts";

/** Calls a function as Terraform does: without a configured provider. */
async function called(name: string, args: readonly string[]) {
  const request = create(CallFunction_RequestSchema, {
    name,
    arguments: args.map((argument) => ({ msgpack: encodeValue(argument, "string") })),
  });
  const bytes = await calls.CallFunction?.(
    toBinary(CallFunction_RequestSchema, request),
    newConnection({ env: {}, log: () => {} }),
  );
  const { result, error } = fromBinary(CallFunction_ResponseSchema, bytes ?? new Uint8Array());
  return { result: result && decodeValue(result.msgpack, "string"), error };
}

describe("provider::hosting::webhook_signature", () => {
  it("is what a delivery is signed with", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, fc.string({ minLength: 1 }), async (body, secret) => {
        const { result, error } = await called("webhook_signature", [body, secret]);
        expect(error).toBeUndefined();
        expect(result).toBe(createHmac("sha256", secret).update(body, "utf8").digest("hex"));
      }),
    );
  });

  it("refuses an empty secret, at the argument", async () => {
    const { result, error } = await called("webhook_signature", ["{}", ""]);
    expect(result).toBeUndefined();
    expect(error).toMatchObject({ functionArgument: 1n, text: expect.stringContaining("the secret is empty") });
  });

  it("takes strings only", () => {
    expect(() => webhookSignature.call([null, "s"])).toThrow(FunctionError);
    expect(() => webhookSignature.call(["b", 1])).toThrow("the secret must be a string");
  });

  it.each([
    ["webhook_signature", ["{}"], "webhook_signature takes 2 arguments, not 1"],
    ["webhook_sign", [], "This provider has no function webhook_sign"],
  ])("%s with %j is an error of words", async (name, args, text) => {
    expect((await called(name, args)).error?.text).toBe(text);
  });
});
