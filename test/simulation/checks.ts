import type { JsonObject, ResourceState, State } from "../../src/core/model/index.ts";
import { type Declaration, desiredOf, serviceAddress } from "./declaration.ts";
import type { Owners } from "./owners.ts";
import { phaseOf } from "./records.ts";
import type { Server } from "./server.ts";
import { ownLive } from "./witness.ts";

/** Declaration, state and account after the final runs. */
export interface Aftermath {
  readonly declaration: Declaration;
  readonly state: State;
  readonly server: Server;
  readonly owners: Owners;
  readonly now: number;
  /** Ids of objects that only a lost state knew. No run can identify them as its own. */
  readonly orphans: ReadonlySet<number>;
  /** Contents of the files with secrets. */
  readonly secrets: readonly string[];
  /** Addresses that were adopted by `import`. Another user received their one-time secrets. */
  readonly adopted: ReadonlySet<string>;
  /** Number of incomplete responses to password resets since the last complete response, by service id. */
  readonly cutResets: ReadonlyMap<string, number>;
}

/** Returns all differences between declaration, state and account after the final runs. Empty if none exist. */
export function differences(aftermath: Aftermath): string[] {
  return [
    ...recorded(aftermath),
    ...services(aftermath),
    ...grants(aftermath),
    ...webhooks(aftermath),
    ...others(aftermath),
  ];
}

/** Checks that the state has exactly the declared resources, each with an id and without a pending mark. */
function recorded({ declaration, state }: Aftermath): string[] {
  const declared = new Set(desiredOf(declaration, new Map()).resources.map(({ address }) => address));
  const missing = [...declared].filter((address) => typeof state.resources.get(address)?.attributes.id !== "string");
  const left = [...state.resources.keys()].filter((address) => !declared.has(address));
  const marked = [...state.resources.values()].filter(
    ({ private: mark }) => mark.pending ?? mark.deposed ?? mark.attempt,
  );
  return [
    ...missing.map((address) => `${address} is declared and not recorded`),
    ...left.map((address) => `${address} is recorded and not declared`),
    ...marked.map(({ address, private: mark }) => `${address} still has a mark: ${JSON.stringify(mark)}`),
  ];
}

function services({ declaration, state, server, owners, now, secrets, cutResets }: Aftermath): string[] {
  const live = ownLive(server, now);
  const faults: string[] = [];
  const held = new Map<string, string>();
  for (const declared of declaration.services) {
    const address = serviceAddress(declared.name);
    const attributes = attributesOf(state, address);
    const id = String(attributes.id);
    const other = held.get(id);
    if (other !== undefined) faults.push(`${address} and ${other} are both service ${id}`);
    held.set(id, address);
    const real = live.find((one) => String(one.id) === id);
    if (real === undefined) {
      faults.push(`${address} is recorded as ${id}, which is not a live service of ours`);
      continue;
    }
    const owner = owners.of(real);
    if (owner?.name !== declared.name) faults.push(`${address} is recorded as ${id}, which is ${owner?.name}`);
    if (declared.suspended !== undefined && real.suspended !== declared.suspended)
      faults.push(`${address} is declared suspended: ${declared.suspended}, and is not`);
    if (attributes.status !== phaseOf(real, now)) faults.push(`${address} is recorded as ${attributes.status}`);
    const { generated_password: password } = attributes;
    const isReportedLost = password === null && (cutResets.get(id) ?? 0) > RESETS_REPEATED;
    if (declared.passwordVersion !== undefined && !isKnown(password, real.password, secrets) && !isReportedLost)
      faults.push(`the password of ${address} is not known`);
  }
  const wanted = new Set(declaration.services.map(({ name }) => name));
  const unknown = live.filter((one) => wanted.has(owners.of(one)?.name ?? "") && !held.has(String(one.id)));
  for (const { id } of unknown) faults.push(`service ${id} is ours, and nothing knows it`);
  return faults;
}

/**
 * Number of incomplete responses after which a reset is not repeated. A further reset would only change the password
 * of a live server.
 */
const RESETS_REPEATED = 1;

/** Returns true if the state contains the secret, or if one of the files contains it exactly. */
const isKnown = (recorded: unknown, real: string | null, secrets: readonly string[]) =>
  recorded === real || (recorded === null && real !== null && secrets.some((text) => text.includes(real)));

function grants({ declaration, state, server, now, orphans }: Aftermath): string[] {
  const live = new Set(ownLive(server, now).map(({ id }) => String(id)));
  const known = new Set<number>();
  const faults: string[] = [];
  for (const { name, grants: people } of declaration.services) {
    const service = String(attributesOf(state, serviceAddress(name)).id);
    for (const [email, permission] of Object.entries(people)) {
      const address = `hosting_grant.${name}[${JSON.stringify(email)}]`;
      const real = server.grants.filter((one) => String(one.service) === service && one.email === email);
      for (const { id } of real) known.add(id);
      const [only] = real;
      if (only === undefined || real.length > 1) faults.push(`${address} has ${real.length} grants`);
      else if (String(only.id) !== attributesOf(state, address).id)
        faults.push(`${address} is recorded as another grant`);
      else if (only.permission !== permission) faults.push(`${address} is ${only.permission}`);
    }
  }
  const extra = server.grants.filter(
    ({ id, service, foreign }) => !foreign && live.has(String(service)) && !known.has(id) && !orphans.has(id),
  );
  return [...faults, ...extra.map(({ id, email }) => `grant ${id} of ${email} is ours, and nobody declares it`)];
}

function webhooks({ declaration, state, server, orphans, adopted, secrets }: Aftermath): string[] {
  const known = new Set<number>();
  const faults: string[] = [];
  for (const { name, url, events } of declaration.webhooks) {
    const address = `hosting_webhook.${name}`;
    const real = server.webhooks.filter(
      (one) => one.url === url && one.events.toSorted().join() === events.toSorted().join(),
    );
    for (const { id } of real) known.add(id);
    const attributes = attributesOf(state, address);
    const [only] = real;
    if (only === undefined || real.length > 1) faults.push(`${address} has ${real.length} subscriptions`);
    else if (String(only.id) !== attributes.id) faults.push(`${address} is recorded as another subscription`);
    else if (!isKnown(attributes.secret, only.secret, secrets) && !(attributes.secret === null && adopted.has(address)))
      faults.push(`the secret of ${address} is not known`);
  }
  const extra = server.webhooks.filter(({ id, foreign }) => !foreign && !known.has(id) && !orphans.has(id));
  return [...faults, ...extra.map(({ id, url }) => `webhook ${id} to ${url} is ours, and nobody declares it`)];
}

function others({ declaration, state, server }: Aftermath): string[] {
  const one = (address: string, real: readonly { readonly id: number }[]) => {
    const { id } = attributesOf(state, address);
    return real.length === 1 && String(real[0]?.id) === id
      ? []
      : [`${address} is recorded as ${id}; there are ${real.length}`];
  };
  return [
    ...declaration.accounts.flatMap(({ name }) =>
      one(
        `hosting_client_account.${name}`,
        server.accounts.filter((real) => real.name === name),
      ),
    ),
    ...declaration.migrations.flatMap(({ name, domain }) =>
      one(
        `hosting_migration_request.${name}`,
        server.migrations.filter((real) => real.domain === domain),
      ),
    ),
    ...declaration.domains.flatMap(({ name, domain }) => {
      const address = `hosting_domain.${name}`;
      const real = server.registrations.filter((known) => known.domain === domain);
      // If the response contained no id, the domain name is the id.
      return attributesOf(state, address).id === domain && real.length === 1 ? [] : one(address, real);
    }),
  ];
}

const attributesOf = (state: State, address: string): JsonObject => {
  const resource: ResourceState | undefined = state.resources.get(address);
  return resource?.attributes ?? {};
};
