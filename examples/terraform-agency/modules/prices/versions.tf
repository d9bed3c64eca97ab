terraform {
  required_providers {
    hosting = {
      source = "hostform/hosting"
    }
  }
}
