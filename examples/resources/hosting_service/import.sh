# By the service's id.
terraform import hosting_service.www 1003
