# Live services of the domain that no known state contains, with their attributes.
list "hosting_service" "acme" {
  provider         = hosting
  include_resource = true
  limit            = 1000

  config {
    domain    = "*.acme.example"
    phase     = "live"
    unmanaged = true
  }
}
