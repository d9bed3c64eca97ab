resource "hosting_client_account" "this" {
  name            = var.client.name
  company_name    = var.client.company_name
  company_number  = var.client.company_number
  currency        = var.client.currency
  deletion_policy = "forget"
}

resource "hosting_service" "site" {
  for_each = var.client.sites

  plan_id  = each.value.plan_id
  currency = var.client.currency
  domain   = each.value.domain
  term     = each.value.term

  # Names the order: the site may move to another domain name, module or address later.
  reference = "${var.key}-${each.key}"

  # When a site leaves the list it is suspended, and its data kept.
  deletion_policy = "suspend"

  password         = var.panel_password
  password_version = var.panel_password_version

  timeouts = { update = "20m" }
}

locals {
  # "www/dev@agency.example" -> the grant. The client's own entries override the team's.
  grants = merge([
    for site, wanted in var.client.sites : {
      for email, permission in merge(var.team, wanted.access) : "${site}/${email}" => {
        site       = site
        email      = email
        permission = permission
      }
    }
  ]...)
}

resource "hosting_grant" "access" {
  for_each = local.grants

  service_id = hosting_service.site[each.value.site].id
  email      = each.value.email
  permission = each.value.permission
}

resource "hosting_migration_request" "site" {
  for_each = { for name, site in var.client.sites : name => site if site.migrate_from != null }

  domain          = each.value.domain
  order_id        = hosting_service.site[each.key].id
  questions       = { source = each.value.migrate_from }
  deletion_policy = "forget"
}
