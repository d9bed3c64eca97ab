/** A small agency behind the modelled Terraform. Each address has several declarations; one of them is the final declaration. */
import type { JsonObject } from "../../src/core/model/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import type { Declaration, Declarations } from "../support/terraform-core.ts";

export interface Resource {
  readonly type: string;
  readonly variants: readonly (JsonObject & { readonly createFirst?: true })[];
  /** Index of the final declaration, for attributes that cannot change. Default: the first. */
  last?(control: Sandbox["control"], recorded: JsonObject | undefined): number;
  /** Returns the number of existing objects for each object that may exist only once. */
  count(control: Sandbox["control"]): readonly number[];
  /** Changes an existing object without Terraform. */
  drift?(control: Sandbox["control"]): void;
}

const WWW = { plan_id: 11, currency: "USD", domain: "www.agency.example", deletion_policy: "forget" };
const BOX = { plan_id: 31, currency: "USD", reference: "box", deletion_policy: "forget" };
const HOOK = { url: "https://agency.example/hook", events: ["invoice.paid"] };
const GRANT = { service_id: "1003", email: "dev@agency.example", permission: "view" };
const DOMAIN = {
  domain: "agency.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {
    first_name: "Ana",
    last_name: "Agency",
    email: "ana@agency.example",
    phone: "+995 555 000000",
    address: "1 Rustaveli Ave",
    city: "Tbilisi",
    postcode: "0108",
    country: "GE",
  },
  deletion_policy: "forget",
};

/** Returns the services of the agency. The sandbox has another service, too. */
const servicesOf = (control: Sandbox["control"]) =>
  control.list("services").filter(({ customer_id }) => customer_id === 1);

const countOf = <T>(records: readonly T[], ...tests: readonly ((record: T) => boolean)[]) =>
  tests.map((test) => records.filter(test).length);

export const AGENCY: Readonly<Record<string, Resource>> = {
  "hosting_service.www": {
    type: "hosting_service",
    variants: [
      WWW,
      { ...WWW, suspended: true },
      { ...WWW, suspended: false, password: "correct horse battery", password_version: 1 },
      { ...WWW, suspended: true, password: "battery horse correct", password_version: 2 },
      { ...WWW, coupon_code: "WELCOME10" },
      { ...WWW, plan_id: 12, replace_on_change: true, reference: "www-2", deletion_policy: "suspend" },
    ],
    last: (control, recorded) =>
      recorded?.plan_id === 12 ||
      servicesOf(control).some(({ domain, plan_id }) => domain === WWW.domain && plan_id === 12)
        ? 5
        : 0,
    count: (control) =>
      countOf(
        servicesOf(control),
        ({ domain, plan_id }) => domain === WWW.domain && plan_id === 11,
        ({ domain, plan_id }) => domain === WWW.domain && plan_id === 12,
      ),
    drift(control) {
      const [live] = servicesOf(control).filter(({ domain }) => domain === WWW.domain);
      if (live === undefined || live.status === "pending") return;
      control.change("services", live.id, { status: live.status === "suspended" ? "active" : "suspended" });
    },
  },
  "hosting_service.box": {
    type: "hosting_service",
    variants: [
      BOX,
      { ...BOX, password_version: 1 },
      { ...BOX, password_version: 2, suspended: true },
      { ...BOX, password_version: 3, secret_output: { file: "box", env_file: null, command: null } },
    ],
    count: (control) => countOf(servicesOf(control), ({ plan_id }) => plan_id === BOX.plan_id),
  },
  "hosting_webhook.hook": {
    type: "hosting_webhook",
    variants: [
      HOOK,
      { ...HOOK, url: "https://agency.example/other" },
      { ...HOOK, events: ["invoice.created"], createFirst: true },
      { ...HOOK, secret_output: { file: "hook", env_file: null, command: null } },
    ],
    count: (control) => {
      const hooks = control.list("webhooks").map(({ url, events }) => JSON.stringify([url, events]));
      return [...new Set(hooks)].map((hook) => hooks.filter((one) => one === hook).length);
    },
    drift(control) {
      const [live] = control.list("webhooks");
      if (live !== undefined) control.remove("webhooks", live.id);
    },
  },
  "hosting_grant.dev": {
    type: "hosting_grant",
    variants: [GRANT, { ...GRANT, permission: "manage" }, { ...GRANT, expires_at: "2026-11-21T10:10:00Z" }],
    count: (control) => countOf(control.list("grants"), ({ email }) => email === GRANT.email),
    drift(control) {
      const [live] = control.list("grants");
      if (live !== undefined) control.change("grants", live.id, { permission: "manage" });
    },
  },
  "hosting_client_account.acme": {
    type: "hosting_client_account",
    variants: [
      { name: "Agency Client", currency: "USD", deletion_policy: "forget" },
      { name: "Agency Client", currency: "EUR", deletion_policy: "forget" },
    ],
    last: (control, recorded) =>
      [recorded, ...control.list("accounts")].some((account) => account?.currency === "EUR") ? 1 : 0,
    count: (control) => countOf(control.list("accounts"), ({ name }) => name === "Agency Client"),
  },
  "hosting_migration_request.old": {
    type: "hosting_migration_request",
    variants: [
      { domain: "old.agency.example", questions: { source: "cpanel" }, deletion_policy: "forget" },
      { domain: "old.agency.example", questions: { source: "plesk" }, deletion_policy: "prevent" },
    ],
    count: (control) => countOf(control.list("migration_requests"), ({ domain }) => domain === "old.agency.example"),
  },
  "hosting_domain.agency": {
    type: "hosting_domain",
    variants: [DOMAIN, { ...DOMAIN, years: 2 }],
    last: (control, recorded) => ([recorded, ...control.list("domains")].some((one) => one?.years === 2) ? 1 : 0),
    count: (control) => countOf(control.list("domains"), ({ domain }) => domain === DOMAIN.domain),
  },
};

/** Declarations of the addresses, each in one variant. */
export function declarationsOf(chosen: ReadonlyMap<string, number>): Declarations {
  return Object.fromEntries(
    [...chosen].flatMap(([address, at]): [string, Declaration][] => {
      const resource = AGENCY[address];
      const { createFirst, ...config } = resource?.variants[at % resource.variants.length] ?? {};
      return resource === undefined
        ? []
        : [[address, { type: resource.type, config, createBeforeDestroy: createFirst === true }]];
    }),
  );
}
