import * as z from "zod";
import type { GrantRecord } from "../api/index.ts";
import {
  declarableMoment,
  declaredMoment,
  endsNoLater,
  foldedEmail,
  momentProblem,
  readMoment,
  sameEmail,
  sameFolded,
  sameMoment,
  sentEmail,
} from "../model/index.ts";
import { attribute, createdAtAttribute, emailAddress, idAttribute, identifier } from "./attribute.ts";
import { createdFrom, holdsId, type Kind, type Remote } from "./kind.ts";
import { ALIVE, LIVES, type Life, lifeOf } from "./life.ts";

/** Permissions, from lowest to highest. */
const LEVELS = ["view", "manage"] as const;

const attributes = z.strictObject({
  id: idAttribute("grant"),
  service_id: attribute(identifier(), {
    description: "The service that is shared. Set automatically when the grant is inside the service's block.",
    hcl: "The service that is shared.",
    change: "replace",
    decisive: true,
    example: "${hosting_service.acme-www.id}",
  }),
  email: attribute(emailAddress(), {
    description: "E-mail address of the user who gets access to the service.",
    change: "replace",
    decisive: true,
    same: sameEmail,
    declarable: foldedEmail,
    example: "dev@acme.example",
  }),
  permission: attribute(z.enum(LEVELS), {
    description: "Permission of the user: `view` or `manage`.",
    change: "replace",
    decisive: true,
    same: sameFolded,
    example: "manage",
  }),
  expires_at: attribute(
    z
      .string()
      .refine((text) => momentProblem(text) === undefined, { error: ({ input }) => momentProblem(String(input)) })
      .optional(),
    {
      description:
        "End of the grant: a time with an offset (ISO 8601), or a day, which means 00:00 UTC. Default: never. An expired grant is not recreated.",
      change: "replace",
      decisive: true,
      same: sameMoment,
      ownForm: endsNoLater,
      declarable: declarableMoment,
      unclear: (live) => readMoment(live).form === "unknown",
      example: "2027-01-31T00:00:00Z",
    },
  ),
  created_at: createdAtAttribute(),
});

const remote = (record: GrantRecord, service: string, life: Life = ALIVE): Remote => ({
  id: record.id,
  ...life,
  attributes: {
    id: record.id,
    service_id: service,
    email: record.email,
    // A host may omit the permission.
    ...(record.permission !== null && { permission: record.permission }),
    ...((record.expires_at !== null || Object.hasOwn(record.raw, "expires_at")) && { expires_at: record.expires_at }),
    created_at: record.created_at,
  },
});

/** Grants: a service shared with another user (§2 Service grant, §4 grants endpoints). */
export const grant: Kind<"createGrant"> = {
  type: "hosting_grant",
  section: "grants",
  noun: "grant",
  words: {
    name: "email",
    parent: { attribute: "service_id", type: "hosting_service", noun: "service", plural: "services" },
    access: { person: "email", permission: "permission", levels: LEVELS },
    rank: 2,
  },
  summary: "A service shared with another user.",
  description: `Shares a service with another user, to view or to manage it. Written inside the service's block, keyed by
e-mail address; a single word is the permission.

The API cannot change a grant: a different permission or end revokes the grant and creates a new grant. A grant whose \`expires_at\`
has passed is not recreated. Removing it revokes the grant.`,
  hcl: `Shares a service with another user, to view or to manage it. \`for_each\` over a map of e-mail addresses keeps a team in
one block.

The API cannot change a grant: a different permission or end revokes the grant and creates a new grant. A grant whose \`expires_at\`
has passed is not recreated. A destroy revokes the grant.`,
  example: `services:
  acme-www:
    plan_id: 101
    currency: USD
    domain: www.acme.example
    grants:
      boss@acme.example: view
      dev@acme.example:
        permission: manage
        expires_at: 2027-01-31T00:00:00Z`,
  attributes,
  schemaVersion: 0,
  nested: {
    in: "hosting_service",
    section: "grants",
    keyAttribute: "email",
    parentAttribute: "service_id",
    shorthand: "permission",
  },
  creation: "listable",
  replacement: "delete-first",
  removal: "delete",
  parent: "service_id",
  listAbility: "technical",
  async *list(context, service = "") {
    const { client, ...options } = context;
    for await (const record of client.grants.list(service, options))
      yield remote(record, service, lifeOf(record, context, LIVES.grants));
  },
  identity: ["email"],
  naturalKey: ({ email }) => foldedEmail(email),
  sameIdentity: (config, live) => config.service_id === live.service_id,
  expired: (config, now) =>
    typeof config.expires_at === "string" && (declaredMoment(config.expires_at) ?? Number.POSITIVE_INFINITY) <= now
      ? `its expires_at (${config.expires_at}) is in the past`
      : undefined,
  isNamedBy: ({ event, service }, { service_id }) => event.startsWith("service.") && holdsId(service_id, service),
  create: ({ service_id, email, permission, expires_at }) => ({
    endpoint: "createGrant",
    params: { id: String(service_id) },
    body: {
      email: typeof email === "string" ? sentEmail(email) : null,
      permission: permission ?? null,
      ...(expires_at != null && { expires_at }),
    },
  }),
  created: (answer, { service_id }) => createdFrom(answer, (record) => remote(record, String(service_id)), "email"),
  remove: ({ service_id, id }) => ({
    endpoint: "revokeGrant",
    params: { id: String(service_id), grantId: String(id) },
  }),
};
