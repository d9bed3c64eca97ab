import path from "node:path";
import { readToken, type TokenSource } from "../../../core/api/token.ts";
import { configOf, providerSettings } from "../../../core/kinds/provider-settings.ts";
import {
  type Diagnostic,
  fail,
  isProjectName,
  type ProviderConfig,
  type ValueObject,
} from "../../../core/model/index.ts";
import { given } from "./config.ts";

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
