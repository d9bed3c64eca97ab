import { foldedDomain } from "../../../core/kinds/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import { type CheckedDataSource, filter, listOf, required, shaped, told } from "./define.ts";
import { allOf, existing, fits, kindOf, oneById } from "./lookup.ts";

const request: Attributes = {
  id: told("string", "Identifier of the migration request."),
  domain: told("string", "Domain of the website to move."),
  order_id: told("string", "The service that the website moves to; null when the request is bound to none."),
  status: told("string", "Status, in the API's own word."),
  created_at: told("string", "When it was queued (ISO 8601)."),
};

export const hostingMigrationRequest: CheckedDataSource = {
  name: "hosting_migration_request",
  schema: {
    version: 0,
    description: "A request to move a website, with how far it has come.",
    attributes: { ...request, id: required("string", "Identifier of the migration request.") },
  },
  async read(config, session) {
    const id = String(config.id);
    const reading = oneById(kindOf("hosting_migration_request"), id, session);
    const place = { noun: "migration request", id, attribute: "id", source: "hosting_migration_requests" };
    return shaped(request, (await existing(reading, place)).attributes);
  },
};

export const hostingMigrationRequests: CheckedDataSource = {
  name: "hosting_migration_requests",
  schema: {
    version: 0,
    description: "The requests to move websites, all or some of them.",
    attributes: {
      domain: filter(
        "string",
        "Only requests for this domain, in upper or lower case, international names in either form.",
      ),
      status: filter("string", "Only requests of this status, in the API's own word."),
      migration_requests: listOf(request, "requests"),
    },
  },
  async read(config, session) {
    const all = await allOf(kindOf("hosting_migration_request"), session);
    const requests = all.map(({ attributes }) => shaped(request, attributes));
    const fitting = requests.filter(
      ({ domain, status }) =>
        (config.domain === null || foldedDomain(config.domain) === foldedDomain(domain)) &&
        fits(config.status, typeof status === "string" ? status : null),
    );
    return { ...config, migration_requests: fitting };
  },
};
