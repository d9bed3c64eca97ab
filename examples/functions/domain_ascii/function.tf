# Names as clients write them: upper case, umlauts, a dot at the end.
locals {
  sites = ["Bücher.example", "WWW.Acme.example."]
}

output "domains" {
  value = [for site in local.sites : provider::hosting::domain_ascii(site)]
}
