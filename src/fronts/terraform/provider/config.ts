import path from "node:path";
import { normalizeBaseUrl } from "../../../core/api/address.ts";
import { readToken, type TokenSource, validToken } from "../../../core/api/token.ts";
import { configOf, providerSettings } from "../../../core/kinds/provider-settings.ts";
import {
  type AttributePath,
  type Diagnostic,
  errorOf,
  fail,
  HostformError,
  hasUnknown,
  holdsToken,
  isObject,
  isProjectName,
  type ProviderConfig,
  shellPath,
  type Value,
  type ValueObject,
  warningOf,
} from "../../../core/model/index.ts";
import { checkSettable } from "../resource/validate.ts";
import { providerSchema } from "./schema.ts";

/** The settings that give a token, the strongest first. */
const TOKENS = ["token", "token_file", "token_env"] as const;

/** A setting that is given and known; undefined otherwise. */
function given(config: ValueObject, name: string): Value | undefined {
  const value = config[name];
  return value === undefined || value === null || hasUnknown(value) ? undefined : value;
}

/**
 * Checks the configuration of the provider as far as it is known: skips null and unknown values and the defaults from the
 * environment. Sends and reads nothing. No message holds a token.
 */
export function validateProviderConfig(config: ValueObject): Diagnostic[] {
  const found = [
    ...checkSettable(providerSchema.attributes, config),
    ...Object.keys(providerSettings.shape).flatMap((name) => settingErrors(name, config[name])),
    ...tokenErrors(config),
  ];
  const project = given(config, "project");
  if (typeof project === "string" && !isProjectName(project)) found.push(PROJECT_NAME);
  if (found.every(({ attribute }) => attribute?.[0] !== "base_url")) found.push(...addressErrors(config));
  return found;
}

const PROJECT_FORM = "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit.";

const PROJECT_NAME: Diagnostic = errorOf("config.invalid_value", "project: expected the name of a project", {
  detail: "The Idempotency-Key of every order is derived from it: do not change it after the first order.",
  remedies: [PROJECT_FORM],
  attribute: ["project"],
});

const WITHOUT_TOKEN =
  "Set `token` from a sensitive variable, or remove it and set the environment variable HOSTING_TOKEN. If the file was shared, revoke the token.";

/** The same checks as of `providers` in YAML. */
function settingErrors(name: string, value: Value | undefined): Diagnostic[] {
  // Check the known entries of a map.
  const known =
    isObject(value) && Object.values(value as ValueObject).some(hasUnknown)
      ? Object.fromEntries(Object.entries(value as ValueObject).filter(([, entry]) => !hasUnknown(entry)))
      : value;
  if (known === undefined || known === null || hasUnknown(known as Value)) return [];
  if (typeof known === "string" && holdsToken(name, known)) {
    const remedies = [WITHOUT_TOKEN];
    return [errorOf("config.secret", `"${name}" holds an API token`, { remedies, attribute: [name] })];
  }
  const parsed = providerSettings.safeParse({ [name]: known });
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => {
    const attribute = path.map((step) => (typeof step === "symbol" ? String(step) : step));
    const remedies = ["Correct the value; the provider's page describes the setting."];
    return errorOf("config.invalid_value", `${attribute.join(".")}: ${message}`, { remedies, attribute });
  });
}

function tokenErrors(config: ValueObject): Diagnostic[] {
  const [first, second] = TOKENS.filter((name) => given(config, name) !== undefined);
  const found: Diagnostic[] = [];
  if (second !== undefined) {
    const summary = `${first} and ${second} both set the API token`;
    found.push(errorOf("config.duplicate", summary, { remedies: ["Set only one of them."], attribute: [second] }));
  }
  const token = given(config, "token");
  return [...found, ...(typeof token === "string" ? failures(() => validToken(token.trim()), ["token"]) : [])];
}

/** The client's checks of an address: plain http, credentials in it, other versions of the API. */
function addressErrors(config: ValueObject): Diagnostic[] {
  const address = given(config, "base_url");
  if (typeof address !== "string") return [];
  const insecure = config.insecure_http ?? false;
  // If insecure_http is unknown, plain http is checked when the address is used.
  return failures(() => normalizeBaseUrl(address, insecure !== false), ["base_url"]);
}

/** The diagnostics of a step that fails, at an attribute. */
function failures(step: () => unknown, attribute: AttributePath): Diagnostic[] {
  try {
    step();
    return [];
  } catch (failure) {
    if (!(failure instanceof HostformError)) throw failure;
    return failure.diagnostics.map((diagnostic) => ({ ...diagnostic, attribute }));
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The settings that YAML has, too, as far as they are known. The configuration must be valid. */
export function settingsIn(config: ValueObject): Omit<ProviderConfig, "alias" | "range"> {
  const names = Object.keys(providerSettings.shape);
  const known = names.map((name) => [name, given(config, name)] as const).filter(([, value]) => value !== undefined);
  return configOf(providerSettings.parse(Object.fromEntries(known)));
}

/** The API's address. @throws HostformError at `base_url`. */
export function addressOf(config: ValueObject, env: Env): string {
  const address = given(config, "base_url") ?? (env.HOSTING_BASE_URL || undefined);
  if (typeof address === "string") return address;
  return fail("provider.base_url", "The provider has no base URL", {
    remedies: [
      "Set `base_url` in the provider block, or the environment variable HOSTING_BASE_URL. To try without an account: `hostform sandbox`.",
    ],
    attribute: ["base_url"],
  });
}

/** The name of the project; undefined when none is set. @throws HostformError at `project`. */
export function projectOf(config: ValueObject, env: Env): string | undefined {
  const project = given(config, "project");
  if (typeof project === "string") return project;
  const name = env.HOSTFORM_PROJECT || undefined;
  if (name === undefined || isProjectName(name)) return name;
  return fail("config.invalid_value", "The environment variable HOSTFORM_PROJECT is not the name of a project", {
    remedies: [PROJECT_FORM],
    attribute: ["project"],
  });
}

export interface ProviderToken {
  readonly token: string;
  /** The setting that gives it. */
  readonly attribute: string;
  readonly warning?: Diagnostic;
}

/** The API token. @param folder where a relative `token_file` begins. @throws HostformError `provider.token`. */
export async function tokenOf(config: ValueObject, env: Env, folder: string): Promise<ProviderToken> {
  const literal = given(config, "token");
  if (typeof literal === "string") return { token: literal.trim(), attribute: "token" };
  const { tokenFile, tokenEnv } = settingsIn(config);
  const attribute = tokenFile !== undefined ? "token_file" : tokenEnv !== undefined ? "token_env" : "token";
  const source: TokenSource =
    tokenFile === undefined ? { env: tokenEnv ?? "HOSTING_TOKEN" } : { file: path.resolve(folder, tokenFile) };
  const place = { attribute: [attribute] };
  const relativeTo = "the directory in which Terraform runs";
  const otherwise = "or set `token` from a sensitive variable";
  const reading = { env, of: "the provider", otherwise, relativeTo, place };
  const { token, readableByOthers } = await readToken(source, reading);
  if (!readableByOthers || "env" in source) return { token, attribute };
  const warning: Diagnostic = warningOf("provider.token", "Other users can read the token file", {
    detail: source.file,
    remedies: [`\`chmod 600 ${shellPath(source.file)}\`.`],
    ...place,
  });
  return { token, attribute, warning };
}
