import { describe, expect, it } from "vitest";
import { validate } from "../../../src/lifecycle/index.ts";
import { UNKNOWN, type ValueObject } from "../../../src/model/index.ts";
import { kindOf } from "../../support/subjects.ts";

const order: ValueObject = { plan_id: 11, currency: "USD" };
const contact = { first_name: "Ana" };
const domain: ValueObject = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: contact,
};

const said = (type: string, config: ValueObject) =>
  validate(kindOf(type), config, `${type}.acme`).diagnostics.map(({ code, attribute, summary }) => ({
    code,
    attribute: attribute?.join("."),
    summary,
  }));

describe("validate", () => {
  it.each([
    ["hosting_service", order],
    ["hosting_service", { ...order, plan_id: UNKNOWN, domain: UNKNOWN }],
    ["hosting_service", { ...order, term: 36, suspended: false, deletion_policy: "suspend", reference: "x" }],
    ["hosting_service", { ...order, domain: "müller.example" }],
    ["hosting_service", { ...order, domain: null }],
    ["hosting_grant", { service_id: 1001, email: "dev@acme.example", permission: "view" }],
    ["hosting_webhook", { url: "http://localhost:8080/hook", events: ["invoice.paid"] }],
    ["hosting_domain", { ...domain, years: 10 }],
  ])("of a good %s says nothing", (type, config) => {
    expect(said(type, config as ValueObject)).toEqual([]);
  });

  it.each([
    ["hosting_service", {}, ["config.missing_attribute plan_id", "config.missing_attribute currency"]],
    ["hosting_service", { ...order, plan_id: null }, ["config.missing_attribute plan_id"]],
    ["hosting_service", { ...order, plan_id: "11" }, ["config.invalid_value plan_id"]],
    ["hosting_service", { ...order, plan_id: 0 }, ["config.invalid_value plan_id"]],
    ["hosting_service", { ...order, currency: "usd" }, ["config.invalid_value currency"]],
    ["hosting_service", { ...order, term: 2 }, ["config.invalid_value term"]],
    ["hosting_service", { ...order, suspended: "yes" }, ["config.invalid_value suspended"]],
    ["hosting_service", { ...order, domain: "localhost" }, ["config.invalid_value domain"]],
    ["hosting_service", { ...order, domain: "-a.example" }, ["config.invalid_value domain"]],
    ["hosting_service", { ...order, domain: "https://a.example" }, ["config.invalid_value domain"]],
    ["hosting_service", { ...order, deletion_policy: "delete" }, ["config.invalid_value deletion_policy"]],
    ["hosting_service", { ...order, password: "short", password_version: 1 }, ["config.invalid_value password"]],
    ["hosting_service", { ...order, password: "long enough" }, ["config.missing_attribute password"]],
    [
      "hosting_webhook",
      { url: "ftp://a.example", events: [] },
      ["config.invalid_value url", "config.invalid_value events"],
    ],
    ["hosting_webhook", { url: "https://a.example", events: ["invoice.payed"] }, ["config.invalid_value events.0"]],
    [
      "hosting_grant",
      { service_id: "1", email: "nobody", permission: "own", expires_at: "soon" },
      ["config.invalid_value email", "config.invalid_value permission", "config.invalid_value expires_at"],
    ],
    [
      "hosting_client_account",
      { name: "", deletion_policy: "suspend" },
      ["config.invalid_value name", "config.invalid_value deletion_policy"],
    ],
    ["hosting_domain", { ...domain, years: 11 }, ["config.invalid_value years"]],
    ["hosting_domain", { ...domain, registrant_contact: "Ana" }, ["config.invalid_value registrant_contact"]],
  ])("of a %s with %j says %j", (type, config, expected) => {
    expect(said(type, config as ValueObject).map(({ code, attribute }) => `${code} ${attribute}`)).toEqual(expected);
  });

  it("says what was expected and what came", () => {
    const { diagnostics } = validate(
      kindOf("hosting_service"),
      { ...order, currency: "DOLLAR" },
      "hosting_service.acme",
    );
    expect(diagnostics).toEqual([
      {
        severity: "error",
        code: "config.invalid_value",
        summary: expect.stringMatching(/^currency: .*"GEL".*"USD".*"EUR"/),
        detail: 'The value is "DOLLAR".',
        address: "hosting_service.acme",
        attribute: ["currency"],
      },
    ]);
  });

  it.each<[string, ValueObject, string]>([
    ["hosting_service", { ...order, plan_id: 0 }, "plan_id: expected more than 0"],
    ["hosting_service", { ...order, plan_id: 1.5 }, "plan_id: expected a whole number"],
    ["hosting_service", { ...order, coupon_code: "" }, "coupon_code: expected a text that is not empty"],
    ["hosting_service", { ...order, reference: "x".repeat(201) }, "reference: expected at most 200 characters"],
    ["hosting_service", { ...order, suspended: "yes" }, "suspended: expected boolean, received string"],
    ["hosting_domain", { ...domain, years: 0 }, "years: expected at least 1"],
    ["hosting_domain", { ...domain, years: 11 }, "years: expected at most 10"],
    ["hosting_domain", { ...domain, registrant_contact: "Ana" }, "registrant_contact: expected map, received string"],
    ["hosting_webhook", { url: "https://a.example", events: [] }, "events: at least one event"],
  ])("of a %s with %j says it in words", (type, config, summary) => {
    expect(said(type, config).map((each) => each.summary)).toEqual([summary]);
  });

  it("does not show what Terraform fills in where nothing is given", () => {
    const output = { file: "a", env_file: null, command: ["b"] };
    const { diagnostics } = validate(kindOf("hosting_service"), { ...order, secret_output: output }, "a.b");
    expect(diagnostics.map(({ detail }) => detail)).toEqual(['The value is {"file":"a","command":["b"]}.']);
  });

  it("never repeats a secret", () => {
    const { diagnostics } = validate(
      kindOf("hosting_service"),
      { ...order, password: "s3cr3t", password_version: 1 },
      "a.b",
    );
    expect(diagnostics).toHaveLength(1);
    expect(JSON.stringify(diagnostics)).not.toContain("s3cr3t");
  });

  it("cuts long values", () => {
    const { diagnostics } = validate(kindOf("hosting_service"), { ...order, domain: "x".repeat(5000) }, "a.b");
    expect(diagnostics[0]?.detail?.length).toBeLessThan(120);
  });

  it("gives values in their normal form, unknown ones as they are, and leaves out null", () => {
    expect(
      validate(
        kindOf("hosting_migration_request"),
        { domain: UNKNOWN, order_id: 1001, questions: { size: 1, none: null } },
        "a.b",
      ).values,
    ).toEqual({ domain: UNKNOWN, order_id: "1001", questions: { size: "1" } });
    expect(validate(kindOf("hosting_service"), { ...order, domain: null }, "a.b").values).toEqual(order);
  });
});
