resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/billing"
  events = ["invoice.paid"]
}

locals {
  delivery = jsonencode({
    event     = "invoice.paid"
    data      = { id = 5003 }
    timestamp = "2030-01-01T00:00:00Z"
  })
}

# What the receiver of this delivery must find in X-Service-Signature.
output "signature" {
  value     = provider::hosting::webhook_signature(local.delivery, hosting_webhook.billing.secret)
  sensitive = true
}
