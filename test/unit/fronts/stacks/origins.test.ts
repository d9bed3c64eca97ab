import { describe, expect, it } from "vitest";
import { resolveConfig, scopeOf } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { hasOpenHost, type JsonObject, shownText, UNKNOWN } from "../../../../src/core/model/index.ts";
import fc, { runs } from "../../../support/fc.ts";
import { desiredOf, PROVIDER } from "./stacks.ts";

const VARIABLES = {
  token: { type: "string", sensitive: true, default: "t0p-of-the-hook" },
  user: { type: "string", sensitive: true, default: "view" },
  open: { type: "string", default: "hooks.acme.example" },
};

/** Returns the only resource of a stack whose attributes are expressions, and the diagnostics of these attributes. */
function declared(type: string, attributes: JsonObject) {
  const desired = desiredOf({ provider: PROVIDER, variable: VARIABLES, resource: { [type]: { one: attributes } } });
  const [resource] = desired.resources;
  const kind = kinds.get(type);
  if (resource === undefined || kind === undefined) throw new Error(`${type} is not declared`);
  const scope = scopeOf(() => UNKNOWN, {});
  return { resource, scope, diagnostics: resolveConfig(kind, resource, scope).diagnostics };
}

const url = (text: string) => declared("hosting_webhook", { url: text, events: ["invoice.paid"] });

describe("a sensitive value in a stack", () => {
  it.each([
    ["https://${var.open}/a?t=${var.token}", "https://hooks.acme.example/a?(sensitive: var.token)"],
    ["https://${var.open}/a/${upper(var.token)}?b", "https://hooks.acme.example/a/(sensitive: var.token)"],
    ['${format("https://%s/a?t=%s", var.open, var.token)}', undefined],
    ['https://${var.token == "" ? "a" : "b"}.example/', undefined],
    ["${var.user}${var.token}", undefined],
  ])("in %s shows only its public part", (text, expected) => {
    const { resource, scope, diagnostics } = url(text);
    const origin = resource.originOf?.("url", scope);
    if (expected === undefined)
      expect(diagnostics).toContainEqual(expect.objectContaining({ code: "config.sensitive" }));
    else expect([shownText(origin), diagnostics]).toEqual([expected, []]);
  });

  it.each([
    ["hosting_grant", { service_id: "1", email: "${var.user}@a.example", permission: "view" }, "email", "var.user"],
    [
      "hosting_grant",
      { service_id: "1", email: "a@a.example", permission: "${lower(var.user)}" },
      "permission",
      "var.user",
    ],
    [
      "hosting_service",
      { plan_id: "${length(var.token)}", currency: "USD", domain: "a.example" },
      "plan_id",
      "var.token",
    ],
    ["hosting_domain", { domain: "${var.user}.example", years: 1, currency: "USD" }, "domain", "var.user"],
  ])("is rejected in %s %o", (type, attributes, name, source) => {
    expect(declared(type, attributes).diagnostics).toContainEqual(
      expect.objectContaining({
        code: "config.sensitive",
        summary: `${name} of ${type}.one comes from a sensitive source: ${source}`,
      }),
    );
  });

  it("is allowed in a value that no user decides by, with all its sources", () => {
    const attributes = { plan_id: 11, currency: "USD", domain: "a.example", reference: "${var.user}-${var.token}" };
    const { resource, scope, diagnostics } = declared("hosting_service", attributes);
    expect(diagnostics).toEqual([]);
    expect(shownText(resource.originOf?.("reference", scope))).toBe("(sensitive: var.user, var.token)");
  });
});

it("the public part of a URL decides its host, whatever the sensitive rest is", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.nat(60), fc.string(), (whole, at, rest) => {
      const open = whole.slice(0, at);
      fc.pre(hasOpenHost({ from: ["env.X"], open }) && URL.canParse(open + rest));
      expect(new URL(open + rest).host).toBe(new URL(open).host);
    }),
    { numRuns: runs(100) },
  );
});
