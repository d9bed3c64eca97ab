import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/core/kinds/index.ts";
import type { JsonObject } from "../../../src/core/model/index.ts";
import { planJson } from "../../../src/report/index.ts";
import fc from "../../support/fc.ts";
import { change, cost, diagnostic, drift, liveService, order, plain, plan, reason, update } from "./builders.ts";

const dev = 'hosting_grant.acme["dev@acme.example"]';
const only = (...args: Parameters<typeof plan>) => planJson(plan(...args), plain).resource_changes[0];

// Fields that Terraform documents for its plan format 1.2. Readers may rely on these fields only.
const DOCUMENTED = new Set([
  "format_version",
  "terraform_version",
  "variables",
  "planned_values",
  "configuration",
  "checks",
  "resource_drift",
  "resource_changes",
  "prior_state",
  "timestamp",
  "applyable",
  "complete",
  "errored",
]);
const DOCUMENTED_CHANGE = new Set([
  "actions",
  "before",
  "after",
  "after_unknown",
  "before_sensitive",
  "after_sensitive",
  "importing",
  "replace_paths",
]);
const DOCUMENTED_RESOURCE_CHANGE = new Set([
  "address",
  "mode",
  "type",
  "name",
  "index",
  "provider_name",
  "change",
  "action_reason",
]);
const SECRETS = ["hunter2", "whsec_old", "whsec_new", "generated!"];

const everything = plan(
  [
    change({ before: liveService, after: liveService }),
    order({ address: "hosting_service.new", provider: "beta", deferred: ["suspended"] }),
    update(
      { generated_password: null, password_version: 2 },
      {
        address: "hosting_service.pw",
        before: { ...liveService, generated_password: "generated!" },
        config: { password: "hunter2", password_version: 2 },
        after_unknown: { generated_password: true },
      },
    ),
    change({
      address: dev,
      actions: ["delete", "create"],
      before: { id: "7", permission: "view" },
      after: { id: null, permission: "manage" },
      after_unknown: { id: true },
      reasons: [reason("declared", "permission differs", "permission")],
    }),
    change({
      address: "hosting_webhook.gone",
      actions: ["delete"],
      before: { id: "31", url: "https://a.example", secret: "whsec_old" },
      sensitive: ["secret"],
      removal: "delete",
      reasons: [reason("removed", "its block was removed")],
    }),
    change({ address: "hosting_webhook.found", before: { id: "40" }, after: { id: "40" }, importing: { id: "40" } }),
    change({ address: "hosting_service.left", actions: ["forget"], before: liveService, removal: "forget" }),
  ],
  {
    drift: [
      drift({ suspended: true }),
      drift(null, { address: "hosting_webhook.gone", before: { id: "31", secret: "whsec_new" } }),
    ],
    diagnostics: [diagnostic({ severity: "warning" })],
    cost: [cost()],
    requests: { read: 4, apply: 9, seconds: 12 },
  },
);

describe("planJson", () => {
  it("has the fields that Terraform documents, and one more for our own", () => {
    const json = planJson(everything, plain);
    expect(Object.keys(json).filter((name) => !DOCUMENTED.has(name))).toEqual(["hostform"]);
    for (const each of [...json.resource_changes, ...(json.resource_drift ?? [])]) {
      expect(Object.keys(each).filter((name) => !DOCUMENTED_RESOURCE_CHANGE.has(name))).toEqual([]);
      expect(Object.keys(each.change).filter((name) => !DOCUMENTED_CHANGE.has(name))).toEqual([]);
    }
    expect(json).toMatchObject({
      format_version: "1.2",
      timestamp: "2026-11-21T10:00:00Z",
      applyable: true,
      complete: false,
      errored: false,
      prior_state: { format_version: "1.0" },
    });
  });

  it("holds no secret, neither recorded nor declared nor drifted", () => {
    const text = JSON.stringify(planJson(everything, plain));
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  it("marks what it does not show", () => {
    const [, , password, , webhook] = planJson(everything, plain).resource_changes;
    expect(password?.change.before).toMatchObject({ generated_password: null });
    expect(password?.change.before_sensitive).toEqual({ password: true, generated_password: true });
    expect(webhook?.change).toMatchObject({
      before_sensitive: { secret: true },
      after: null,
      after_sensitive: false,
      after_unknown: false,
    });
  });

  it("names instances as Terraform does", () => {
    expect(planJson(everything, plain).resource_changes[3]).toMatchObject({
      address: dev,
      mode: "managed",
      type: "hosting_grant",
      name: "acme",
      index: "dev@acme.example",
      provider_name: "registry.terraform.io/hostform/hosting",
      action_reason: "replace_because_cannot_update",
      change: { actions: ["delete", "create"], replace_paths: [["permission"]] },
    });
    expect(planJson(everything, plain).resource_changes[0]).not.toHaveProperty("index");
  });

  it("leaves unknown attributes out of after and puts them into after_unknown", () => {
    const nested: JsonObject = {
      id: null,
      contact: { email: null, name: "Ana" },
      hosts: [{ ip: null, port: 1 }, null],
    };
    const made = only([
      change({
        actions: ["create"],
        after: nested,
        after_unknown: { id: true, contact: { email: true }, hosts: [{ ip: true }, true] },
      }),
    ]);
    expect(made?.change.after).toEqual({ contact: { name: "Ana" }, hosts: [{ port: 1 }, null] });
    expect(made?.change.after_unknown).toEqual({ id: true, contact: { email: true }, hosts: [{ ip: true }, true] });
    expect(made?.change.before_sensitive).toBe(false);
  });

  it("says why something is deleted, and that it is imported", () => {
    const changes = planJson(everything, plain).resource_changes;
    expect(changes[4]?.action_reason).toBe("delete_because_no_resource_config");
    expect(changes[5]?.change).toMatchObject({ actions: ["no-op"], importing: { id: "40" } });
    expect(changes[6]?.change.actions).toEqual(["forget"]);
  });

  it("has the schema version of every kind", () => {
    expect(new Set([...kinds.values()].map(({ schemaVersion }) => schemaVersion))).toEqual(new Set([0]));
  });

  it("separates what is from what will be", () => {
    const json = planJson(everything, plain);
    const addresses = (side: typeof json.planned_values) =>
      side.root_module.resources?.map((resource) => resource.address);
    expect(addresses(json.prior_state.values)).not.toContain("hosting_service.new");
    expect(addresses(json.planned_values)).toContain("hosting_service.new");
    expect(addresses(json.planned_values)).not.toContain("hosting_webhook.gone");
    expect(json.planned_values.root_module.resources?.[0]).toMatchObject({
      schema_version: 0,
      values: { domain: "www.acme.example" },
    });
    expect(planJson(plan(), plain).planned_values).toEqual({ root_module: {} });
  });

  it("shows drift in Terraform's form", () => {
    expect(planJson(everything, plain).resource_drift).toMatchObject([
      { address: "hosting_service.acme", change: { actions: ["update"], after: { suspended: true } } },
      { address: "hosting_webhook.gone", change: { actions: ["delete"], before: { secret: null }, after: null } },
    ]);
    expect(planJson(plan(), plain)).not.toHaveProperty("resource_drift");
  });

  it("cannot be applied with errors, nor without changes", () => {
    expect(planJson(plan([order()], { diagnostics: [diagnostic()] }), plain)).toMatchObject({
      errored: true,
      applyable: false,
      complete: false,
    });
    expect(planJson(plan([change()]), plain)).toMatchObject({
      errored: false,
      applyable: false,
      complete: true,
    });
  });

  it("keeps what Terraform has no place for under hostform", () => {
    expect(planJson(everything, { ...plain, moneyScale: () => 2 }).hostform).toMatchObject({
      project: "acme",
      cost: [{ currency: "USD", orders: 1 }],
      billed_now: "18.00 USD",
      requests: { read: 4, apply: 9 },
      diagnostics: [{ severity: "warning", code: "config.invalid_value" }],
      resources: { "hosting_service.new": { provider: "beta", deferred: ["suspended"], quote: { list: 2000 } } },
    });
  });

  it("never lets a sensitive value through, whatever it is", () => {
    const values = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("plain", "SECRET"));
    fc.assert(
      fc.property(values, values, fc.boolean(), (before, after, drifted) => {
        const sensitive = [
          ...new Set(
            [...Object.entries(before), ...Object.entries(after)].flatMap(([name, value]) =>
              value === "SECRET" ? [name] : [],
            ),
          ),
        ];
        const config = { a: sensitive.includes("a") ? "SECRET" : "plain" };
        const changes = [change({ actions: ["update"], before, after, sensitive, config })];
        const json = planJson(
          plan(
            changes,
            drifted ? { drift: [drift({}, { before }), drift(null, { address: "a.unknown", before })] } : {},
          ),
          plain,
        );
        expect(JSON.stringify(json)).not.toContain("SECRET");
      }),
    );
  });
});
