list "hosting_client_account" "all" {
  provider = hosting
  limit    = 1000
}
