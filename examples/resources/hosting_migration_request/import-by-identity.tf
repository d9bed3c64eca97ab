import {
  to = hosting_migration_request.moving
  identity = {
    id = "501"
  }
}
