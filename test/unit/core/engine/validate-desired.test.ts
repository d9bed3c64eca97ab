import { describe, expect, it } from "vitest";
import { validateDesired } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { DesiredResource, JsonObject } from "../../../../src/core/model/index.ts";
import { declared, desiredOf } from "../../../support/subjects.ts";

const said = (...resources: readonly DesiredResource[]) =>
  validateDesired(desiredOf(...resources), kinds, { DOMAIN: "www.acme.example" }).map(({ code, address, attribute }) =>
    [code, address, ...(attribute ?? [])].join(" "),
  );

const service = (name: string, more: JsonObject = {}, provider = "default") =>
  declared(
    `hosting_service.${name}`,
    { plan_id: 11, currency: "USD", domain: `${name}.acme.example`, ...more },
    { provider },
  );
const grant = (name: string, email: string, service_id: string) =>
  declared(`hosting_grant.${name}`, { service_id, email, permission: "view" });
const hook = (name: string, events: readonly string[]) =>
  declared(`hosting_webhook.${name}`, { url: "https://a.example", events: [...events] });

describe("a declaration", () => {
  it.each([
    ["of two services", [service("a"), service("b")], []],
    [
      "of the same domain twice would order it twice",
      [service("a"), service("b", { domain: "A.acme.example" })],
      ["config.duplicate hosting_service.b"],
    ],
    [
      "of the same domain in two accounts is none of our business",
      [service("a"), service("b", { domain: "a.acme.example" }, "beta")],
      [],
    ],
    [
      "of the same domain once from the environment",
      [service("a", { domain: "${env.DOMAIN}" }), service("b", { domain: "www.acme.example" })],
      ["config.duplicate hosting_service.b"],
    ],
    ["of two services without a domain", [service("a", { domain: null }), service("b", { domain: null })], []],
    [
      "of the same reference twice would be one order",
      [service("a", { reference: "x" }), service("b", { reference: "x" })],
      ["config.duplicate hosting_service.b reference"],
    ],
    [
      "of the same reference in two accounts is two orders: a key is the account's",
      [service("a", { reference: "x" }), service("b", { reference: "x" }, "beta")],
      [],
    ],
    [
      "of the same domain and the same reference is one mistake",
      [service("a", { domain: "x.example", reference: "x" }), service("b", { domain: "x.example", reference: "x" })],
      ["config.duplicate hosting_service.b"],
    ],
    [
      "of a reference that is another's address",
      [service("a"), service("b", { reference: "hosting_service.a" })],
      ["config.duplicate hosting_service.b reference"],
    ],
    [
      "of one person on two services",
      [grant("a", "x@a.example", "${hosting_service.a.id}"), grant("b", "x@a.example", "${hosting_service.b.id}")],
      [],
    ],
    [
      "of one person twice on a service",
      [grant("a", "x@a.example", "${hosting_service.a.id}"), grant("b", "X@A.example", "${hosting_service.a.id}")],
      ["config.duplicate hosting_grant.b"],
    ],
    ["of two subscriptions of one URL", [hook("a", ["invoice.paid"]), hook("b", ["invoice.created"])], []],
    [
      "of the same subscription twice",
      [hook("a", ["invoice.paid", "invoice.created"]), hook("b", ["invoice.created", "invoice.paid"])],
      ["config.duplicate hosting_webhook.b"],
    ],
    [
      "with everything that is wrong, each at its place",
      [service("a", { plan_id: "x", currency: "DOLLAR" }), hook("a", [])],
      [
        "config.invalid_value hosting_service.a plan_id",
        "config.invalid_value hosting_service.a currency",
        "config.invalid_value hosting_webhook.a events",
      ],
    ],
    [
      "with an environment value that is not set",
      [service("a", { domain: "${env.NOWHERE}" })],
      ["config.expression hosting_service.a domain"],
    ],
    ["of a kind that does not exist is not its business", [declared("hosting_thing.a", {})], []],
  ])("%s", (_, resources, expected) => {
    expect(said(...resources)).toEqual(expected);
  });

  it("names the position of its duplicate", () => {
    const range = { file: "hosting.yaml", line: 3, column: 5, endLine: 3, endColumn: 6 };
    const first = { ...service("a"), locate: () => range };
    const second = { ...service("b", { domain: "a.acme.example" }), locate: () => ({ ...range, line: 9 }) };
    const [diagnostic] = validateDesired(desiredOf(first, second), kinds, {});
    expect(diagnostic).toMatchObject({ range: { line: 9 } });
    expect(diagnostic?.remedies?.join()).toContain("hosting.yaml:3:5");
  });
});
