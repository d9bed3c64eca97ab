import {
  to = hosting_grant.auditor
  identity = {
    service_id = "1003"
    id         = "303"
  }
}
