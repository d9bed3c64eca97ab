import { fail, isObject } from "../../model/index.ts";
import type { Answer, Message } from "./http-wire.ts";
import { nameOfUrl, Unanswered } from "./http-wire.ts";

const LONGEST_WORDS = 300;

/** A body that is a page for people: of a proxy, or one to log in at. Never a state, never the answer to a lock. */
export function isPage({ type, text }: Answer): boolean {
  return type.startsWith("text/html") || /^\s*<(?:!doctype|html)\b/i.test(text);
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** 423 says so by its name; 409 is what GitLab and others answer. */
export function isHeld({ status }: Answer): boolean {
  return status === 423 || status === 409;
}

/**
 * Explains an answer that is not one of those of the protocol.
 * @param doing what failed: "locked", "read", "freed": `The state could not be …`.
 */
export function refuseAnswer(doing: string, message: Message, answer: Answer): never {
  const { summary, fix } = explain(answer);
  fail("state.backend", `The state could not be ${doing}: ${summary}`, {
    detail: describeExchange(message, answer),
    fix,
  });
}

/** A request that got no answer, however often it was repeated. */
export function unreachable(name: string, error: unknown): never {
  if (!(error instanceof Unanswered)) throw error;
  return fail("state.backend", "The server of the state cannot be reached", {
    detail: `${name}: ${error.message}`,
    fix: "Check the address, the network and the proxy. For a private certificate authority set NODE_EXTRA_CA_CERTS.",
  });
}

/** `POST https://… answered 403: 403 Forbidden`, with the server's own words where it has some. */
export function describeExchange({ method, url }: Message, answer: Answer): string {
  const words = serverWords(answer);
  return `${method} ${nameOfUrl(url)} answered ${answer.status}${words === undefined ? "." : `: ${words}`}`;
}

function explain(answer: Answer): { readonly summary: string; readonly fix: string } {
  const { status } = answer;
  if (isSuccess(answer)) {
    return {
      summary: "the server answers with a page for people",
      fix: "Check the address: a proxy or a login page stands in its place.",
    };
  }
  if (status === 401 || status === 403) {
    const words = status === 401 ? "the server asks for other credentials" : "these credentials may not do that";
    return {
      summary: `${words} (${status})`,
      fix: "Set TF_HTTP_USERNAME and TF_HTTP_PASSWORD. At GitLab the password is a token with the scope `api`, and writing needs the role Maintainer.",
    };
  }
  if (status >= 300 && status < 400) {
    const target = whereTo(answer.location);
    return {
      summary: `the server redirects${target === undefined ? "" : ` to ${target}`}, which is not followed (${status})`,
      fix: "Set the address to the final one.",
    };
  }
  if (status === 404) return { summary: "there is nothing at that address (404)", fix: "Check the address." };
  if (status === 405 || status === 501) {
    return {
      summary: `the server does not know that method (${status})`,
      fix: "Set `lock_method`, `unlock_method` or `update_method` to those of the server; at GitLab POST, DELETE and POST.",
    };
  }
  if (status === 413) return { summary: "the state is larger than the server accepts (413)", fix: "Raise its limit." };
  if (status === 429) return { summary: "the server asks for fewer requests (429)", fix: "Try again in a minute." };
  if (status >= 500) return { summary: `the server fails (${status})`, fix: "Try again later; look into its log." };
  return { summary: `an answer that the protocol does not have (${status})`, fix: "Check the address." };
}

function whereTo(location: string | undefined): string | undefined {
  return location !== undefined && URL.canParse(location) ? nameOfUrl(new URL(location)) : undefined;
}

/** What a JSON answer says in `message` or `error`. Other bodies are not shown: they may be a state. */
function serverWords({ text }: Answer): string | undefined {
  if (text.length > 10_000) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    if (!isObject(json)) return undefined;
    const { message, error } = json;
    const words = typeof message === "string" ? message : error;
    return typeof words === "string" ? words.slice(0, LONGEST_WORDS) : undefined;
  } catch {
    return undefined;
  }
}
