/**
 * The API port: one pipeline for every request under /api/v1, in this order — log, token, rate limit, route, fault
 * (`before`), ability, body, Idempotency-Key, the endpoint inside a transaction, shape, fault (`after`, `mid-body`).
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { Strike } from "../faults.ts";
import type { Exchange } from "../options.ts";
import type { RequestEntry } from "../record/journal.ts";
import { Refusal } from "../refusal.ts";
import { ENDPOINTS } from "../routes/index.ts";
import { shapeRefusal } from "../shape/answer.ts";
import { renderRate } from "../shape/rendering.ts";
import type { Token } from "../store/records.ts";
import type { World } from "../world.ts";
import { findToken, unauthenticated, uniqueName } from "./access.ts";
import { answerCall } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import { rateHeaders, tooManyRequests } from "./rate.ts";
import { readBody } from "./request-body.ts";
import { signOn } from "./sign-on.ts";
import { strikeAfter, strikeBefore } from "./struck.ts";
import { cut, cutMidBody, type Outgoing } from "./wire.ts";

type Env = { Bindings: HttpBindings };

const PREFIX = "/api/v1";

/** The app of the API port. */
export function apiApp(world: World): Hono<Env> {
  const app = new Hono<Env>();
  for (const [path, endpoints] of byPath()) {
    app.all(`${PREFIX}${path}`, (c) => serve(world, c, endpoints));
  }
  app.get("/panel/sign-on/:value", (c) => signOn(world, c));
  app.notFound((c) => serve(world, c, []));
  // What `serve` does not answer itself is a request that broke off while it was being read.
  app.onError((error, c) => c.json({ message: `The request could not be read: ${error.message}` }, 400));
  return app;
}

function byPath(): Map<string, Endpoint[]> {
  const paths = new Map<string, Endpoint[]>();
  for (const endpoint of ENDPOINTS) paths.set(endpoint.path, [...(paths.get(endpoint.path) ?? []), endpoint]);
  return paths;
}

/** Answers one request, with whatever fault strikes it. `endpoints` are those at its path. */
async function serve(world: World, c: Context<Env>, endpoints: readonly Endpoint[]): Promise<Response> {
  const url = new URL(c.req.url);
  const token = findToken(world.store, c.req.header("authorization"));
  const body = await readBody(c.req.raw);
  const step = world.recorder?.begin();
  const entry = world.journal.begin({
    at: world.clock.instant(),
    method: c.req.method,
    path: url.pathname,
    query: c.req.queries(),
    token: token === undefined ? null : uniqueName(world.store, token),
    account: token?.customer_id ?? null,
    idempotency_key: c.req.header("idempotency-key") ?? null,
    body: body.value,
  });
  const tell: Tell = (said) => {
    const exchange: Exchange = {
      method: c.req.method,
      url: `${url.pathname}${url.search}`,
      requestHeaders: c.req.header(),
      requestBody: body.text,
      ...said,
    };
    step?.request(entry.at, token && uniqueName(world.store, token), exchange, [url.origin, world.url]);
    world.settings.observe(exchange);
  };
  // The server's time is the sandbox's, which a test may have moved: clients reckon Retry-After dates by it.
  const headers: Record<string, string> = { Date: new Date(world.clock.now()).toUTCString() };
  let struck: Strike | undefined;
  let answer: Outgoing;
  try {
    if (token !== undefined) takeFromBudget(world, token, headers);
    const endpoint = route(c, url, endpoints);
    if (token === undefined) throw unauthenticated();
    struck =
      world.faults.strike(c.req.method, url.pathname) ??
      world.weather.strike([token.id, c.req.method, url.pathname, url.search, body.text].join(" "), world.clock.now());
    if (struck?.phase === "before") {
      const early = await strikeBefore(world, struck);
      if (early !== undefined)
        return send(c, entry, tell, { ...early, headers: { ...headers, ...early.headers } }, struck);
    }
    answer = { ...(await answerCall(world, c, url, endpoint, token, body, entry)), headers };
  } catch (error) {
    answer = refusal(world, error, headers);
  }
  const { json } = world.settings.rendering.headers ?? {};
  if (json !== undefined && answer.body !== undefined) answer.headers["Content-Type"] ??= json;
  if (struck !== undefined) answer = await strikeAfter(world, struck, answer);
  return send(c, entry, tell, answer, struck);
}

/** Counts the request against its token's window and notes the headers that every answer carries. */
function takeFromBudget(world: World, token: Token, headers: Record<string, string>): void {
  const { profile, rendering } = world.settings;
  const state = world.rate.take(token.id, world.clock.now());
  const form = rendering.headers?.rate;
  const said = form && state ? renderRate(state, world.clock.now(), form) : rateHeaders(state, profile);
  Object.assign(headers, said, rendering.headers?.more);
  if (state?.exceeded) throw tooManyRequests(state, world.clock.now(), profile);
}

/** The endpoint for the method, or 404 or 405. */
function route(c: Context, url: URL, endpoints: readonly Endpoint[]): Endpoint {
  if (endpoints.length === 0) throw new Refusal(404, `There is nothing at ${url.pathname}.`);
  const endpoint = endpoints.find((one) => one.method === c.req.method);
  if (endpoint !== undefined) return endpoint;
  const allowed = endpoints.map((one) => one.method).join(", ");
  throw new Refusal(405, `The ${c.req.method} method is not supported here. Supported: ${allowed}.`, {
    headers: { Allow: allowed },
  });
}

function refusal(world: World, error: unknown, headers: Record<string, string>): Outgoing {
  if (error instanceof Refusal) {
    const refused = shapeRefusal(error, world.settings.profile, world.settings.rendering);
    return { ...refused, headers: { ...headers, ...refused.headers } };
  }
  // A mistake in the sandbox itself: told apart from the refusals, since it is never the caller's.
  const why = error instanceof Error ? error.message : String(error);
  return { status: 500, body: JSON.stringify({ message: `The sandbox failed: ${why}` }), headers };
}

/** Tells whoever observes the sandbox of an answer. */
type Tell = (said: Pick<Exchange, "status" | "headers" | "body" | "faulty">) => void;

function send(c: Context<Env>, entry: RequestEntry, tell: Tell, answer: Outgoing, fault: Strike | undefined): Response {
  const headers: Record<string, string> = { ...answer.headers };
  if (answer.body !== undefined) headers["Content-Type"] ??= "application/json";
  for (const [name, value] of Object.entries(fault?.headers ?? {})) {
    for (const known of Object.keys(headers)) if (known.toLowerCase() === name.toLowerCase()) delete headers[known];
    if (value !== null) headers[name] = value;
  }
  entry.fault = fault?.id ?? null;
  const faulty = fault !== undefined;
  if (fault?.drop) {
    tell({ status: null, headers: {}, body: undefined, faulty });
    cut(c.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  }
  entry.status = answer.status;
  tell({ status: answer.status, headers, body: answer.body, faulty });
  if (fault?.phase === "mid-body") {
    cutMidBody(c.env.outgoing, { ...answer, headers });
    return RESPONSE_ALREADY_SENT;
  }
  return new Response(answer.body ?? null, { status: answer.status, headers });
}
