import type { Sample } from "../sample.ts";

export const sample: Sample = {
  address: "hosting_client_account.sample",
  collection: "accounts",
  createPath: "/accounts",
  attributes: { name: "Sample", company_name: "Sample LLC", company_number: "1", vat_number: "GE1", currency: "GEL" },
  others: { name: "Other", company_name: "Other LLC", company_number: "2", vat_number: "GE2", currency: "EUR" },
  drift: { attribute: "company_name", fields: { company_name: "Sample and Sons LLC" } },
};
