import type { Clock } from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import { errorBody } from "./error-body.ts";
import type { Answer, ApiRequest, Handler, Reply } from "./exchange.ts";
import { FailedAttempt } from "./failure.ts";
import { parseJson } from "./json.ts";
import { malformed } from "./malformed.ts";
import type { Redact } from "./redact.ts";
import { refusal } from "./refuse.ts";
import { htmlPage } from "./server-words.ts";

/**
 * How much of a 2xx answer is needed. `ignored`: the status says it all, unless the body says that it failed (gap: the
 * bodies of suspend and unsuspend are not shown). `optional`: an empty answer is accepted, a broken one is not. Everything else is `required`.
 */
const BODIES: Partial<Record<EndpointName, "ignored" | "optional">> = {
  suspendService: "ignored",
  unsuspendService: "ignored",
  revokeGrant: "ignored",
  deleteWebhook: "ignored",
  resetPassword: "optional",
  createGrant: "optional",
  createWebhook: "optional",
  registerDomain: "optional",
  createAccount: "optional",
  createMigrationRequest: "optional",
};

/** Words of pages that mean "later" although their status says otherwise. */
const THROTTLED = /too many requests|rate limit|slow down|try again later|temporarily unavailable/i;

/** Answers whose words are findings about names, and advisory: a "status" of theirs says nothing of the request. */
const FINDINGS: readonly EndpointName[] = ["checkDomains", "checkDomainsByPost"];

/** Turns replies into answers: errors for anything but 2xx and for a 2xx that tells an error, else parsed JSON. */
export function understand(options: { redact: Redact; clock: Clock }, next: Handler<Reply>): Handler<Answer> {
  return async (request) => {
    const reply = await next(request);
    if (reply.status < 200 || reply.status > 299) throw refusal(request, reply, options);
    return { status: reply.status, json: read(request, reply, options.redact) };
  };
}

function read(request: ApiRequest, reply: Reply, redact: Redact): unknown {
  const { endpoint } = request;
  const need = BODIES[endpoint] ?? "required";
  const came = (what: string, transient: boolean) =>
    malformed(endpoint, { came: what, transient, status: reply.status });
  const text = reply.text.trim();

  // A page of a proxy with status 200: the request may not even have reached the API.
  const page = htmlPage(text, reply.headers["content-type"]);
  if (page !== undefined) throw came(redact(page, request.secrets), THROTTLED.test(text));
  const json = parseJson(text);
  const failure =
    reply.cut === undefined && !FINDINGS.includes(endpoint)
      ? errorBody(request, reply, json?.value, {
          redact,
          plain: need === "ignored" || endpoint === "resetPassword",
          transient: THROTTLED.test(text),
        })
      : undefined;
  if (failure !== undefined) throw failure;
  if (need === "ignored") return undefined;
  if (reply.cut === "too_large") {
    throw new FailedAttempt(endpoint, {
      code: "api.too_large",
      summary: `The answer to ${describeEndpoint(endpoint)} is larger than is accepted`,
      reached: endpoints[endpoint].repeat === "safe" ? "answered" : "maybe",
      status: reply.status,
      fix: "Narrow the request, or raise the limit if it is right.",
    });
  }
  if (reply.cut !== undefined) throw came("an answer that was cut off", true);
  if (text === "") {
    if (need === "optional") return undefined;
    throw came("an empty answer", true);
  }
  const encoding = reply.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw came("a compressed answer, which was not asked for", false);
  // The password was reset, and a text may be the new one. A part of a structure is nothing.
  if (json === undefined && endpoint === "resetPassword") return /^[[{"<]/.test(text) ? undefined : text;
  // The text itself is not shown: it may be the rest of an answer with a secret in it.
  if (json === undefined) throw came("text that is not JSON, only a part of it, or nested too deeply", true);
  return json.value;
}
