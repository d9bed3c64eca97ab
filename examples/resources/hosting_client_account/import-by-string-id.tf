import {
  to = hosting_client_account.bakery
  id = "401"
}
