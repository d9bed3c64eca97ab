/** A host that nobody has agreed to: it records what is sent to it, and answers as an empty account would. */
import { createServer } from "node:http";
import { listening } from "./listening.ts";

export interface Canary {
  readonly url: string;
  /** `METHOD PATH AUTHORIZATION` of every request. */
  readonly requests: string[];
}

/** Starts one on a free port of the loopback interface; it ends after the test. */
export async function startCanary(): Promise<Canary> {
  const requests: string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    requests.push([method, url, headers.authorization ?? ""].join(" "));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: [] }));
  });
  const origin = await listening(server);
  return { url: origin, requests };
}
