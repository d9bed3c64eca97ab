import { describe, expect, it } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { type JsonObject, PENDING_CREATE, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import {
  decodeIdentity,
  encodeIdentity,
  identityIn,
  toProtoIdentity,
} from "../../../../../src/fronts/terraform/schema/identity.ts";

const origin = "https://panel.example";
const account = { origin } as Parameters<typeof identityIn>[2]["account"];
const kindOf = (type: string) => kinds.get(type) ?? expect.fail(type);

function identity(type: string, attributes: ValueObject) {
  const encoded = identityIn(kindOf(type), attributes, { account });
  return encoded && decodeIdentity(kindOf(type), encoded);
}

describe("the identity of a resource", () => {
  it("has an id, the parent of a grant, and the origin, which an import block may omit", () => {
    const names = [...catalogue.identities].map(([type, { attributes }]) => [type, Object.keys(attributes)]);
    const others = [...kinds.keys()].filter((type) => type !== "hosting_grant").map((type) => [type, ["id", "origin"]]);
    expect(Object.fromEntries(names)).toEqual({
      ...Object.fromEntries(others),
      hosting_grant: ["id", "service_id", "origin"],
    });
    const grant = catalogue.identities.get("hosting_grant") ?? expect.fail("no schema");
    const proto = toProtoIdentity(grant);
    const flags = proto.identityAttributes.map(({ name, type, requiredForImport, optionalForImport }) => [
      name,
      new TextDecoder().decode(type),
      requiredForImport,
      optionalForImport,
    ]);
    expect(proto.version).toBe(0n);
    expect(flags).toEqual([
      ["id", '"string"', true, false],
      ["service_id", '"string"', true, false],
      ["origin", '"string"', false, true],
    ]);
  });

  it("takes the ids of the object and the origin of the account", () => {
    expect(identity("hosting_service", { id: "1001", domain: "www.acme.example" })).toEqual({ id: "1001", origin });
    const grant = { id: "7", service_id: "1001", origin };
    expect(identity("hosting_grant", { ...grant, email: "dev@acme.example" })).toEqual(grant);
  });

  it.each<[string, ValueObject]>([
    ["hosting_service", { id: PENDING_CREATE }],
    ["hosting_service", { id: UNKNOWN }],
    ["hosting_service", { id: null }],
    ["hosting_grant", { id: "7", service_id: UNKNOWN }],
    ["hosting_grant", { id: "7", service_id: PENDING_CREATE }],
  ])("is undefined while an id is pending or unknown: %s %o", (type, attributes) => {
    expect(identity(type, attributes)).toBeUndefined();
  });

  it("is encoded with null for each missing value, and as null without an identity", () => {
    const kind = kindOf("hosting_grant");
    const sent = (given: JsonObject | null) => decodeIdentity(kind, encodeIdentity(kind, given));
    expect(sent({ id: "7" })).toEqual({ id: "7", service_id: null, origin: null });
    expect(sent(null)).toBeNull();
    expect(decodeIdentity(kind, undefined)).toBeNull();
  });
});
