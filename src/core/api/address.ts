/** URLs: the base URL of the API, the origins that may receive credentials, and URLs from the server. */
import { problem } from "../messages/index.ts";
import { type Diagnostic, HostformError, isLoopback } from "../model/index.ts";
import { FailedAttempt } from "./failed-attempt.ts";

/**
 * Returns the base of all paths, which ends in `/api/v1`. Accepts the URL with or without trailing slash and `/api/v1` (the
 * document's opening, §9.1). Plain http is for loopback addresses only, unless `insecureHttp`.
 * @throws HostformError `provider.base_url`, without the credentials of the URL.
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
 * Returns the part of a URL that identifies an account: scheme, host, port and path prefix. For a loopback address, omits the port,
 * because a sandbox or a tunnel has another port at each start.
 */
export function accountOrigin(baseUrl: string): string {
  const url = normalizeBaseUrl(baseUrl, true);
  const host = isLoopback(url) ? "localhost" : url.host;
  return `${url.protocol}//${host}${url.pathname.replace(/\/api\/v1$/, "")}`;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Purpose of a URL, and its place in the declaration. */
interface AddressUse extends Pick<Diagnostic, "range" | "attribute"> {
  /** User of the URL, for messages: "provider beta", "the backend". */
  readonly of: string;
}

const VARIABLE = "HOSTFORM_ALLOWED_ORIGINS";
/**
 * Checks a URL before it receives a credential: if HOSTFORM_ALLOWED_ORIGINS is set, the URL must have one of these origins.
 * @throws HostformError `trust.origin`, also for an empty or unreadable list, which would otherwise allow every origin.
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
  if (origins.length === 0) refuse(problem("trust.origin/malformed"));
  return origins;
}

/** Returns for example `https://api.example.com`, `postgres://db.example:5432`: the scheme, the host, and a port other than the default. */
function originOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  return url === null || url.host === "" ? undefined : `${url.protocol}//${url.host.toLowerCase()}`;
}

/** Returns a warning if a declaration sends the token to another origin than HOSTING_BASE_URL, unless that origin is allowed. */
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
 * Returns a sign-on URL that is safe to print or open: a server may send a URL that is not http or https.
 * @throws ApiError `api.malformed`, without the URL.
 */
export function webAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href;
  throw new FailedAttempt("panelSso", { ...problem("api.malformed/sign_on"), reached: "answered" });
}

/** Returns true for two URLs that differ only in the slash at the end or in the case of the host name. */
export function sameAddress(one: string, other: string | null): boolean {
  if (other === null) return false;
  const plain = (text: string) => URL.parse(text)?.href.replace(/\/$/, "") ?? text;
  return plain(one) === plain(other);
}
