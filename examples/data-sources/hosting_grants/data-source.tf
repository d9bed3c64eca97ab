data "hosting_service" "www" {
  domain = "www.acme.example"
}

data "hosting_grants" "www" {
  service_id = data.hosting_service.www.id
}

output "managers" {
  value = [for grant in data.hosting_grants.www.grants : grant.email if grant.permission == "manage"]
}
