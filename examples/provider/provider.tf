terraform {
  required_providers {
    hosting = {
      source  = "hostform/hosting"
      version = "~> 0.1"
    }
  }
}

# The address and the token come from HOSTING_BASE_URL and HOSTING_TOKEN.
provider "hosting" {
  # Part of the Idempotency-Key of every order: do not change it later.
  project = "acme"
}

# A second account, with its own token. Resources name it: `provider = hosting.own`.
provider "hosting" {
  alias     = "own"
  project   = "acme"
  token_env = "OWN_HOSTING_TOKEN"
}
