import type { EnvVars } from "./runtime.ts";
import { isObject, type JsonObject } from "./value.ts";

/** Origin of a sensitive value. Reports use it instead of the value. */
export interface Origin {
  /** Sources in expression syntax: `env.HOOK_TOKEN`, `var.token`, `hosting_webhook.billing.secret`. */
  readonly from: readonly string[];
  /**
   * Beginning of the declared text, up to the first sensitive part. Reports may print it. Undefined if no part is known to be
   * public.
   */
  readonly open?: string;
}

/** Origins of attributes, by name. An attribute without an origin is public. */
export type Origins = Readonly<Record<string, Origin>>;

/** Returns the joint origin of a value that was computed from several values. Undefined if none is sensitive. */
export function joinOrigins(origins: Iterable<Origin | undefined>): Origin | undefined {
  const given = [...origins].filter((one) => one !== undefined);
  return given.length === 0 ? undefined : { from: [...new Set(given.flatMap(({ from }) => from))] };
}

/** Returns the text that replaces a sensitive value. Without an origin: `(sensitive value)`. */
export function hiddenText(origin: Origin | undefined): string {
  return origin === undefined ? "(sensitive value)" : `(sensitive: ${origin.from.join(", ")})`;
}

/** Pattern of a URL up to the end of its host, without a user name. Approvers must read this part. */
const WITH_HOST = /^https?:\/\/[^/?#@\s]+[/?#]/i;

/** Returns true if the public part contains the complete host of a URL. */
export const hasOpenHost = ({ open = "" }: Origin): boolean => WITH_HOST.test(open);

/**
 * Returns a sensitive URL for reports: its public part up to the query, and its sources. Undefined if the host is not public.
 */
export function shownUrl(origin: Origin | undefined): string | undefined {
  if (origin?.open === undefined || !hasOpenHost(origin)) return undefined;
  const [path = "", ...query] = origin.open.split(/[?#]/);
  return `${path}${query.length > 0 ? "?" : ""}${hiddenText(origin)}`;
}

/** Returns the replacement for a sensitive value in reports. */
export const shownText = (origin: Origin | undefined): string => shownUrl(origin) ?? hiddenText(origin);

/** Sensitive attributes of a change or a state entry. */
interface Marked {
  readonly address: string;
  readonly sensitive: readonly string[];
  /** Origins of sensitive declared values, by attribute. */
  readonly origins?: Origins | undefined;
}

/** Returns the origins of all sensitive attributes. If no origin is known, the attribute itself is its source. */
export function originsOf(marked: Marked | undefined): Origins {
  if (marked === undefined) return {};
  const { address, sensitive, origins = {} } = marked;
  return Object.fromEntries(sensitive.map((name) => [name, origins[name] ?? { from: [`${address}.${name}`] }]));
}

/** Environment variables that are always secret: tokens, keys and passwords. */
const CREDENTIALS =
  /^(?:HOSTING_(?:[A-Z0-9_]+_)?TOKEN(?:_[A-Z0-9_]+)?|HOSTFORM_STATE_(?:NEW_|OLD_)?(?:KEY|PASSPHRASE)|HOSTFORM_NOTIFY(?:_SECRET)?|HOSTFORM_MCP_TOKEN|HOSTFORM_STORE|TF_HTTP_PASSWORD|TF_ENCRYPTION|PGPASSWORD|PG_CONN_STR|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN))$/;

export const isCredential = (name: string): boolean => CREDENTIALS.test(name);

/**
 * Returns the function that decides whether an environment variable is public: it is in HOSTFORM_ENV_ALLOW and no credential.
 */
export function openVariables({ HOSTFORM_ENV_ALLOW: text = "" }: EnvVars): (name: string) => boolean {
  const allowed = text.split(/[\s,]+/);
  return (name) => allowed.includes(name) && !isCredential(name);
}

/** A change that may bring a one-time secret. */
interface Bringing {
  readonly actions: readonly string[];
  readonly after: JsonObject | null;
  readonly after_unknown: unknown;
  readonly reasons: readonly { readonly attribute?: string | undefined }[];
  readonly sensitive: readonly string[];
}

/** Returns the program that receives the new secret of a change. An approver signs for it. */
export function secretProgram({ actions, after, after_unknown, reasons, sensitive }: Bringing): string | undefined {
  const output = after?.secret_output;
  const command = isObject(output) ? output.command : undefined;
  const names = [...reasons.map(({ attribute = "" }) => attribute), ...Object.keys(after_unknown ?? {})];
  const isNew = actions.includes("create") || names.some((name) => /^secret|password/.test(name));
  if (!Array.isArray(command) || !isNew) return undefined;
  return sensitive.includes("secret_output") ? hiddenText(undefined) : command.join(" ");
}
