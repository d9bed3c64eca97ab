data "hosting_services" "suspended" {
  phase = "suspended"
}

output "suspended" {
  value = [for service in data.hosting_services.suspended.services : coalesce(service.domain, service.id)]
}
