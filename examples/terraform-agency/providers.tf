# Two accounts, each with its own token and its own request budget. HOSTING_BASE_URL says where the API is.

# The agency's account (Manage track), which its clients' services are in. The token is in HOSTING_TOKEN.
provider "hosting" {
  project = "agency"
}

# The account of the agency's own site.
provider "hosting" {
  alias     = "own"
  project   = "agency"
  token_env = "OWN_HOSTING_TOKEN"
}
