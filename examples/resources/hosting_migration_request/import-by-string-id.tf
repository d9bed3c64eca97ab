import {
  to = hosting_migration_request.moving
  id = "501"
}
