/** Kinds of the suite: an object as YAML, as Terraform JSON, and as read from the records of the sandbox. */
import type { Sandbox } from "../../src/sandbox/index.ts";
import { registration } from "../support/registration.ts";

export const KINDS = ["service", "grant", "webhook", "client_account", "migration_request", "domain"] as const;
export type KindName = (typeof KINDS)[number];

/** An object of the account, with its natural key. */
export interface Live {
  readonly key: string;
  readonly id: string;
  readonly secret?: string;
  readonly suspended?: boolean;
}

export interface KindFacts {
  readonly type: string;
  readonly section: string;
  /** Path of the create request, as a pattern of the sandbox's faults. */
  readonly path: string;
  /** True if the API can delete an object of this kind. */
  readonly deletable: boolean;
  /** True if the API returns a secret only in the response to the create. */
  readonly secret: boolean;
  /** Attribute with the natural key, and a function that returns its value. */
  readonly key: readonly [attribute: string, valueOf: (key: string) => string];
  /** Other attributes. */
  readonly rest: object;
  live(control: Sandbox["control"]): Live[];
}

const FORGET = { deletion_policy: "forget" };
const site = (key: string) => `${key}.example`;
export const email = (key: string) => `${key}@acme.example`;
const first = (text: string) => text.split(/[.@]/)[0] ?? text;

/** Id of the token's account. */
const AGENCY = 1;

export const FACTS: Readonly<Record<KindName, KindFacts>> = {
  service: {
    type: "hosting_service",
    section: "services",
    path: "/services",
    deletable: false,
    secret: false,
    key: ["domain", site],
    // With this policy, a removal suspends the service, so that a wrong removal takes a live site offline.
    rest: { plan_id: 11, currency: "USD", deletion_policy: "suspend" },
    live: (control) =>
      control
        .list("services")
        .filter(({ customer_id, domain }) => customer_id === AGENCY && domain !== null && domain !== HOME.domain)
        .filter(({ status }) => status !== "terminated" && status !== "cancelled")
        .map(({ id, domain, status }) => ({
          key: first(domain ?? ""),
          id: String(id),
          suspended: status === "suspended",
        })),
  },
  grant: {
    type: "hosting_grant",
    section: "grants",
    path: "/services/:id/grants",
    deletable: true,
    secret: false,
    key: ["email", email],
    rest: { permission: "view" },
    live: (control) => control.list("grants").map((grant) => ({ key: first(grant.email), id: String(grant.id) })),
  },
  webhook: {
    type: "hosting_webhook",
    section: "webhooks",
    path: "/webhooks",
    deletable: true,
    secret: true,
    key: ["url", (key) => `https://${key}.hooks.example/`],
    rest: { events: ["invoice.paid"] },
    live: (control) =>
      control
        .list("webhooks")
        .map(({ id, url, secret }) => ({ key: first(new URL(url).host), id: String(id), secret })),
  },
  client_account: {
    type: "hosting_client_account",
    section: "client_accounts",
    path: "/accounts",
    deletable: false,
    secret: false,
    key: ["name", (key) => key],
    rest: FORGET,
    live: (control) => control.list("accounts").map(({ id, name }) => ({ key: name, id: String(id) })),
  },
  migration_request: {
    type: "hosting_migration_request",
    section: "migration_requests",
    path: "/migration-requests",
    deletable: false,
    secret: false,
    key: ["domain", site],
    rest: { questions: { source: "cpanel" }, ...FORGET },
    live: (control) =>
      control.list("migration_requests").map(({ id, domain }) => ({ key: first(domain), id: String(id) })),
  },
  domain: {
    type: "hosting_domain",
    section: "domains",
    path: "/domains",
    deletable: false,
    secret: false,
    key: ["domain", site],
    rest: { ...registration("unused.example"), ...FORGET },
    live: (control) => control.list("domains").map(({ id, domain }) => ({ key: first(domain), id: String(id) })),
  },
};

/** Service with the grants. */
export const HOME = { plan_id: 11, currency: "USD", domain: "home.example", deletion_policy: "forget" };

/**
 * Returns the attributes of one object.
 * @param key A word, or a Terraform expression for a word.
 */
export function attributesOf(kind: KindName, key: string): Record<string, unknown> {
  const {
    key: [name, valueFor],
    rest,
  } = FACTS[kind];
  return { ...rest, [name]: valueFor(key) };
}

/** Returns the body of a create request. Another user sends the request, and no state has the object. */
export function bodyOf(kind: KindName, key: string): object {
  const { deletion_policy: _, questions, ...body } = attributesOf(kind, key);
  return { ...body, ...(questions as object | undefined) };
}
