/**
 * Control API over HTTP: JSON without authentication, only on the loopback interface. An error is `{"message": "a
 * sentence"}`.
 */
import { type Context, Hono } from "hono";
import { dashboardApp } from "../dashboard/index.ts";
import type { About } from "../dashboard/page.ts";
import { objectOf, readBody, readText, requireOwnHost } from "../http/request.ts";
import { wait } from "../options.ts";
import { Refusal, unprocessable } from "../refusal.ts";
import { OPEN_COLLECTIONS } from "../store/records.ts";
import { CALLS, type Called } from "./calls.ts";
import type { Control, EventSubject } from "./control.ts";
import { creatable, type NewRecord, type OpenCollection, openCollection } from "./records.ts";
import type { Span } from "./time.ts";

const LISTING = `The control API of the sandbox. All bodies are JSON. A browser gets the dashboard here.

GET    /state                    all records
POST   /invoices/:id/pay         mark an invoice as paid; or /cancel
POST   /services/:id/provision   finish provisioning now; or /suspend, /unsuspend, /terminate
POST   /services/:id/transfer    offer the service to another account: {to}; then POST /transfers/:id/accept or /decline
POST   /services                 add active services: {count, account, plan_id, domain_prefix, status}
POST   /migration-requests/:id/credentials   {host, username, password}; then /submit, /complete
POST   /events/trigger           send a test event: {event, service_id, invoice_id, webhook_id, account}
POST   /deliveries/:id/replay    send a delivery again
POST   /webhooks/:id/rotate      replace the signing secret
POST   /:collection              add a grant, webhook, account, migration request, token or coupon
GET    /:collection              list the records of a collection
GET    /:collection/:id          one record
PATCH  /:collection/:id          change fields of a record
DELETE /:collection/:id          delete a record
GET    /clock                    the time, and whether it is frozen; POST /clock/freeze, /clock/resume
POST   /clock/advance            {seconds, minutes, hours, days, weeks, months}; answers once everything due is done and its events are sent
GET    /clock/upcoming           what falls due next
GET    /rates                    the rate window of each token
GET    /requests                 the API requests received; DELETE clears the log
GET    /requests/invariants      rules of a well-behaved client that the requests break
POST   /faults                   {operation, method, path, nth, times, probability, phase, status, body, headers, drop, delayMs, event}
GET    /faults                   the faults and how often each was injected; DELETE removes them
GET    /snapshot                 the whole state; PUT /snapshot restores it
POST   /reset                    back to the seeded data

Collections: ${OPEN_COLLECTIONS.join(", ")}
`;

/** Maximum size of a snapshot in bytes, sufficient for 100,000 services. */
const LARGEST_SNAPSHOT = 256 * 1024 * 1024;

export function controlApp(control: Control, about: About): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    // Prevents pages of other sites from loading a response as a script, image or style.
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Cross-Origin-Resource-Policy", "same-origin");
    // Rejects requests of other sites' pages: with a host name that resolves to this machine (DNS rebinding), or with the
    // `Origin` of another site.
    requireOwnHost(c.req.url, "The control API");
    const { origin } = new URL(c.req.url);
    const isForeign = ![undefined, origin].includes(c.req.header("origin"));
    // A page can hide its origin, but browsers always send `Sec-Fetch-Site`.
    const site = c.req.header("sec-fetch-site") ?? "same-origin";
    const isForeignChange = !["GET", "HEAD"].includes(c.req.method) && !["same-origin", "none"].includes(site);
    if (isForeign || isForeignChange) {
      throw new Refusal(403, "The control API does not answer to pages of other sites.");
    }
    // A webhook with this port as its target would run a call.
    if (c.req.header("x-service-signature") !== undefined) {
      throw new Refusal(403, "The control API does not receive events.");
    }
    await next();
  });
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json(error.body, error.status as 400);
    return c.json({ message: `The sandbox failed: ${error.message}` }, 500);
  });
  app.notFound((c) => c.json({ message: `There is no ${c.req.method} ${c.req.path}. GET / lists the calls.` }, 404));

  app.route("/", dashboardApp(control, about));
  app.get("/", (c) => c.text(LISTING));
  const own = ownAnswers(control);
  for (const [name, call] of Object.entries(CALLS) as [Called, string][]) {
    const [method = "", path = ""] = call.split(" ");
    const answer = own[name] ?? ((c: Context) => answerOf(c, name, control));
    // Accepts both spellings of a collection.
    for (const one of new Set([path, path.replace("migration-requests", "migration_requests")])) {
      app.on(method, one, answer);
    }
  }
  return app;
}

const WITH_BODY: ReadonlySet<Called> = new Set<Called>([
  "seedServices",
  "offerTransfer",
  "setMigrationCredentials",
  "addFault",
  "change",
]);
const CREATING: ReadonlySet<Called> = new Set<Called>(["seedServices", "offerTransfer", "addFault"]);

/** Returns the response of a call: the result of its function as JSON, or 204 without a result. */
async function answerOf(c: Context, name: Called, control: Control): Promise<Response> {
  const args: unknown[] = [];
  if (c.req.param("collection") !== undefined) args.push(collectionOf(c));
  if (c.req.param("id") !== undefined) args.push(idOf(c));
  if (WITH_BODY.has(name)) args.push(await bodyOf(c));
  const result = (control[name] as (...args: unknown[]) => unknown)(...args);
  return result === undefined ? c.body(null, 204) : c.json(result, CREATING.has(name) ? 201 : 200);
}

/** Calls with a different format of the body or the response. */
function ownAnswers(control: Control): Partial<Record<Called, (c: Context) => Response | Promise<Response>>> {
  /** Waits for due deliveries, but at most `SETTLE_MS`. */
  const attempted = () => Promise.race([control.settled(), wait(SETTLE_MS)]);
  return {
    trigger: async (c) => {
      const { event = "", ...subject } = await bodyOf(c);
      if (typeof event !== "string") throw unprocessable("The event is a text such as invoice.paid.");
      const sent = control.trigger(event, subject as EventSubject);
      await attempted();
      return c.json(
        sent.map(({ id }) => control.get("deliveries", id)),
        201,
      );
    },
    replayDelivery: async (c) => {
      const { id } = control.replayDelivery(idOf(c));
      await attempted();
      return c.json(control.get("deliveries", id), 201);
    },
    advanceClock: async (c) => {
      const time = control.advanceClock((await bodyOf(c)) as Span);
      await attempted();
      return c.json(time);
    },
    snapshot: (c) => c.body(control.snapshot(), 200, { "Content-Type": "application/json" }),
    restore: async (c) => {
      control.restore(await readText(c.req.raw, LARGEST_SNAPSHOT));
      return c.body(null, 204);
    },
    create: async (c) => {
      const collection = creatable(collectionOf(c));
      const fields = (await bodyOf(c)) as unknown as NewRecord[typeof collection];
      return c.json(control.create(collection, fields), 201);
    },
  };
}

/** Maximum wait for slow receivers, in milliseconds. */
const SETTLE_MS = 5_000;

/** Returns the collection of the path. Accepts also the API's spelling, `migration-requests`. */
function collectionOf(c: Context): OpenCollection {
  return openCollection((c.req.param("collection") ?? "").replaceAll("-", "_"));
}

function idOf(c: Context): number {
  const text = c.req.param("id") ?? "";
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(404, `"${text}" is not an id.`);
  return Number(text);
}

async function bodyOf(c: Context): Promise<Record<string, unknown>> {
  return objectOf(await readBody(c.req.raw));
}
