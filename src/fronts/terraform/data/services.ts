import { foldedDomain, type Remote } from "../../../core/kinds/index.ts";
import type { JsonObject } from "../../../core/model/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import type { DataSession } from "../contract.ts";
import {
  amountText,
  type CheckedDataSource,
  filter,
  listOf,
  moneyText,
  shaped,
  sought,
  told,
  withConfigured,
} from "./define.ts";
import { allOf, exactlyOne, existing, fits, kindOf, oneById, theOnly } from "./lookup.ts";

const service: Attributes = {
  id: told("string", "Identifier of the service."),
  domain: told("string", "Domain attached to the service; null for servers without one."),
  plan: told("string", "Name of the plan."),
  plan_id: told("number", "Number of the plan. Null where the API does not tell it of services."),
  product_type: told("string", "Kind of product, in the API's own word."),
  status: told("string", "Status, in the API's own word."),
  phase: told(
    "string",
    "What the status means: `pending`, `live`, `suspended`, `gone`, or `unknown` for a word that is not understood (see `status_words` of the provider).",
  ),
  provisioning_status: told("string", "Provisioning state, in the API's own word."),
  billing_cycle: told("string", "Billing cycle, in the API's own word."),
  currency: told("string", "Currency of `price`."),
  price: told("number", "Undiscounted list price, in the API's own unit."),
  price_text: amountText("price", "9.99 USD"),
  next_due_date: told("string", "When the next invoice is due (YYYY-MM-DD)."),
  created_at: told("string", "When it was ordered (ISO 8601)."),
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
