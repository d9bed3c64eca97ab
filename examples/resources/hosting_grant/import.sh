# By the service's id and the grant's, or the e-mail address.
terraform import hosting_grant.auditor 1003/301
terraform import 'hosting_grant.team["dev@acme.example"]' 1003/dev@acme.example
