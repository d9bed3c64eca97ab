data "hosting_migration_requests" "all" {}

output "migrations" {
  value = { for request in data.hosting_migration_requests.all.migration_requests : request.domain => request.status... }
}
