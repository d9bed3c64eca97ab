data "hosting_service" "www" {
  domain = "www.acme.example"
}

data "hosting_grants" "staff" {
  service_id = data.hosting_service.www.id
  email      = "*@acme.example"
  permission = "manage"
}

output "managers" {
  value = data.hosting_grants.staff.grants[*].email
}
