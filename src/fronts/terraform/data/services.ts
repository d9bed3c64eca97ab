/**
 * The services of the account, and what belongs to one: its grants, requests to move a website there, a sign-on into its panel.
 */
import { foldedDomain, type Remote } from "../../../core/kinds/index.ts";
import { isNotFound, signOnRefused } from "../../../core/lifecycle/index.ts";
import { fail, type JsonObject } from "../../../core/model/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import type { DataSession, EphemeralResource } from "../index.ts";
import {
  allOf,
  amountText,
  type CheckedDataSource,
  computed,
  exactlyOne,
  existing,
  filter,
  fits,
  kindOf,
  listOf,
  moneyText,
  oneById,
  required,
  shaped,
  sought,
  theOnly,
  withConfigured,
} from "./define.ts";

const service: Attributes = {
  id: computed("string", "Identifier of the service."),
  domain: computed("string", "Domain attached to the service; null for servers without one."),
  plan: computed("string", "Name of the plan."),
  plan_id: computed("number", "Number of the plan. Null where the API does not tell it of services."),
  product_type: computed("string", "Kind of product, in the API's own word."),
  status: computed("string", "Status, in the API's own word."),
  phase: computed(
    "string",
    "What the status means: `pending`, `live`, `suspended`, `gone`, or `unknown` for a word that is not understood (see `status_words` of the provider).",
  ),
  provisioning_status: computed("string", "Provisioning state, in the API's own word."),
  billing_cycle: computed("string", "Billing cycle, in the API's own word."),
  currency: computed("string", "Currency of `price`."),
  price: computed("number", "Undiscounted list price, in the API's own unit."),
  price_text: amountText("price", "9.99 USD"),
  next_due_date: computed("string", "When the next invoice is due (YYYY-MM-DD)."),
  created_at: computed("string", "When it was ordered (ISO 8601)."),
};

function described({ attributes, phase }: Remote, session: DataSession): JsonObject {
  const { price, currency } = attributes;
  const amount = typeof price === "number" ? price : null;
  const text = moneyText(amount, typeof currency === "string" ? currency : null, session);
  return shaped(service, { ...attributes, phase, price_text: text });
}

const DOMAIN = "in upper or lower case, international names in either form";

export const hostingService: CheckedDataSource = {
  name: "hosting_service",
  schema: {
    version: 0,
    description:
      "A service of the account, whether or not Terraform manages it. By domain, one that has ended is found only where no other has that domain.",
    attributes: {
      ...service,
      id: sought("string", "Identifier of the service. Either this or `domain`."),
      domain: sought("string", `Domain attached to the service, ${DOMAIN}. Either this or \`id\`.`),
    },
  },
  check: (config) => exactlyOne(config, ["id", "domain"]),
  async read(config, session) {
    const found = typeof config.id === "string" ? await withId(config.id, session) : await withDomain(config, session);
    return withConfigured(config, described(found, session));
  },
};

function withId(id: string, session: DataSession): Promise<Remote> {
  const reading = oneById(kindOf("hosting_service"), id, session);
  return existing(reading, { noun: "service", id, attribute: "id", source: "hosting_services" });
}

async function withDomain({ domain }: JsonObject, session: DataSession): Promise<Remote> {
  const all = await allOf(kindOf("hosting_service"), session);
  const named = all.filter(({ attributes }) => foldedDomain(attributes.domain) === foldedDomain(domain));
  const present = named.filter(({ phase }) => phase !== "gone");
  return theOnly(present.length > 0 ? present : named, {
    what: `service of the domain ${JSON.stringify(domain)}`,
    attribute: "domain",
    nameOf: ({ id, attributes }) => `${id} (${String(attributes.status ?? "of unknown status")})`,
    none: 'Correct the domain; `data "hosting_services"` tells the services that there are.',
    several: "Give the `id` of the one that is meant.",
  });
}

export const hostingServices: CheckedDataSource = {
  name: "hosting_services",
  schema: {
    version: 0,
    description:
      "The services of the account, all or some of them, whether or not Terraform manages them. Services that have ended are among them as long as the API tells them: `phase` tells them apart.",
    attributes: {
      phase: filter("string", "Only services in this phase: `pending`, `live`, `suspended`, `gone` or `unknown`."),
      domain: filter("string", `Only services of this domain, ${DOMAIN}.`),
      plan: filter("string", "Only services of the plan of this name, in upper or lower case."),
      product_type: filter("string", "Only services of this kind of product, in the API's own word."),
      services: listOf(service, "services"),
    },
  },
  check: ({ phase }) =>
    typeof phase !== "string" || PHASES.includes(phase)
      ? []
      : [
          {
            severity: "error",
            code: "config.invalid_value",
            summary: `There is no phase ${JSON.stringify(phase)}`,
            remedies: [
              `Give one of ${PHASES.map((name) => `\`${name}\``).join(", ")}. The API's own words are told as \`status\`.`,
            ],
            attribute: ["phase"],
          },
        ],
  async read(config, session) {
    const all = await allOf(kindOf("hosting_service"), session);
    const fitting = all.filter(
      ({ attributes, phase }) =>
        (config.phase === null || config.phase === phase) &&
        (config.domain === null || foldedDomain(config.domain) === foldedDomain(attributes.domain)) &&
        fits(config.plan, word(attributes.plan)) &&
        fits(config.product_type, word(attributes.product_type)),
    );
    return { ...config, services: fitting.map((remote) => described(remote, session)) };
  },
};

const PHASES: readonly string[] = ["pending", "live", "suspended", "gone", "unknown"];

const word = (value: unknown): string | null => (typeof value === "string" ? value : null);

const grant: Attributes = {
  id: computed("string", "Identifier of the grant."),
  email: computed("string", "Who the service is shared with."),
  permission: computed("string", "What they may do, in the API's own word: `view` or `manage`."),
  expires_at: computed("string", "When the grant ends (ISO 8601); null: never, or the API does not tell."),
  created_at: computed("string", "When it was granted (ISO 8601)."),
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

const request: Attributes = {
  id: computed("string", "Identifier of the migration request."),
  domain: computed("string", "Domain of the website to move."),
  order_id: computed("string", "The service that the website moves to; null when the request is bound to none."),
  status: computed("string", "Status, in the API's own word."),
  created_at: computed("string", "When it was queued (ISO 8601)."),
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

/**
 * A one-time sign-on URL (§4 panel-sso). The API has it as a GET, which is repeated when its answer is lost: the URL that
 * nobody got is never used, and a sign-on that failed would have to be requested again anyway.
 */
export const panelSso: EphemeralResource = {
  name: "hosting_panel_sso",
  schema: {
    version: 0,
    description: `A one-time single sign-on URL into a service's control panel. It stands in no plan and no state: it can be handed to providers, provisioners and write-only attributes only.

Terraform opens ephemeral resources during \`plan\` as well, as soon as \`service_id\` is known: each plan and each apply asks for a URL of its own. The API has no call to withdraw one that is not used. The token needs the technical ability.`,
    attributes: {
      service_id: { type: "string", required: true, description: "The service; it must be provisioned." },
      url: {
        type: "string",
        computed: true,
        sensitive: true,
        description: "The URL, good for one sign-on. Whoever has it is signed on.",
      },
    },
  },
  async open({ service_id }, { client, account, stop }) {
    const id = String(service_id);
    try {
      const { url } = await client.services.panelSso(id, { signal: stop });
      return { service_id: id, url };
    } catch (refusal) {
      const error = await signOnRefused(account, kindOf("hosting_service"), id, refusal);
      if (!isNotFound(error)) throw error;
      return fail("terraform.lookup", `There is no service ${id} to sign on to`, {
        detail: "The API does not know it, or not in the account of this token.",
        remedies: ["Correct `service_id`."],
        attribute: ["service_id"],
      });
    }
  },
};
