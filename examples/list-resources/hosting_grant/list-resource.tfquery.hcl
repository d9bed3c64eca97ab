# Users who may manage the services of the domain. Takes one request for each service.
list "hosting_grant" "managers" {
  provider = hosting
  limit    = 500

  config {
    domain       = "*.acme.example"
    permission   = "manage"
    max_requests = 200
  }
}

# Users of one service.
list "hosting_grant" "shop" {
  provider = hosting

  config {
    service_id = "1003"
  }
}
