import type { Sample } from "../sample.ts";

export const sample: Sample = {
  address: "hosting_service.sample",
  collection: "services",
  createPath: "/services",
  attributes: { plan_id: 11, currency: "USD", domain: "www.sample.example", term: 12, coupon_code: "YEAR20" },
  others: {
    plan_id: 12,
    currency: "EUR",
    domain: "other.sample.example",
    term: 24,
    coupon_code: "WELCOME10",
    suspended: true,
    password: { env: "SAMPLE_PASSWORD" },
    password_version: 1,
  },
  together: { password: { password_version: 1 }, password_version: { password: { env: "SAMPLE_PASSWORD" } } },
  orderedWith: { coupon_code: { term: 1 } },
  env: { SAMPLE_PASSWORD: "correct horse battery" },
  drift: { attribute: "suspended", fields: { status: "suspended" } },
};
