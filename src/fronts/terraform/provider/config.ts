import path from "node:path";
import { normalizeBaseUrl } from "../../../core/api/address.ts";
import { readToken, type TokenSource, validToken } from "../../../core/api/token.ts";
import { configOf, providerSettings } from "../../../core/kinds/provider-settings.ts";
import {
  type AttributePath,
  type Diagnostic,
  HostformError,
  hasUnknown,
  holdsToken,
  isObject,
  isProjectName,
  type ProviderConfig,
  shellPath,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import { problem, refuse } from "../messages.ts";
import { checkSettable } from "../resource/validate.ts";
import { providerSchema } from "./schema.ts";

/** Settings of a token, in order of precedence. */
const TOKENS = ["token", "token_file", "token_env"] as const;

/** Returns the value of a setting that is set and known; undefined otherwise. */
function given(config: ValueObject, name: string): Value | undefined {
  const value = config[name];
  return value === undefined || value === null || hasUnknown(value) ? undefined : value;
}

/**
 * Validates the known part of the provider's configuration: skips null and unknown values and the defaults from the environment.
 * Sends and reads nothing. No message contains a token.
 */
export function validateProviderConfig(config: ValueObject): Diagnostic[] {
  const found = [
    ...checkSettable(providerSchema.attributes, config),
    ...Object.keys(providerSettings.shape).flatMap((name) => settingErrors(name, config[name])),
    ...tokenErrors(config),
  ];
  const project = given(config, "project");
  if (typeof project === "string" && !isProjectName(project))
    found.push(problem("config.invalid_value/project", { attribute: ["project"] }));
  if (found.every(({ attribute }) => attribute?.[0] !== "base_url")) found.push(...addressErrors(config));
  return found;
}

/** Checks a setting by the schema of `providers` in YAML. */
function settingErrors(name: string, value: Value | undefined): Diagnostic[] {
  // Check the known entries of a map.
  const known =
    isObject(value) && Object.values(value as ValueObject).some(hasUnknown)
      ? Object.fromEntries(Object.entries(value as ValueObject).filter(([, entry]) => !hasUnknown(entry)))
      : value;
  if (known === undefined || known === null || hasUnknown(known as Value)) return [];
  if (typeof known === "string" && holdsToken(name, known))
    return [problem("config.secret", { name, attribute: [name] })];
  const parsed = providerSettings.safeParse({ [name]: known });
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => {
    const attribute = path.map((step) => (typeof step === "symbol" ? String(step) : step));
    return problem("config.invalid_value/setting", { path: attribute.join("."), message, attribute });
  });
}

function tokenErrors(config: ValueObject): Diagnostic[] {
  const [first, second] = TOKENS.filter((name) => given(config, name) !== undefined);
  const found: Diagnostic[] = [];
  if (first !== undefined && second !== undefined)
    found.push(problem("config.duplicate/token", { first, second, attribute: [second] }));
  const token = given(config, "token");
  return [...found, ...(typeof token === "string" ? failures(() => validToken(token.trim()), ["token"]) : [])];
}

/** Applies the client's checks of a URL: plain http, credentials, other versions of the API. */
function addressErrors(config: ValueObject): Diagnostic[] {
  const address = given(config, "base_url");
  if (typeof address !== "string") return [];
  const insecure = config.insecure_http ?? false;
  // If insecure_http is unknown, plain http is checked when the URL is used.
  return failures(() => normalizeBaseUrl(address, insecure !== false), ["base_url"]);
}

/** Returns the diagnostics of a failed step, at an attribute. */
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

/** Returns the known settings that YAML also has. The configuration must be valid. */
export function settingsIn(config: ValueObject): Omit<ProviderConfig, "alias" | "range"> {
  const names = Object.keys(providerSettings.shape);
  const known = names.map((name) => [name, given(config, name)] as const).filter(([, value]) => value !== undefined);
  return configOf(providerSettings.parse(Object.fromEntries(known)));
}

/** Returns the API's base URL. @throws HostformError at `base_url`. */
export function addressOf(config: ValueObject, env: Env): string {
  const address = given(config, "base_url") ?? (env.HOSTING_BASE_URL || undefined);
  if (typeof address === "string") return address;
  return refuse(problem("provider.base_url", { attribute: ["base_url"] }));
}

/** Returns the name of the project; undefined if it is not set. @throws HostformError at `project`. */
export function projectOf(config: ValueObject, env: Env): string | undefined {
  const project = given(config, "project");
  if (typeof project === "string") return project;
  const name = env.HOSTFORM_PROJECT || undefined;
  if (name === undefined || isProjectName(name)) return name;
  return refuse(problem("config.invalid_value/project_variable", { attribute: ["project"] }));
}

export interface ProviderToken {
  readonly token: string;
  /** The setting of the token. */
  readonly attribute: string;
  /** Source of the token, for messages. */
  readonly from: string;
  readonly warning?: Diagnostic;
}

/** Reads the API token. @param folder base of a relative `token_file`. @throws HostformError `provider.token`. */
export async function tokenOf(config: ValueObject, env: Env, folder: string): Promise<ProviderToken> {
  const literal = given(config, "token");
  if (typeof literal === "string") return { token: literal.trim(), attribute: "token", from: "the attribute token" };
  const { tokenFile, tokenEnv } = settingsIn(config);
  const attribute = tokenFile !== undefined ? "token_file" : tokenEnv !== undefined ? "token_env" : "token";
  const source: TokenSource =
    tokenFile === undefined ? { env: tokenEnv ?? "HOSTING_TOKEN" } : { file: path.resolve(folder, tokenFile) };
  const place = { attribute: [attribute] };
  const relativeTo = "the directory in which Terraform runs";
  const otherwise = "or set `token` from a sensitive variable";
  const reading = { env, of: "the provider", otherwise, relativeTo, place };
  const { token, readableByOthers } = await readToken(source, reading);
  const from = "env" in source ? source.env : source.file;
  if (!readableByOthers || "env" in source) return { token, attribute, from };
  return {
    token,
    attribute,
    from,
    warning: problem("provider.token", { file: from, word: shellPath(from), ...place }),
  };
}
