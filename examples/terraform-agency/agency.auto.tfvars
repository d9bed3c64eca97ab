clients = {
  bakery = {
    name           = "Old Town Bakery"
    company_name   = "Old Town Bakery LLC"
    company_number = "405100200"
    currency       = "GEL"
    sites = {
      www = {
        plan_id      = 21
        domain       = "www.bakery.example"
        migrate_from = "cpanel"
      }
    }
  }

  harbor = {
    name = "Harbor Cafe"
    sites = {
      www = {
        plan_id = 21
        domain  = "www.harbor-cafe.example"
        term    = 12
        access  = { "nino@harbor-cafe.example" = "view" }
      }
      menu = {
        plan_id = 11
        domain  = "menu.harbor-cafe.example"
      }
    }
  }
}
