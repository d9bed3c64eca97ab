# One module for each client. A client is a key of a map: adding one in the middle moves nothing.
module "client" {
  source   = "./modules/client"
  for_each = var.clients

  key    = each.key
  client = each.value
  team   = var.team

  panel_password         = var.panel_password
  panel_password_version = var.panel_password_version
}

resource "hosting_domain" "harbor" {
  domain          = "harbor-cafe.example"
  years           = 1
  currency        = "USD"
  nameserver_mode = "default"

  registrant_contact = {
    first_name = "Nino"
    last_name  = "Harbor"
    email      = "nino@harbor-cafe.example"
    phone      = "+995 555 010203"
    address    = "7 Port Street"
    city       = "Batumi"
    postcode   = "6000"
    country    = "GE"
  }

  deletion_policy = "forget"
}

# The agency's own site, in its other account.
resource "hosting_service" "own_site" {
  provider = hosting.own

  plan_id         = 11
  currency        = "EUR"
  domain          = "www.agency.example"
  deletion_policy = "forget"
}
