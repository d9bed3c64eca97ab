# The signing secret is told once: an import does not learn it.
import {
  to = hosting_webhook.billing
  id = "201"
}
