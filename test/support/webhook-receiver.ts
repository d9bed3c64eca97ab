/**
 * A user's application in a separate process. It receives deliveries with `hostform/webhooks` and verifies them with
 * APP_SECRET. It prints `receiving PORT` at the start, and `handled EVENT SERVICE` for each event.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { shipped } from "./shipped.ts";

const { nodeHandler, serviceIdOf } = await shipped("webhooks/index.js");

const say = (line: string) => process.stdout.write(`${line}\n`);
const server = createServer(
  nodeHandler({
    secrets: process.env.APP_SECRET ?? "",
    onEvent: (event) => void say(`handled ${event.event} ${serviceIdOf(event)}`),
    onRefused: ({ code }) => void say(`refused ${code}`),
    onError: (error) => void say(`failed ${String(error)}`),
  }),
);
server.listen(0, "127.0.0.1", () => say(`receiving ${(server.address() as AddressInfo).port}`));
process.on("SIGTERM", () => server.close(() => process.exit(0)));
