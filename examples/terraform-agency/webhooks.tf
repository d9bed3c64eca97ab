resource "hosting_webhook" "operations" {
  url    = "${var.hooks}/operations"
  events = ["service.provisioned", "service.suspended", "service.terminated"]

  # The new subscription is created before the old one is deleted, so no event is lost.
  lifecycle {
    create_before_destroy = true
  }
}

resource "hosting_webhook" "bookkeeping" {
  url    = "${var.hooks}/bookkeeping"
  events = ["invoice.created", "invoice.paid", "service.expiring"]

  # The receiver reads its secret from here. The state keeps a fingerprint.
  secret_output = { file = "bookkeeping.secret" }

  lifecycle {
    create_before_destroy = true
  }
}
