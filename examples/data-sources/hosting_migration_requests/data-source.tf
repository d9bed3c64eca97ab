data "hosting_migration_requests" "acme" {
  domain = "*.acme.example"
}

output "migrations" {
  value = { for request in data.hosting_migration_requests.acme.migration_requests : request.domain => request.status... }
}
