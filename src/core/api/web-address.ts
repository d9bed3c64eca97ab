import { FailedAttempt } from "./failure.ts";

/**
 * A sign-on URL that may be printed, handed on or opened: it comes from the server, and a browser opens other things than
 * web addresses. @throws ApiError `api.malformed`, without the URL in it.
 */
export function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href;
  throw new FailedAttempt("panelSso", {
    code: "api.malformed",
    summary: "The API's sign-on URL is not a web address, so it is not used",
    reached: "answered",
    fix: "Sign on in the dashboard, and report it to the host.",
  });
}

/** Servers write addresses anew: with or without the slash at the end, names in lower case. */
export function sameAddress(one: string, other: string | null): boolean {
  if (other === null) return false;
  const plain = (text: string) => (URL.canParse(text) ? new URL(text).href.replace(/\/$/, "") : text);
  return plain(one) === plain(other);
}
