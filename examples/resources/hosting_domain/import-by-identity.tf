import {
  to = hosting_domain.acme
  identity = {
    id = "acme.example"
  }
}
