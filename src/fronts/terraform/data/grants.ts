import type { Attributes } from "../../../core/model/schema.ts";
import { type CheckedDataSource, listOf, required, shaped, told } from "./define.ts";
import { allOf, existing, kindOf, oneById } from "./lookup.ts";

const grant: Attributes = {
  id: told("string", "Identifier of the grant."),
  email: told("string", "Who the service is shared with."),
  permission: told("string", "What they may do, in the API's own word: `view` or `manage`."),
  expires_at: told("string", "When the grant ends (ISO 8601); null: never, or the API does not tell."),
  created_at: told("string", "When it was granted (ISO 8601)."),
};

export const hostingGrants: CheckedDataSource = {
  name: "hosting_grants",
  schema: {
    version: 0,
    description: "With whom a service is shared, whether or not Terraform manages it.",
    attributes: {
      service_id: required("string", "The service."),
      grants: listOf(grant, "grants"),
    },
  },
  async read(config, session) {
    const id = String(config.service_id);
    const found = await allOf(kindOf("hosting_grant"), session, id);
    // Of a service that does not exist the list is empty as well.
    if (found.length === 0) {
      const reading = oneById(kindOf("hosting_service"), id, session);
      await existing(reading, { noun: "service", id, attribute: "service_id", source: "hosting_services" });
    }
    return { ...config, grants: found.map(({ attributes }) => shaped(grant, attributes)) };
  },
};
