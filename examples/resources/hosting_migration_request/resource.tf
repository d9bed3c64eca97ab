resource "hosting_service" "moving" {
  plan_id  = 11
  currency = "USD"
  domain   = "moving.acme.example"
}

resource "hosting_migration_request" "moving" {
  domain   = "moving.acme.example"
  order_id = hosting_service.moving.id

  # Sent as they are. Lists and objects are given with jsonencode.
  questions = {
    source    = "cpanel"
    mailboxes = "12"
    databases = jsonencode(["shop", "blog"])
  }
}
