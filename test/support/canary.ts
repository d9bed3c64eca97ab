/** A server that must receive no request. Records all requests and responds like an empty account. */
import { createServer } from "node:http";
import { listening } from "./listening.ts";

export interface Canary {
  readonly url: string;
  /** `METHOD PATH AUTHORIZATION` of each request. */
  readonly requests: string[];
}

/** Starts the server on a free loopback port. The server ends after the test. */
export async function startCanary(): Promise<Canary> {
  const requests: string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    requests.push([method, url, headers.authorization ?? ""].join(" "));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: [] }));
  });
  const origin = await listening(server);
  return { url: origin, requests };
}
