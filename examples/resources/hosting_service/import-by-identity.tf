import {
  to = hosting_service.www
  identity = {
    id = "1003"
  }
}
