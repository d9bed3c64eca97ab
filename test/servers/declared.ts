/** Declaration of a simulated project, for the judge and as YAML. */
import { registration } from "../support/registration.ts";

export interface DeclaredService {
  readonly plan: 11 | 12 | 31;
  readonly domain?: string;
  readonly suspended?: boolean;
  readonly passwordVersion?: number;
  readonly grants: Readonly<Record<string, { readonly permission: "view" | "manage"; readonly expires_at?: string }>>;
}

export interface Declared {
  readonly services: Readonly<Record<string, DeclaredService>>;
  readonly webhooks: Readonly<Record<string, { readonly url: string; readonly events: readonly string[] }>>;
  readonly accounts: Readonly<Record<string, { readonly name: string }>>;
  readonly migrations: Readonly<Record<string, { readonly domain: string; readonly service: string }>>;
  readonly domains: Readonly<Record<string, string>>;
}

/** Settings of the user outside the resources. */
export interface Settings {
  readonly statusWords: Readonly<Record<string, string>>;
  readonly maxSpend?: number;
}

const mapped = <T, R>(record: Readonly<Record<string, T>>, write: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, write(value)]));

/** Returns the declaration as the content of its file. */
export function documentOf(declared: Declared, { statusWords, maxSpend }: Settings): object {
  return {
    project: "servers",
    ...(Object.keys(statusWords).length > 0 && { providers: { default: { status_words: statusWords } } }),
    guards: {
      max_orders: 9,
      max_removals_percent: 100,
      ...(maxSpend !== undefined && { max_spend: { USD: maxSpend } }),
    },
    services: mapped(declared.services, ({ plan, domain, suspended, passwordVersion, grants }) => ({
      plan_id: plan,
      currency: "USD",
      deletion_policy: "forget",
      ...(domain !== undefined && { domain }),
      ...(suspended !== undefined && { suspended }),
      ...(passwordVersion !== undefined && { password_version: passwordVersion }),
      grants,
    })),
    webhooks: declared.webhooks,
    client_accounts: mapped(declared.accounts, (account) => ({ ...account, deletion_policy: "forget" })),
    migration_requests: mapped(declared.migrations, ({ domain, service }) => ({
      domain,
      order_id: `\${hosting_service.${service}.id}`,
      questions: { source: "cpanel" },
      deletion_policy: "forget",
    })),
    domains: mapped(declared.domains, (domain) => ({ ...registration(domain), deletion_policy: "forget" })),
  };
}
