import type { EnvVars } from "./runtime.ts";

/** Sources of a sensitive value. They accompany the value from the declaration to the reports. */
export interface Origin {
  /** Sources in expression notation: `env.HOOK_TOKEN`, `var.token`, `hosting_webhook.billing.secret`. */
  readonly from: readonly string[];
  /** Declared text before the first sensitive part, which reports may show. Undefined if no part is known to be public. */
  readonly open?: string;
}

/** Origins of attributes, by name. An attribute without an origin is public. */
export type Origins = Readonly<Record<string, Origin>>;

/** Returns the sources of a value computed from several values. Undefined if none is sensitive. */
export function joinOrigins(origins: Iterable<Origin | undefined>): Origin | undefined {
  const given = [...origins].filter((one) => one !== undefined);
  return given.length === 0 ? undefined : { from: [...new Set(given.flatMap(({ from }) => from))] };
}

/** Returns the text that replaces a sensitive value. `(sensitive value)` if the attribute itself is the source. */
export function hiddenText(origin: Origin | undefined): string {
  return origin === undefined ? "(sensitive value)" : `(sensitive: ${origin.from.join(", ")})`;
}

/** URL up to the end of its host, without a user name. Approvers need this part. */
const WITH_HOST = /^https?:\/\/[^/?#@\s]+[/?#]/i;

/** Returns true if the public part of a value is a URL with its complete host. */
export const hasOpenHost = ({ open = "" }: Origin): boolean => WITH_HOST.test(open);

/**
 * Returns a sensitive URL for reports: its public part before the query, and the source. Undefined if the host is not public.
 */
export function shownUrl(origin: Origin | undefined): string | undefined {
  if (origin?.open === undefined || !hasOpenHost(origin)) return undefined;
  const [path = "", ...query] = origin.open.split(/[?#]/);
  return `${path}${query.length > 0 ? "?" : ""}${hiddenText(origin)}`;
}

/** Returns the text that reports show for a sensitive value. */
export const shownText = (origin: Origin | undefined): string => shownUrl(origin) ?? hiddenText(origin);

/** Sensitive attributes of a change or a state entry. */
interface Marked {
  readonly address: string;
  readonly sensitive: readonly string[];
  /** Sources of attributes that are declared with a sensitive value. */
  readonly origins?: Origins | undefined;
}

/**
 * Returns the sensitive attributes of a resource with their sources. If no source is known, the attribute itself is the source.
 */
export function originsOf(marked: Marked | undefined): Origins {
  if (marked === undefined) return {};
  const { address, sensitive, origins = {} } = marked;
  return Object.fromEntries(sensitive.map((name) => [name, origins[name] ?? { from: [`${address}.${name}`] }]));
}

/** Environment variables that always count as credentials: tokens, keys and passwords. */
const CREDENTIALS =
  /^(?:HOSTING_(?:[A-Z0-9_]+_)?TOKEN(?:_[A-Z0-9_]+)?|HOSTFORM_STATE_(?:NEW_|OLD_)?(?:KEY|PASSPHRASE)|HOSTFORM_NOTIFY(?:_SECRET)?|HOSTFORM_STORE|TF_HTTP_PASSWORD|PGPASSWORD|PG_CONN_STR)$/;

export const isCredential = (name: string): boolean => CREDENTIALS.test(name);

/** Returns a test for environment variables that are not secret: the variables in HOSTFORM_ENV_ALLOW, except credentials. */
export function openVariables({ HOSTFORM_ENV_ALLOW: text = "" }: EnvVars): (name: string) => boolean {
  const allowed = text.split(/[\s,]+/);
  return (name) => allowed.includes(name) && !isCredential(name);
}
