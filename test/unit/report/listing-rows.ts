import type { Listing, Listings } from "../../../src/report/index.ts";

/** Sample records of each listing. */
export const listingRows: { readonly [L in Listing]: readonly Listings[L][] } = {
  plans: [
    {
      plan_id: 101,
      name: "Shared S",
      product_type: "shared",
      billing_cycle: "monthly",
      currency: "USD",
      price: 2000,
      prices: {},
      manage_discount_percent: 10,
      price_after_discount: 1800,
    },
    {
      plan_id: 7,
      name: "VPS",
      product_type: null,
      billing_cycle: null,
      currency: null,
      price: null,
      prices: { USD: 900, GEL: 2400 },
      manage_discount_percent: null,
      price_after_discount: null,
    },
    {
      plan_id: 8,
      name: "Desk",
      product_type: null,
      billing_cycle: null,
      currency: null,
      price: null,
      prices: {},
      manage_discount_percent: null,
      price_after_discount: null,
    },
  ],
  services: [
    {
      id: "1001",
      plan: "Shared S",
      product_type: "shared",
      status: "active",
      provisioning_status: "provisioned",
      domain: "www.acme.example",
      billing_cycle: "annually",
      currency: "USD",
      price: 2000,
      next_due_date: "2027-11-21",
    },
  ],
  invoices: [
    {
      id: "501",
      invoice_number: "INV-2026-000123",
      status: "unpaid",
      currency: "USD",
      total: 1800,
      due_date: "2026-12-05",
      paid_at: null,
      order_id: "1001",
    },
  ],
  grants: [{ id: "7", email: "dev@acme.example", permission: "manage", expires_at: null }],
  webhooks: [{ id: "31", url: "https://hooks.acme.example", events: ["invoice.paid", "service.activated"] }],
  accounts: [
    {
      id: "c-1",
      name: "Ana",
      company_name: "Acme",
      company_number: null,
      vat_number: "GE1",
      currency: "GEL",
      created_at: "2026-11-21T10:00:00Z",
    },
  ],
  migrations: [{ id: "3", domain: "blog.acme.example", order_id: "1001", status: "draft", created_at: null }],
  domains: [
    { domain: "acme.example", available: true },
    { domain: "taken.example", available: false },
    { domain: "odd.example", available: null },
  ],
  state: [
    { address: "hosting_service.acme", id: "1001", provider: "default" },
    { address: 'hosting_grant.acme["dev@acme.example"]', id: 7, provider: "beta" },
  ],
};
