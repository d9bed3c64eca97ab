import type { Sample } from "../sample.ts";

export const sample: Sample = {
  address: "hosting_webhook.sample",
  collection: "webhooks",
  createPath: "/webhooks",
  attributes: { url: "https://hooks.sample.example/hosting", events: ["invoice.paid", "service.provisioned"] },
  others: { url: "https://hooks.sample.example/other", events: ["invoice.paid"] },
  drift: { attribute: "events", fields: { events: ["invoice.created"] } },
};
