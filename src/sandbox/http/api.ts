/**
 * API port. Each request under /api/v1 passes these steps in order: log, token, rate limit, route, fault (`before`), ability,
 * body, Idempotency-Key, the endpoint inside a transaction, shape, fault (`after`, `mid-body`).
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { InjectedFault } from "../faults.ts";
import { settle } from "../lifecycle/billing.ts";
import { isOver } from "../lifecycle/terms.ts";
import type { Exchange } from "../options.ts";
import { Refusal } from "../refusal.ts";
import { ENDPOINTS } from "../routes/index.ts";
import { shape, shapeRefusal, unshape } from "../shape/answer.ts";
import type { Reply } from "../shape/items.ts";
import { readParams, readQuery, renderRate } from "../shape/rendering.ts";
import type { KeptAnswer, Service, Token } from "../store/records.ts";
import type { World } from "../world.ts";
import { customerOf, findToken, type RoutedEndpoint, requireAbility, unauthenticated, uniqueName } from "./endpoint.ts";
import type { Ordered, RequestEntry } from "./journal.ts";
import { rateHeaders, tooManyRequests } from "./rate.ts";
import { objectOf, type RequestBody, readBody, requireOwnHost } from "./request.ts";

type Env = { Bindings: HttpBindings };

/** Response in its final format. */
interface Outgoing {
  status: number;
  body: string | undefined;
  headers: Record<string, string>;
}

/** Response of which the common headers may be missing. */
type Bare = Omit<Outgoing, "headers"> & Partial<Pick<Outgoing, "headers">>;

export function apiApp(world: World): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    requireOwnHost(c.req.url, "The sandbox");
    await next();
  });
  for (const [path, endpoints] of Map.groupBy(ENDPOINTS, (endpoint) => endpoint.path)) {
    app.all(`/api/v1${path}`, (c) => serve(world, c, endpoints));
  }
  app.get("/panel/sign-on/:value", (c) => signOn(world, c));
  app.notFound((c) => serve(world, c, []));
  // `serve` throws only if a request ends while its body is read.
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json(error.body, error.status as 403);
    return c.json({ message: `The request could not be read: ${error.message}` }, 400);
  });
  return app;
}

/** Returns the response to a request, or its fault. `endpoints` are all endpoints with this path. */
async function serve(world: World, c: Context<Env>, endpoints: readonly RoutedEndpoint[]): Promise<Response> {
  const url = new URL(c.req.url);
  const token = findToken(world.store, c.req.header("authorization"));
  const body = await readBody(c.req.raw);
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
  const report: Report = (said) => {
    const target = `${url.pathname}${url.search}`;
    const asked = { method: c.req.method, url: target, requestHeaders: c.req.header(), requestBody: body.text };
    world.settings.observe({ ...asked, ...said });
  };
  // The sandbox's time, because clients compare a `Retry-After` date with it.
  const headers: Record<string, string> = { Date: new Date(world.clock.now()).toUTCString() };
  let injected: InjectedFault | undefined;
  let answer: Outgoing;
  try {
    if (token !== undefined) takeFromBudget(world, token, headers);
    const endpoint = route(c, url, endpoints);
    if (token === undefined) throw unauthenticated();
    const content = [token.id, c.req.method, url.pathname, url.search, body.text].join(" ");
    injected =
      world.faults.inject(c.req.method, url.pathname) ?? world.backgroundFaults.inject(content, world.clock.now());
    const early = injected?.phase === "before" ? await answerBefore(world, injected) : undefined;
    if (early !== undefined) {
      return send(c, entry, report, { ...early, headers: { ...headers, ...early.headers } }, injected);
    }
    answer = { ...(await answerCall(world, c, url, endpoint, token, body, entry)), headers };
  } catch (error) {
    answer = refusal(world, error, headers);
  }
  const { json } = world.settings.rendering.headers ?? {};
  if (json !== undefined && answer.body !== undefined) answer.headers["Content-Type"] ??= json;
  if (injected !== undefined) answer = await answerAfter(world, injected, answer);
  return send(c, entry, report, answer, injected);
}

/** Counts a request in the rate window of its token, and sets the rate headers. */
function takeFromBudget(world: World, token: Token, headers: Record<string, string>): void {
  const { profile, rendering } = world.settings;
  const state = world.rate.take(token.id, world.clock.now());
  const form = rendering.headers?.rate;
  const said = form && state ? renderRate(state, world.clock.now(), form) : rateHeaders(state, profile);
  Object.assign(headers, said, rendering.headers?.more);
  if (state?.exceeded) throw tooManyRequests(state, world.clock.now(), profile);
}

/**
 * Returns the endpoint with the request's method.
 * @throws Refusal 404, 405
 */
function route(c: Context, url: URL, endpoints: readonly RoutedEndpoint[]): RoutedEndpoint {
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
    const refused = shapeRefusal(error, world.settings);
    return { ...refused, headers: { ...headers, ...refused.headers } };
  }
  // A bug of the sandbox must not look like a mistake of the caller.
  const why = error instanceof Error ? error.message : String(error);
  return { status: 500, body: JSON.stringify({ message: `The sandbox failed: ${why}` }), headers };
}

/** Passes the response to the observer. */
type Report = (said: Pick<Exchange, "status" | "headers" | "body" | "faulty">) => void;

function send(
  c: Context<Env>,
  entry: RequestEntry,
  report: Report,
  answer: Outgoing,
  fault: InjectedFault | undefined,
): Response {
  const headers: Record<string, string> = { ...answer.headers };
  if (answer.body !== undefined) headers["Content-Type"] ??= "application/json";
  for (const [name, value] of Object.entries(fault?.headers ?? {})) {
    for (const known of Object.keys(headers)) if (known.toLowerCase() === name.toLowerCase()) delete headers[known];
    if (value !== null) headers[name] = value;
  }
  entry.fault = fault?.id ?? null;
  const faulty = fault !== undefined;
  if (fault?.drop) {
    report({ status: null, headers: {}, body: undefined, faulty });
    // Closes the socket without a response.
    c.env.outgoing.socket?.destroy();
    return RESPONSE_ALREADY_SENT;
  }
  entry.status = answer.status;
  report({ status: answer.status, headers, body: answer.body, faulty });
  if (fault?.phase === "mid-body" || fault?.phase === "body-end") {
    cutBody(c.env.outgoing, { ...answer, headers }, fault.phase);
    return RESPONSE_ALREADY_SENT;
  }
  return new Response(answer.body ?? null, { status: answer.status, headers });
}

/**
 * Runs an endpoint: ability, Idempotency-Key, then the endpoint inside a transaction.
 *
 * Only service orders have a key (§4, §7), which belongs to the account. A missing key gives 400. A second request during the
 * first gives 409. Later requests receive the original response. A rejected order leaves its key free, except for a 422 with
 * the profile switch `refused_key`.
 */
async function answerCall(
  world: World,
  c: Context,
  url: URL,
  endpoint: RoutedEndpoint,
  token: Token,
  body: RequestBody,
  entry: RequestEntry,
): Promise<Bare> {
  const { store, settings } = world;
  requireAbility(store, token, endpoint.ability);
  const customer = customerOf(store, token);
  const keep = (id: string, status: number, text: string) =>
    store.table("kept_answers").put({ id, status, body: text, kept_at: world.clock.instant() });
  const run = (key?: string): Bare =>
    store.transaction(() => {
      settle(world);
      const reply = endpoint.answer({
        world,
        token,
        customer,
        params: readParams(c.req.param() as Record<string, string>),
        query: readQuery(c.req.queries(), settings.rendering.lists),
        body: endpoint.method === "POST" ? unshape(objectOf(body), settings.profile) : {},
      });
      if (reply.form === "ordered") entry.ordered = orderedBeside(store, reply.item);
      const { status, body: wire } = shape(reply, settings, url);
      const text = wire === undefined ? undefined : JSON.stringify(wire);
      if (key !== undefined && text !== undefined && reply.form === "ordered") keep(key, status, text);
      return { status, body: text };
    });
  if (!endpoint.keyed) return run();

  const key = keyOf(customer.id, c.req.header("idempotency-key"));
  if (world.inFlight.has(key)) {
    throw new Refusal(409, "A request with this Idempotency-Key is still being processed.");
  }
  world.inFlight.add(key);
  try {
    const kept = keptAnswer(world, key);
    if (kept !== undefined) {
      const status = settings.profile.replay === "ok" && kept.status < 400 ? 200 : kept.status;
      return { status, body: kept.body };
    }
    if (settings.processingMs > 0) await settings.sleep(settings.processingMs);
    return run(key);
  } catch (error) {
    if (error instanceof Refusal && error.status === 422 && settings.profile.refused_key === "kept") {
      const { status, body: text } = shapeRefusal(error, settings);
      if (text !== undefined) store.transaction(() => keep(key, status, text));
    }
    throw error;
  } finally {
    world.inFlight.delete(key);
  }
}

/** Returns the id of a new order, and the ids of other services for its domain. */
function orderedBeside(store: World["store"], item: Extract<Reply, { form: "ordered" }>["item"]): Ordered {
  const { id } = item.record;
  if (item.kind !== "service" || item.record.domain === null) return { id, beside: [] };
  const { customer_id, domain } = item.record;
  const same = (one: Service): boolean =>
    one.id !== id &&
    one.customer_id === customer_id &&
    one.domain?.toLowerCase() === domain.toLowerCase() &&
    !isOver(one);
  const services = store.table("services").filter(same);
  return { id, beside: services.map((one) => one.id) };
}

const LONGEST_KEY = 255;

/**
 * Returns the id of an account's key in `kept_answers`.
 * @throws Refusal 400 for a missing, blank or too long key
 */
function keyOf(customerId: number, header: string | undefined): string {
  const key = header?.trim() ?? "";
  if (key === "") throw new Refusal(400, "The Idempotency-Key header is required.");
  if (key.length > LONGEST_KEY) {
    throw new Refusal(400, `The Idempotency-Key header must not be longer than ${LONGEST_KEY} characters.`);
  }
  return `${customerId}:${key}`;
}

/**
 * Returns the stored response of a key. Undefined if the key is free. Does not compare the bodies: "a repeated request with
 * the same Idempotency-Key returns the original response" (§4).
 */
function keptAnswer(world: World, id: string): KeptAnswer | undefined {
  const kept = world.store.table("kept_answers").get(id);
  if (kept === undefined) return undefined;
  const age = world.clock.now() - Date.parse(kept.kept_at);
  return age < world.settings.idempotencyRetentionSeconds * 1000 ? kept : undefined;
}

/** Returns the response of a fault in phase `before`. Undefined if the fault only delays. `send` closes the connection. */
async function answerBefore(world: World, fault: InjectedFault): Promise<Bare | undefined> {
  if (fault.delayMs !== undefined) await world.settings.sleep(fault.delayMs);
  if (fault.drop) return { status: 0, body: undefined };
  const onlyDelay = fault.delayMs !== undefined && fault.status === undefined && fault.body === undefined;
  return onlyDelay ? undefined : replaced(world, fault, fault.status ?? 500);
}

/** Returns the response of a fault instead of the real response. */
function replaced(world: World, fault: InjectedFault, status: number): Bare {
  if (typeof fault.body === "string") return { status, body: fault.body };
  if ([204, 205, 304].includes(status)) return { status, body: undefined };
  if (fault.body !== undefined || status < 400) {
    return { status, body: JSON.stringify(fault.body ?? { message: "Server Error" }) };
  }
  const message = status === 429 ? "Too Many Attempts." : "Server Error";
  return shapeRefusal({ status, body: { message }, headers: {} }, world.settings);
}

/** Returns the response of a fault in a phase after the commit. */
async function answerAfter(world: World, fault: InjectedFault, answer: Outgoing): Promise<Outgoing> {
  if (fault.phase === "before") return answer;
  if (fault.delayMs !== undefined) await world.settings.sleep(fault.delayMs);
  if (fault.status === undefined && fault.body === undefined) return answer;
  const other = replaced(world, fault, fault.status ?? answer.status);
  const { "Content-Type": _type, ...kept } = answer.headers;
  return { ...other, headers: { ...kept, ...other.headers } };
}

/** Sends the headers and a part of the body, then closes the connection. `Content-Length` is larger than this part. */
function cutBody(outgoing: HttpBindings["outgoing"], answer: Outgoing, phase: "mid-body" | "body-end"): void {
  const bytes = Buffer.from(answer.body ?? "");
  const isMiddle = phase === "mid-body";
  outgoing.writeHead(answer.status, { ...answer.headers, "Content-Length": String(bytes.length + (isMiddle ? 0 : 1)) });
  const sent = isMiddle ? bytes.subarray(0, Math.floor(bytes.length / 2)) : bytes;
  outgoing.write(sent, () => outgoing.socket?.destroySoon());
}

/** Returns the page of a sign-in URL, which works once. */
function signOn(world: World, c: Context): Response {
  const value = c.req.param("value");
  return world.store.transaction(() => {
    const signOns = world.store.table("sign_ons");
    const found = signOns.find((one) => one.value === value);
    if (found === undefined) return c.text("There is no such sign-on.", 404);
    if (found.used_at !== null) return c.text("This sign-on has already been used.", 410);
    signOns.update(found.id, { used_at: world.clock.instant() });
    return c.text(`Signed in to the control panel of service ${found.service_id}.`);
  });
}
