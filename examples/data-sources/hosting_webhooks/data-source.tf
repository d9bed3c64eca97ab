data "hosting_webhooks" "all" {}

output "hooks" {
  value = data.hosting_webhooks.all.webhooks[*].url
}
