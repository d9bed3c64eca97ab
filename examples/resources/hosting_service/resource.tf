# A site. The order raises an invoice; the site is provisioned when that is paid.
resource "hosting_service" "www" {
  plan_id  = 11
  currency = "USD"
  domain   = "www.acme.example"
  term     = 12

  # The API cannot delete a service: suspend it when this block is destroyed.
  deletion_policy = "suspend"
}

variable "shop_password" {
  type      = string
  ephemeral = true
}

# A site with a control-panel password, which is in no plan and no state.
resource "hosting_service" "shop" {
  plan_id  = 21
  currency = "USD"
  domain   = "shop.acme.example"

  password         = var.shop_password
  password_version = 1 # raise it to set the password again
}

# A server has no domain, so its order needs its own name.
resource "hosting_service" "build" {
  plan_id   = 31
  currency  = "EUR"
  reference = "build-1"

  # The host generates the password and shows it once: it goes to this file.
  password_version = 1
  secret_output    = { file = "build-1.password" }
}
