# A module of its own, so that the tests can say what it would have found.
module "prices" {
  source     = "./modules/prices"
  currencies = toset([for client in var.clients : client.currency])
}

data "hosting_invoices" "open" {
  paid = false
}

locals {
  # Every declared site with what its plan costs; null for a plan that cannot be ordered in this currency.
  orders = merge([
    for key, client in var.clients : {
      for name, site in client.sites : "${key}/${name}" => {
        plan     = "plan ${site.plan_id} in ${client.currency}"
        currency = client.currency
        price    = lookup(module.prices.list[client.currency], site.plan_id, null)
      }
    }
  ]...)

  unpriced  = [for site, order in local.orders : "${site} (${order.plan})" if order.price == null]
  expensive = [for site, order in local.orders : "${site} (${order.plan}: ${order.price})" if order.price == null ? false : order.price > lookup(var.highest_price, order.currency, order.price)]
  overdue   = [for invoice in data.hosting_invoices.open.invoices : invoice.invoice_number if invoice.due_date == null ? false : timecmp("${invoice.due_date}T23:59:59Z", plantimestamp()) < 0]
}

# Checks warn at each plan and apply; they do not stop them.
check "plans_can_be_ordered" {
  assert {
    condition     = length(local.unpriced) == 0
    error_message = "Not among the plans that can be ordered: ${join(", ", local.unpriced)}."
  }
}

check "prices" {
  assert {
    condition     = length(local.expensive) == 0
    error_message = "More expensive than highest_price allows: ${join(", ", local.expensive)}."
  }
}

check "invoices" {
  assert {
    condition     = length(local.overdue) == 0
    error_message = "Overdue: ${join(", ", local.overdue)}."
  }
}
