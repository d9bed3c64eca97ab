# By domain, or by id.
data "hosting_service" "www" {
  domain = "www.acme.example"
}

output "www" {
  value = "${data.hosting_service.www.plan}, ${data.hosting_service.www.phase}"
}
