resource "hosting_service" "shared" {
  plan_id  = 11
  currency = "USD"
  domain   = "shared.acme.example"
}

# A team, by e-mail address.
resource "hosting_grant" "team" {
  for_each = {
    "dev@acme.example"  = "manage"
    "boss@acme.example" = "view"
  }

  service_id = hosting_service.shared.id
  email      = each.key
  permission = each.value
}

# Until the end of January 2030.
resource "hosting_grant" "auditor" {
  service_id = hosting_service.shared.id
  email      = "audit@acme.example"
  permission = "view"
  expires_at = "2030-01-31T00:00:00Z"
}
