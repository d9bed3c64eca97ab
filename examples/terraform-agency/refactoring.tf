# What exists already is adopted, not ordered again.
import {
  for_each = var.adopt
  to       = module.client[each.value.client].hosting_service.site[each.value.site]
  id       = each.key
}

# The webhook had another name.
moved {
  from = hosting_webhook.billing
  to   = hosting_webhook.bookkeeping
}

# No longer managed here. Nothing happens to the account.
removed {
  from = hosting_client_account.legacy

  lifecycle {
    destroy = false
  }
}
