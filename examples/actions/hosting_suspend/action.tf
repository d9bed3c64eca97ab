data "hosting_service" "www" {
  domain = "www.acme.example"
}

# terraform apply -invoke=action.hosting_suspend.www
action "hosting_suspend" "www" {
  config {
    service_id = data.hosting_service.www.id
  }
}
