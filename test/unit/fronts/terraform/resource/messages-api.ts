/** What the client of the API has to say, in all the ways in which it says it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { normalizeBaseUrl } from "../../../../../src/core/api/address.ts";
import { refusal } from "../../../../../src/core/api/classify.ts";
import { type EndpointName, endpoints } from "../../../../../src/core/api/endpoints.ts";
import type { ApiRequest } from "../../../../../src/core/api/exchange.ts";
import { malformed, tooLate } from "../../../../../src/core/api/failed-attempt.ts";
import { createListing } from "../../../../../src/core/api/listing.ts";
import { networkFailure } from "../../../../../src/core/api/network-failure.ts";
import { readToken } from "../../../../../src/core/api/token.ts";
import { send } from "../../../../../src/core/api/transport.ts";
import { type Diagnostic, HostformError } from "../../../../../src/core/model/index.ts";
import { testClock } from "../../../../support/clock.ts";

const STATUS = [302, 401, 403, 404, 407, 408, 409, 410, 418, 422, 429, 500, 503];

const requestOf = (endpoint: EndpointName): ApiRequest => ({
  endpoint,
  method: endpoints[endpoint].method,
  path: endpoints[endpoint].path,
  headers: {},
  secrets: [],
  attempt: 1,
  waitedMs: 0,
  left: 1,
});

async function failureOf(work: () => unknown): Promise<readonly Diagnostic[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  }
  throw new Error("a failure was expected");
}

/** A server that never answers, and a clock by which that is long enough. */
async function unanswered(): Promise<readonly Diagnostic[]> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const dispatcher = new Agent();
  const baseUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const options = {
    baseUrl,
    dispatcher: async () => dispatcher,
    clock: testClock(),
    timeoutMs: 1,
    maxResponseBytes: 10,
  };
  try {
    return await failureOf(() => send(options, requestOf("listServices")));
  } finally {
    await dispatcher.destroy();
    server.closeAllConnections();
    server.close();
  }
}

const emptyPage = () =>
  createListing({
    endpoint: "listServices",
    fetchPage: async () => ({ json: { data: [], meta: { current_page: 1, last_page: 2 } } }),
    maxPages: 3,
    pageSize: 100,
  }).all();

/** Everything, as the client says it. */
export async function everythingSaidByClient(): Promise<readonly Diagnostic[]> {
  const shown = { redact: (text: string) => text, clock: testClock() };
  const names = Object.keys(endpoints) as EndpointName[];
  const addresses = [
    "x",
    "ftp://a.example",
    "https://u:p@a.example",
    "https://a.example?x",
    "http://a.example",
    "https://a.example/api/v2",
  ];
  const reading = { env: {}, of: "the provider", relativeTo: "the folder", place: {} };
  const network = [
    "ECONNREFUSED",
    "ENOTFOUND",
    "CERT_HAS_EXPIRED",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "HPE_INVALID",
    "EPIPE",
  ];
  return [
    ...names.flatMap((name) =>
      STATUS.flatMap((status) => [
        ...refusal(requestOf(name), { status, headers: {}, text: '{"message":"The server\'s."}' }, shown).diagnostics,
      ]),
    ),
    ...names.flatMap((name) => [...malformed(name, { came: "null" }).diagnostics, ...tooLate(name).diagnostics]),
    ...network.flatMap((code): Diagnostic[] => {
      const { what, remedies } = networkFailure(Object.assign(new Error(code), { code }));
      return [
        { severity: "error", code: "api.unreachable", summary: what, ...(remedies !== undefined && { remedies }) },
      ];
    }),
    ...(await Promise.all(addresses.map((address) => failureOf(() => normalizeBaseUrl(address))))).flat(),
    ...(await failureOf(() => readToken({ env: "HOSTING_TOKEN" }, reading))),
    ...(await failureOf(() => readToken({ file: "/no/such/file" }, reading))),
    ...(await failureOf(emptyPage)),
    ...(await unanswered()),
  ];
}
