/** Fills the account of an agency with the control API, without hostform. Tests of `adopt` use this account. */
import type { Sandbox } from "../../src/sandbox/index.ts";
import { ENDING_LISTS, type Pinned } from "./sandbox.ts";

/** Profile values whose lists need exactly one request for each page. Tests that count requests use them. */
export const COUNTABLE = { envelope: ENDING_LISTS, pages: ["from_one"] } as const satisfies Pinned;

interface AgencySize {
  readonly services: number;
  /** Number of webhooks. Default: 12. */
  readonly webhooks?: number;
  /** Number of client accounts. Default: 41. */
  readonly accounts?: number;
}

/** Creates this number of services, 1.5 grants for each service, webhooks on one host, and client accounts. */
export function fillAgency(control: Sandbox["control"], { services, webhooks = 12, accounts = 41 }: AgencySize): void {
  const made = services === 0 ? [] : control.seedServices({ count: services });
  for (const [at, { id }] of made.entries()) {
    control.create("grants", { service_id: id, email: "dev@agency.example", permission: "manage" });
    if (at % 2 === 1) continue;
    const owner = {
      email: `owner-${at}@client.example`,
      permission: "view",
      expires_at: "2030-01-31T00:00:00Z",
    } as const;
    control.create("grants", { service_id: id, ...owner });
  }
  for (let at = 0; at < webhooks; at++) {
    const url = `https://hooks.agency.example/${at}`;
    control.create("webhooks", { url, events: ["invoice.paid", "invoice.created"] });
  }
  for (let at = 0; at < accounts; at++) control.create("accounts", { name: `Client ${at}`, currency: "USD" });
}
