data "hosting_invoices" "open" {
  unpaid   = true
  currency = "USD"
  domain   = "*.acme.example"
}

output "owed" {
  description = "Sum of the open invoices of a client's sites, in the API's own unit."
  value       = sum(concat([0], data.hosting_invoices.open.invoices[*].total))
}
