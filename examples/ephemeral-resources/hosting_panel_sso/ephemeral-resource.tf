data "hosting_service" "www" {
  domain = "www.acme.example"
}

# Opened at each plan and each apply; in no plan and no state.
ephemeral "hosting_panel_sso" "www" {
  service_id = data.hosting_service.www.id
}

# Passed to a program that signs on: once, when this resource is created.
resource "terraform_data" "sign_on" {
  provisioner "local-exec" {
    command     = "curl --fail --silent --location --output /dev/null \"$SIGN_ON_URL\""
    environment = { SIGN_ON_URL = ephemeral.hosting_panel_sso.www.url }
  }
}
