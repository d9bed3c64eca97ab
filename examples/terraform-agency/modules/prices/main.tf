variable "currencies" {
  description = "Currencies that are ordered in."
  type        = set(string)
}

# What can be ordered, and for how much: read at each plan.
data "hosting_plans" "in" {
  for_each = var.currencies
  currency = each.value
}

output "list" {
  description = "Currency -> plan -> list price of a billing cycle, in the API's own unit."
  value = {
    for currency, found in data.hosting_plans.in : currency => { for plan in found.plans : tostring(plan.plan_id) => plan.price }
  }
}
