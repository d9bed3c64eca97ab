data "hosting_client_accounts" "all" {}

output "clients" {
  value = { for account in data.hosting_client_accounts.all.client_accounts : account.id => account.name }
}
