import type { EnvVars } from "./runtime.ts";

/** The sources of a value that no output shows. It goes with the value from the declaration to the reports. */
export interface Origin {
  /** In the notation of expressions: `env.HOOK_TOKEN`, `var.token`, `hosting_webhook.billing.secret`. */
  readonly from: readonly string[];
  /** The text before the first sensitive part: declared, so it may be shown. Absent: no part of the value is known to be open. */
  readonly open?: string;
}

/** Origins of attributes, by name. An attribute without one is open. */
export type Origins = Readonly<Record<string, Origin>>;

/** The sources of a value that is computed from several; undefined if none of them is sensitive. */
export function joinOrigins(origins: Iterable<Origin | undefined>): Origin | undefined {
  const given = [...origins].filter((one) => one !== undefined);
  return given.length === 0 ? undefined : { from: [...new Set(given.flatMap(({ from }) => from))] };
}

/** The text in place of a sensitive value; `(sensitive value)` if the attribute itself is the source. */
export function hiddenText(origin: Origin | undefined): string {
  return origin === undefined ? "(sensitive value)" : `(sensitive: ${origin.from.join(", ")})`;
}

/** A URL up to the end of its host, without a user name: the part of it that an approver decides by. */
const WITH_HOST = /^https?:\/\/[^/?#@\s]+[/?#]/i;

/** Returns true if the open part of a value is a URL with its whole host. */
export const hasOpenHost = ({ open = "" }: Origin): boolean => WITH_HOST.test(open);

/** A sensitive URL as reports show it: its open part before the query, and the source. Undefined without an open host. */
export function shownUrl(origin: Origin | undefined): string | undefined {
  if (origin?.open === undefined || !hasOpenHost(origin)) return undefined;
  const [path = "", ...query] = origin.open.split(/[?#]/);
  return `${path}${query.length > 0 ? "?" : ""}${hiddenText(origin)}`;
}

/** A sensitive value as reports show it. */
export const shownText = (origin: Origin | undefined): string => shownUrl(origin) ?? hiddenText(origin);

/** A change or a record in the state, as far as it marks sensitive attributes. */
interface Marked {
  readonly address: string;
  readonly sensitive: readonly string[];
  /** Sources of the attributes that are declared with a sensitive value. */
  readonly origins?: Origins | undefined;
}

/** The sensitive attributes of a resource with their sources; of an attribute without a known one, the attribute itself. */
export function originsOf(marked: Marked | undefined): Origins {
  if (marked === undefined) return {};
  const { address, sensitive, origins = {} } = marked;
  return Object.fromEntries(sensitive.map((name) => [name, origins[name] ?? { from: [`${address}.${name}`] }]));
}

/** Environment variables that hold a token, a key or a password, whatever is declared. */
const CREDENTIALS =
  /^(?:HOSTING_(?:[A-Z0-9_]+_)?TOKEN(?:_[A-Z0-9_]+)?|HOSTFORM_STATE_(?:NEW_|OLD_)?(?:KEY|PASSPHRASE)|TF_HTTP_PASSWORD|PGPASSWORD|PG_CONN_STR)$/;

export const isCredential = (name: string): boolean => CREDENTIALS.test(name);

/** Decides which variables of the environment anyone may see: those that HOSTFORM_ENV_ALLOW names, and no credential. */
export function openVariables({ HOSTFORM_ENV_ALLOW: text = "" }: EnvVars): (name: string) => boolean {
  const allowed = text.split(/[\s,]+/);
  return (name) => allowed.includes(name) && !isCredential(name);
}
