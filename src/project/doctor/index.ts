/**
 * Examines the accounts of a project, its state and its machine. In: a project, or the URL and token of an account.
 * Out: a plain report. Must not: send requests other than GET, write a declaration or a state, or let one failure hide
 * another.
 */
import { routeTo } from "../../core/api/proxy.ts";
import { kinds } from "../../core/kinds/index.ts";
import { accountGate, originProblem } from "../../core/lifecycle/index.ts";
import {
  type AccountReport,
  attempt,
  type Diagnostic,
  type DoctorReport,
  HostformError,
  hasCode,
  ifExplained,
  isError,
  type ProviderConfig,
  type State,
} from "../../core/model/index.ts";
import { withMoneyScale } from "../declaration.ts";
import { interruptible } from "../interrupt.ts";
import type { Project } from "../project.ts";
import { DEFAULT_TOKEN, type Provider, Providers } from "../providers.ts";
import type { ProjectSource } from "../source.ts";
import { rightsIn } from "./access.ts";
import { gapsIn, undetermined } from "./gaps.ts";
import { profileOf } from "./profile.ts";
import { asker, recordsOf, type Survey, takeSurvey } from "./survey.ts";

export interface DoctorOptions {
  /** Examines only this account of the declaration. */
  readonly provider?: string | undefined;
  /** URL of an account outside the project, and the variable with its token. */
  readonly baseUrl?: string | undefined;
  readonly tokenEnv?: string | undefined;
}

/**
 * Examines everything that hostform depends on. The report contains all failures.
 * @throws the abort reason if the run is interrupted.
 */
export function examine(project: Project, { provider, baseUrl, tokenEnv }: DoctorOptions): Promise<DoctorReport> {
  return interruptible(project.host, async (signal) => {
    const problems: Diagnostic[] = [];
    const { env } = project.source;
    const alone = () => withMoneyScale(new Map([["default", { alias: "default", baseUrl, tokenEnv }]]), env);
    if (baseUrl !== undefined || tokenEnv !== undefined) {
      const account = await examineAccount(project, alone(), "default", null, signal);
      const healthy = !account.problems.some(isError);
      return { format_version: "1.0", healthy, accounts: [account], state: null, problems };
    }
    const configs = await project.declaration.providers().catch(
      ifExplained(({ diagnostics }) => {
        problems.push(...diagnostics);
        return alone();
      }),
    );
    const { report: state, state: recorded = null } = await project.state.examine();
    const accounts: AccountReport[] = [];
    for (const alias of provider === undefined ? await aliasesIn(project, configs) : [provider])
      accounts.push(await examineAccount(project, configs, alias, recorded, signal));
    const all = [problems, state.problems, ...accounts.map((one) => one.problems)];
    return { format_version: "1.0", healthy: !all.flat().some(isError), accounts, state, problems };
  });
}

/** Returns the accounts that are declared or used. Without any: the default account. */
async function aliasesIn({ declaration }: Project, configs: ReadonlyMap<string, ProviderConfig>) {
  const { desired, partial } = await declaration.read();
  const used = new Set((desired ?? partial)?.resources.map(({ provider }) => provider));
  const aliases = [...configs].flatMap(([alias, { range }]) => (range || used.has(alias) ? alias : []));
  return aliases.length > 0 ? aliases : configs.keys();
}

async function examineAccount(
  project: Project,
  configs: ReadonlyMap<string, ProviderConfig>,
  alias: string,
  state: State | null,
  signal: AbortSignal,
): Promise<AccountReport> {
  const problems: Diagnostic[] = [];
  const explained = ifExplained(({ diagnostics }) => void problems.push(...diagnostics));
  let requests: AccountReport["requests"] = null;
  const log: Project["log"] = {
    ...project.log,
    warn: (...diagnostics) => void problems.push(...diagnostics),
    request: (event, limit) => {
      requests = { limit, left: event.left, sent: (requests?.sent ?? 0) + 1 };
      project.log.request(event, limit);
    },
  };
  const providers = new Providers(configs, { ...project, log }, { reading: signal, now: signal });
  try {
    const opened = await providers.use(alias).catch(explained);
    const survey = opened ? await takeSurvey(asker(opened.client.raw, signal)) : { sights: [] };
    problems.push(...failuresIn(survey));
    const isAnswering = survey.sights.some(({ problem }) => problem === undefined);
    const identity = opened && state && isAnswering ? await identify(opened, state) : undefined;
    problems.push(...(identity?.problems ?? []));
    const config = configs.get(alias) ?? { alias };
    const { env } = project.source;
    const address = config.baseUrl ?? (env.HOSTING_BASE_URL || undefined);
    const list = survey.sights.find(({ endpoint, problem }) => endpoint === "listServices" && problem === undefined);
    const domains = recordsOf(survey.sights, "listServices").map((one) => ("domain" in one ? one.domain : null));
    const dated = survey.sights.some(({ headers }) => headers.date !== undefined);
    return {
      provider: alias,
      ...(address !== undefined && { base_url: address }),
      token_from: config.tokenFile ?? config.tokenEnv ?? (alias === "default" ? DEFAULT_TOKEN : "nowhere"),
      identity: identity?.verdict ?? null,
      services: list
        ? {
            count: list.records.length,
            more: list.more,
            domain: domains.find((one) => typeof one === "string") ?? null,
          }
        : null,
      ...rightsIn(survey),
      requests,
      clock_offset_ms: opened && dated ? Math.round(opened.client.hostNow() - project.host.clock.now()) : null,
      proxy: address === undefined ? null : proxyTo(address, env),
      store: opened?.account.store?.file ?? null,
      gaps: gapsIn(survey, config),
      undetermined: undetermined(config),
      profile: profileOf(survey),
      problems: distinct([...problems, ...providers.takeWarnings()]),
    };
  } finally {
    await providers.close();
  }
}

/** Returns the proxy for a URL. Undefined for an invalid proxy variable, which is reported as an error of the account. */
function proxyTo(address: string, env: ProjectSource["env"]): AccountReport["proxy"] {
  const { proxy } = attempt(
    () => routeTo(new URL(address), env),
    () => ({ proxy: undefined }),
  );
  return proxy === undefined ? null : { address: `${proxy.host}:${proxy.port}`, variable: proxy.variable };
}

/** Returns the errors in the responses. A 403 is no error here: it determines the abilities. */
const failuresIn = ({ sights }: Survey): Diagnostic[] =>
  sights.flatMap(({ problem, status }) => (problem === undefined || status === 403 ? [] : problem.diagnostics));

const distinct = (diagnostics: readonly Diagnostic[]): Diagnostic[] => [
  ...new Map(diagnostics.map((one) => [`${one.code} ${one.summary}`, one])).values(),
];

/** Compares an account with its mark in the state, as each plan does. */
async function identify({ alias, account }: Provider, { resources }: State) {
  const records = [...resources.values()].filter(({ provider }) => provider === alias);
  if (records.length === 0) return { verdict: "new" as const, problems: [] };
  const of = `Provider ${alias}`;
  const foreign = originProblem(of, account, records);
  if (foreign.length > 0) return { verdict: "other" as const, problems: foreign };
  const isSame = accountGate(of, account, kinds, records);
  // Read one list first. The comparison reads more lists only if this list contains no object of the state.
  const recorded = [...kinds.values()].filter(({ type }) =>
    records.some(({ address }) => address.startsWith(`${type}.`)),
  );
  const kind = recorded.find(({ parent, list }) => parent === undefined && list !== undefined);
  try {
    if (kind !== undefined) await account.list(kind);
    return { verdict: (await isSame()) ? ("same" as const) : ("unknown" as const), problems: [] };
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const isOther = hasCode(error, "account.foreign");
    return { verdict: isOther ? ("other" as const) : ("unknown" as const), problems: isOther ? error.diagnostics : [] };
  }
}
