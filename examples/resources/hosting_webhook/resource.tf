resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/billing"
  events = ["invoice.created", "invoice.paid"]

  # A change replaces the subscription. The new one first, so that no event is lost.
  lifecycle {
    create_before_destroy = true
  }
}

# The signing secret goes to a line of a file instead of the state.
resource "hosting_webhook" "audit" {
  url    = "https://hooks.acme.example/audit"
  events = ["service.suspended", "service.terminated"]

  secret_output = {
    env_file = {
      path = "hooks.env"
      name = "AUDIT_SECRET"
    }
  }
}
