# The sites of one client that are offline.
data "hosting_services" "suspended" {
  phase  = "suspended"
  domain = "*.acme.example"
}

output "suspended" {
  value = [for service in data.hosting_services.suspended.services : service.domain]
}
