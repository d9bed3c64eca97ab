output "sites" {
  description = "Every site by client."
  value       = { for key, client in module.client : key => client.sites }
}

output "billed" {
  description = "What the orders were billed, by currency, in the API's own unit."
  value = {
    for currency in toset([for client in var.clients : client.currency]) : currency => sum([
      for key, client in var.clients : sum([for site in module.client[key].sites : coalesce(site.billed, 0)])
      if client.currency == currency
    ])
  }
}

output "operations_secret" {
  description = "Signing secret of the webhook for operations."
  value       = hosting_webhook.operations.secret
  sensitive   = true
}
