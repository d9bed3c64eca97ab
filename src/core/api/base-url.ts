import { fail } from "../model/index.ts";

const FIX = "Give the address that the host names, such as https://api.example.com; /api/v1 may be left out.";

/**
 * The URL that all paths are appended to, always ending in `/api/v1`. Accepts it with or without trailing slash and
 * `/api/v1` (the document's opening, §9.1). Plain http is for loopback addresses only, unless `insecureHttp`.
 * Throws provider.base_url; credentials that were in the URL are not repeated.
 */
export function normalizeBaseUrl(text: string, insecureHttp = false): URL {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    fail("provider.base_url", "The base URL is not a URL", { remedies: [FIX] });
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    fail("provider.base_url", `The base URL must begin with https://, not ${url.protocol}//`, { remedies: [FIX] });
  }
  if (url.username !== "" || url.password !== "") {
    fail("provider.base_url", "The base URL contains a user name or password", {
      remedies: ["Remove it from the URL. The API token is set on its own."],
    });
  }
  if (url.search !== "" || url.hash !== "") {
    fail("provider.base_url", "The base URL contains a query or a fragment", { remedies: [FIX] });
  }
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url)) {
    fail("provider.base_url", `Plain http to ${url.hostname} would show the API token to everyone on the way`, {
      detail: "http is accepted for loopback addresses only.",
      remedies: ["Use https, or pass --insecure-http if the way to the server is protected otherwise."],
    });
  }
  const prefix = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/i, "");
  if (/\/api\/v\d+$/i.test(prefix)) {
    fail("provider.base_url", "The base URL names another version of the API; hostform speaks /api/v1", {
      remedies: [FIX],
    });
  }
  url.pathname = `${prefix.replace(/\/+$/, "")}/api/v1`;
  return url;
}

/** True for `localhost`, 127.0.0.0/8 and [::1]. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
