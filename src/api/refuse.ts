import type { Clock, Code } from "../model/index.ts";
import { describeEndpoint, endpoints } from "./endpoints.ts";
import type { ApiRequest, Reply } from "./exchange.ts";
import { FailedAttempt } from "./failure.ts";
import { parseJson } from "./json.ts";
import { retryAfter } from "./rate-headers.ts";
import type { Redact } from "./redact.ts";
import { fieldErrorsOf, serverMessageOf } from "./server-words.ts";

interface Verdict {
  readonly code: Code;
  readonly summary: string;
  readonly fix: string;
  readonly reached?: "no" | "maybe";
  readonly transient?: boolean;
}

/** Turns an answer other than 2xx into the error that callers get (§7, and its silence about 401, 404 and 5xx). */
export function refusal(
  request: ApiRequest,
  reply: Reply,
  { redact, clock }: { redact: Redact; clock: Clock },
): FailedAttempt {
  const { endpoint, secrets } = request;
  const verdict = judge(request, reply);
  const words = serverMessageOf(reply);
  const serverMessage = words.message === undefined ? undefined : redact(words.message, secrets);
  const fieldErrors = reply.status === 422 ? fieldErrorsOf(words.json, (text) => redact(text, secrets)) : {};
  const said = serverMessage === undefined ? redact(words.form ?? "", secrets) : `The server says: ${serverMessage}`;
  // The message often repeats the first field's; once is enough.
  const fields = Object.entries(fieldErrors).flatMap(([field, messages]) => {
    const news = messages.filter((message) => message !== serverMessage);
    return news.length === 0 ? [] : [`${field}: ${news.join(" ")}`];
  });
  return new FailedAttempt(endpoint, {
    code: verdict.code,
    summary: verdict.summary,
    reached: verdict.reached ?? "answered",
    status: reply.status,
    serverMessage,
    fieldErrors,
    detail: [`${request.method} /api/v1${request.path}.`, sentence(said), ...fields.map(sentence)]
      .filter(Boolean)
      .join(" "),
    fix: verdict.fix,
    transient: verdict.transient ?? false,
    waitMs: retryAfter(reply.headers, clock.now()),
  });
}

/**
 * Whether an answer may be the API's own: no body, or JSON ("all bodies are JSON", §1). What routers and proxies say of a
 * path that leads nowhere for a moment is a page or a line of text.
 */
function isOwnWord({ text }: Reply): boolean {
  return text.trim() === "" || parseJson(text) !== undefined;
}

function judge({ endpoint }: ApiRequest, reply: Reply): Verdict {
  const { status, headers } = reply;
  const { ability, path, repeat } = endpoints[endpoint];
  const what = describeEndpoint(endpoint);
  if (status === 401) {
    return {
      code: "api.unauthenticated",
      summary: "The API did not accept the token (401)",
      fix: "Check the token; create a new one in the dashboard (API Tokens) if it was revoked.",
    };
  }
  if (status === 403) {
    return {
      code: "api.forbidden",
      summary: `The token may not do this (403): ${what}`,
      fix: `It needs the ability "${ability}". Use a token that has it, belongs to the account that the object is in, and is not restricted to other services.`,
    };
  }
  const changes = repeat !== "safe";
  const page = !isOwnWord(reply) && (changes || path.includes("{") || /html/i.test(headers["content-type"] ?? ""));
  if ((status === 404 || status === 410) && page) {
    return {
      code: "api.malformed",
      summary: `A page or a text answered in place of the API (${status})`,
      fix: "Check that the base URL is the API's address, and that no proxy stands in for it.",
      // What is behind the proxy may have done it before its answer was lost.
      ...(changes && { reached: "maybe" as const }),
    };
  }
  if (status === 404 || status === 410) {
    return path.includes("{")
      ? {
          code: "api.not_found",
          summary: `The API does not know the object (${status})`,
          fix: "Check the id; the object may have been removed elsewhere.",
        }
      : {
          code: "api.not_found",
          summary: `The API does not know ${what} (${status})`,
          fix: "Check that the base URL is the API's address.",
        };
  }
  if (status === 408) return again("api.timeout", "The API gave up waiting for the request (408)");
  if (status === 409 && repeat === "keyed") {
    return {
      ...again("api.conflict", "The API is still working on a request with the same Idempotency-Key (409)"),
      fix: "Run the command again in a minute: the same Idempotency-Key is used, nothing is ordered twice.",
    };
  }
  if (status === 422) {
    return {
      code: "api.validation",
      summary: `The API refused the values of ${what} (422)`,
      fix: "Correct the values named; if none is, the object is not in a state that allows it (a service that is not paid yet).",
    };
  }
  if (status === 429) {
    return {
      code: "api.rate_limited",
      summary: "The API refused because of too many requests (429)",
      fix: "Wait a minute, or lower `requests_per_minute` if others use the same token.",
      reached: "no",
      transient: true,
    };
  }
  if (status === 407) {
    return {
      code: "api.unreachable",
      summary: "The proxy asks for a user name and password (407)",
      fix: "Put them into HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT.",
      reached: "no",
    };
  }
  if (status >= 300 && status < 400) {
    return {
      code: "api.redirect",
      summary: `The API answered with a redirect (${status})${destination(headers.location)}, which is not followed`,
      fix: "Set the base URL to the final address.",
      // "See other" is a common answer to what has been carried out.
      ...(repeat !== "safe" && (status === 302 || status === 303) && { reached: "maybe" as const }),
    };
  }
  if (status >= 500) return again("api.server", `The API failed (${status})`);
  return {
    code: "api.rejected",
    summary: `The API refused ${what} (${status})`,
    fix: "Read the server's words in the message.",
  };
}

function again(code: Code, summary: string): Verdict {
  return { code, summary, fix: "Try again later; if it stays, ask the host.", reached: "maybe", transient: true };
}

/** Only the host: a path or query made by the server may hold anything. */
function destination(location: string | undefined): string {
  if (location === undefined || !URL.canParse(location)) return "";
  return ` to ${new URL(location).origin}`;
}

function sentence(text: string | undefined): string | undefined {
  return text === undefined || text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}
