terraform {
  required_version = ">= 1.11"

  required_providers {
    hosting = {
      source  = "hostform/hosting"
      version = "~> 0.1"
    }
  }
}
