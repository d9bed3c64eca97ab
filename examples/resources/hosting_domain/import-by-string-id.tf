# Nothing can be looked up: the id is not checked, and the rest comes from the resource's block.
import {
  to = hosting_domain.acme
  id = "acme.example"
}
