import {
  to = hosting_client_account.bakery
  identity = {
    id = "401"
  }
}
