import { describe, expect, it } from "vitest";
import { explain } from "../../../../src/core/lifecycle/index.ts";
import { ApiError, HostformError } from "../../../../src/core/model/index.ts";
import { fixOf } from "../../../support/remedies.ts";
import { kindOf } from "../../../support/subjects.ts";

const refused = (fieldErrors: Record<string, readonly string[]>) =>
  new ApiError({
    code: "api.validation",
    summary: "The API rejected the values (422)",
    endpoint: "POST /api/v1/x",
    reached: "answered",
    status: 422,
    fieldErrors,
    remedies: ["Correct the attributes named."],
  });

describe("explain", () => {
  it.each([
    ["an attribute", "hosting_service", {}, "plan_id", ["plan_id"]],
    ["a part of a map", "hosting_domain", {}, "registrant_contact.email", ["registrant_contact", "email"]],
    ["an item of a list", "hosting_webhook", {}, "events.1", ["events", 1]],
    [
      "a field out of a free map",
      "hosting_migration_request",
      { questions: { source: "x" } },
      "source",
      ["questions", "source"],
    ],
    ["a field that nobody declared", "hosting_migration_request", { questions: { source: "x" } }, "scope", undefined],
    ["a field of a map that is not free", "hosting_webhook", { secret_output: { file: "x" } }, "file", undefined],
  ])("names %s", (_, type, declared, field, attribute) => {
    const [diagnostic, ...more] = explain(
      kindOf(type),
      `${type}.a`,
      declared,
      refused({ [field]: ["is wrong.", "is bad."] }),
    );
    expect(more).toEqual([]);
    expect(diagnostic).toMatchObject({
      severity: "error",
      code: "api.validation",
      summary: `The API rejects ${field}: is wrong. is bad.`,
      detail: "POST /api/v1/x returned 422.",
      address: `${type}.a`,
    });
    if (attribute === undefined) expect(diagnostic).not.toHaveProperty("attribute");
    else expect(diagnostic?.attribute).toEqual(attribute);
    expect(fixOf(diagnostic)).toContain(attribute === undefined ? "Correct the attributes" : attribute.join("."));
  });

  it("offers to adopt a taken domain, which no request returns", () => {
    const declared = { domain: "Acme.example", years: 1 };
    const fixes = (field: string, type = "hosting_domain") =>
      explain(kindOf(type), `${type}.a`, declared, refused({ [field]: ["is taken."] })).map((one) => fixOf(one));
    expect(fixes("domain")).toEqual([
      "Correct domain. If an earlier run created this domain: `hostform import 'hosting_domain.a' acme.example`.",
    ]);
    expect(fixes("years")).toEqual(["Correct years."]);
    expect(fixes("domain", "hosting_service")).toEqual(["Correct domain."]);
  });

  it("keeps a rejection that names no field, with the address", () => {
    expect(explain(kindOf("hosting_service"), "hosting_service.a", {}, refused({}))).toEqual([
      { ...refused({}).diagnostics[0], address: "hosting_service.a" },
    ]);
  });

  it("keeps any other failure, with the address", () => {
    const failure = new HostformError([{ severity: "error", code: "api.server", summary: "s" }]);
    expect(explain(kindOf("hosting_service"), "hosting_service.a", {}, failure)).toEqual([
      { severity: "error", code: "api.server", summary: "s", address: "hosting_service.a" },
    ]);
  });
});
