import { expressionsOf } from "../../src/core/expression/references.ts";
import type { Desired, DesiredResource, JsonObject } from "../../src/core/model/index.ts";
import type { Chance } from "./chance.ts";

export interface DeclaredService {
  readonly name: string;
  readonly plan: number;
  /** A hosting service has a domain; a server has none. */
  readonly domain?: string;
  readonly reference?: string;
  readonly suspended?: boolean;
  readonly passwordVersion?: number;
  /** `secret_output` of the password. */
  readonly output?: JsonObject;
  readonly policy: "prevent" | "forget" | "suspend";
  /** E-mail address -> permission. */
  readonly grants: Readonly<Record<string, string>>;
}

export interface DeclaredWebhook {
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  /** `secret_output` of the signing secret. */
  readonly output?: JsonObject;
}

/** Declaration of the user in a history. Immutable. */
export interface Declaration {
  readonly services: readonly DeclaredService[];
  readonly webhooks: readonly DeclaredWebhook[];
  readonly accounts: readonly { readonly name: string }[];
  readonly migrations: readonly { readonly name: string; readonly domain: string; readonly service?: string }[];
  readonly domains: readonly { readonly name: string; readonly domain: string }[];
}

export const PROJECT = "simulated";

const PEOPLE = ["ana@acme.example", "boss@acme.example", "dev@acme.example"] as const;
const PERMISSIONS = ["view", "manage"] as const;
const EVENT_SETS: readonly [readonly string[], ...(readonly string[])[]] = [
  ["invoice.paid"],
  ["invoice.created", "invoice.paid"],
  ["service.provisioned"],
];

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/**
 * Returns a random declaration.
 * @param only Restricts the declaration to services without grants and other parts.
 */
export function declare(chance: Chance, only: boolean): Declaration {
  const services = times(chance.whole(1, 3), (at) => newService(chance, `s${at}`, only));
  if (only) return { services, webhooks: [], accounts: [], migrations: [], domains: [] };
  const target = () => (chance.once(0.6) ? { service: chance.oneOf(services)?.name ?? "s0" } : {});
  return {
    services,
    webhooks: times(chance.whole(0, 2), (at) => newWebhook(chance, `w${at}`)),
    accounts: times(chance.whole(0, 1), (at) => ({ name: `c${at}` })),
    migrations: times(chance.whole(0, 2), (at) => ({ name: `m${at}`, domain: `old${at}.example`, ...target() })),
    domains: times(chance.whole(0, 2), (at) => ({ name: `d${at}`, domain: `d${at}.example` })),
  };
}

function newService(chance: Chance, name: string, bare = false): DeclaredService {
  const server = chance.once(0.4);
  const suspended = chance.oneOf([undefined, undefined, false, true]);
  const grants = PEOPLE.filter(() => !bare && chance.once(0.3)).map((person) => [person, chance.oneOf(PERMISSIONS)]);
  return {
    name,
    plan: server ? chance.oneOf([41, 41, 42]) : chance.oneOf([11, 12]),
    ...(!server && { domain: `${name}.example` }),
    ...(chance.once(0.2) && { reference: `order-of-${name}` }),
    ...(suspended !== undefined && { suspended }),
    // Two machines without shared state would each set a password.
    ...(server && !bare && chance.once(0.4) && { passwordVersion: 1, ...outputOf(chance, name) }),
    policy: chance.oneOf(["prevent", "forget", "suspend"]),
    grants: Object.fromEntries(grants),
  };
}

const newWebhook = (chance: Chance, name: string): DeclaredWebhook => ({
  name,
  url: `https://${name}.acme.example/`,
  events: chance.oneOf(EVENT_SETS),
  ...outputOf(chance, name),
});

function outputOf(chance: Chance, name: string): { readonly output?: JsonObject } {
  const output = chance.oneOf<JsonObject | null>([
    null,
    { file: `secrets/${name}` },
    { env_file: { path: "secrets/.env", name: `SECRET_${name}` } },
  ]);
  return output === null ? {} : { output };
}

/** Renames a service. The state needs `state mv`. */
export function rename(now: Declaration, from: string, to: string): Declaration {
  const named = <T extends { readonly name: string }>(one: T): T => (one.name === from ? { ...one, name: to } : one);
  const moved = now.migrations.map((one) => (one.service === from ? { ...one, service: to } : one));
  return { ...now, services: now.services.map(named), migrations: moved };
}

/** Returns the declaration after a random edit. A name is never reused. */
export function edit(chance: Chance, now: Declaration, fresh: number, only: boolean): Declaration {
  const change = (make: (service: DeclaredService) => DeclaredService): Declaration => {
    const chosen = chance.oneOf(now.services);
    return { ...now, services: now.services.map((one) => (one === chosen ? make(one) : one)) };
  };
  const others = only ? 0 : 1;
  const edits = {
    suspend: 3,
    password: others,
    add: 2,
    remove: 2,
    grants: 3 * others,
    webhook: 3 * others,
    more: others,
  };
  switch (chance.weighted(edits)) {
    case "suspend":
      return change(({ suspended: _, ...one }) => {
        const suspended = chance.oneOf([undefined, false, true]);
        return { ...one, ...(suspended !== undefined && { suspended }) };
      });
    case "grants":
      return change((one) => {
        const { [chance.oneOf(PEOPLE)]: gone, ...rest } = one.grants;
        const added =
          gone === undefined || chance.once(0.5) ? { [chance.oneOf(PEOPLE)]: chance.oneOf(PERMISSIONS) } : {};
        return { ...one, grants: { ...rest, ...added } };
      });
    case "webhook": {
      const chosen = chance.oneOf(now.webhooks);
      if (chosen === undefined) return { ...now, webhooks: [newWebhook(chance, `w${fresh}`)] };
      if (chance.once(0.3)) return { ...now, webhooks: now.webhooks.filter((one) => one !== chosen) };
      const changed = chance.once(0.2)
        ? { ...chosen, ...outputOf(chance, chosen.name) }
        : { ...chosen, events: chance.oneOf(EVENT_SETS) };
      return { ...now, webhooks: now.webhooks.map((one) => (one === chosen ? changed : one)) };
    }
    case "password":
      return change((one) =>
        one.domain === undefined ? { ...one, passwordVersion: (one.passwordVersion ?? 0) + 1 } : one,
      );
    case "add":
      return { ...now, services: [...now.services, newService(chance, `s${fresh}`, only)] };
    case "remove": {
      const used = new Set(now.migrations.map(({ service }) => service));
      const free = now.services.filter(({ name, policy }) => policy !== "prevent" && !used.has(name));
      const chosen = chance.oneOf(free);
      return { ...now, services: now.services.filter((one) => one !== chosen) };
    }
    case "more":
      return chance.once(0.5)
        ? { ...now, domains: [...now.domains, { name: `d${fresh}`, domain: `d${fresh}.example` }] }
        : { ...now, accounts: [...now.accounts, { name: `c${fresh}` }] };
  }
}

export const serviceAddress = (name: string) => `hosting_service.${name}`;

/**
 * Returns the declaration for the engine.
 * @param imports Ids to adopt, by address.
 */
export function desiredOf(declaration: Declaration, imports: ReadonlyMap<string, string>): Desired {
  const { services, webhooks, accounts, migrations, domains } = declaration;
  const one = (address: string, config: JsonObject): DesiredResource => {
    const importId = imports.get(address);
    return {
      address,
      type: address.slice(0, address.indexOf(".")),
      provider: "default",
      config,
      ...expressionsOf(config),
      dependsOn: [],
      locate: () => undefined,
      ...(importId !== undefined && { importId }),
    };
  };
  const id = (name: string) => `\${${serviceAddress(name)}.id}`;
  const resources = [
    ...services.map(({ name, plan, domain, reference, suspended, passwordVersion, output, policy }) =>
      one(serviceAddress(name), {
        plan_id: plan,
        currency: "USD",
        deletion_policy: policy,
        ...(domain !== undefined && { domain }),
        ...(reference !== undefined && { reference }),
        ...(suspended !== undefined && { suspended }),
        ...(passwordVersion !== undefined && { password_version: passwordVersion }),
        ...(output !== undefined && { secret_output: output }),
      }),
    ),
    ...services.flatMap(({ name, grants }) =>
      Object.entries(grants).map(([email, permission]) =>
        one(`hosting_grant.${name}[${JSON.stringify(email)}]`, { service_id: id(name), email, permission }),
      ),
    ),
    ...webhooks.map(({ name, url, events, output }) =>
      one(`hosting_webhook.${name}`, { url, events: [...events], ...(output && { secret_output: output }) }),
    ),
    ...accounts.map(({ name }) => one(`hosting_client_account.${name}`, { name, currency: "USD" })),
    ...migrations.map(({ name, domain, service }) =>
      one(`hosting_migration_request.${name}`, {
        domain,
        ...(service !== undefined && { order_id: id(service) }),
        questions: { source: "cpanel" },
      }),
    ),
    ...domains.map(({ name, domain }) =>
      one(`hosting_domain.${name}`, {
        domain,
        years: 1,
        currency: "USD",
        nameserver_mode: "default",
        registrant_contact: { email: "ana@acme.example" },
      }),
    ),
  ];
  return { project: PROJECT, providers: new Map([["default", { alias: "default" }]]), resources, files: [] };
}
