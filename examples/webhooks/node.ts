// A receiver with nothing but Node: node node.ts
import { readFile } from "node:fs/promises";
import process from "node:process";
import { nodeHandler, receiverServer } from "hostform/webhooks";
import { onEvent } from "./on-event.ts";

const handler = nodeHandler({
  // One secret a line. Read at each delivery, so a rotation needs no restart.
  secrets: async () => (await readFile(process.env.SECRET_FILE ?? "signing.secret", "utf8")).trim().split("\n"),
  onEvent,
  onRefused: ({ code }) => console.log("refused:", code),
  onError: (error) => console.error("failed:", error),
});

const server = receiverServer(handler).listen(Number(process.env.PORT ?? 4000), "127.0.0.1", () => {
  const address = server.address();
  console.log("listening on port", typeof address === "object" ? address?.port : address);
});
