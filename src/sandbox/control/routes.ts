/** The control API over HTTP: JSON, no authentication, for the loopback interface only. Errors are `{"message": "a sentence"}`. */
import { type Context, Hono } from "hono";
import type { FaultRequest } from "../faults.ts";
import { Refusal } from "../refusal.ts";
import { objectOf, readBody } from "../request-body.ts";
import { OPEN_COLLECTIONS } from "../tables.ts";
import { type OpenCollection, openCollection } from "./collections.ts";
import type { Control, Span } from "./control.ts";
import { creatable, type NewRecord } from "./create.ts";
import type { ServiceSeed } from "./seed-services.ts";

const LISTING = `The control API of the sandbox. All bodies are JSON.

GET    /state                    everything there is
POST   /invoices/:id/pay         mark an invoice as paid
POST   /services/:id/provision   finish provisioning now
POST   /services                 add active services: {count, account, plan_id, domain_prefix, status}
POST   /:collection              add a grant, webhook, account, migration request, token or coupon
GET    /:collection              list the records of a collection
GET    /:collection/:id          one record
PATCH  /:collection/:id          change fields of a record
DELETE /:collection/:id          delete a record
POST   /clock/advance            {seconds, minutes, hours, days}
GET    /requests                 the API requests received; DELETE forgets them
POST   /faults                   {method, path, nth, times, phase, status, body, headers, drop, delayMs}
GET    /faults                   the faults and how often they struck; DELETE removes them
POST   /reset                    back to the seeded data

Collections: ${OPEN_COLLECTIONS.join(", ")}
`;

/** The app of the control port. */
export function controlApp(control: Control): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    // A web page elsewhere must not drive the sandbox: neither by a name of its own that leads here (DNS rebinding)
    // nor by a form that it sends here (which carries its origin).
    const { hostname, origin } = new URL(c.req.url);
    if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) {
      throw new Refusal(403, "The control API answers to 127.0.0.1 and localhost only.");
    }
    if (![undefined, origin].includes(c.req.header("origin"))) {
      throw new Refusal(403, "The control API does not answer to pages of other sites.");
    }
    await next();
  });
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json(error.body, error.status as 400);
    return c.json({ message: `The sandbox failed: ${error.message}` }, 500);
  });
  app.notFound((c) =>
    c.json({ message: `There is no ${c.req.method} ${c.req.path}. GET / lists what there is.` }, 404),
  );

  app.get("/", (c) => c.text(LISTING));
  app.get("/state", (c) => c.json(control.state()));
  app.post("/invoices/:id/pay", (c) => c.json(control.payInvoice(idOf(c))));
  app.post("/services/:id/provision", (c) => c.json(control.provisionService(idOf(c))));
  app.post("/services", async (c) => c.json(control.seedServices((await bodyOf(c)) as ServiceSeed), 201));
  app.post("/clock/advance", async (c) => c.json(control.advanceClock((await bodyOf(c)) as Span)));
  app.get("/requests", (c) => c.json(control.requests()));
  app.delete("/requests", (c) => done(c, () => control.clearRequests()));
  app.post("/faults", async (c) => c.json(control.addFault((await bodyOf(c)) as unknown as FaultRequest), 201));
  app.get("/faults", (c) => c.json(control.faults()));
  app.delete("/faults", (c) => done(c, () => control.clearFaults()));
  app.post("/reset", (c) => done(c, () => control.reset()));

  app.get("/:collection", (c) => c.json(control.list(collectionOf(c))));
  app.get("/:collection/:id", (c) => c.json(control.get(collectionOf(c), idOf(c))));
  app.patch("/:collection/:id", async (c) => c.json(control.change(collectionOf(c), idOf(c), await bodyOf(c))));
  app.delete("/:collection/:id", (c) => done(c, () => control.remove(collectionOf(c), idOf(c))));
  app.post("/:collection", async (c) => {
    const collection = creatable(collectionOf(c));
    const fields = (await bodyOf(c)) as unknown as NewRecord[typeof collection];
    return c.json(control.create(collection, fields), 201);
  });
  return app;
}

function done(c: Context, act: () => void): Response {
  act();
  return c.body(null, 204);
}

/** The name in the path; a name like `migration-requests` is taken as the API writes it, too. */
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
