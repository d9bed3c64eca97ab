import {
  to = hosting_grant.auditor
  id = "1003/audit@acme.example"
}
