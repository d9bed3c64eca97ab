# By number, or by name. The price is the one in this currency.
data "hosting_plan" "start" {
  name     = "Shared Start"
  currency = "EUR"
}

resource "hosting_service" "blog" {
  plan_id  = data.hosting_plan.start.plan_id
  currency = "EUR"
  domain   = "blog.acme.example"

  lifecycle {
    precondition {
      condition     = coalesce(data.hosting_plan.start.price, 0) <= 600
      error_message = "The plan costs more than 600 a month, in the API's own unit."
    }
  }
}
