/** The kinds of the suite: one object each, written for YAML and for Terraform's JSON, and read from the sandbox's own records. */
import type { Sandbox } from "../../src/sandbox/index.ts";
import { registration } from "../support/registration.ts";

export const KINDS = ["service", "grant", "webhook", "client_account", "migration_request", "domain"] as const;
export type KindName = (typeof KINDS)[number];

/** An object of the account, by its natural key. */
export interface Live {
  readonly key: string;
  readonly id: string;
  readonly secret?: string;
  readonly suspended?: boolean;
}

export interface KindFacts {
  readonly type: string;
  readonly section: string;
  /** Path of a create, as a pattern of the sandbox's faults. */
  readonly path: string;
  /** The API has a call that deletes one. */
  readonly deletable: boolean;
  /** The API shows a secret in the answer to the create, and never again. */
  readonly secret: boolean;
  /** The attribute that holds the natural key, and its value. */
  readonly key: readonly [attribute: string, valueOf: (key: string) => string];
  /** Attributes beside it. */
  readonly rest: object;
  live(control: Sandbox["control"]): Live[];
}

const FORGET = { deletion_policy: "forget" };
const site = (key: string) => `${key}.example`;
export const email = (key: string) => `${key}@acme.example`;
const first = (text: string) => text.split(/[.@]/)[0] ?? text;

/** The account that the token acts for. */
const AGENCY = 1;

export const FACTS: Readonly<Record<KindName, KindFacts>> = {
  service: {
    type: "hosting_service",
    section: "services",
    path: "/services",
    deletable: false,
    secret: false,
    key: ["domain", site],
    // A removal suspends: a mistake takes a live site offline.
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

/** The service that grants belong to. */
export const HOME = { plan_id: 11, currency: "USD", domain: "home.example", deletion_policy: "forget" };

/** The attributes of one object. @param key a word, or an expression of Terraform's that has one. */
export function attributesOf(kind: KindName, key: string): Record<string, unknown> {
  const {
    key: [name, valueFor],
    rest,
  } = FACTS[kind];
  return { ...rest, [name]: valueFor(key) };
}

/** The body of a create, for somebody else who makes an object that no state holds. */
export function bodyOf(kind: KindName, key: string): object {
  const { deletion_policy: _, questions, ...body } = attributesOf(kind, key);
  return { ...body, ...(questions as object | undefined) };
}
