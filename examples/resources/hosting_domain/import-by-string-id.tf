# Nothing can be looked up: the id is taken at its word, the rest from the resource's block.
import {
  to = hosting_domain.acme
  id = "acme.example"
}
