data "hosting_domain_availability" "names" {
  domains = ["acme.example", "acme-shop.example"]
}

output "free" {
  value = [for domain, available in data.hosting_domain_availability.names.available : domain if available == true]
}
