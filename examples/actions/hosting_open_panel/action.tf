data "hosting_service" "www" {
  domain = "www.acme.example"
}

# terraform apply -invoke=action.hosting_open_panel.www
action "hosting_open_panel" "www" {
  config {
    service_id = data.hosting_service.www.id
  }
}

# Without a browser on this machine: the file then contains the URL.
action "hosting_open_panel" "file" {
  config {
    service_id    = data.hosting_service.www.id
    secret_output = { file = "panel.url" }
  }
}
