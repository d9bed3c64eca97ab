import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";
import { desiredOf, linesOf, PROVIDER, SERVICE, scope } from "./stacks.ts";

const stack = (lifecycle: Json, more: Record<string, Json> = {}, block: Record<string, Json> = {}): Json => ({
  provider: PROVIDER,
  variable: { on: { type: "bool", default: false } },
  resource: {
    hosting_service: { acme: { ...SERVICE, lifecycle, ...block }, other: { ...SERVICE, domain: "other.example" } },
  },
  ...more,
});
const addresses = (document: Json) => desiredOf(document).resources.map(({ address }) => address);

describe("lifecycle.enabled", () => {
  it.each([
    [true, true],
    ["true", true],
    ["${!var.on}", true],
    [false, false],
    ["${var.on}", false],
    ["${length(local.sites) > 1}", false],
  ])("%j decides whether the resource is declared", (enabled, isOn) => {
    const document = stack({ enabled }, { locals: { sites: ["one"] } });
    expect(addresses(document)).toEqual([...(isOn ? ["hosting_service.acme"] : []), "hosting_service.other"]);
  });

  it("is null where it is false, and keeps the address where it is true", () => {
    const output = {
      id: { value: '${try(hosting_service.acme.id, "none")}' },
      none: { value: "${hosting_service.acme == null}" },
    };
    const disabled = desiredOf(stack({ enabled: false }, { output })).outputs;
    expect(disabled?.map((one) => one.evaluate(scope()).value)).toEqual(["none", true]);
    const kept = desiredOf(stack({ enabled: true }, { output: { id: output.id } })).outputs?.[0];
    expect(kept?.references.map(({ reference }) => "address" in reference && reference.address)).toEqual([
      "hosting_service.acme",
    ]);
  });

  it("an attribute of a disabled resource is an error", () => {
    const output = { id: { value: "${hosting_service.acme.id}" } };
    expect(linesOf(stack({ enabled: false }, { output })).join()).toMatch(/config\.expression/);
  });

  it.each<[Json, Record<string, Json>, RegExp]>([
    ["yes", {}, /`enabled` must be true or false/],
    ["${null}", {}, /`enabled` must be true or false/],
    ['${hosting_service.other.id == ""}', {}, /`enabled` depends on hosting_service\.other\.id/],
    ["${var.missing}", {}, /var\.missing|missing/],
    [true, { count: 1 }, /cannot be used together/],
    [true, { for_each: {} }, /cannot be used together/],
  ])("%j with %j is refused", (enabled, block, message) => {
    expect(linesOf(stack({ enabled }, {}, block)).join("\n")).toMatch(message);
  });
});

describe("lifecycle.destroy", () => {
  it.each([
    [false, ["hosting_service.acme"]],
    ["false", ["hosting_service.acme"]],
    [true, []],
  ])("%j", (destroy, kept) => {
    expect(desiredOf(stack({ destroy })).skipDestroy).toEqual(kept);
  });

  it("must be a literal", () => {
    expect(linesOf(stack({ destroy: "${var.on}" })).join()).toMatch(/config\.structure/);
  });
});
