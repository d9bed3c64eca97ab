import { describe, expect, it } from "vitest";
import { type Address, formatAddress, isName, parseAddress } from "../../../../src/core/model/index.ts";
import fc, { character } from "../../../support/fc.ts";

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,20}$/);
const address: fc.Arbitrary<Address> = fc.record(
  {
    type: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
    name,
    key: fc.oneof(fc.string(), fc.string({ unit: character }), fc.nat()),
  },
  { requiredKeys: ["type", "name"], noNullPrototype: true },
);

describe("addresses", () => {
  it("are unchanged after they are written and read", () => {
    fc.assert(
      fc.property(address, (one) => {
        expect(parseAddress(formatAddress(one))).toEqual(one);
      }),
    );
  });

  it.each([
    ["", "nothing"],
    ["hosting_service", "no name"],
    ["hosting_service.", "an empty name"],
    ["hosting_service.1st", "a name that begins with a digit"],
    ["Hosting.acme", "a type in capitals"],
    ["hosting_grant.acme[dev@acme.example]", "a key without quotes"],
    ['hosting_grant.acme["dev@acme.example"', "no closing bracket"],
    ['hosting_grant.acme["a"]["b"]', "two keys"],
    ["hosting_grant.acme[-1]", "a negative index"],
    ['hosting_grant.acme["\\x"]', "an escape that JSON does not have"],
    ["hosting_service.acme.id", "an attribute"],
  ])("reject %j: %s", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it.each([
    ["acme", true],
    ["acme-www_2", true],
    ["_acme", true],
    ["2acme", false],
    ["-acme", false],
    ["acme.www", false],
    ["", false],
    ["äcme", false],
  ])("accept the name %j: %j, as Terraform does", (text, expected) => {
    expect(isName(text)).toBe(expected);
  });
});
