data "hosting_webhooks" "billing" {
  events = ["invoice.paid"]
}

output "hooks" {
  value = data.hosting_webhooks.billing.webhooks[*].url
}
