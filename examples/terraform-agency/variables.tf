variable "clients" {
  description = "The clients with what they have. The key names them in addresses and orders: it does not change."
  type = map(object({
    name           = string
    company_name   = optional(string)
    company_number = optional(string)
    currency       = optional(string, "USD")
    # Site by name.
    sites = map(object({
      plan_id      = number
      domain       = string
      term         = optional(number, 1)
      migrate_from = optional(string)
      # E-mail address -> view or manage, beside the agency's own team.
      access = optional(map(string), {})
    }))
  }))
}

variable "team" {
  description = "The agency's people with access to every site: e-mail address -> view or manage."
  type        = map(string)
  default = {
    "dev@agency.example"     = "manage"
    "support@agency.example" = "view"
  }
}

variable "hooks" {
  description = "Where events are posted to."
  type        = string
  default     = "https://hooks.agency.example"
}

variable "highest_price" {
  description = "What a plan may cost a month at most, by currency, in the API's own unit."
  type        = map(number)
  default = {
    GEL = 6000
    USD = 2000
    EUR = 1900
  }
}

variable "adopt" {
  description = "Services that exist already, and are to be adopted: the service's id -> the site that it is."
  type        = map(object({ client = string, site = string }))
  default     = {}
}

variable "panel_password" {
  description = "Control-panel password of the sites. In no plan and no state."
  type        = string
  ephemeral   = true
  default     = null
}

variable "panel_password_version" {
  description = "Raise it to set the password again; null: passwords are not managed here."
  type        = number
  default     = null
}
