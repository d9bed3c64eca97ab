# `terraform test`: what the configuration makes of its data. The providers are stand-ins, so nothing is ordered and no
# token is needed.
mock_provider "hosting" {}

mock_provider "hosting" {
  alias = "own"
}

override_module {
  target  = module.prices
  outputs = { list = { USD = { 11 = 500, 21 = 800 } } }
}

variables {
  # Terraform wants an ephemeral variable of a test to have a value.
  panel_password         = "correct horse battery"
  panel_password_version = 1

  team = { "dev@agency.example" = "manage" }

  clients = {
    bakery = {
      name  = "Old Town Bakery"
      sites = { www = { plan_id = 21, domain = "www.bakery.example", migrate_from = "cpanel" } }
    }
    harbor = {
      name = "Harbor Cafe"
      sites = {
        www  = { plan_id = 21, domain = "www.harbor-cafe.example", access = { "nino@harbor-cafe.example" = "view" } }
        menu = { plan_id = 11, domain = "menu.harbor-cafe.example" }
      }
    }
  }
}

run "every_site_is_ordered_under_a_name_of_its_own" {
  command = plan

  assert {
    condition     = toset(flatten([for client in module.client : values(client.references)])) == toset(["bakery-www", "harbor-menu", "harbor-www"])
    error_message = "A site has another reference than CLIENT-SITE: it would be ordered a second time."
  }
}

run "the_team_and_the_client_have_access" {
  command = plan

  assert {
    condition     = module.client["harbor"].access["www"] == { "dev@agency.example" = "manage", "nino@harbor-cafe.example" = "view" }
    error_message = "Access to the site differs."
  }

  assert {
    condition     = module.client["harbor"].access["menu"] == { "dev@agency.example" = "manage" }
    error_message = "What one site's people may do reached another site."
  }
}

run "a_plan_that_is_too_expensive_is_reported" {
  command = plan

  variables {
    highest_price = { USD = 600 }
  }

  expect_failures = [check.prices]
}

run "a_plan_that_does_not_exist_is_reported" {
  command = plan

  variables {
    clients = {
      bakery = {
        name  = "Old Town Bakery"
        sites = { www = { plan_id = 99, domain = "www.bakery.example" } }
      }
    }
  }

  expect_failures = [check.plans_can_be_ordered]
}

run "everything_can_be_made" {
  assert {
    condition     = alltrue(flatten([for client in output.sites : [for site in client : site.id != ""]]))
    error_message = "A site has no id."
  }
}
