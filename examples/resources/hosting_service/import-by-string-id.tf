import {
  to = hosting_service.www
  id = "1003"
}
