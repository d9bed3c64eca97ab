# By the request's id.
terraform import hosting_migration_request.moving 501
