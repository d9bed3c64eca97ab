data "hosting_invoices" "open" {
  paid     = false
  currency = "USD"
}

output "owed" {
  description = "Sum of the open invoices, in the API's own unit."
  value       = sum(concat([0], data.hosting_invoices.open.invoices[*].total))
}
