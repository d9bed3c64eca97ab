import type { JsonObject, PrivateMark, ResourceState } from "../../../src/core/model/index.ts";
import type { Recorded } from "../../../src/report/index.ts";
import { liveService } from "./builders.ts";
import { HOSTILE } from "./proof-cases.ts";

export const resource = (address: string, attributes: JsonObject, mark: PrivateMark = {}): ResourceState => ({
  address,
  provider: "default",
  schemaVersion: 0,
  attributes,
  sensitive: [],
  private: mark,
  dependencies: [],
});

export const recorded = (resources: readonly ResourceState[], over: Partial<Recorded> = {}): Recorded => ({
  project: "acme",
  serial: 7,
  resources,
  outputs: new Map(),
  ...over,
});

/**
 * State of an agency: a suspended service, a create without an outcome, grants, webhooks, and outputs with a secret.
 */
export const account: Recorded = recorded(
  [
    resource("hosting_service.shop", { ...liveService, id: "1002", domain: "shop.acme.example", suspended: true }),
    resource("hosting_service.www", liveService, { client: "Borjomi Bakery" }),
    resource('hosting_grant.www["dev@acme.example"]', {
      id: "7",
      service_id: "1001",
      email: "dev@acme.example",
      permission: "manage",
      expires_at: "2027-01-01",
    }),
    resource("hosting_webhook.billing", {
      id: "31",
      url: "https://hooks.acme.example",
      events: ["invoice.created", "invoice.paid"],
      secret: "whsec-hidden",
    }),
    resource(
      "hosting_domain.lost",
      { id: null, domain: "lost.example" },
      {
        pending: { kind: "create", since: "2026-11-21T10:00:00Z" } as never,
      },
    ),
  ],
  {
    outputs: new Map([
      ["site", { value: "www.acme.example", type: "string", sensitive: false }],
      ["token", { value: "out-hidden", type: "string", sensitive: true }],
    ]),
  },
);

/** A state with the same hostile names in every printed field. */
export const hostileAccount: Recorded = recorded(
  Object.values(HOSTILE).flatMap((name, i) => [
    resource(
      `hosting_service.s${i}`,
      { ...liveService, id: name, domain: name, plan: name, status: name, currency: name, next_due_date: name },
      { client: name },
    ),
    resource(`hosting_webhook.w${i}`, { id: String(i), url: name, events: [name] }),
  ]),
  {
    project: HOSTILE.html,
    outputs: new Map(Object.values(HOSTILE).map((name) => [name, { value: name, type: "string", sensitive: false }])),
  },
);
