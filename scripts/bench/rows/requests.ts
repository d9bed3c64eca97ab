// How many requests a command takes.
import {
  type Account,
  type AccountOptions,
  declare,
  nameOf,
  newServices,
  openAccount,
  sameServices,
} from "../account.ts";
import type { Bench, Figure, Row } from "../row.ts";

const APPLY = ["apply", "--auto-approve", "--quiet"];

/** Opens an account, works in it, closes it. */
export async function within<T>(
  bench: Bench,
  options: AccountOptions,
  work: (account: Account) => Promise<T>,
): Promise<T> {
  const account = await openAccount(bench, options);
  try {
    return await work(account);
  } finally {
    await account.close();
  }
}

/** The services as they are, the first so many of them suspended. */
export const withSuspended = (account: Account, count: number) =>
  sameServices(account).map(([name, service], at) => [name, { ...service, suspended: at < count }] as const);

/** Imports a grant for each service and a second one for every other; without `every` one for each. */
export async function declareGrants(account: Account, every: "one" | "one or two", perMinute?: number): Promise<void> {
  const imports: string[] = [];
  const services = account.services.map((service, at) => {
    const grants = ["ana@bench.example", "dev@bench.example"].slice(0, every === "one" ? 1 : 1 + (at % 2));
    for (const email of grants) {
      const grant = account.sandbox.control.create("grants", { service_id: service.id, email, permission: "view" });
      imports.push(`  - to: 'hosting_grant.${nameOf(service)}["${email}"]'`, `    id: ${service.id}/${grant.id}`);
    }
    return [nameOf(service), { domain: service.domain, grants }] as const;
  });
  await declare(account.folder, { services, more: ["import:", ...imports], ...(perMinute && { perMinute }) });
}

const requestsOf = ({ host }: Account): Figure => ({
  what: "requests",
  value: host.entries.length,
  unit: "requests",
  note: [...Map.groupBy(host.entries, ({ method, path }) => `${method} ${formOf(path)}`)]
    .map(([endpoint, { length }]) => `${length} ${endpoint}`)
    .join(", "),
});

const formOf = (path: string) => path.replace(/^\/api\/v1/, "").replaceAll(/\/\d+/g, "/:");

const counted = (
  name: string,
  about: string,
  most: number,
  services: number,
  work: (account: Account) => Promise<void>,
) =>
  ({
    name,
    about,
    quick: true,
    shares: true,
    goals: { requests: { most, unit: "requests" } },
    measure: (bench) =>
      within(bench, { services }, async (account) => {
        await work(account);
        return [requestsOf(account)];
      }),
  }) satisfies Row;

/** The writes, a list of ten pages for the plan, another one that finds all jobs done; and a twentieth more. */
const MOST_OF_A_THOUSAND = Math.floor(1.05 * (1_000 + 10 + 10));

export const requestRows: readonly Row[] = [
  counted("order-1", "`apply` of one order in an account of 1,000", 13, 1_000, async (account) => {
    await declare(account.folder, { services: [...sameServices(account), ...newServices(1)] });
    await account.hostform(APPLY);
  }),
  counted("suspend-5", "`apply` of 5 suspensions in an account of 1,000", 20, 1_000, async (account) => {
    await declare(account.folder, { services: withSuspended(account, 5) });
    await account.hostform(APPLY);
  }),
  counted("grants-450", "`plan` of 300 services with 450 imported grants", 303, 300, async (account) => {
    await declareGrants(account, "one or two");
    await account.hostform(["plan"]);
  }),
  {
    name: "suspend-1000",
    about: "`apply` of 1,000 suspensions, 60 requests a minute, jobs of ten seconds",
    shares: true,
    goals: { requests: { most: MOST_OF_A_THOUSAND, unit: "requests" }, time: { most: 18, unit: "min" } },
    measure: (bench) =>
      within(
        bench,
        {
          services: 1_000,
          rate: 20,
          sandbox: { jobSeconds: 10 },
          host: { limit: { counter: "fixed window", perMinute: 60, hints: "retry-after" } },
        },
        async (account) => {
          await declare(account.folder, { services: withSuspended(account, 1_000), perMinute: 60 });
          await account.hostform(APPLY);
          return [
            requestsOf(account),
            { what: "time", value: account.host.wallMs() / 60_000, unit: "min" },
            { what: "refused", value: account.host.refused(), unit: "refused" },
          ];
        },
      ),
  },
];
