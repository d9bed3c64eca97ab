# By id, or by invoice_number.
data "hosting_invoice" "first" {
  id = "5003"
}

output "first_invoice" {
  value = "${data.hosting_invoice.first.invoice_number}: ${data.hosting_invoice.first.paid ? "paid" : "due ${data.hosting_invoice.first.due_date}"}"
}
