import { randomUUID } from "node:crypto";
import path from "node:path";
import { accountOrigin, normalizeBaseUrl, overrideWarnings, requireAllowedOrigin } from "../../../core/api/address.ts";
import { HostingClient, VERSION, type Wait } from "../../../core/api/index.ts";
import { budgetShareIn } from "../../../core/api/limiter.ts";
import { isInMemory, openStore } from "../../../core/api/open-store.ts";
import { appFolder, browse as openBrowser, systemSecretFiles } from "../../../core/files/index.ts";
import { moneyScaleOf, readingSettings } from "../../../core/kinds/provider-settings.ts";
import { Account } from "../../../core/lifecycle/index.ts";
import { isRunning, processMark } from "../../../core/local/index.ts";
import {
  type Clock,
  childEnvironment,
  type Diagnostic,
  HostformError,
  hasUnknown,
  systemClock,
  untrustedByEnvironment,
  type ValueObject,
} from "../../../core/model/index.ts";
import { Entries } from "../entries.ts";
import type { ProviderSession } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import { Holdings } from "../resource/holdings.ts";
import { addressOf, type ProviderToken, projectOf, settingsIn, tokenOf, validateProviderConfig } from "./config.ts";
import { hostMark, placeOf } from "./place.ts";

/** Parts of the process that a session uses. */
export interface SessionOptions {
  /** Aborted when Terraform is stopped. */
  readonly stop: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For example `1.11.4`. */
  readonly terraformVersion: string | undefined;
  readonly clock?: Clock | undefined;
  /** Terraform's folder, the base of relative paths. Default: the folder of the process. */
  readonly folder?: string | undefined;
  /** Called when a request waits, with the time in ms. */
  onWait?(ms: number, wait?: Wait): void;
  /** Called with each warning, before and after the session is open. */
  onWarning(warning: Diagnostic): void;
}

/** Names of Terraform's files, which no secret may replace. */
const TERRAFORMS = [
  "terraform.tfstate",
  "terraform.tfstate.backup",
  ".terraform.tfstate.lock.info",
  ".terraform.lock.hcl",
];

/** Returns true for a configuration, variables, a state or a plan in any folder, and for files in Terraform's data folder. */
function isTerraforms(file: string): boolean {
  return (
    /\.(?:tf|tf\.json|tofu|tofu\.json|tfvars|tfvars\.json|tfstate|tfplan|tftest\.hcl)$|\.tfstate\./.test(file) ||
    file.split(path.sep).includes(".terraform")
  );
}

/** Returns the environment of a user's command, without variables of the plugin protocol and without credentials. */
function withoutOurs(env: SessionOptions["env"], { token_env: named }: ValueObject): SessionOptions["env"] {
  const tokens = typeof named === "string" ? [named] : [];
  return Object.fromEntries(
    Object.entries(childEnvironment(env, tokens)).filter(([name]) => !/^(?:TF_)?PLUGIN_/.test(name)),
  );
}

/**
 * Rejects HOSTFORM_UNTRUSTED: Terraform runs the programs of a configuration (other providers, `external`, provisioners) before and
 * beside this provider, which cannot prevent that. @throws HostformError `trust.untrusted`.
 */
function refuseUntrusted(env: SessionOptions["env"]): void {
  if (untrustedByEnvironment(env)) refuse(problem("trust.untrusted"));
  if (env.HOSTFORM_APPROVERS !== undefined) refuse(problem("mandate.required"));
}

/**
 * Opens the account of the provider's configuration. Sends no request. If a part of the configuration is unknown during a plan, the
 * session opens, and each part that needs the account throws `terraform.not_known`.
 * @throws HostformError at a missing or invalid setting, without a token. `trust.untrusted` if HOSTFORM_UNTRUSTED is set.
 */
export async function openSession(config: ValueObject, options: SessionOptions): Promise<ProviderSession> {
  refuseUntrusted(options.env);
  const wrong = validateProviderConfig(config);
  if (wrong.length > 0) refuse(...wrong);
  const { stop, env, clock = systemClock, folder = process.cwd(), onWarning } = options;
  const own = TERRAFORMS.map((name) => path.resolve(folder, name));
  const programs = withoutOurs(env, config);
  const secretOutputs = systemSecretFiles({
    folder,
    env: programs,
    own,
    isOwn: isTerraforms,
    owner: "Terraform",
    projects: [appFolder(folder)],
  });
  const browse = (url: string) => openBrowser(url, programs);
  const secretDestination: ProviderSession["secretDestination"] = (output, of) => secretOutputs.destination(output, of);
  const open = Object.keys(config).filter((name) => hasUnknown(config[name] ?? null));
  const needed = open.filter((name) => name !== "project");
  if (needed.length > 0) return waitingSession(needed, { clock, stop, browse, secretOutputs, secretDestination });

  const settings = settingsIn(config);
  const baseUrl = addressOf(config, env);
  const use = { of: "The provider", attribute: ["base_url"] };
  requireAllowedOrigin(baseUrl, env, use);
  for (const warning of overrideWarnings(baseUrl, env, use)) onWarning(warning);
  const project = projectOf(config, env);
  const token = await tokenOf(config, env, folder);
  if (token.warning !== undefined) onWarning(token.warning);
  const reached = { baseUrl, token: token.token };
  const access = `${baseUrl}, token from ${token.from}`;
  const { client, store } = atSetting(token, () => {
    const store = openStore({ ...reached, env, clock, onWarning });
    const reaching = {
      ...reached,
      env,
      clock,
      ledger: store.requests,
      insecureHttp: config.insecure_http === true,
      requestsPerMinute: settings.requestsPerMinute,
      budgetShare: budgetShareIn(env),
      onWait: options.onWait,
      // The client reports each warning once.
      onWarning,
      stop,
      userAgent: userAgent(options.terraformVersion),
      account: `The provider uses ${access}.`,
    };
    return { client: new HostingClient(reaching), store };
  });
  const reading = readingSettings({ ...settings, moneyScale: moneyScaleOf(settings, env) });
  const place = placeOf(folder, env);
  const account = new Account(client, reading, stop, store);
  account.place = place.mark;
  account.origin = accountOrigin(baseUrl);
  const session: ProviderSession = {
    client,
    account,
    isOpen: true,
    settings: reading,
    access,
    host: hostMark(normalizeBaseUrl(baseUrl, true).href),
    hasMoved: env.HOSTFORM_ACCOUNT_MOVED === "1",
    place: place.mark,
    self: { mark: processMark(), parent: processMark(process.ppid), isRunning },
    moneyScale: reading.moneyScale,
    clock,
    stop,
    browse,
    secretOutputs,
    secretDestination,
    get project() {
      return open.includes("project") ? notKnown(["project"]) : project;
    },
    entries: new Entries({
      store,
      token: token.token,
      get project() {
        return session.project;
      },
      mayForget: isInMemory(env),
      onWarning,
    }),
    holdings: new Holdings({ store, place, run: randomUUID(), clock, onWarning }),
    async close() {
      await session.holdings.flush();
      await client.close();
      await store.close();
    },
  };
  return session;
}

/** Returns for example `hostform-terraform/1.0.0 terraform/1.11.4`. */
function userAgent(version: string | undefined): string {
  const known = version?.replaceAll(/[^\w.+-]/g, "");
  return `hostform-terraform/${VERSION}${known ? ` terraform/${known}` : ""}`;
}

/** Locates failures of the client at the setting that caused them. */
function atSetting<T>({ attribute }: ProviderToken, step: () => T): T {
  try {
    return step();
  } catch (failure) {
    if (!(failure instanceof HostformError)) throw failure;
    const places: Readonly<Record<string, string>> = { "provider.base_url": "base_url", "provider.token": attribute };
    throw new HostformError(
      failure.diagnostics.map((diagnostic) => {
        const place = places[diagnostic.code];
        return place === undefined ? diagnostic : { ...diagnostic, attribute: [place] };
      }),
    );
  }
}

/** Throws the error about unknown settings. */
const notKnown = (names: readonly string[]): never => refuse(problem("terraform.not_known", { names }));

/** Parts of a session that exist while the configuration is partly unknown. */
type WaitingParts = Pick<ProviderSession, "clock" | "stop" | "browse" | "secretOutputs" | "secretDestination">;

/** Parts that need the whole configuration. */
const NEEDED: Readonly<Record<Exclude<keyof ProviderSession, keyof WaitingParts | "isOpen" | "close">, true>> = {
  client: true,
  account: true,
  settings: true,
  project: true,
  moneyScale: true,
  access: true,
  host: true,
  hasMoved: true,
  place: true,
  self: true,
  entries: true,
  holdings: true,
};

/** Creates the session of a partly unknown configuration. Each part that needs the account throws {@link notKnown}. */
function waitingSession(settings: readonly string[], parts: WaitingParts): ProviderSession {
  const session = { ...parts, isOpen: false, close: async () => {} };
  for (const name of Object.keys(NEEDED)) Object.defineProperty(session, name, { get: () => notKnown(settings) });
  return session as typeof session & Pick<ProviderSession, keyof typeof NEEDED>;
}
