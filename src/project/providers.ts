/** Opens the accounts of a run: tokens, clients, and the stores that processes share. */
import path from "node:path";
import { accountOrigin, requireAllowedOrigin } from "../core/api/address.ts";
import { type ApiRecord, HostingClient } from "../core/api/index.ts";
import { budgetShareIn } from "../core/api/limiter.ts";
import { openStore } from "../core/api/open-store.ts";
import { accountDigest, readToken } from "../core/api/token.ts";
import { type Lives, lifeNote } from "../core/kinds/life.ts";
import { readingSettings } from "../core/kinds/provider-settings.ts";
import { Account, learnAlone } from "../core/lifecycle/index.ts";
import type { AccountStore } from "../core/local/index.ts";
import { type Diagnostic, didYouMean, fail, ifExplained, type ProviderConfig, shellPath } from "../core/model/index.ts";
import { replacing } from "./backend.ts";
import type { ProjectDeclaration } from "./declaration.ts";
import { interruptible } from "./interrupt.ts";
import type { OpenStore } from "./library-types.ts";
import { requireMandate } from "./mandate/gate.ts";
import { learnToken, type Redaction } from "./redaction.ts";
import type { Log, ProjectParts, ProjectSource } from "./source.ts";
import { requireProposed } from "./trust.ts";

/** A provider in use: its account, and the client that can change the account. */
export interface Provider {
  readonly alias: string;
  readonly client: HostingClient;
  readonly account: Account;
  readonly config: ProviderConfig;
  /** Describes a listed object if it is deleted or disabled. Otherwise undefined. */
  lifeNote(listing: Lives, record: ApiRecord): string | undefined;
}

/** The store of one API server, and the providers that use this server. */
export interface Server {
  readonly store: AccountStore;
  readonly aliases: ReadonlySet<string>;
}

/** The parts of a project that its providers need. */
export interface Declaring extends ProjectParts {
  readonly declaration: Pick<ProjectDeclaration, "providers">;
}

/** Data of one token that the processes of this machine share. */
interface Shared {
  readonly store: AccountStore;
  /** Codes of warnings that were reported already. */
  readonly reported: Set<string>;
}

/**
 * Shared data by redaction (one per process), URL and token. `watch` opens its providers for each check; this map keeps the
 * request count and the reported warnings.
 */
const sharedBy = new WeakMap<Redaction, Map<string, Shared>>();

/**
 * Signals that end requests. `stop`: requests that are not sent yet. `now`: all requests. `reading`: requests of the reader.
 */
interface Ends {
  readonly stop?: AbortSignal;
  readonly now?: AbortSignal;
  readonly reading?: AbortSignal;
}

/** The providers of a declaration. Opens each provider at its first use. */
export class Providers {
  readonly #configs: ReadonlyMap<string, ProviderConfig>;
  readonly #parts: ProjectParts;
  readonly #ends: Ends;
  readonly #over = new AbortController();
  readonly #clients = new Map<HostingClient, Shared>();
  readonly #open = new Map<string, Provider>();
  /** Alias by URL and token. */
  readonly #aliases = new Map<string, string>();
  readonly #tokens = new Map<string, string>();
  readonly #warnings: Diagnostic[] = [];
  /** The state is in PostgreSQL. */
  #isBesideState = false;
  /** Mark of the state, for accounts that are opened later. */
  place: string | undefined;
  /** True after the run took a use of a mandate. */
  isMandated = false;

  constructor(configs: ReadonlyMap<string, ProviderConfig>, parts: ProjectParts, ends: Ends) {
    this.#configs = configs;
    this.#parts = parts;
    this.#ends = ends;
  }

  /** Reads the tokens of these providers. Must run before {@link get}. */
  async prepare(aliases: Iterable<string>): Promise<void> {
    const { source, redaction, log } = this.#parts;
    this.#isBesideState ||= (await this.#parts.backend?.())?.type === "pg";
    for (const alias of new Set(aliases)) {
      if (this.#tokens.has(alias)) continue;
      const config = this.#config(alias);
      // Check the URL before reading the token.
      const place = { of: `Provider ${alias}`, ...placeOf(config) };
      const address = this.#addressOf(config);
      // `get` reports a missing URL.
      if (address !== undefined) requireAllowedOrigin(address, source.env, place);
      const token = await tokenOf(config, source, log);
      learnToken(redaction, token, `token of provider ${alias}`);
      this.#tokens.set(alias, token);
    }
  }

  /** Returns a prepared provider. @throws HostformError for an unknown alias, or a missing base URL or token. */
  get(alias: string): Provider {
    const known = this.#open.get(alias);
    if (known !== undefined) return known;
    const config = this.#config(alias);
    const token = this.#tokens.get(alias);
    if (token === undefined) throw new Error(`provider ${alias} was not prepared`);
    const client = this.#client(config, token);
    const settings = readingSettings(config);
    const account = new Account(client, settings, this.#ends.reading, this.#clients.get(client)?.store);
    account.place = this.place;
    account.origin = accountOrigin(this.#addressOf(config) ?? "");
    if (this.#parts.source.untrusted) learnAlone(account);
    const note: Provider["lifeNote"] = (listing, record) => lifeNote(listing, record, { client, settings });
    const provider = { alias, client, account, config, lifeNote: note };
    this.#open.set(alias, provider);
    return provider;
  }

  async use(alias: string): Promise<Provider> {
    await this.prepare([alias]);
    return this.get(alias);
  }

  /** Returns the stores of prepared providers, by alias. */
  stores(aliases: Iterable<string>): ReadonlyMap<string, AccountStore> {
    return new Map(
      [...aliases].flatMap((alias) => {
        const store = this.get(alias).account.store;
        return store === undefined ? [] : [[alias, store] as const];
      }),
    );
  }

  /** Returns the API servers of prepared providers. All tokens of a server share one store. */
  servers(): readonly Server[] {
    const originOf = (alias: string) => originIn(this.#addressOf(this.#config(alias)));
    const byOrigin = Map.groupBy(this.#configs.keys(), originOf);
    return [...byOrigin.values()].flatMap((aliases) => {
      const first = aliases.find((alias) => this.#tokens.has(alias));
      const store = first && this.get(first).account.store;
      return store ? [{ store, aliases: new Set(aliases) }] : [];
    });
  }

  /** Returns a stable name for the account of a prepared provider. It does not reveal the token. */
  accountName(alias: string): string {
    return accountDigest(this.#addressOf(this.#config(alias)) ?? "", this.#tokens.get(alias) ?? "");
  }

  /** Marks the lists of all accounts as outdated. */
  refresh(): void {
    for (const { account } of this.#open.values()) account.refresh();
  }

  /** Number of HTTP requests of all providers. */
  get requests(): number {
    return [...this.#clients.keys()].reduce((sum, client) => sum + client.requests, 0);
  }

  /** Smallest request limit of the providers in use, per minute. */
  get requestsPerMinute(): number {
    const budgets = [...this.#open.values()].map(({ client }) => client.requestsPerMinute);
    return budgets.length === 0 ? 60 : Math.min(...budgets);
  }

  /** Returns the `money_scale` of a provider. */
  readonly moneyScale = (_currency: string, alias: string): number | undefined => this.#configs.get(alias)?.moneyScale;

  /** Returns all warnings of the API that were not reported yet. */
  takeWarnings(): Diagnostic[] {
    return this.#warnings.splice(0);
  }

  /** Stops all further requests. Requests in progress are completed. */
  halt(): void {
    this.#over.abort();
  }

  /** Reports the remaining warnings and closes the connections. */
  async close(): Promise<void> {
    this.#parts.log.warn(...this.takeWarnings());
    await Promise.all([...this.#clients.keys()].map((client) => client.close()));
    await Promise.all([...this.#clients.values()].map(({ store }) => store.close()));
  }

  #config(alias: string): ProviderConfig {
    const config = this.#configs.get(alias);
    if (config !== undefined) return config;
    const meant = didYouMean(alias, this.#configs.keys());
    fail("provider.unknown", `No provider ${JSON.stringify(alias)} is declared.${meant}`, {
      remedies: ["Declare it under `providers`, or use a declared provider."],
    });
  }

  #addressOf({ baseUrl }: ProviderConfig): string | undefined {
    return baseUrl ?? (this.#parts.source.env.HOSTING_BASE_URL || undefined);
  }

  /** @throws HostformError `config.duplicate` for two aliases with the same address and token. */
  #client(config: ProviderConfig, token: string): HostingClient {
    const { source, host, log } = this.#parts;
    const baseUrl = this.#addressOf(config);
    if (baseUrl === undefined) {
      fail("provider.base_url", `No base URL for provider ${config.alias}`, {
        remedies: ["Set HOSTING_BASE_URL, or `base_url` under `providers`.", { do: "see", what: "sandbox" }],
        ...placeOf(config),
      });
    }
    const key = JSON.stringify([baseUrl, token]);
    const twin = this.#aliases.get(key);
    if (twin !== undefined && twin !== config.alias) {
      fail("config.duplicate", `Providers ${twin} and ${config.alias} are the same account: same address, same token`, {
        detail: "If a service were declared under both, hostform would order it twice.",
        remedies: ["Use one of the two for both."],
        ...placeOf(config),
      });
    }
    this.#aliases.set(key, config.alias);
    const shared = this.#sharedOf(baseUrl, token);
    const client: HostingClient = new HostingClient({
      baseUrl,
      token,
      clock: host.clock,
      env: source.env,
      insecureHttp: source.insecureHttp,
      account: accountSentence(config, baseUrl),
      requestsPerMinute: config.requestsPerMinute,
      budgetShare: budgetShareIn(source.env),
      ledger: shared.store.requests,
      stop: AbortSignal.any([this.#over.signal, ...(this.#ends.stop ? [this.#ends.stop] : [])]),
      signal: this.#ends.now,
      onMutation: () => this.isMandated || requireMandate(source, "This request"),
      onConnecting: (step) => log.connecting(step),
      onRequest: (event) => {
        log.trace?.request(event);
        log.request(event, client.requestsPerMinute);
      },
      onWait: (_, wait) => wait && log.wait(wait),
      onWarning: (warning) => {
        // Repeat this warning for each plan, because each plan depends on it.
        if (warning.code === "api.no_list" || !shared.reported.has(warning.code)) this.#warnings.push(warning);
        shared.reported.add(warning.code);
      },
    });
    this.#clients.set(client, shared);
    return client;
  }

  #sharedOf(baseUrl: string, token: string): Shared {
    const { source, host, log, redaction } = this.#parts;
    const known = sharedBy.get(redaction) ?? new Map<string, Shared>();
    sharedBy.set(redaction, known);
    const key = JSON.stringify([baseUrl, token, source.readsOnly]);
    const open = () =>
      givenStore(source, { account: accountDigest(baseUrl, token), origin: originIn(baseUrl) }) ??
      openStore({
        ...{ baseUrl, token, env: source.env, clock: host.clock, onWarning: log.warn },
        isBesideState: this.#isBesideState,
        waitMs: source.lockTimeoutMs,
      });
    const shared = known.get(key) ?? {
      store: source.readsOnly === true ? replacing(open(), UNWRITTEN) : open(),
      reported: new Set<string>(),
    };
    known.set(key, shared);
    return shared;
  }
}

/** Writes of a store that do nothing. */
const UNWRITTEN: Partial<AccountStore> = {
  note: async () => [],
  forget: async () => {},
  see: async () => {},
  release: async () => {},
  endRun: async () => {},
};

/** Stores that projects have received from a program. */
const GIVEN = new WeakSet<AccountStore>();

/** Opens the store of a program. @throws HostformError `usage` if another project has it: its creates would run simultaneously. */
function givenStore({ openStore }: ProjectSource, of: Parameters<OpenStore>[0]): AccountStore | undefined {
  const store = openStore?.(of);
  if (store === undefined) return undefined;
  if (GIVEN.has(store))
    fail("usage", "`store` returned the store of another project: return a new one for each project");
  GIVEN.add(store);
  return store;
}

const originIn = (address = ""): string => URL.parse(address)?.origin ?? address;

const placeOf = ({ range }: ProviderConfig) => (range === undefined ? {} : { range });

/** Returns the variable or the file of a token, as messages name it. */
export const tokenSource = ({ tokenEnv, tokenFile }: ProviderConfig): string =>
  tokenFile === undefined ? (tokenEnv ?? DEFAULT_TOKEN) : shellPath(tokenFile);

/** Describes the account of a provider for errors, because several accounts may fail in the same way. */
function accountSentence(config: ProviderConfig, baseUrl: string): string {
  return `Provider ${config.alias}: ${URL.parse(baseUrl)?.host ?? baseUrl}, token from ${tokenSource(config)}.`;
}

export const DEFAULT_TOKEN = "HOSTING_TOKEN";

async function tokenOf(config: ProviderConfig, project: ProjectSource, log: Log): Promise<string> {
  const { env, cwd } = project;
  const { alias, tokenEnv, tokenFile } = config;
  const place = placeOf(config);
  const variable = tokenEnv ?? (alias === "default" ? DEFAULT_TOKEN : undefined);
  if (tokenFile === undefined && variable === undefined) {
    fail("provider.token", `Provider ${alias} has no token`, {
      remedies: ["Add `token_env: VARIABLE` or `token_file: PATH` to it."],
      ...place,
    });
  }
  const source = tokenFile === undefined ? { env: variable ?? "" } : { file: path.resolve(cwd, tokenFile) };
  if (source.file !== undefined) requireProposed(project, source.file);
  const reading = { env, of: `provider ${alias}`, relativeTo: "the declaration", place };
  const { token, readableByOthers } = await readToken(source, reading);
  if (readableByOthers && source.file !== undefined) {
    log.say(`Warning: the token file ${source.file} can be read by others; \`chmod 600 ${shellPath(source.file)}\`.`);
  }
  return token;
}

/** Opens the providers for a task, and closes them afterwards. @param reading Ends the requests. */
export async function withProviders<T>(
  configs: ReadonlyMap<string, ProviderConfig>,
  parts: ProjectParts,
  reading: AbortSignal,
  work: (providers: Providers) => Promise<T>,
): Promise<T> {
  const providers = new Providers(configs, parts, { reading });
  try {
    return await work(providers);
  } finally {
    await providers.close();
  }
}

/** Returns the digests of the declared accounts. Reads their tokens. */
export async function accountsOf(project: Declaring): Promise<readonly string[]> {
  const configs = await project.declaration.providers();
  return withProviders(configs, project, new AbortController().signal, async (providers) => {
    await providers.prepare(configs.keys());
    return [...configs.keys()].map((alias) => providers.accountName(alias));
  });
}

/** Opens the servers of these providers for a task. Skips providers without a token or with an invalid URL. */
export async function withServers(
  configs: ReadonlyMap<string, ProviderConfig>,
  parts: ProjectParts,
  signal: AbortSignal,
  aliases: Iterable<string>,
  work: (servers: readonly Server[]) => Promise<void>,
): Promise<void> {
  await withProviders(configs, parts, signal, async (providers) => {
    for (const alias of new Set(aliases)) await providers.use(alias).catch(ifExplained(() => {}));
    await work(providers.servers());
  });
}

/** Options that select the provider of a command. */
export interface ProviderFlags {
  readonly provider?: string;
}

/**
 * Opens one provider for a task, and closes it afterwards. Without a declaration: the default provider.
 * @throws HostformError for an unknown alias, or a missing base URL or token.
 */
export function withProvider<T>(
  project: Declaring,
  alias: string,
  work: (provider: Provider, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(project.host, async (signal) =>
    withProviders(await project.declaration.providers(), project, signal, async (providers) =>
      work(await providers.use(alias), signal),
    ),
  );
}
