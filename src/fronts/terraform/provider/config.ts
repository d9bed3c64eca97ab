import path from "node:path";
import { normalizeBaseUrl } from "../../../core/api/address.ts";
import { readToken, type TokenSource, validToken } from "../../../core/api/token.ts";
import { configOf, providerSettings } from "../../../core/kinds/provider-settings.ts";
import {
  type AttributePath,
  type Code,
  type Diagnostic,
  fail,
  HostformError,
  hasUnknown,
  isObject,
  isProjectName,
  looksLikeToken,
  type ProviderConfig,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";

/** Where a token can be said to be, the strongest first. */
const TOKENS = ["token", "token_file", "token_env"] as const;

/** A setting that is given and known; undefined otherwise. */
function given(config: ValueObject, name: string): Value | undefined {
  const value = config[name];
  return value === undefined || value === null || hasUnknown(value) ? undefined : value;
}

/**
 * Checks the configuration of the provider as far as it is known: what is null or unknown is passed over, the defaults
 * from the environment are none of it. Sends and reads nothing. A token is in no message.
 */
export function validateProviderConfig(config: ValueObject): Diagnostic[] {
  const found = [
    ...Object.keys(providerSettings.shape).flatMap((name) => settingErrors(name, config[name])),
    ...tokenErrors(config),
  ];
  const project = given(config, "project");
  if (typeof project === "string" && !isProjectName(project)) found.push(PROJECT_NAME);
  if (found.every(({ attribute }) => attribute?.[0] !== "base_url")) found.push(...addressErrors(config));
  return found;
}

const PROJECT_NAME: Diagnostic = {
  severity: "error",
  code: "config.invalid_value",
  summary: "project: not the name of a project",
  detail: "It is part of the key under which services are ordered, so it is not to change once something was ordered.",
  remedies: ["Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit."],
  attribute: ["project"],
};

function error(attribute: AttributePath, code: Code, summary: string, fix: string, detail?: string): Diagnostic {
  return { severity: "error", code, summary, ...(detail !== undefined && { detail }), remedies: [fix], attribute };
}

const WITHOUT_TOKEN =
  "Give the token as `token`, from a sensitive variable, or leave it out and set the environment variable HOSTING_TOKEN. Revoke the one that stood here if the file was shared.";

/** What YAML says of the same setting in `providers`. */
function settingErrors(name: string, value: Value | undefined): Diagnostic[] {
  // Of a map the known entries can be checked.
  const known =
    isObject(value) && Object.values(value as ValueObject).some(hasUnknown)
      ? Object.fromEntries(Object.entries(value as ValueObject).filter(([, entry]) => !hasUnknown(entry)))
      : value;
  if (known === undefined || known === null || hasUnknown(known as Value)) return [];
  if (typeof known === "string" && holdsToken(name, known)) {
    return [error([name], "config.secret", `"${name}" holds an API token`, WITHOUT_TOKEN)];
  }
  const parsed = providerSettings.safeParse({ [name]: known });
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => {
    const place = path.map((step) => (typeof step === "symbol" ? String(step) : step));
    const fix = "Correct the value; the provider's page describes it.";
    return error(place, "config.invalid_value", `${place.join(".")}: ${message}`, fix);
  });
}

/** A token in the place of its variable's name, or inside the address. */
function holdsToken(name: string, text: string): boolean {
  return name === "base_url" ? /^[^/]*\/\/[^/]*@/.test(text) : looksLikeToken(text, name === "token_env");
}

function tokenErrors(config: ValueObject): Diagnostic[] {
  const [first, second] = TOKENS.filter((name) => given(config, name) !== undefined);
  const doubled =
    first === undefined || second === undefined
      ? []
      : [
          error(
            [second],
            "config.duplicate",
            `${first} and ${second} both say what the API token is`,
            "Give one of them.",
          ),
        ];
  const token = given(config, "token");
  return [...doubled, ...(typeof token === "string" ? failures(() => validToken(token.trim()), ["token"]) : [])];
}

/** What only the client knows of addresses: plain http, credentials in them, other versions of the API. */
function addressErrors(config: ValueObject): Diagnostic[] {
  const address = given(config, "base_url");
  if (typeof address !== "string") return [];
  const insecure = config.insecure_http ?? false;
  // Unknown whether it may be plain http: then that is seen when it is used.
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

/** The settings that YAML has too. To be asked for what is valid and known. */
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

/** The name of the project; undefined when none is given. @throws HostformError at `project`. */
export function projectOf(config: ValueObject, env: Env): string | undefined {
  const project = given(config, "project");
  if (typeof project === "string") return project;
  const name = env.HOSTFORM_PROJECT || undefined;
  if (name === undefined || isProjectName(name)) return name;
  return fail("config.invalid_value", "The environment variable HOSTFORM_PROJECT does not hold the name of a project", {
    remedies: ["Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit."],
    attribute: ["project"],
  });
}

export interface ProviderToken {
  readonly token: string;
  /** The setting that it is from. */
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
  const otherwise = "or give it as `token`, from a sensitive variable";
  const reading = { env, of: "the provider", otherwise, relativeTo, place };
  const { token, readableByOthers } = await readToken(source, reading);
  if (!readableByOthers || "env" in source) return { token, attribute };
  const warning: Diagnostic = {
    severity: "warning",
    code: "provider.token",
    summary: "The token file can be read by others",
    detail: source.file,
    remedies: [`\`chmod 600 ${source.file}\`.`],
    ...place,
  };
  return { token, attribute, warning };
}
