/** Addresses: the base URL of the API, where credentials may go, and those that come from the server. */
import { problem } from "../messages/index.ts";
import { type Diagnostic, HostformError } from "../model/index.ts";
import { FailedAttempt } from "./failed-attempt.ts";

/**
 * The URL that all paths are appended to, always ending in `/api/v1`. Accepts it with or without trailing slash and
 * `/api/v1` (the document's opening, §9.1). Plain http is for loopback addresses only, unless `insecureHttp`.
 * Throws provider.base_url; credentials that were in the URL are not repeated.
 */
export function normalizeBaseUrl(text: string, insecureHttp = false): URL {
  const url = URL.parse(text.trim()) ?? refuse(problem("provider.base_url"));
  if (url.protocol !== "https:" && url.protocol !== "http:")
    refuse(problem("provider.base_url/scheme", { scheme: url.protocol }));
  if (url.username !== "" || url.password !== "") refuse(problem("provider.base_url/credentials"));
  if (url.search !== "" || url.hash !== "") refuse(problem("provider.base_url/query"));
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url))
    refuse(problem("provider.base_url/plain", { host: url.hostname }));
  const prefix = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/i, "");
  if (/\/api\/v\d+$/i.test(prefix)) refuse(problem("provider.base_url/version"));
  url.pathname = `${prefix.replace(/\/+$/, "")}/api/v1`;
  return url;
}

function refuse(said: Diagnostic): never {
  throw new HostformError([said]);
}

/**
 * The part of an account's identity that its address gives: scheme, host, port and path prefix. A loopback address stands for this
 * machine, whatever its port: a sandbox or a tunnel has another one at each start.
 */
export function accountOrigin(baseUrl: string): string {
  const url = normalizeBaseUrl(baseUrl, true);
  const host = isLoopback(url) ? "localhost" : url.host;
  return `${url.protocol}//${host}${url.pathname.replace(/\/api\/v1$/, "")}`;
}

/** True for `localhost`, 127.0.0.0/8 and [::1]. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Purpose of an address, and the place that named it. */
interface AddressUse extends Pick<Diagnostic, "range" | "attribute"> {
  /** "provider beta", "the backend". */
  readonly of: string;
}

const VARIABLE = "HOSTFORM_ALLOWED_ORIGINS";
/**
 * The one check before a credential goes anywhere: where HOSTFORM_ALLOWED_ORIGINS is set, an address must have one of its
 * origins. What is not an address has none.
 * @throws HostformError `trust.origin`; also for a list that is empty or unreadable, which would otherwise allow everything.
 */
export function requireAllowedOrigin(address: string | URL, env: Variables, { of, ...place }: AddressUse): void {
  const origin = originOf(String(address));
  const allowed = allowedOrigins(env);
  if (allowed === undefined || (origin !== undefined && allowed.includes(origin))) return;
  refuse(problem("trust.origin", { of, origin, allowed: allowed.join(", "), ...place }));
}

function allowedOrigins(env: Variables): readonly string[] | undefined {
  const text = env[VARIABLE];
  if (text === undefined) return undefined;
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const origins = words.map((word) => originOf(word) ?? refuse(problem("trust.origin/malformed")));
  if (origins.length === 0) refuse(problem("trust.origin/empty"));
  return origins;
}

/** `https://api.example.com`, `postgres://db.example:5432`: the scheme, the host, and the port where it is not the usual one. */
function originOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  return url === null || url.host === "" ? undefined : `${url.protocol}//${url.host.toLowerCase()}`;
}

/** A declaration that sends the token elsewhere than HOSTING_BASE_URL says: a warning, unless that place is allowed by name. */
export function overrideWarnings(
  address: string | undefined,
  env: Variables,
  { of, ...place }: AddressUse,
): Diagnostic[] {
  const { HOSTING_BASE_URL: usual } = env;
  if (!usual || address === undefined) return [];
  const [there, here] = [originOf(address), originOf(usual)];
  if (there === undefined || there === here || allowedOrigins(env)?.includes(there)) return [];
  return [problem("trust.override", { of, origin: there, ...place })];
}

/**
 * A sign-on URL that may be printed or opened: it comes from the server, and a browser opens other things than web addresses.
 * @throws ApiError `api.malformed`, without the URL in it.
 */
export function webAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href;
  throw new FailedAttempt("panelSso", { ...problem("api.malformed/sign_on"), reached: "answered" });
}

/** Compares two addresses: servers add or remove the slash at the end, and write names in lower case. */
export function sameAddress(one: string, other: string | null): boolean {
  if (other === null) return false;
  const plain = (text: string) => URL.parse(text)?.href.replace(/\/$/, "") ?? text;
  return plain(one) === plain(other);
}
