// A receiver with Hono, here on Node: node hono.ts. In a worker, the app itself is the default export.
import process from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { fetchHandler } from "hostform/webhooks/fetch";
import { onEvent } from "./on-event.ts";

const hooks = fetchHandler({
  // While a secret is being rotated, both: SIGNING_SECRETS=new,old
  secrets: (process.env.SIGNING_SECRETS ?? "").split(","),
  onEvent,
  onRefused: ({ code }) => console.log("refused:", code),
});

const app = new Hono();
app.all("/hooks", (context) => hooks(context.req.raw));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 4000) }, ({ port }) => {
  console.log("listening on port", port);
});
