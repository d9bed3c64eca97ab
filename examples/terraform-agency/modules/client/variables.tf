variable "key" {
  description = "Names the client in orders."
  type        = string
}

variable "client" {
  description = "The client with its sites."
  type = object({
    name           = string
    company_name   = optional(string)
    company_number = optional(string)
    currency       = string
    sites = map(object({
      plan_id      = number
      domain       = string
      term         = number
      migrate_from = optional(string)
      access       = map(string)
    }))
  })

  validation {
    condition     = alltrue([for site in var.client.sites : alltrue([for word in values(site.access) : contains(["view", "manage"], word)])])
    error_message = "Access is view or manage."
  }
}

variable "team" {
  description = "People with access to every site: e-mail address -> view or manage."
  type        = map(string)
}

variable "panel_password" {
  description = "Control-panel password of the sites."
  type        = string
  ephemeral   = true
}

variable "panel_password_version" {
  description = "Raise it to set the password again; null: passwords are not managed here."
  type        = number
}
