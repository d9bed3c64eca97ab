output "account_id" {
  description = "Id of the client account."
  value       = hosting_client_account.this.id
}

output "sites" {
  description = "The sites with their state and the invoice of the order."
  value = {
    for name, site in hosting_service.site : name => {
      id      = site.id
      domain  = site.domain
      status  = site.status
      invoice = site.invoice_number
      billed  = site.invoice_total
    }
  }
}

output "references" {
  description = "The names under which the sites are ordered."
  value       = { for name, site in hosting_service.site : name => site.reference }
}

output "access" {
  description = "Who may do what, by site."
  value = {
    for name in keys(var.client.sites) : name => {
      for key, grant in local.grants : grant.email => hosting_grant.access[key].permission if grant.site == name
    }
  }
}
