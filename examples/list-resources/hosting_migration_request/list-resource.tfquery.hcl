list "hosting_migration_request" "drafts" {
  provider = hosting

  config {
    domain = "*.acme.example"
    status = "draft"
  }
}
