// A receiver in an Express application: node express.ts
import process from "node:process";
import express from "express";
import { expressHandler } from "hostform/webhooks";
import { onEvent } from "./on-event.ts";

const app = express();

// Before express.json(): the signature is over the exact bytes, and a parsed body has lost them.
app.all(
  "/hooks",
  expressHandler({
    secrets: (process.env.SIGNING_SECRETS ?? "").split(","),
    onEvent,
    onRefused: ({ code }) => console.log("refused:", code),
  }),
);
app.use(express.json());

const server = app.listen(Number(process.env.PORT ?? 4000), "127.0.0.1", () => {
  const address = server.address();
  console.log("listening on port", typeof address === "object" ? address?.port : address);
});
