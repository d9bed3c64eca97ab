import * as z from "zod";
import type { MigrationRequestRecord } from "../api/index.ts";
import { foldedDomain, isDomainForm, sameDomain, similarDomain } from "../model/index.ts";
import {
  attribute,
  createdAtAttribute,
  deletionPolicy,
  domainName,
  freeMap,
  freeMapBody,
  idAttribute,
  identifier,
} from "./attribute.ts";
import { createdFrom, type Kind, type Remote } from "./kind.ts";
import { ALIVE, LIVES, type Life, lifeOf } from "./life.ts";

const attributes = z.strictObject({
  id: idAttribute("migration request"),
  domain: attribute(domainName(), {
    description: "Domain of the website to move.",
    change: "immutable",
    decisive: true,
    same: sameDomain,
    ownForm: isDomainForm,
    declarable: foldedDomain,
    example: "www.acme.example",
  }),
  order_id: attribute(identifier().optional(), {
    description: "Id of the target service.",
    change: "immutable",
    decisive: true,
    computed: true,
    example: "${hosting_service.acme-www.id}",
  }),
  questions: attribute(freeMap().optional(), {
    description:
      "Source type and scope questions, sent unchanged. The API does not publish its field names. Lists and objects are stored as JSON strings.",
    hcl: "Source type and scope questions, sent unchanged. The API does not publish its field names. Write lists and objects with `jsonencode`; they are sent as JSON.",
    change: "immutable",
    unreadable: true,
    example: { source: "cpanel" },
  }),
  deletion_policy: deletionPolicy(),
  status: attribute(z.string(), { description: "Status, in the API's own word.", computed: true }),
  created_at: createdAtAttribute(),
});

const remote = ({ raw: _raw, order_id, ...record }: MigrationRequestRecord, life: Life = ALIVE): Remote => ({
  id: record.id,
  ...life,
  attributes: { ...record, ...(order_id !== null && { order_id }) },
});

/** Returns a service id for the request body. The specification defines integer ids for services (§2). */
const orderId = (id: unknown) => (typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : String(id));

/** Website migration requests (§4 migration-requests endpoints). */
export const migrationRequest: Kind<"createMigrationRequest"> = {
  type: "hosting_migration_request",
  section: "migration_requests",
  noun: "migration request",
  words: { name: "domain", site: "domain" },
  summary: "A request to move a website to a service.",
  description: `Queues the migration of a website. Enter the credentials and submit the request in the dashboard; the API has no call for this.
The API cannot change or delete a request. A plan with a change fails, and removing the block follows \`deletion_policy\`.`,
  hcl: `Queues the migration of a website. Enter the credentials and submit the request in the dashboard; the API has no call for this.
The API cannot change or delete a request. A plan with a change fails, and a destroy follows \`deletion_policy\`.`,
  example: `migration_requests:
  acme:
    domain: www.acme.example
    order_id: \${hosting_service.acme-www.id}
    questions:
      source: cpanel`,
  attributes,
  schemaVersion: 0,
  creation: "listable",
  removal: "policy",
  async *list(context) {
    const { client, ...options } = context;
    for await (const record of client.migrationRequests.list(options))
      yield remote(record, lifeOf(record, context, LIVES.migrations));
  },
  async get(context, id) {
    const record = await context.client.migrationRequests.get(id, { signal: context.signal });
    return remote(record, lifeOf(record, context, LIVES.migrations));
  },
  identity: ["domain"],
  naturalKey: ({ domain }) => foldedDomain(domain),
  sameIdentity: ({ order_id: mine }, { order_id: other }) => mine == null || other == null || mine === other,
  mayMatch: ({ domain }, { domain: shown }) => similarDomain(domain, shown),
  create: ({ domain, order_id, questions }) => ({
    endpoint: "createMigrationRequest",
    body: {
      ...freeMapBody((questions ?? {}) as Record<string, string>),
      domain: foldedDomain(domain) ?? null,
      ...(order_id != null && { order_id: orderId(order_id) }),
    },
  }),
  created: (answer) => createdFrom(answer, remote, "domain"),
};
