variable "shop_password" {
  type      = string
  sensitive = true
}

data "hosting_service" "www" {
  domain = "www.acme.example"
}

# terraform apply -invoke=action.hosting_reset_password.www
action "hosting_reset_password" "www" {
  config {
    service_id = data.hosting_service.www.id
    password   = var.shop_password
  }
}

# A server generates its password, and only the file receives it.
action "hosting_reset_password" "server" {
  config {
    service_id    = "1042"
    secret_output = { file = "secrets/server.password" }
  }
}
