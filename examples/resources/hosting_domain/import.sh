# By the registration's id, or by the domain when it is not known.
terraform import hosting_domain.acme acme.example
