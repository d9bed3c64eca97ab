resource "hosting_client_account" "bakery" {
  name           = "Old Town Bakery"
  company_name   = "Old Town Bakery LLC"
  company_number = "405100200"
  currency       = "GEL"

  # The API cannot delete an account: forget it when this block is destroyed.
  deletion_policy = "forget"
}
