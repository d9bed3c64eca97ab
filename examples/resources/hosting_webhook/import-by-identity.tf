import {
  to = hosting_webhook.billing
  identity = {
    id = "201"
  }
}
