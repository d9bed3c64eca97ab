import type { Sample } from "../sample.ts";

/**
 * The shared service: the first one that the control seeds. Its deletion_policy is "forget", so only the sample is
 * reported.
 */
const HOME = { plan_id: 11, currency: "USD", import: "1003", deletion_policy: "forget" };

export const sample: Sample = {
  address: 'hosting_grant.home["dev@sample.example"]',
  collection: "grants",
  createPath: "/services/:id/grants",
  attributes: { permission: "view", expires_at: "2027-06-30" },
  implied: { service_id: "1003", email: "dev@sample.example" },
  others: { permission: "manage", expires_at: "2027-07-31T12:00:00Z" },
  drift: { attribute: "permission", fields: { permission: "manage" } },
  document: (block) => ({
    services: { home: { ...HOME, ...(block !== null && { grants: { "dev@sample.example": block } }) } },
  }),
  prepare: (control) => void control.seedServices({ plan_id: 11 }),
};
