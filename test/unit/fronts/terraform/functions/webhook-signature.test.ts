import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { webhookSignature } from "../../../../../src/fronts/terraform/data/index.ts";
import { FunctionError } from "../../../../../src/fronts/terraform/index.ts";
import { fc } from "../../../../support/fc.ts";
import { called } from "./called.ts";

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
