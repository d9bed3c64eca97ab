import type { Sample } from "../sample.ts";

export const sample: Sample = {
  address: "hosting_migration_request.sample",
  collection: "migration_requests",
  createPath: "/migration-requests",
  attributes: { domain: "old.sample.example", order_id: "1003", questions: { source: "cpanel" } },
  others: { domain: "other.sample.example", order_id: "1004", questions: { source: "plesk" } },
  drift: { attribute: "domain", fields: { domain: "drifted.sample.example" } },
  prepare: (control) => void control.seedServices({ count: 2 }),
};
