# The API shows the signing secret once: an import cannot read it.
import {
  to = hosting_webhook.billing
  id = "201"
}
