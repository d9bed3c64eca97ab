/** Data sources of services and their parts: grants, requests to move a website, a sign-on to the control panel. */
import type { Remote } from "../../../core/kinds/index.ts";
import { signOnRefused } from "../../../core/lifecycle/index.ts";
import {
  type Attributes,
  equal,
  isNameLike,
  isNotFound,
  type JsonObject,
  sameDomain,
} from "../../../core/model/index.ts";
import type { DataSession, DataSource } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { amountText, moneyText } from "../schema/of-kind.ts";
import {
  allOf,
  attributesOf,
  computed,
  domainFilter,
  exactlyOne,
  fits,
  kindOf,
  listing,
  oneById,
  PATTERN,
  readOnly,
  required,
  shaped,
  sought,
  theOnly,
  withConfigured,
  wordProblem,
} from "./define.ts";

const service: Attributes = {
  id: computed("string", "Identifier of the service."),
  domain: computed("string", "Domain attached to the service; null for servers without one."),
  plan: computed("string", "Name of the plan."),
  plan_id: computed("number", "Number of the plan. Null where the API does not show it for services."),
  product_type: computed("string", "Kind of product, in the API's own word."),
  status: computed("string", "Status, in the API's own word."),
  phase: computed(
    "string",
    "Meaning of the status: `pending`, `live`, `suspended`, `gone`, or `unknown` for a word that the provider does not know (see `status_words` of the provider).",
  ),
  provisioning_status: computed("string", "Provisioning state, in the API's own word."),
  billing_cycle: computed("string", "Billing cycle, in the API's own word."),
  currency: computed("string", "Currency of `price`."),
  price: computed("number", "Undiscounted list price, in the API's own unit."),
  price_text: amountText("price", "9.99 USD"),
  next_due_date: computed("string", "Due date of the next invoice (YYYY-MM-DD)."),
  created_at: computed("string", "Time of the order (ISO 8601)."),
};

function described({ attributes, phase }: Remote, session: DataSession): JsonObject {
  const text = moneyText(attributes.price, attributes.currency, session.moneyScale);
  return shaped(service, { ...attributes, phase, price_text: text });
}

const DOMAIN = "in upper or lower case, international names in either form";

export const hostingService: DataSource = {
  name: "hosting_service",
  schema: readOnly(
    "A service of the account, whether or not Terraform manages it. By domain, one that has ended is found only where no other has that domain.",
    {
      ...service,
      id: sought("string", "Identifier of the service. Either this or `domain`."),
      domain: sought("string", `Domain attached to the service, ${DOMAIN}. Either this or \`id\`.`),
    },
  ),
  check: (config) => exactlyOne(config, ["id", "domain"]),
  async read(config, session) {
    const { id } = config;
    const found =
      typeof id === "string" ? await oneById("hosting_service", id, session) : await withDomain(config, session);
    return withConfigured(config, described(found, session));
  },
};

async function withDomain({ domain }: JsonObject, session: DataSession): Promise<Remote> {
  const all = await allOf("hosting_service", session);
  const named = all.filter(({ attributes }) => sameDomain(domain, attributes.domain));
  const present = named.filter(({ phase }) => phase !== "gone");
  return theOnly(present.length > 0 ? present : named, {
    what: `service of the domain ${JSON.stringify(domain)}`,
    attribute: "domain",
    nameOf: ({ id, attributes }) => `${id} (${String(attributes.status ?? "of unknown status")})`,
    none: "Correct the domain. The data source `hosting_services` lists the existing services.",
    several: "Set the `id` of the one you mean.",
  });
}

export const hostingServices = listing("services", {
  description:
    "The services of the account, all or some of them, whether or not Terraform manages them. Services that have ended are included as long as the API lists them; their `phase` is `gone`. The API does not return the client of a service: to select a client's services, use a domain pattern.",
  item: service,
  filters: {
    phase: [equal, "Only services in this phase: `pending`, `live`, `suspended`, `gone` or `unknown`."],
    status: [fits, "Only services of this status, in the API's own word."],
    domain: domainFilter("services of"),
    plan: [fits, "Only services of the plan of this name, in upper or lower case."],
    product_type: [fits, "Only services of this kind of product, in the API's own word."],
    billing_cycle: [fits, "Only services with this billing cycle, in the API's own word."],
    currency: [fits, "Only services in this currency."],
  },
  check: ({ phase }) => wordProblem("phase", phase, PHASES, "`status` has the API's own word."),
  async all(_, session) {
    return (await allOf("hosting_service", session)).map((remote) => described(remote, session));
  },
});

export const PHASES = ["pending", "live", "suspended", "gone", "unknown"];

const grant: Attributes = {
  id: computed("string", "Identifier of the grant."),
  email: computed("string", "Email address of the user."),
  permission: computed("string", "Permission of the user, in the API's own word: `view` or `manage`."),
  expires_at: computed("string", "End of the grant (ISO 8601). Null: never, or the API does not return it."),
  created_at: computed("string", "Time of the grant (ISO 8601)."),
};

export const hostingGrants = listing("grants", {
  description: "Users with access to a service, also by grants that Terraform does not manage.",
  item: grant,
  of: { service_id: required("string", "The service.") },
  filters: {
    email: [isNameLike, `Only grants of this email address, such as \`*@acme.example\`: ${PATTERN}.`],
    permission: [fits, "Only grants with this permission: `view` or `manage`."],
  },
  async all({ service_id }, session) {
    const id = String(service_id);
    const found = await allOf("hosting_grant", session, id);
    // The API also returns an empty list for a service that does not exist.
    if (found.length === 0) await oneById("hosting_service", id, session, "service_id");
    return found.map(({ attributes }) => attributes);
  },
});

const request: Attributes = {
  id: computed("string", "Identifier of the migration request."),
  domain: computed("string", "Domain of the website to move."),
  order_id: computed("string", "Identifier of the target service. Null for a request without one."),
  status: computed("string", "Status, in the API's own word."),
  created_at: computed("string", "Time at which the request was queued (ISO 8601)."),
};

export const hostingMigrationRequest: DataSource = {
  name: "hosting_migration_request",
  schema: readOnly("A request to move a website, with its status.", {
    ...request,
    id: required("string", "Identifier of the migration request."),
  }),
  async read(config, session) {
    const { attributes } = await oneById("hosting_migration_request", String(config.id), session);
    return shaped(request, attributes);
  },
};

export const hostingMigrationRequests = listing("migration_requests", {
  description: "The requests to move websites, all or some of them.",
  item: request,
  filters: {
    domain: domainFilter("requests for"),
    status: [fits, "Only requests of this status, in the API's own word."],
    order_id: [equal, "Only requests for this service."],
  },
  all: attributesOf("hosting_migration_request"),
});

/**
 * A one-time sign-on URL (§4 panel-sso). After a lost response, the client repeats the GET. The URL in the lost response is never used.
 */
export const panelSso: DataSource = {
  name: "hosting_panel_sso",
  schema: readOnly(
    `A one-time single sign-on URL into a service's control panel. It is in no plan and no state: only providers, provisioners and write-only attributes can take it.

Terraform opens ephemeral resources during \`plan\` as well, as soon as \`service_id\` is known: each plan and each apply requests a new URL. The API has no call that revokes an unused one. The token needs the technical ability.`,
    {
      service_id: { type: "string", required: true, description: "The service; it must be provisioned." },
      url: {
        type: "string",
        computed: true,
        sensitive: true,
        description: "The URL, good for one sign-on. It signs on anyone who opens it.",
      },
    },
  ),
  async read({ service_id }, { client, account, stop }) {
    const id = String(service_id);
    try {
      const { url } = await client.services.panelSso(id, { signal: stop });
      return { service_id: id, url };
    } catch (refusal) {
      const error = await signOnRefused(account, kindOf("hosting_service"), id, refusal);
      if (!isNotFound(error)) throw error;
      const what = `service ${id} to sign on to`;
      const fix = "Correct `service_id`.";
      return refuse(problem("terraform.lookup/none", { what, fix, attribute: ["service_id"] }));
    }
  },
};
