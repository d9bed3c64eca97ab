import { describe, expect, it } from "vitest";
import type { PlanRecord } from "../../../../src/core/api/index.ts";
import type { Remote } from "../../../../src/core/kinds/kind.ts";
import {
  fingerprintOf,
  type Observation,
  type PlanInput,
  planResource,
  validate,
} from "../../../../src/core/lifecycle/index.ts";

import {
  conditionWarning,
  type Intent,
  isError,
  type JsonObject,
  type PrivateMark,
  split,
  UNKNOWN,
  type ValueObject,
} from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { fullText } from "../../../support/full-text.ts";
import { listing, whole } from "../../../support/pending-facts.ts";
import { fixOf } from "../../../support/remedies.ts";
import { complete, kindOf, liveGrant, liveService, liveWebhook, recorded, remote } from "../../../support/subjects.ts";

interface Case {
  readonly why: string;
  readonly type?: string;
  readonly config: ValueObject;
  /** Attributes in the state; absent: the resource is not in the state. */
  readonly prior?: JsonObject;
  readonly mark?: PrivateMark;
  /** Live object: attributes that replace those in the state, or another observation. */
  readonly live?: JsonObject | Observation;
  readonly phase?: "pending" | "live" | "suspended" | "gone" | "unknown";
  readonly importId?: string;
  readonly adopting?: boolean;
  readonly reorder?: boolean;
  readonly orderAnyway?: boolean;
  /** Intent of another pending server in the plan. */
  readonly sibling?: Intent;
  /** Intent of a pending server whose address is no longer declared. */
  readonly abandoned?: Intent;
  /** List of hosting plans. Default: unreadable. */
  readonly plans?: readonly Partial<PlanRecord>[];
  /** Address that owns each live object. */
  readonly holder?: string;
  readonly actions: readonly string[];
  /** Each reason as `why attribute`. */
  readonly reasons?: readonly string[];
  readonly deferred?: readonly string[];
  /** Each diagnostic as `severity code`. */
  readonly says?: readonly string[];
  readonly requests?: number;
  /** Names of attributes that are known only after the apply. */
  readonly unknown?: readonly string[];
  /** Expected attributes after the change. Other attributes are not compared. */
  readonly after?: JsonObject | null;
  /** Expected private data of the resource. */
  readonly remembers?: PrivateMark;
  /** The change does not fulfil the declaration, or hostform cannot check the result. */
  readonly unfulfilled?: true;
}

const GONE: Observation = { status: "gone", how: "no longer exists", matches: [] };
const ABSENT: Observation = { status: "absent", matches: [] };
const alike = (...objects: readonly Remote[]): Observation => ({
  status: "absent",
  matches: objects.filter(({ phase }) => phase !== "gone"),
  alike: objects,
});
const order: ValueObject = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const server: JsonObject = { plan_id: 31, currency: "USD" };
const service = { ...liveService, plan_id: 11, deletion_policy: "prevent" };
const grant: ValueObject = { service_id: "1001", email: "dev@acme.example", permission: "view" };
const hook: ValueObject = { url: "https://hooks.acme.example", events: ["invoice.paid"] };

/** Hosting plans of a host: a shared plan and a server. */
const LISTED: readonly Partial<PlanRecord>[] = [
  { plan_id: 11, name: "Start", product_type: "Shared", prices: {}, currency: "USD", price: 500, billing_cycle: null },
  { plan_id: 31, name: "Root", product_type: "Root VPS", prices: {}, currency: "USD", price: 900, billing_cycle: null },
];

const LOST: Intent = { since: "2026-11-21T10:00:00Z", operation: "createWebhook", knowsAll: true };
const other = remote({ ...liveWebhook, id: "202", url: "https://other.example" });

const cases: readonly Case[] = [
  // Dates that the host returns in its own format, or in an unreadable format.
  {
    why: "a date that cannot be read plans nothing beside a declared one, and is named",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2027-01-31" },
    prior: { ...liveGrant, expires_at: "2027-01-31" },
    live: {
      status: "present",
      attributes: { ...liveGrant, expires_at: "2027-01-31" },
      phase: "live",
      unclear: { expires_at: "soon" },
    },
    actions: ["no-op"],
    says: ["warning plan.unknown_date"],
  },
  {
    why: "a date that cannot be read plans nothing on an import",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2027-01-31" },
    live: { status: "present", attributes: { ...liveGrant, expires_at: "soon" }, phase: "live" },
    importId: "1001/301",
    actions: ["no-op"],
    says: ["warning plan.unknown_date"],
  },
  {
    why: "a date without an offset is the declared one within a day",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2027-01-31T00:00:00Z" },
    prior: { ...liveGrant, expires_at: "2027-01-31T00:00:00Z" },
    live: { ...liveGrant, expires_at: "2027-01-31 04:00:00" },
    actions: ["no-op"],
  },
  // Names that the host rewrote or cut, of objects without an address.
  {
    why: "a client account whose name was escaped exists",
    type: "hosting_client_account",
    config: { name: "Smith & Sons" },
    live: alike(remote({ id: "7", name: "SMITH &amp;  SONS" })),
    actions: ["no-op"],
    says: ["error plan.exists"],
  },
  {
    why: "a client account whose name may have been cut asks",
    type: "hosting_client_account",
    config: { name: "Smith & Sons International" },
    live: { ...ABSENT, alike: [remote({ id: "7", name: "Smith & Sons Interna" })] },
    actions: ["no-op"],
    says: ["error plan.lookalike"],
  },
  {
    why: "a client account whose name may have been cut is created on purpose",
    type: "hosting_client_account",
    config: { name: "Smith & Sons International" },
    live: { ...ABSENT, alike: [remote({ id: "7", name: "Smith & Sons Interna" })] },
    orderAnyway: true,
    actions: ["create"],
  },
  {
    why: "a client account whose name may have been cut and that another address has is another one",
    type: "hosting_client_account",
    config: { name: "Smith & Sons International" },
    live: { ...ABSENT, alike: [remote({ id: "7", name: "Smith & Sons Interna" })] },
    holder: "hosting_client_account.other",
    actions: ["create"],
  },
  {
    why: "a service whose domain the host shows without www asks",
    config: order,
    live: { ...ABSENT, alike: [remote({ ...liveService, domain: "acme.example" })] },
    plans: LISTED,
    actions: ["no-op"],
    says: ["error plan.lookalike"],
  },
  // Effect of the list of hosting plans on an order.
  { why: "a plan that is listed", config: order, live: ABSENT, plans: LISTED, actions: ["create"] },
  {
    why: "a plan that is not in the list: an error before anything is sent",
    config: { ...order, plan_id: 999 },
    live: ABSENT,
    plans: LISTED,
    actions: ["create"],
    says: ["error plan.catalogue"],
  },
  {
    why: "a plan that is known only after apply",
    config: { ...order, plan_id: UNKNOWN },
    live: ABSENT,
    plans: LISTED,
    actions: ["create"],
  },
  {
    why: "a plan of which the list does not say which one it is",
    config: { ...order, plan_id: 999 },
    live: ABSENT,
    plans: [...LISTED, { plan_id: null, name: "Odd", prices: {} }],
    actions: ["create"],
    says: ["warning plan.catalogue"],
  },
  {
    why: "a plan that was withdrawn after the order was sent: the same request is answered all the same",
    config: { ...order, plan_id: 999 },
    prior: { ...(order as JsonObject), plan_id: 999 },
    mark: { pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k" } },
    live: ABSENT,
    plans: LISTED,
    actions: ["create"],
    says: ["warning plan.catalogue"],
  },
  {
    why: "shared hosting without a domain",
    config: { plan_id: 11, currency: "USD" },
    live: ABSENT,
    plans: LISTED,
    actions: ["create"],
    says: ["error config.missing_attribute"],
  },
  {
    why: "WordPress hosting without a domain",
    config: { plan_id: 11, currency: "USD" },
    live: ABSENT,
    plans: [{ ...LISTED[0], product_type: "Managed_WordPress" }],
    actions: ["create"],
    says: ["error config.missing_attribute"],
  },
  {
    why: "hosting of a domain that is known only after apply",
    config: { ...order, domain: UNKNOWN },
    live: ABSENT,
    plans: LISTED,
    actions: ["create"],
  },
  { why: "a server without a domain", config: server, live: ABSENT, plans: LISTED, actions: ["create"] },
  {
    why: "a product of a word that is not known, without a domain",
    config: { plan_id: 11, currency: "USD" },
    live: ABSENT,
    plans: [{ ...LISTED[0], product_type: "business" }],
    actions: ["create"],
  },
  // Resources that are not in the state.
  { why: "new is created", config: order, live: ABSENT, actions: ["create"], reasons: ["declared"], requests: 1 },
  {
    why: "new with what must wait until it is live",
    config: { ...order, suspended: true, password: "long enough", password_version: 1 },
    live: ABSENT,
    actions: ["create"],
    deferred: ["suspended", "password_version"],
  },
  {
    why: "new and not suspended: there is nothing to wait for",
    config: { ...order, suspended: false },
    live: ABSENT,
    actions: ["create"],
    deferred: [],
  },
  {
    why: "there already: adoption is offered, nothing is bought",
    config: order,
    live: { status: "absent", matches: [remote(liveService)] },
    actions: ["no-op"],
    says: ["error plan.exists"],
  },
  {
    why: "there already, twice",
    config: order,
    live: { status: "absent", matches: [remote(liveService), remote({ ...liveService, id: "1002" })] },
    actions: ["no-op"],
    says: ["error plan.exists"],
  },
  {
    why: "adopted: only the state changes",
    config: order,
    importId: "1001",
    live: { ...liveService },
    actions: ["update"],
    reasons: ["import", "declared plan_id", "declared deletion_policy"],
    requests: 0,
  },
  {
    why: "adopted and changed in the same run",
    config: { ...order, suspended: true },
    importId: "1001",
    live: { ...service },
    actions: ["update"],
    reasons: ["import", "declared suspended"],
    requests: 1,
  },
  {
    why: "adopted although it is another: refused, with both values",
    config: { ...order, currency: "EUR" },
    importId: "1001",
    live: service,
    actions: ["no-op"],
    says: ["error plan.mismatch"],
  },
  {
    why: "recorded by an adoption just now although it is another: refused, with both values",
    config: { ...order, currency: "EUR" },
    prior: service,
    adopting: true,
    actions: ["no-op"],
    says: ["error plan.mismatch"],
  },
  {
    why: "an id to adopt that does not exist",
    config: order,
    importId: "9",
    live: GONE,
    actions: ["no-op"],
    says: ["error plan.gone"],
  },

  // Resources in the state whose object exists.
  { why: "as declared", config: order, prior: service, actions: ["no-op"], reasons: [] },
  {
    why: "as declared, and its block still names the id by which it was adopted",
    config: order,
    prior: service,
    importId: "1001",
    actions: ["no-op"],
    reasons: [],
  },
  {
    why: "domains in another case",
    config: { ...order, domain: "WWW.Acme.example" },
    prior: service,
    actions: ["no-op"],
  },
  {
    why: "suspended by somebody, not declared: not fought over",
    config: order,
    prior: service,
    live: { suspended: true, status: "suspended" },
    phase: "suspended",
    actions: ["no-op"],
    after: { suspended: true },
    says: ["warning condition.offline"],
  },
  {
    why: "suspended by somebody, declared false",
    config: { ...order, suspended: false },
    prior: service,
    live: { suspended: true },
    phase: "suspended",
    actions: ["update"],
    reasons: ["drift suspended"],
    requests: 1,
    after: { suspended: false, status: null },
  },
  {
    why: "to be suspended",
    config: { ...order, suspended: true },
    prior: service,
    actions: ["update"],
    reasons: ["declared suspended"],
    requests: 1,
  },
  {
    why: "to be suspended before it is live: waits",
    config: { ...order, suspended: true },
    prior: { ...service, status: "pending" },
    phase: "pending",
    actions: ["no-op"],
    deferred: ["suspended"],
    says: ["warning condition.unread"],
  },
  {
    why: "to be suspended, status not understood: left alone",
    config: { ...order, suspended: true },
    prior: { ...service, status: "odd" },
    phase: "unknown",
    actions: ["no-op"],
    says: ["warning condition.unknown_status"],
    unfulfilled: true,
  },
  {
    why: "declared as it is recorded, status not understood: whether it is so cannot be seen",
    config: { ...order, suspended: false },
    prior: { ...service, status: "odd", suspended: false },
    phase: "unknown",
    actions: ["no-op"],
    says: ["warning condition.unknown_status"],
    unfulfilled: true,
  },
  {
    why: "status not understood, and something of the state alone is to change: that is done",
    config: { ...order, suspended: false, reference: "other" },
    prior: { ...service, status: "odd", suspended: false },
    phase: "unknown",
    actions: ["update"],
    says: ["warning condition.unknown_status"],
    unfulfilled: true,
  },
  {
    why: "a password to be set, status not understood: left alone",
    config: { ...order, password: "long enough", password_version: 2 },
    prior: { ...service, status: "odd", password_version: 1 },
    phase: "unknown",
    actions: ["no-op"],
    says: ["warning condition.unknown_status"],
    after: { password_version: 1 },
    unfulfilled: true,
  },
  {
    why: "status not understood, nothing to do: its condition is unknown",
    config: order,
    prior: { ...service, status: "odd" },
    phase: "unknown",
    actions: ["no-op"],
    says: ["warning condition.unknown_status"],
  },
  {
    why: "a new password version",
    config: { ...order, password: "long enough", password_version: 2 },
    prior: { ...service, password_version: 1 },
    actions: ["update"],
    reasons: ["declared password_version"],
    requests: 1,
    after: { password: null, generated_password: null },
  },
  {
    why: "a new password version of shared hosting: the password is given, and none is generated",
    config: { ...order, password: "long enough", password_version: 2 },
    prior: { ...service, product_type: "shared", password_version: 1, generated_password: null },
    actions: ["update"],
    unknown: [],
  },
  {
    why: "a generated password that is not known: said, and never made up for by another reset",
    config: { ...order, password_version: 2 },
    prior: { ...service, product_type: "rootvps", password_version: 2 },
    actions: ["no-op"],
    says: ["warning secret.lost"],
  },
  {
    why: "a generated password that secret_output took: nothing to say",
    config: { ...order, password_version: 2 },
    prior: { ...service, product_type: "rootvps", password_version: 2, generated_password_fingerprint: "sha256:00" },
    actions: ["no-op"],
    says: [],
  },
  {
    why: "a password version that is taken out, since the password was set by hand: no request",
    config: order,
    prior: { ...service, product_type: "rootvps", password_version: 2 },
    actions: ["update"],
    requests: 0,
    after: { password_version: null },
    says: [],
  },
  {
    why: "of a server: one is generated",
    config: { ...order, password_version: 2 },
    prior: { ...service, product_type: "rootvps", password_version: 1, generated_password: null },
    actions: ["update"],
    unknown: ["generated_password"],
  },
  {
    why: "another password, same version: a change that cannot be seen",
    config: { ...order, password: "another one", password_version: 1 },
    prior: { ...service, password_version: 1 },
    actions: ["no-op"],
  },
  {
    why: "password and suspension together: two requests",
    config: { ...order, suspended: true, password: "long enough", password_version: 1 },
    prior: service,
    actions: ["update"],
    requests: 2,
  },
  {
    why: "only hostform's own attribute",
    config: { ...order, deletion_policy: "forget" },
    prior: service,
    actions: ["update"],
    reasons: ["declared deletion_policy"],
    requests: 0,
  },
  {
    why: "its policy taken out of the declaration: back to the default",
    config: order,
    prior: { ...service, deletion_policy: "forget" },
    actions: ["update"],
    after: { deletion_policy: "prevent" },
  },
  {
    why: "another plan",
    config: { ...order, plan_id: 12 },
    prior: service,
    actions: ["no-op"],
    says: ["error plan.immutable"],
    after: { plan_id: 11 },
  },
  {
    why: "two immutable changes are both reported",
    config: { ...order, plan_id: 12, currency: "EUR" },
    prior: service,
    actions: ["no-op"],
    says: ["error plan.immutable", "error plan.immutable"],
  },
  {
    why: "an immutable change stops the others of that resource",
    config: { ...order, plan_id: 12, suspended: true },
    prior: service,
    actions: ["no-op"],
    says: ["error plan.immutable"],
    after: { suspended: false },
  },
  {
    why: "an immutable attribute taken out of the declaration stays",
    config: { plan_id: 11, currency: "USD" },
    prior: service,
    actions: ["no-op"],
    after: { domain: "www.acme.example" },
  },
  {
    why: "a coupon taken out of the declaration: the order had it",
    config: order,
    prior: { ...service, coupon_code: "TEN" },
    actions: ["no-op"],
    after: { coupon_code: "TEN" },
  },
  {
    why: "a value that the API does not show and nobody recorded is taken from the declaration",
    config: { ...order, coupon_code: "TEN" },
    prior: service,
    actions: ["update"],
    requests: 0,
    after: { coupon_code: "TEN" },
  },

  // Resources in the state whose object no longer exists.
  {
    why: "a service that is gone is not bought again",
    config: order,
    prior: service,
    live: GONE,
    actions: ["no-op"],
    says: ["warning condition.gone"],
    after: null,
  },
  {
    why: "nor on purpose, when another of its domain is there: that one is offered",
    config: order,
    prior: service,
    live: { ...GONE, matches: [remote({ ...liveService, id: "1002" })] },
    reorder: true,
    actions: ["no-op"],
    says: ["error plan.exists"],
  },
  {
    why: "unless on purpose",
    config: order,
    prior: service,
    live: GONE,
    reorder: true,
    actions: ["create"],
    reasons: ["reorder"],
  },
  {
    why: "on purpose, though its block still names the id by which it was adopted",
    config: order,
    prior: service,
    importId: "1001",
    live: GONE,
    reorder: true,
    actions: ["create"],
    reasons: ["reorder"],
    remembers: { generation: 2 },
  },
  {
    why: "an order that came to nothing keeps its generation, and so its key",
    config: order,
    prior: { ...order, id: null } as JsonObject,
    mark: { generation: 2 },
    live: ABSENT,
    actions: ["create"],
    reasons: ["declared"],
    remembers: { generation: 2 },
  },
  {
    why: "an order that came to nothing, to be ordered again on purpose: with the next generation",
    config: order,
    prior: { ...order, id: null } as JsonObject,
    mark: { generation: 2 },
    live: ABSENT,
    reorder: true,
    actions: ["create"],
    remembers: { generation: 3 },
  },
  {
    why: "a webhook that is gone, and the one that it replaced remains: that is deleted along",
    type: "hosting_webhook",
    config: hook,
    prior: liveWebhook,
    mark: { deposed: { id: "200" } },
    live: GONE,
    actions: ["create"],
    requests: 2,
    remembers: { deposed: { id: "200" } },
  },
  {
    why: "a webhook that is gone and replaced none",
    type: "hosting_webhook",
    config: hook,
    prior: liveWebhook,
    live: GONE,
    actions: ["create"],
    requests: 1,
    remembers: {},
  },
  {
    why: "a grant that is gone is created again",
    type: "hosting_grant",
    config: grant,
    prior: liveGrant,
    live: GONE,
    actions: ["create"],
    reasons: ["gone"],
  },

  // Replacements.
  {
    why: "another permission: revoked first",
    type: "hosting_grant",
    config: { ...grant, permission: "manage" },
    prior: liveGrant,
    actions: ["delete", "create"],
    reasons: ["declared permission"],
    requests: 2,
    after: { id: null, created_at: null },
  },
  {
    why: "a permission changed elsewhere",
    type: "hosting_grant",
    config: grant,
    prior: liveGrant,
    live: { permission: "manage" },
    actions: ["delete", "create"],
    reasons: ["drift permission"],
  },
  {
    why: "an end taken out of the declaration",
    type: "hosting_grant",
    config: grant,
    prior: { ...liveGrant, expires_at: "2027-01-31" },
    actions: ["delete", "create"],
    reasons: ["declared expires_at"],
  },
  {
    why: "the same end in another notation",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2027-01-31" },
    prior: { ...liveGrant, expires_at: "2027-01-31T00:00:00+00:00" },
    actions: ["no-op"],
  },
  {
    why: "its service is replaced: its new service is not known yet",
    type: "hosting_grant",
    config: { ...grant, service_id: UNKNOWN },
    prior: liveGrant,
    actions: ["delete", "create"],
    reasons: ["declared service_id"],
    after: { service_id: null },
  },
  {
    why: "other events: new one first",
    type: "hosting_webhook",
    config: { ...hook, events: ["invoice.created"] },
    prior: liveWebhook,
    actions: ["create", "delete"],
    requests: 2,
    after: { secret: null },
  },
  {
    why: "the same events in another order",
    type: "hosting_webhook",
    config: { ...hook, events: ["invoice.created", "invoice.paid"] },
    prior: { ...liveWebhook, events: ["invoice.paid", "invoice.created"] },
    actions: ["no-op"],
  },
  // Secrets.
  {
    why: "a secret that is kept, and is to be written out",
    type: "hosting_webhook",
    config: { ...hook, secret_output: { file: "hook" } },
    prior: { ...liveWebhook, secret: "whsec_1", secret_output: { file: "hook" } },
    actions: ["update"],
    reasons: ["declared secret"],
    requests: 0,
    after: { secret: null, secret_fingerprint: fingerprintOf("whsec_1") },
  },
  {
    why: "a secret that was written elsewhere: a warning, and the new place is recorded",
    type: "hosting_webhook",
    config: { ...hook, secret_output: { file: "new" } },
    prior: { ...liveWebhook, secret_fingerprint: "sha256:00000000", secret_output: { file: "old" } },
    actions: ["update"],
    reasons: ["declared secret_output"],
    says: ["warning secret.output"],
    after: { secret_output: { file: "new" } },
  },
  {
    why: "the one that it replaced remains",
    type: "hosting_webhook",
    config: hook,
    prior: liveWebhook,
    mark: { deposed: { id: "200" } },
    actions: ["update"],
    requests: 1,
  },
  {
    why: "and it is replaced once more",
    type: "hosting_webhook",
    config: { ...hook, url: "https://two.acme.example" },
    prior: liveWebhook,
    mark: { deposed: { id: "200" } },
    actions: ["create", "delete"],
    requests: 3,
  },

  // Expired grants.
  {
    why: "expired before it was made",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-11-21T09:59:59Z" },
    live: ABSENT,
    actions: ["no-op"],
    says: ["warning plan.expired"],
    after: null,
  },
  {
    why: "expired at this very moment",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-11-21T10:00:00Z" },
    live: ABSENT,
    actions: ["no-op"],
    says: ["warning plan.expired"],
  },
  {
    why: "expires in a second",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-11-21T10:00:01Z" },
    live: ABSENT,
    actions: ["create"],
  },
  {
    why: "expired and gone",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-01-01" },
    prior: { ...liveGrant, expires_at: "2026-01-01" },
    live: GONE,
    actions: ["no-op"],
    says: ["warning plan.expired"],
  },
  {
    why: "expired and still listed, with another permission: left alone",
    type: "hosting_grant",
    config: { ...grant, permission: "manage", expires_at: "2026-01-01" },
    prior: { ...liveGrant, expires_at: "2026-01-01" },
    actions: ["no-op"],
    says: [],
  },

  // Pending creates.
  {
    why: "an order without known outcome, of which the account shows nothing: sent again, as it was",
    config: { ...order, currency: "EUR" },
    prior: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
    mark: { pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k" } },
    live: ABSENT,
    actions: ["create"],
    after: { currency: "USD" },
  },
  {
    why: "an order without known outcome that the user has found: adopted, never sent again",
    config: order,
    prior: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
    mark: { pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k" } },
    importId: "1001",
    live: { ...liveService },
    actions: ["update"],
    reasons: ["import", "declared deletion_policy"],
    requests: 0,
  },
  {
    why: "an order without known outcome, edited since: it goes as it was, with its name and without the coupon",
    config: { ...order, reference: "renamed", coupon_code: "TEN" },
    prior: { ...order, id: null, reference: "www" } as JsonObject,
    mark: { pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k" } },
    live: ABSENT,
    actions: ["create"],
    after: { reference: "www", coupon_code: null },
  },
  {
    why: "an account without known outcome, and the API shows a VAT number that was not sent: adopted as it is",
    type: "hosting_client_account",
    config: { name: "Acme", company_name: "Acme LLC", currency: "USD" },
    prior: { name: "Acme", company_name: "Acme LLC", currency: "USD", id: null, deletion_policy: "prevent" },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createAccount" } },
    live: alike(
      remote({
        id: "401",
        name: "Acme",
        company_name: "Acme LLC",
        currency: "USD",
        vat_number: "GE1",
        created_at: null,
      }),
    ),
    actions: ["no-op"],
    reasons: ["import"],
    after: { vat_number: "GE1" },
  },
  {
    why: "an order without known outcome, and the id in its block was there before: it is not that one",
    config: order,
    prior: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
    mark: {
      generation: 2,
      pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k", known: ["1001"] },
    },
    importId: "1001",
    live: alike(remote(liveService)),
    actions: ["create"],
    reasons: ["declared"],
    remembers: {
      generation: 2,
      pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k", known: ["1001"] },
    },
  },
  {
    why: "an order without known outcome that could not be placed by what the list of plans says by now",
    config: { plan_id: 11, currency: "USD" },
    prior: { plan_id: 11, currency: "USD" },
    mark: { pending: { since: "2026-11-21T09:55:00Z", operation: "createService", idempotencyKey: "k" } },
    live: ABSENT,
    plans: LISTED,
    actions: ["create"],
    says: ["error config.missing_attribute"],
  },
  {
    why: "a registration without known outcome is not asked for again",
    type: "hosting_domain",
    config: { domain: "acme.example" },
    prior: { domain: "acme.example" },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "registerDomain" } },
    live: ABSENT,
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "an order without answer, a minute ago: the same order goes again, whatever is declared by now",
    config: { ...order, plan_id: 12, term: 12 },
    prior: { ...order, id: null, term: 1 },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createService" } },
    live: ABSENT,
    actions: ["create"],
    reasons: ["declared"],
    after: { plan_id: 11, domain: "www.acme.example", term: 1 },
  },
  // The list outranks the clock, because a host may forget keys in seconds, and a clock may be wrong.
  ...["2026-11-21T09:59:59Z", "2026-11-21T09:55:00Z", "2026-11-21T10:05:00Z"].map(
    (since): Case => ({
      why: `an order without answer (${since}), and its domain is there since: adopted, with what was edited since`,
      config: { ...order, plan_id: 11, suspended: true },
      prior: { ...order, id: null, deletion_policy: "prevent" },
      mark: { pending: { since, operation: "createService", idempotencyKey: "k" } },
      live: alike(remote(liveService)),
      actions: ["update"],
      reasons: ["import", "declared suspended"],
      requests: 1,
      says: [],
    }),
  ),
  ...(
    [
      ["two of its domain are there since", [remote(liveService), remote({ ...liveService, id: "1002" })]],
      ["one of its domain and another plan is there since", [remote({ ...liveService, plan_id: 12 })]],
      ["its domain has come and gone", [remote({ ...liveService, status: "terminated" }, "gone")]],
    ] as const
  ).map(
    ([what, objects]): Case => ({
      why: `an order without answer, a minute ago, and ${what}: the user decides`,
      config: order,
      prior: { ...order, id: null },
      mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createService" } },
      live: alike(...objects),
      actions: ["no-op"],
      says: ["warning plan.pending"],
    }),
  ),
  {
    why: "a server without answer, a minute ago, and a new one of its plan is there: it may be anybody's",
    config: server,
    prior: { ...server, id: null },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createService" } },
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "the same, but that one is another address's: sent again",
    config: server,
    prior: { ...server, id: null },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createService" } },
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    holder: "hosting_service.other",
    actions: ["create"],
    says: [],
  },
  {
    why: "an order without answer, a minute ago, and its domain was ordered a minute before that: by another machine",
    config: { ...order, plan_id: 11 },
    prior: { ...order, id: null, deletion_policy: "prevent" },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createService" } },
    live: alike(remote({ ...liveService, created_at: "2026-11-21T09:58:00Z" })),
    actions: ["no-op"],
    reasons: ["import"],
    says: [],
  },
  {
    why: "an order without answer, an hour ago, and its domain is there since: adopted",
    config: { ...order, plan_id: 11 },
    prior: { ...order, id: null, deletion_policy: "prevent" },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    live: alike(remote({ ...liveService, created_at: "2026-11-21T09:00:03Z" })),
    actions: ["no-op"],
    reasons: ["import"],
    requests: 0,
    says: [],
  },
  {
    why: "an order without answer, an hour ago, and its domain was ordered just now: it may be somebody else's",
    config: { ...order, plan_id: 11 },
    prior: { ...order, id: null, deletion_policy: "prevent" },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    live: alike(remote(liveService)),
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "an order without answer, yesterday, and its domain is there; the API shows only the day: adopted",
    config: { ...order, plan_id: 11 },
    prior: { ...order, id: null, deletion_policy: "prevent" },
    mark: { pending: { since: "2026-11-20T09:00:00Z", operation: "createService" } },
    live: alike(remote({ ...liveService, created_at: "2026-11-20" })),
    actions: ["no-op"],
    reasons: ["import"],
    says: [],
  },
  {
    why: "a webhook without answer, two days ago, and one that was made since: not deleted in its place",
    type: "hosting_webhook",
    config: hook,
    prior: { ...hook, id: null } as JsonObject,
    mark: { pending: { since: "2026-11-19T09:00:00Z", operation: "createWebhook" } },
    live: alike(remote(liveWebhook)),
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "an order without answer, an hour ago, and its domain had been there before: sent again",
    config: order,
    prior: { ...order, id: null },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService", known: ["1001"] } },
    live: alike(remote(liveService)),
    actions: ["create"],
    says: [],
  },
  {
    why: "an order without answer, an hour ago, and its domain has come and gone: not ordered again automatically",
    config: order,
    prior: { ...order, id: null },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    live: alike(remote({ ...liveService, status: "terminated" }, "gone")),
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "an order without answer, an hour ago, and its domain is not there: it goes again",
    config: order,
    prior: { ...order, id: null },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    live: ABSENT,
    actions: ["create"],
  },
  {
    why: "a server without answer, an hour ago, and a new one of its plan is there: it may be anybody's",
    config: server,
    prior: { ...server, id: null },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "a server without answer, an hour ago, and no new one of its plan is there: sent again",
    config: server,
    prior: { ...server, id: null },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService" } },
    live: ABSENT,
    actions: ["create"],
    says: [],
  },
  {
    why: "a grant without answer that is there: adopted",
    type: "hosting_grant",
    config: grant,
    prior: { ...grant, id: null },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createGrant" } },
    live: alike(remote(liveGrant)),
    actions: ["no-op"],
    reasons: ["import"],
    requests: 0,
    says: [],
  },
  {
    why: "a grant without answer that is not there: sent again, as it was",
    type: "hosting_grant",
    config: { ...grant, permission: "manage" },
    prior: { ...grant, id: null },
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createGrant" } },
    live: ABSENT,
    actions: ["create"],
    after: { permission: "view" },
    says: [],
  },
  {
    why: "a webhook without answer that is there: its secret is lost, it is recreated",
    type: "hosting_webhook",
    config: hook,
    prior: { ...hook, id: null } as JsonObject,
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createWebhook" } },
    live: alike(remote(liveWebhook)),
    actions: ["create"],
    requests: 2,
    says: [],
  },
  {
    why: "two webhooks that are new: the user decides",
    type: "hosting_webhook",
    config: hook,
    prior: { ...hook, id: null } as JsonObject,
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createWebhook" } },
    live: alike(remote(liveWebhook), remote({ ...liveWebhook, id: "202" })),
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },

  {
    why: "an order that was accepted, yesterday, and that no list shows: looked for again, not sent",
    config: order,
    prior: { ...order, id: null },
    mark: { pending: { since: "2026-11-20T09:00:00Z", operation: "createService", accepted: true } },
    live: ABSENT,
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "an order that was accepted, an hour ago, and its service is there: adopted",
    config: { ...order, plan_id: 11 },
    prior: { ...order, id: null, deletion_policy: "prevent" },
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createService", accepted: true } },
    live: alike(remote({ ...liveService, created_at: "2026-11-21T09:00:03Z" })),
    actions: ["no-op"],
    reasons: ["import"],
    says: [],
  },

  // Values that the API returns in an unreadable form.
  ...(
    [
      ["not recorded", undefined, { status: "absent", matches: [] }],
      ["gone", liveWebhook, { status: "gone", how: "no longer exists", matches: [] }],
    ] as const
  ).flatMap(([what, prior, seen]): Case[] => {
    const live = { ...seen, unreadable: [remote({ ...liveWebhook, id: "150", events: [] })] };
    const common = { type: "hosting_webhook", config: hook, live, ...(prior && { prior }) };
    return [
      {
        why: `a webhook that is ${what}, and one of its address shows no events: it may be that one`,
        ...common,
        actions: ["no-op"],
        says: ["error plan.unreadable"],
      },
      {
        why: `a webhook that is ${what}, and one whose events cannot be read is another address's`,
        ...common,
        holder: "hosting_webhook.other",
        actions: ["create"],
        says: [],
      },
      { why: `a webhook that is ${what}, insisted on`, ...common, orderAnyway: true, actions: ["create"], says: [] },
    ];
  }),

  // Missing or incomplete state.
  {
    why: "a server, and another's order without known outcome is no longer declared: it may be this one, renamed",
    config: server,
    live: ABSENT,
    abandoned: { since: "2026-11-21T09:59:00Z", operation: "createService" },
    actions: ["no-op"],
    says: ["error plan.lookalike"],
  },
  {
    why: "the same, insisted on",
    config: server,
    live: ABSENT,
    abandoned: { since: "2026-11-21T09:59:00Z", operation: "createService" },
    orderAnyway: true,
    actions: ["create"],
    says: [],
  },
  {
    why: "a server, and one of its plan is there that nobody holds: it may be this one",
    config: server,
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    actions: ["no-op"],
    says: ["error plan.lookalike"],
  },
  {
    why: "the same, insisted on",
    config: server,
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    orderAnyway: true,
    actions: ["create"],
    says: [],
  },
  {
    why: "the same, but that one is another address's",
    config: server,
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    holder: "hosting_service.other",
    actions: ["create"],
    says: [],
  },
  {
    why: "the same, but that one may be what a server that is being settled has made",
    config: server,
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    sibling: { since: "2026-11-21T09:59:00Z", operation: "createService" },
    actions: ["create"],
    says: [],
  },
  {
    why: "the same, but that one was there before the other was begun",
    config: server,
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null, product_type: "vps" })] },
    sibling: { since: "2026-11-21T09:59:00Z", operation: "createService", known: ["1001"] },
    actions: ["no-op"],
    says: ["error plan.lookalike"],
  },
  {
    why: "gone, to be ordered again, and one of its plan is there that no address has",
    config: server,
    prior: { ...server, id: "1000" },
    live: {
      status: "gone",
      how: "no longer exists",
      matches: [],
      alike: [remote({ ...liveService, domain: null, product_type: "vps" })],
    },
    reorder: true,
    actions: ["no-op"],
    says: ["error plan.lookalike"],
  },
  {
    why: "the same, but that one is gone",
    config: server,
    live: { status: "absent", matches: [], alike: [remote({ ...liveService, domain: null }, "gone")] },
    actions: ["create"],
    says: [],
  },
  {
    why: "a lost create beside something else that is new: a host may show it in a form of its own",
    type: "hosting_webhook",
    config: hook,
    prior: hook as JsonObject,
    mark: { pending: LOST },
    live: listing(START, other),
    actions: ["no-op"],
    says: ["warning plan.pending"],
  },
  {
    why: "a lost create that made the one that is like it, beside something else that is new",
    type: "hosting_webhook",
    config: hook,
    prior: { ...(hook as JsonObject), secret: "whsec" },
    mark: { pending: LOST },
    live: listing(START, remote(liveWebhook), other),
    actions: ["no-op"],
    after: { id: "201" },
  },
  {
    why: "a lost create of a webhook that another address has: an error, and no second one",
    type: "hosting_webhook",
    config: hook,
    prior: hook as JsonObject,
    mark: { pending: LOST },
    live: listing(START, remote(liveWebhook)),
    holder: "hosting_webhook.b",
    actions: ["no-op"],
    says: ["error plan.exists"],
  },
  {
    why: "a lost create beside an object of which the API does not yet show whether it is there",
    type: "hosting_webhook",
    config: hook,
    prior: hook as JsonObject,
    mark: { pending: LOST },
    live: { status: "absent", matches: [], waitsFor: "service 1001" },
    actions: ["create"],
  },
  {
    why: "an expired grant whose create made nothing: forgotten, and not sent again",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-11-21T09:30:00Z" },
    prior: { ...grant, expires_at: "2026-11-21T09:30:00Z" } as JsonObject,
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createGrant", knowsAll: true } },
    live: listing(START),
    actions: ["forget"],
    reasons: ["gone"],
    remembers: {},
    says: ["warning plan.expired"],
  },
  {
    why: "an expired grant whose create may not be listed yet",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-11-21T09:30:00Z" },
    prior: { ...grant, expires_at: "2026-11-21T09:30:00Z" } as JsonObject,
    mark: { pending: { since: "2026-11-21T09:59:00Z", operation: "createGrant", knowsAll: true } },
    live: listing(START),
    actions: ["no-op"],
    remembers: { pending: { since: "2026-11-21T09:59:00Z", operation: "createGrant", knowsAll: true } },
    says: ["warning plan.expired"],
  },
  {
    why: "an expired grant whose create made it: adopted, and nothing is sent",
    type: "hosting_grant",
    config: { ...grant, expires_at: "2026-11-21T09:30:00Z" },
    prior: { ...grant, expires_at: "2026-11-21T09:30:00Z" } as JsonObject,
    mark: { pending: { since: "2026-11-21T09:00:00Z", operation: "createGrant", knowsAll: true } },
    live: listing(START, remote({ ...liveGrant, created_at: "2026-11-21T09:00:03Z" })),
    actions: ["no-op"],
    after: { id: "301" },
    remembers: {},
  },
];

const otherServer = (pending: Intent) => ({
  ...recorded("hosting_service.other", server),
  private: { pending },
});

function inputOf({
  type = "hosting_service",
  config,
  prior,
  mark = {},
  live,
  phase = "live",
  importId,
  adopting = false,
  reorder = false,
  orderAnyway = false,
  holder,
  sibling,
  abandoned,
  plans = [],
}: Case): PlanInput {
  const kind = kindOf(type);
  const address = `${type}.acme`;
  const observed: Observation =
    live !== undefined && "status" in live && ["present", "gone", "absent"].includes(String(live.status))
      ? (live as Observation)
      : { status: "present", attributes: complete(kind, { ...prior, ...(live as JsonObject) }), phase };
  return {
    kind,
    address,
    provider: "default",
    declared: split(config).known as JsonObject,
    config: validate(kind, config, address).values,
    prior: prior === undefined ? undefined : recorded(address, prior, { private: mark }),
    observed: mark.pending === undefined ? observed : whole(observed, START),
    ...(importId !== undefined && { importId }),
    adopting,
    dependsOn: [],
    reorder,
    orderAnyway,
    ...(sibling !== undefined && { siblings: [otherServer(sibling)] }),
    ...(abandoned !== undefined && { abandoned: [otherServer(abandoned)] }),
    ...(holder !== undefined && { ownerOf: () => holder }),
    plans: plans as readonly PlanRecord[],
    now: START,
  };
}

describe("the plan of a resource", () => {
  it.each(cases)("$why", (one) => {
    const { change, ...said } = planResource(inputOf(one));
    const diagnostics = [...said.diagnostics, ...(said.conditions ?? []).map(conditionWarning)];
    expect(change.actions).toEqual(one.actions);
    if (one.reasons !== undefined) {
      expect(change.reasons.map(({ why, attribute }) => [why, attribute].filter(Boolean).join(" "))).toEqual(
        one.reasons,
      );
    }
    if (one.deferred !== undefined) expect(change.deferred).toEqual(one.deferred);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(one.says ?? []);
    if (one.requests !== undefined) expect(change.requests).toBe(one.requests);
    if (one.unknown !== undefined) expect(Object.keys(change.after_unknown)).toEqual(one.unknown);
    expect(change.unfulfilled).toBe(one.unfulfilled);
    if (one.remembers !== undefined) expect(change.private).toEqual(one.remembers);
    if (one.after === null) expect(change.after).toBeNull();
    else if (one.after !== undefined) expect(change.after).toMatchObject(one.after);
  });

  // After an intended change, run `npm test -- -u test/unit/core/lifecycle/plan.test.ts` and review the diff of the
  // golden file.
  it("equals the golden file for each case", async () => {
    const text = cases.map((one) => {
      const { change, result, ...said } = planResource(inputOf(one));
      const diagnostics = [...said.diagnostics, ...(said.conditions ?? []).map(conditionWarning)];
      return `# ${one.why}\n${fullText({ change, diagnostics })}\nresult ${fullText(split(result))}\n`;
    });
    await expect(text.join("\n")).toMatchFileSnapshot("../../../golden/lifecycle/plans.txt");
  });

  it("is plain JSON, and equal each time", () => {
    for (const one of cases) {
      const { change } = planResource(inputOf(one));
      expect(JSON.parse(JSON.stringify(change))).toStrictEqual(change);
      expect(planResource(inputOf(one)).change).toEqual(change);
    }
  });

  it("has errors with a fix and a position", () => {
    for (const one of cases) {
      for (const diagnostic of planResource(inputOf(one)).diagnostics.filter(isError)) {
        expect(fixOf(diagnostic), one.why).toMatch(/`|put|Correct/);
        expect(diagnostic.address, one.why).toMatch(/\.acme$/);
      }
    }
  });

  it("never shows a write-only value", () => {
    const password = "a very secret word";
    for (const prior of [undefined, service]) {
      const one: Case = {
        why: "",
        config: { ...order, password, password_version: 1 },
        ...(prior && { prior }),
        ...(!prior && { live: ABSENT }),
        actions: [],
      };
      const { change, result } = planResource({ ...inputOf(one), declared: { password } });
      expect(JSON.stringify([change, result])).not.toContain(password);
    }
  });

  it("names its secrets: by kind, by source, and by the state", () => {
    const one = inputOf({ why: "", config: order, prior: service, actions: [] });
    const prior = { ...recorded(one.address, service), sensitive: ["reference", "password"] };
    const { change } = planResource({ ...one, prior, origins: { coupon_code: { from: ["env.COUPON"] } } });
    expect(change.sensitive).toEqual(["password", "generated_password", "coupon_code", "reference"]);
  });

  it.each([["shows that a secret is declared, not which", "long enough", true]])("%s", (_, password, shown) => {
    const one = inputOf({ why: "", config: order, prior: service, actions: [] });
    expect(planResource({ ...one, declared: { password } }).change.config).toEqual({ password: shown });
  });

  it.each<[why: string, config: ValueObject, more: Partial<PlanInput>, text: string]>([
    ["the value and its place", { suspended: true }, {}, "hosting.yaml declares suspended: true (line 12)"],
  ])("names in the reason for a change its origin: %s", (_, config, more, text) => {
    const input = inputOf({
      why: "",
      config: { ...order, ...config },
      prior: { ...service, deletion_policy: "forget" },
      actions: [],
    });
    const locate = ([name]: readonly unknown[]) => ({ file: "hosting.yaml", line: name === undefined ? 3 : 12 });
    const { change } = planResource({ ...input, locate, ...more });
    expect(change.reasons.map((reason) => reason.text)).toContain(text);
  });

  it("orders a deleted service again under the next generation", () => {
    const one: Case = { why: "", config: order, prior: service, live: GONE, reorder: true, actions: [] };
    expect(planResource(inputOf(one)).change.private).toEqual({ generation: 2 });
    expect(planResource(inputOf({ ...one, mark: { generation: 2 } })).change.private).toEqual({ generation: 3 });
  });
});
