/** Compares the accounts of a run with the accounts in the state. */
import { kinds } from "../core/kinds/index.ts";
import { service } from "../core/kinds/service/index.ts";
import { type Account, accountGate, accountMark, anchorsIn, keyOf, originProblem } from "../core/lifecycle/index.ts";
import {
  type AccountMark,
  type Desired,
  type Diagnostic,
  failWith,
  type JsonObject,
  type Place,
  parseAddress,
  type ResourceState,
  type State,
  shownName,
} from "../core/model/index.ts";
import type { Providers } from "./providers.ts";
import type { ProjectSource } from "./source.ts";

/** Account mark for the state entries of this run, by provider alias. */
export type Identities = ReadonlyMap<string, AccountMark>;

/**
 * Compares the accounts of a run with the accounts in the state. Compares URLs now, and objects after the lists are read.
 * @throws HostformError `account.foreign`
 */
export function requireAccounts(
  aliases: Iterable<string>,
  providers: Providers,
  state: Pick<State, "resources">,
  identities: Readonly<Record<string, AccountMark>> = {},
): void {
  const problems = [...aliases].flatMap((alias) =>
    problemsOf(alias, () => providers.get(alias).account, state, identities[alias]),
  );
  failWith(problems);
}

/** Compares the objects of accounts with marks, after a plan has read the accounts. @throws HostformError `account.foreign` */
export async function proveAccounts(
  aliases: readonly string[],
  providers: Providers,
  identities: Readonly<Record<string, AccountMark>>,
): Promise<void> {
  requireAccounts(aliases, providers, { resources: new Map() }, identities);
  for (const alias of aliases) {
    const { account } = providers.get(alias);
    await account.confirm?.();
    account.confirm = undefined;
  }
}

/** Compares one account. @throws HostformError `account.foreign` */
export function requireAccount(alias: string, account: Account, state: State): void {
  const problems = problemsOf(alias, () => account, state);
  failWith(problems);
}

/** Compares the URL of an account with a state entry. Sends no request. @throws HostformError `account.foreign` */
export function requireAddress(alias: string, account: Account, record: ResourceState): void {
  const problems = originProblem(`Provider ${alias}`, account, [record]);
  failWith(problems);
}

/** @param saved Account mark in a saved plan. */
function problemsOf(
  alias: string,
  open: () => Account,
  { resources }: Pick<State, "resources">,
  saved?: AccountMark,
): Diagnostic[] {
  const recorded = [...resources.values()].filter(({ provider }) => provider === alias);
  const records = [...recorded, ...(saved ? [{ address: "", attributes: {}, private: { account: saved } }] : [])];
  if (records.length === 0) return [];
  const of = `Provider ${alias}`;
  const account = open();
  account.confirm = accountGate(of, account, kinds, records);
  return originProblem(of, account, records);
}

/** Returns the mark of an account from the lists that were read. Sends no request. */
export const identityOf = (account: Account): AccountMark => ({
  origin: account.origin ?? "",
  anchors: anchorsIn(account),
});

export const identitiesOf = (aliases: Iterable<string>, providers: Providers): Identities =>
  new Map([...aliases].map((alias) => [alias, identityOf(providers.get(alias).account)]));

type Named = Pick<Desired, "project" | "providers">;

/** Describes an account from its declaration. @param among Number of accounts. */
function placeOf({ env, environment }: ProjectSource, { project, providers }: Named, provider: string, among: number) {
  const address = providers.get(provider)?.baseUrl ?? env.HOSTING_BASE_URL ?? "";
  const isSandbox = Boolean(env.HOSTING_SANDBOX_CONTROL_URL) && address === env.HOSTING_BASE_URL;
  const { host, pathname } = URL.parse(address) ?? { host: address, pathname: "" };
  const prefix = pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
  const single = environment?.name ?? project;
  const name = isSandbox ? "SANDBOX" : among === 1 && single !== "" ? single : provider;
  return { provider, name, host: `${host}${prefix}`, services: null, domain: null };
}

/** Describes the accounts of a declaration. */
export const declaredPlaces = (source: ProjectSource, named: Named): Place[] =>
  [...named.providers.keys()].sort().map((provider) => placeOf(source, named, provider, named.providers.size));

/** Describes the accounts of a run. Sends no request. */
export function placesOf(
  source: ProjectSource,
  declared: Named,
  aliases: ReadonlySet<string>,
  providers: Providers,
  { resources }: State,
): Place[] {
  return [...aliases].sort().map((provider) => {
    const listed = providers.get(provider).account.rows.get(service.type)?.objects.values();
    const live = listed && [...listed].filter(({ phase }) => phase !== "gone").map(({ attributes }) => attributes);
    const recorded = [...resources.values()].filter(
      (one) => one.provider === provider && one.address.startsWith(`${service.type}.`),
    );
    const own = recorded.flatMap(({ attributes, sensitive }) => (sensitive.includes("domain") ? [] : [attributes]));
    const ids = live && new Set(live.map(({ id }) => id));
    const isLive = ({ id }: JsonObject) => ids?.has(id) ?? true;
    // The plan of an untrusted project must not reveal unmanaged services.
    const known = [...own.filter(isLive), ...(source.untrusted ? [] : (live ?? []))];
    const domain = known.map((one) => one.domain).find((one) => typeof one === "string");
    const services = live?.length ?? (recorded.length > 0 ? recorded.length : null);
    const place = placeOf(source, declared, provider, aliases.size);
    return { ...place, services, domain: domain === undefined ? null : shownName(domain) };
  });
}

/**
 * Returns the function that adds the account mark to a state entry.
 * @param moved True to replace the marks of all entries.
 */
export function marking(identities: Identities, state: State, moved = false) {
  const held = new Set<string>();
  const marks = new Map<string, AccountMark>();
  for (const {
    address,
    provider,
    private: { account },
  } of state.resources.values()) {
    if (!account?.anchors.length || (moved && identities.has(provider))) continue;
    marks.set(address, account);
    for (const one of account.anchors) held.add(keyOf(one));
  }
  return (resource: ResourceState): ResourceState => {
    const { address, provider, attributes } = resource;
    const identity = identities.get(provider);
    const own = { type: parseAddress(address)?.type ?? "", id: attributes.id };
    const mark = marks.get(address) ?? (identity && accountMark(identity, own, held));
    if (mark === undefined) return resource;
    marks.set(address, mark);
    return { ...resource, private: { ...resource.private, account: mark } };
  };
}
