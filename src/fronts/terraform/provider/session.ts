import path from "node:path";
import { overrideWarnings, requireAllowedOrigin } from "../../../core/api/allowed-origins.ts";
import { normalizeBaseUrl } from "../../../core/api/base-url.ts";
import { createTurnsFor, oncePerCode } from "../../../core/api/create-turns.ts";
import { HostingClient, type Ledger, ledgerFor, VERSION } from "../../../core/api/index.ts";
import { moneyScaleOf, readingSettings } from "../../../core/kinds/provider-settings.ts";
import { Account } from "../../../core/lifecycle/index.ts";
import { isRunning, processMark, stateFolder } from "../../../core/local/index.ts";
import {
  type Clock,
  childEnvironment,
  type Diagnostic,
  fail,
  HostformError,
  hasUnknown,
  systemClock,
  untrustedByEnvironment,
  type ValueObject,
} from "../../../core/model/index.ts";
import { appFolder, systemSecretFiles } from "../../../core/record/secret-output.ts";
import type { Session } from "../contract.ts";
import { type OpenJournal, openJournal } from "../journal.ts";
import { validateProviderConfig } from "./config.ts";
import { hostMark, placeMark } from "./place.ts";
import { addressOf, type ProviderToken, projectOf, settingsIn, tokenOf } from "./settings.ts";
import { notKnown, waitingSession } from "./waiting.ts";

/** What a session needs of the process that it lives in. */
export interface Surroundings {
  /** Aborted when Terraform is stopped. */
  readonly stop: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** "1.11.4". */
  readonly terraformVersion: string | undefined;
  readonly clock?: Clock;
  /** The folder in which Terraform runs: paths are relative to it. Default: that of the process. */
  readonly folder?: string;
  /** Called when a request has to wait, with the time in ms. */
  onWait?(ms: number): void;
  /** Called with what the user should know, also after the session was opened. */
  onWarning(warning: Diagnostic): void;
}

/** Files in Terraform's folder that no secret may replace. */
const TERRAFORMS = [
  "terraform.tfstate",
  "terraform.tfstate.backup",
  ".terraform.tfstate.lock.info",
  ".terraform.lock.hcl",
];

/** Configuration, variables, states and plans, wherever they are, and what Terraform keeps in its data folder. */
function isTerraforms(file: string): boolean {
  return (
    /\.(?:tf|tf\.json|tofu|tofu\.json|tfvars|tfvars\.json|tfstate|tfplan|tftest\.hcl)$|\.tfstate\./.test(file) ||
    file.split(path.sep).includes(".terraform")
  );
}

/** The environment for a command of the user's: without what is between Terraform and this process, and without credentials. */
function withoutOurs(env: Surroundings["env"], { token_env: named }: ValueObject): Surroundings["env"] {
  const tokens = typeof named === "string" ? [named] : [];
  return Object.fromEntries(
    Object.entries(childEnvironment(env, tokens)).filter(([name]) => !/^(?:TF_)?PLUGIN_/.test(name)),
  );
}

/**
 * Terraform runs what a configuration names (other providers, `external`, provisioners) before and beside this provider: a
 * promise that it cannot keep is refused, not passed over. @throws HostformError `trust.untrusted`.
 */
function refuseUntrusted(env: Surroundings["env"]): void {
  if (!untrustedByEnvironment(env)) return;
  fail("trust.untrusted", "HOSTFORM_UNTRUSTED is set, and Terraform runs programs that a configuration names", {
    detail: "The provider cannot keep an untrusted configuration from doing harm. Nothing was sent.",
    remedies: [
      "If you trust the configuration, unset HOSTFORM_UNTRUSTED. A stranger's stack in JSON is planned with hostform itself, without Terraform.",
    ],
  });
}

/**
 * Opens an account by the provider's configuration. Sends nothing. While a part of the configuration is unknown (when a
 * plan is made) the session is opened all the same; what needs that part then throws `terraform.not_known`.
 * @throws HostformError at the setting that is missing or wrong; a token is in no message. `trust.untrusted` where HOSTFORM_UNTRUSTED is set.
 */
export async function openSession(config: ValueObject, surroundings: Surroundings): Promise<Session> {
  refuseUntrusted(surroundings.env);
  const wrong = validateProviderConfig(config);
  if (wrong.length > 0) throw new HostformError(wrong);
  const { stop, env, clock = systemClock, folder = process.cwd(), onWarning } = surroundings;
  const own = TERRAFORMS.map((name) => path.resolve(folder, name));
  const secretOutputs = systemSecretFiles({
    folder,
    env: withoutOurs(env, config),
    own,
    isOwn: isTerraforms,
    owner: "Terraform",
    projects: [appFolder(folder)],
  });
  const secretDestination: Session["secretDestination"] = (output, of) => secretOutputs.destination(output, of);
  const open = Object.keys(config).filter((name) => hasUnknown(config[name] ?? null));
  const needed = open.filter((name) => name !== "project");
  if (needed.length > 0) return waitingSession(needed, { clock, stop, secretOutputs, secretDestination });

  const settings = settingsIn(config);
  const baseUrl = addressOf(config, env);
  const use = { of: "The provider", attribute: ["base_url"] };
  requireAllowedOrigin(baseUrl, env, use);
  for (const warning of overrideWarnings(baseUrl, env, use)) onWarning(warning);
  const project = projectOf(config, env);
  const token = await tokenOf(config, env, folder);
  if (token.warning !== undefined) onWarning(token.warning);
  const reached = { baseUrl, token: token.token };
  const { client, ledger, turns } = atSetting(token, () => {
    const warn = oncePerCode(onWarning);
    const counted: Ledger & { close?(): void } = ledgerFor({ ...reached, env, onWarning: warn });
    const options = {
      ...reached,
      env,
      clock,
      ledger: counted,
      insecureHttp: config.insecure_http === true,
      requestsPerMinute: settings.requestsPerMinute,
      onWait: surroundings.onWait,
      stop,
      userAgent: userAgent(surroundings.terraformVersion),
    };
    const turns = createTurnsFor({ ...reached, env, clock, onWarning: warn });
    return { client: new HostingClient(options), ledger: counted, turns };
  });
  const reading = readingSettings(settings);
  let journal: OpenJournal | undefined;
  const session: Session = {
    client,
    account: new Account(client, reading, stop, turns),
    isOpen: true,
    settings: reading,
    host: hostMark(normalizeBaseUrl(baseUrl, true).href),
    place: placeMark(folder, env),
    self: { mark: processMark(), parent: processMark(process.ppid), isRunning },
    moneyScale: moneyScaleOf(settings, env),
    clock,
    stop,
    secretOutputs,
    secretDestination,
    get project() {
      return open.includes("project") ? notKnown(["project"]) : project;
    },
    // Opened when it is first asked for: half of Terraform's processes only validate.
    get journal() {
      journal ??= openJournal({ ...reached, project: session.project, folder: stateFolder(env), clock, onWarning });
      return journal;
    },
    async close() {
      await client.close();
      ledger.close?.();
      turns?.close();
      journal?.close();
    },
  };
  return session;
}

/** `hostform-terraform/1.0.0 terraform/1.11.4`. */
function userAgent(version: string | undefined): string {
  const known = version?.replaceAll(/[^\w.+-]/g, "");
  return `hostform-terraform/${VERSION}${known ? ` terraform/${known}` : ""}`;
}

/** Puts failures of the client at the setting that they are about. */
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
