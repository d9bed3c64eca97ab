data "hosting_plans" "wordpress" {
  product_type = "wordpress"
  currency     = "USD"
}

output "wordpress_prices" {
  description = "List price by plan, in the API's own unit."
  value       = { for plan in data.hosting_plans.wordpress.plans : plan.name => plan.price }
}
