data "hosting_client_accounts" "bakeries" {
  name = "*bakery*"
}

output "clients" {
  value = { for account in data.hosting_client_accounts.bakeries.client_accounts : account.id => account.name }
}
