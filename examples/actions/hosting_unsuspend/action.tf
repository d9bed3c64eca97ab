data "hosting_service" "www" {
  domain = "www.acme.example"
}

# terraform apply -invoke=action.hosting_unsuspend.www
action "hosting_unsuspend" "www" {
  config {
    service_id = data.hosting_service.www.id
  }
}
