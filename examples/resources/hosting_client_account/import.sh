# By the account's id.
terraform import hosting_client_account.bakery 401
