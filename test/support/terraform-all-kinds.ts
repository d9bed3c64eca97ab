/** One declaration of all six kinds with their attributes, for YAML and for Terraform. */

const CONTACT = {
  first_name: "Ana",
  last_name: "Acme",
  email: "ana@acme.example",
  phone: "+995 555 000000",
  address: "1 Rustaveli Ave",
  city: "Tbilisi",
  postcode: "0108",
  country: "GE",
};

/** Declaration for hostform. TF_VAR_password contains the password. */
export const YAML = {
  project: "both",
  services: {
    www: {
      plan_id: 11,
      currency: "USD",
      domain: "www.acme.example",
      term: 12,
      coupon_code: "YEAR20",
      reference: "www",
      suspended: true,
      password: { env: "TF_VAR_password" },
      password_version: 2,
      deletion_policy: "suspend",
      grants: {
        "dev@acme.example": "manage",
        "Boss@Acme.example": { permission: "view", expires_at: "2099-01-31T00:00:00Z" },
      },
    },
    box: { plan_id: 31, currency: "USD", reference: "box", password_version: 1, deletion_policy: "forget" },
    plain: { plan_id: 21, currency: "EUR", domain: "plain.acme.example" },
  },
  webhooks: {
    billing: { url: "https://hooks.acme.example/billing", events: ["invoice.paid", "invoice.created"] },
    ops: { url: "https://hooks.acme.example", events: ["service.suspended"], secret_output: { file: "ops.secret" } },
  },
  client_accounts: { acme: { name: "Acme", company_name: "Acme LLC", currency: "GEL" }, bare: { name: "Bare" } },
  migration_requests: {
    acme: {
      domain: "www.acme.example",
      order_id: "${hosting_service.www.id}",
      questions: { source: "cpanel", mailboxes: 3, folders: ["a", "b"] },
    },
  },
  domains: {
    acme: {
      domain: "acme.example",
      years: 2,
      currency: "USD",
      nameserver_mode: "default",
      registrant_contact: CONTACT,
      deletion_policy: "forget",
    },
  },
};

/** Declaration for Terraform, without the `required_providers` block. */
export const HCL = `
variable "password" {
  type      = string
  sensitive = true
  ephemeral = true
}
provider "hosting" {
  project = "both"
}
resource "hosting_service" "www" {
  plan_id          = 11
  currency         = "USD"
  domain           = "www.acme.example"
  term             = 12
  coupon_code      = "YEAR20"
  reference        = "www"
  suspended        = true
  password         = var.password
  password_version = 2
  deletion_policy  = "suspend"
}
resource "hosting_grant" "www" {
  for_each = {
    "dev@acme.example"  = { permission = "manage", expires_at = null }
    "Boss@Acme.example" = { permission = "view", expires_at = "2099-01-31T00:00:00Z" }
  }
  service_id = hosting_service.www.id
  email      = each.key
  permission = each.value.permission
  expires_at = each.value.expires_at
}
resource "hosting_service" "box" {
  plan_id          = 31
  currency         = "USD"
  reference        = "box"
  password_version = 1
  deletion_policy  = "forget"
}
resource "hosting_service" "plain" {
  plan_id  = 21
  currency = "EUR"
  domain   = "plain.acme.example"
}
resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/billing"
  events = ["invoice.paid", "invoice.created"]
}
resource "hosting_webhook" "ops" {
  url           = "https://hooks.acme.example"
  events        = ["service.suspended"]
  secret_output = { file = "ops.secret" }
}
resource "hosting_client_account" "acme" {
  name         = "Acme"
  company_name = "Acme LLC"
  currency     = "GEL"
}
resource "hosting_client_account" "bare" {
  name = "Bare"
}
resource "hosting_migration_request" "acme" {
  domain   = "www.acme.example"
  order_id = hosting_service.www.id
  questions = {
    source    = "cpanel"
    mailboxes = 3
    folders   = jsonencode(["a", "b"])
  }
}
resource "hosting_domain" "acme" {
  domain          = "acme.example"
  years           = 2
  currency        = "USD"
  nameserver_mode = "default"
  registrant_contact = {
${Object.entries(CONTACT)
  .map(([name, value]) => `    ${name} = ${JSON.stringify(value)}`)
  .join("\n")}
  }
  deletion_policy = "forget"
}
`;
/** Addresses in both states, sorted. */
export const ADDRESSES = [
  "hosting_client_account.acme",
  "hosting_client_account.bare",
  "hosting_domain.acme",
  'hosting_grant.www["Boss@Acme.example"]',
  'hosting_grant.www["dev@acme.example"]',
  "hosting_migration_request.acme",
  "hosting_service.box",
  "hosting_service.plain",
  "hosting_service.www",
  "hosting_webhook.billing",
  "hosting_webhook.ops",
];
