data "hosting_plan" "start" {
  name     = "Shared Start"
  currency = "USD"
}

# The host of this example counts in cents.
output "price" {
  value = provider::hosting::money(data.hosting_plan.start.price, 2, "USD")
}
