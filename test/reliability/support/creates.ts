/** The columns of the error table: every create that there is. */

import { registration } from "../../support/registration.ts";
import type { Place } from "./place.ts";

export interface Create {
  readonly what: string;
  /** Decision after a lost response (docs/recover.md). */
  readonly creation: "keyed" | "listable" | "blind";
  readonly address: string;
  readonly declare: object;
  /** What has to be there before. */
  readonly base?: object;
  /** Below /api/v1: as faults name it, and as it is sent. */
  readonly pattern: string;
  readonly path: string;
  /** Nothing but its key distinguishes it from another. */
  readonly nameless?: true;
  /** The answer contains something that can never be read again. */
  readonly secret?: true;
  /** The ids of what is in the account. */
  made(place: Place): number[];
}

const own = ({ customer_id }: { readonly customer_id: number }) => customer_id === 1;
const idOf = ({ id }: { readonly id: number }) => id;
const base = { project: "errors", services: { base: { plan_id: 12, currency: "USD", domain: "base.acme.example" } } };

export const CREATES: readonly Create[] = [
  {
    what: "service with a domain",
    creation: "keyed",
    address: "hosting_service.www",
    declare: { project: "errors", services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } } },
    pattern: "/services",
    path: "/services",
    made: ({ control }) => control.list("services").filter(own).map(idOf),
  },
  {
    what: "server without a domain",
    creation: "keyed",
    address: "hosting_service.box",
    declare: { project: "errors", services: { box: { plan_id: 31, currency: "USD" } } },
    pattern: "/services",
    path: "/services",
    nameless: true,
    made: ({ control }) => control.list("services").filter(own).map(idOf),
  },
  {
    what: "grant",
    creation: "listable",
    address: 'hosting_grant.base["dev@acme.example"]',
    base,
    declare: { ...base, services: { base: { ...base.services.base, grants: { "dev@acme.example": "manage" } } } },
    pattern: "/services/:id/grants",
    path: "/services/1003/grants",
    made: ({ control }) => control.list("grants").map(idOf),
  },
  {
    what: "webhook",
    creation: "listable",
    address: "hosting_webhook.billing",
    declare: {
      project: "errors",
      webhooks: { billing: { url: "https://hooks.acme.example/", events: ["invoice.paid"] } },
    },
    pattern: "/webhooks",
    path: "/webhooks",
    secret: true,
    made: ({ control }) => control.list("webhooks").map(idOf),
  },
  {
    what: "client account",
    creation: "listable",
    address: "hosting_client_account.ana",
    declare: { project: "errors", client_accounts: { ana: { name: "Ana", currency: "USD" } } },
    pattern: "/accounts",
    path: "/accounts",
    made: ({ control }) => control.list("accounts").map(idOf),
  },
  {
    what: "migration request",
    creation: "listable",
    address: "hosting_migration_request.www",
    declare: { project: "errors", migration_requests: { www: { domain: "www.acme.example" } } },
    pattern: "/migration-requests",
    path: "/migration-requests",
    made: ({ control }) => control.list("migration_requests").map(idOf),
  },
  {
    what: "domain",
    creation: "blind",
    address: "hosting_domain.shop",
    declare: {
      project: "errors",
      domains: {
        shop: registration("shop.example"),
      },
    },
    pattern: "/domains",
    path: "/domains",
    made: ({ control }) => control.list("domains").map(idOf),
  },
];
