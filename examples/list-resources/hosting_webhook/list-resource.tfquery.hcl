# Subscriptions of a receiver that no known state contains.
list "hosting_webhook" "stray" {
  provider = hosting

  config {
    url       = "https://hooks.acme.example/*"
    unmanaged = true
  }
}
