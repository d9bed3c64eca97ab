/** Addresses: the base URL of the API, where credentials may go, and those that come from the server. */
import { type Diagnostic, fail, warningOf } from "../model/index.ts";
import { FailedAttempt } from "./failed-attempt.ts";

const FIX = "Set the address that the host gives, such as https://api.example.com; /api/v1 may be left out.";

/**
 * The URL that all paths are appended to, always ending in `/api/v1`. Accepts it with or without trailing slash and
 * `/api/v1` (the document's opening, §9.1). Plain http is for loopback addresses only, unless `insecureHttp`.
 * Throws provider.base_url; credentials that were in the URL are not repeated.
 */
export function normalizeBaseUrl(text: string, insecureHttp = false): URL {
  const url = URL.parse(text.trim()) ?? refuse("The base URL is not a URL");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    refuse(`The base URL must begin with https://, not ${url.protocol}//`);
  if (url.username !== "" || url.password !== "")
    refuse("The base URL contains a user name or password", "Remove it from the URL. The API token is set separately.");
  if (url.search !== "" || url.hash !== "") refuse("The base URL contains a query or a fragment");
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url)) {
    fail("provider.base_url", `Plain http to ${url.hostname} would show the API token to everyone on the way`, {
      detail: "Plain http is accepted for loopback addresses only.",
      remedies: [
        "Use https.",
        { do: "allow", limits: [{ limit: "insecure_http" }], when: "the way to the server is protected otherwise" },
      ],
    });
  }
  const prefix = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/i, "");
  if (/\/api\/v\d+$/i.test(prefix)) refuse("The base URL names another version of the API than /api/v1");
  url.pathname = `${prefix.replace(/\/+$/, "")}/api/v1`;
  return url;
}

function refuse(summary: string, remedy = FIX): never {
  fail("provider.base_url", summary, { remedies: [remedy] });
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
const FORM = `List origins, separated by commas, such as \`${VARIABLE}=https://api.example.com,https://gitlab.example\`; or unset it.`;

/**
 * The one check before a credential goes anywhere: where HOSTFORM_ALLOWED_ORIGINS is set, an address must have one of its
 * origins. What is not an address has none.
 * @throws HostformError `trust.origin`; also for a list that is empty or unreadable, which would otherwise allow everything.
 */
export function requireAllowedOrigin(address: string | URL, env: Variables, { of, ...place }: AddressUse): void {
  const origin = originOf(String(address));
  const allowed = allowedOrigins(env);
  if (allowed === undefined || (origin !== undefined && allowed.includes(origin))) return;
  const summary =
    origin === undefined
      ? `${of} has no address that can be compared with ${VARIABLE}`
      : `${of} leads to ${origin}, where no credentials may go`;
  fail("trust.origin", summary, {
    detail: `${VARIABLE} allows ${allowed.join(", ")}. No request was sent.`,
    remedies: [`Correct the address, or add it to ${VARIABLE}.`],
    ...place,
  });
}

function allowedOrigins(env: Variables): readonly string[] | undefined {
  const text = env[VARIABLE];
  if (text === undefined) return undefined;
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const origins = words.map(
    (word) =>
      originOf(word) ?? fail("trust.origin", `${VARIABLE} names something that is not an origin`, { remedies: [FORM] }),
  );
  if (origins.length === 0) fail("trust.origin", `${VARIABLE} is set, but empty`, { remedies: [FORM] });
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
  return [
    warningOf("trust.override", `${of} sends its token to ${there}, not to HOSTING_BASE_URL`, {
      detail: "The provider's settings name that address.",
      remedies: [
        `Remove \`base_url\` if you do not want that. If you do, set ${VARIABLE} to the origins that you trust.`,
      ],
      ...place,
    }),
  ];
}

/**
 * A sign-on URL that may be printed or opened: it comes from the server, and a browser opens other things than web addresses.
 * @throws ApiError `api.malformed`, without the URL in it.
 */
export function webAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href;
  throw new FailedAttempt("panelSso", {
    code: "api.malformed",
    summary: "The API's sign-on URL is not a web address, so it is not used",
    reached: "answered",
    remedies: ["Sign on in the dashboard, and report it to the host."],
  });
}

/** Compares two addresses: servers add or remove the slash at the end, and write names in lower case. */
export function sameAddress(one: string, other: string | null): boolean {
  if (other === null) return false;
  const plain = (text: string) => URL.parse(text)?.href.replace(/\/$/, "") ?? text;
  return plain(one) === plain(other);
}
