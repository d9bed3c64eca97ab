import { describe, expect, it } from "vitest";
import type { ApplyEvent } from "../../../src/core/model/index.ts";
import {
  diagnosticMessage,
  eventMessage,
  outputsMessage,
  planMessages,
  resultMessages,
  versionMessage,
} from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, cost, diagnostic, drift, invoice, order, outcome, plan, reason, result, update } from "./builders.ts";

const now = Date.parse("2026-11-21T10:00:00.123Z");
const dev = 'hosting_grant.acme["dev@acme.example"]';
const resource = {
  addr: dev,
  module: "",
  resource: dev,
  implied_provider: "hosting",
  resource_type: "hosting_grant",
  resource_name: "acme",
  resource_key: "dev@acme.example",
};

describe("messages of Terraform's machine-readable UI", () => {
  it("begin with the version, in the envelope of Terraform's logger", () => {
    expect(versionMessage("0.1.0", now)).toEqual({
      "@level": "info",
      "@message": "hostform 0.1.0",
      "@module": "hostform.ui",
      "@timestamp": "2026-11-21T10:00:00.123000Z",
      type: "version",
      hostform: "0.1.0",
      ui: "1.2",
    });
  });

  it("contain a plan: drift, changes in Terraform's words, diagnostics, the summary", () => {
    const messages = planMessages(
      plan(
        [
          change(),
          order(),
          change({
            address: dev,
            actions: ["delete", "create"],
            reasons: [reason("declared", "permission differs", "permission")],
          }),
          change({
            address: "hosting_webhook.a",
            actions: ["delete"],
            reasons: [reason("removed", "its block was removed")],
          }),
          change({ address: "hosting_webhook.b", importing: { id: "40" } }),
          change({ address: "hosting_service.c", actions: ["forget"] }),
          update({ suspended: true }, { address: "hosting_service.d", deferred: ["suspended"] }),
        ],
        {
          drift: [drift({ suspended: true }), drift(null, { address: dev })],
          diagnostics: [diagnostic()],
          cost: [cost()],
        },
      ),
      now,
      fixOf,
    );
    expect(messages.map((message) => message["@message"])).toEqual([
      "hosting_service.acme: Drift detected (update)",
      `${dev}: Drift detected (delete)`,
      "hosting_service.acme: Plan to create",
      `${dev}: Plan to replace`,
      "hosting_webhook.a: Plan to delete",
      "hosting_webhook.b: Plan to import",
      "hosting_service.c: Plan to remove",
      "hosting_service.d: Plan to update",
      "Error: term is not one of the allowed terms",
      "Plan: 1 to import, 2 to add, 1 to change, 2 to destroy. Effects: 1 to suspend, 1 to forget.",
    ]);
    expect(messages[3]).toMatchObject({
      type: "planned_change",
      change: { resource, action: "replace", reason: "cannot_update" },
    });
    expect(messages[4]).toMatchObject({ change: { action: "delete", reason: "delete_because_no_resource_config" } });
    expect(messages[5]).toMatchObject({ change: { importing: { id: "40" } } });
    expect(messages[7]).toMatchObject({ hostform: { deferred: ["suspended"], effect: "suspend" } });
    expect(messages[9]).toMatchObject({
      type: "change_summary",
      changes: { add: 2, change: 1, import: 1, remove: 2, operation: "plan" },
      hostform: { suspend: 1, unsuspend: 0, forget: 1, cost: [{ currency: "USD" }] },
    });
  });

  const hooks: readonly (readonly [ApplyEvent, object])[] = [
    [
      { type: "start", address: dev, action: "delete", id: "7" },
      {
        type: "apply_start",
        "@message": `${dev}: Destroying... [id=7]`,
        hook: { resource, action: "delete", id_key: "id", id_value: "7" },
      },
    ],
    [
      { type: "progress", address: dev, action: "create", seconds: 10 },
      {
        type: "apply_progress",
        "@message": `${dev}: Still creating... [10s elapsed]`,
        hook: { resource, action: "create", elapsed_seconds: 10 },
      },
    ],
    [
      { type: "complete", address: dev, action: "create", seconds: 1, id: "8", outcome: outcome(dev) },
      {
        type: "apply_complete",
        "@message": `${dev}: Creation complete after 1s [id=8]`,
        hook: { resource, action: "create", id_key: "id", id_value: "8", elapsed_seconds: 1 },
      },
    ],
    [
      { type: "errored", address: dev, action: "forget", seconds: 2, outcome: outcome(dev, { result: "failed" }) },
      {
        type: "apply_errored",
        "@message": `${dev}: Removal from the state errored after 2s`,
        hook: { resource, action: "remove", elapsed_seconds: 2 },
      },
    ],
  ];
  it.each(hooks)("%j", (event, expected) => {
    expect(eventMessage(event, now)).toEqual({
      "@level": "info",
      "@module": "hostform.ui",
      "@timestamp": "2026-11-21T10:00:00.123000Z",
      ...expected,
    });
  });

  it("add the invoice and what is waited for to the end of an order", () => {
    const event: ApplyEvent = {
      type: "complete",
      address: "hosting_service.acme",
      action: "create",
      seconds: 1,
      outcome: outcome("hosting_service.acme", { invoice: invoice(), awaiting: "payment" }),
    };
    expect(eventMessage(event, now)).toMatchObject({
      hostform: { awaiting: "payment", invoice: { number: "INV-2026-000123" } },
    });
  });

  it("report waiting for queued jobs as a log message, a type that readers know", () => {
    expect(eventMessage({ type: "waiting", addresses: ["a.b"], seconds: 5 }, now)).toMatchObject({
      type: "log",
      hostform: { waiting: ["a.b"], elapsed_seconds: 5 },
    });
  });

  it("give diagnostics their level", () => {
    expect(diagnosticMessage(diagnostic(), now, fixOf)).toMatchObject({
      "@level": "error",
      type: "diagnostic",
      diagnostic: { code: "config.invalid_value" },
    });
    expect(diagnosticMessage(diagnostic({ severity: "warning" }), now, fixOf)).toMatchObject({
      "@level": "warn",
      "@message": "Warning: term is not one of the allowed terms",
    });
  });

  it("end with Terraform's sentence when all was done, and not with it when something was not", () => {
    const planned = plan([order(), change({ address: dev, actions: ["delete"] })]);
    const all = result([outcome("hosting_service.acme"), outcome(dev)]);
    expect(resultMessages(planned, all, now, fixOf)).toMatchObject([
      {
        "@message": "Apply complete! Resources: 1 added, 0 changed, 1 destroyed.",
        type: "change_summary",
        changes: { add: 1, change: 0, import: 0, remove: 1, operation: "apply" },
        hostform: { complete: true, requests: 38, elapsed: "1m5s" },
      },
    ]);
    const refused = diagnostic({ code: "api.validation", address: dev });
    const some = result([outcome("hosting_service.acme"), outcome(dev, { result: "failed", diagnostics: [refused] })], {
      diagnostics: [refused],
    });
    expect(resultMessages(planned, some, now, fixOf)).toMatchObject([
      { type: "diagnostic", "@level": "error" },
      {
        "@message": "Apply incomplete! Resources: 1 added, 0 changed, 0 destroyed.",
        hostform: { complete: false, failed: [dev] },
      },
    ]);
    expect(resultMessages({ ...planned, mode: "destroy" }, all, now, fixOf)[0]?.["@message"]).toBe(
      "Destroy complete! Resources: 1 destroyed.",
    );
  });

  it("leave sensitive outputs out", () => {
    const message = outputsMessage(
      new Map([
        ["url", { sensitive: false, type: "string", value: "https://x" }],
        ["secret", { sensitive: true, type: "string", value: "whsec" }],
      ]),
      now,
    );
    expect(message).toMatchObject({
      type: "outputs",
      outputs: {
        url: { sensitive: false, type: "string", value: "https://x" },
        secret: { sensitive: true, type: "string" },
      },
    });
    expect(JSON.stringify(message)).not.toContain("whsec");
  });
});
