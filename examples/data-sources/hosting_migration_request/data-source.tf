data "hosting_migration_request" "www" {
  id = "501"
}

output "migration" {
  value = data.hosting_migration_request.www.status
}
