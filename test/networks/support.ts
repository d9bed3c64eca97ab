/** Networks of customers, on loopback: TLS servers with different certificates, proxies, and hostform as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { createSecureContext, createServer as createTlsServer, type TlsOptions } from "node:tls";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished } from "vitest";
import type * as Client from "../../src/core/api/index.ts";
import type { ApiError } from "../../src/core/model/index.ts";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { builtPackage } from "../support/built-package.ts";
import { selfSignedCertificate, testAuthority } from "../support/certificates.ts";
import { temporaryFolder } from "../support/folder.ts";
import { runHere } from "../support/program.ts";

const PACKAGE = await builtPackage();
export const TOKEN = "canary-token-0123456789";
/** A name that no name server resolves. */
export const API_HOST = "api.hosting.test";

const authority = testAuthority("Acme Test Authority");
/** Certificate of the private authority, in PEM. */
export const AUTHORITY = authority.cert;

export const certificates = {
  valid: authority.issue({ subject: API_HOST }),
  expired: authority.issue({ subject: API_HOST, until: "2021-03-01" }),
  future: authority.issue({ subject: API_HOST, from: "2100-05-01" }),
  stranger: authority.issue({ subject: "other", names: ["other.hosting.test"] }),
  selfSigned: selfSignedCertificate({ subject: API_HOST }),
};

/** Starts a server on loopback until the end of the test. @returns its port. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Forwards the bytes of TLS connections to a server of plain http. @returns the port. */
export async function tlsBefore(target: number, options: TlsOptions = {}, host?: string): Promise<number> {
  const server = createTlsServer({ ...certificates.valid, ...options }, (secured) => {
    pipeBoth(secured, connect(target, "127.0.0.1"));
  });
  server.on("tlsClientError", () => undefined);
  return listen(server, host);
}

function pipeBoth(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
    from.pipe(to);
  }
}

/** Starts a server that sends these bytes for each request and closes the connection. */
export async function answering(
  ...answers: readonly (string | Uint8Array)[]
): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const server = createTcpServer((socket) => {
    let request = "";
    socket.on("data", (chunk) => {
      request += chunk.toString("latin1");
      const [head = "", body = ""] = request.split("\r\n\r\n");
      if (!request.includes("\r\n\r\n") || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return;
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? "";
      asked.push(request);
      socket.end(answer);
    });
  });
  return { port: await listen(server), asked };
}

/** Returns the bytes of a response with a JSON body. */
export function jsonAnswer(json: unknown, head = "HTTP/1.1 200 OK", ...headers: readonly string[]): string {
  const body = JSON.stringify(json);
  const lines = [head, "content-type: application/json", `content-length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** Returns a list with one page that states that it is the only page. */
export const PLANS = {
  data: [{ plan_id: 11, name: "Shared S", currency: "USD", price: 500 }],
  meta: { current_page: 1, last_page: 1, per_page: 100, total: 1 },
};

interface ProxyOptions {
  /** Names that only the proxy resolves, each with a port on loopback. */
  readonly names?: Readonly<Record<string, number>>;
  /** Required credentials: `USER:PASSWORD`. */
  readonly pair?: string;
  /** Behaviour in place of a tunnel. */
  readonly connect?: (request: IncomingMessage, socket: Socket) => void;
  readonly tls?: TlsOptions;
}

/** Starts a proxy. @returns its port, and the first lines of the received requests. */
export async function startProxy({ names = {}, pair, connect: refuse, tls }: ProxyOptions) {
  const asked: string[] = [];
  const isAllowed = ({ headers }: IncomingMessage) =>
    pair === undefined || headers["proxy-authorization"] === `Basic ${Buffer.from(pair).toString("base64")}`;
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(isAllowed(request) ? 200 : 407, { "content-type": "application/json" });
    response.end(JSON.stringify(PLANS));
  });
  proxy.on("connect", (request, stream, head) => {
    const socket = stream as Socket;
    asked.push(`CONNECT ${request.url}`);
    if (refuse !== undefined) return refuse(request, socket);
    if (!isAllowed(request)) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const port = names[request.url?.replace(/:443$/, "") ?? ""];
    if (port === undefined) return socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.write(head);
      pipeBoth(socket, onward);
    });
    onward.on("error", () => socket.destroy());
  });
  if (tls === undefined) return { port: await listen(proxy), asked };
  const secured = createTlsServer(tls, (socket) => proxy.emit("connection", socket));
  secured.on("tlsClientError", () => undefined);
  return { port: await listen(secured), asked };
}

/** Returns a port without a listener. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly text: string;
}

/** Creates a folder for the built command line. Its environment contains only these variables. */
export function workplace(variables: Readonly<Record<string, string>>, dir = temporaryFolder()) {
  writeFileSync(path.join(dir, "authority.pem"), AUTHORITY);
  const variablesOf = (more: Readonly<Record<string, string>>) => ({
    HOME: dir,
    PATH: process.env.PATH,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOSTING_TOKEN: TOKEN,
    NODE_EXTRA_CA_CERTS: path.join(dir, "authority.pem"),
    ...variables,
    ...more,
  });
  const checked = (ran: Omit<Ran, "text">): Ran => {
    const text = ran.out + ran.err;
    expect(text, "no token").not.toContain(variables.HOSTING_TOKEN ?? TOKEN);
    expect(text, "no stack trace").not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
    return { ...ran, text };
  };
  return {
    dir,
    /** Runs a command in this process: for plain http, Node.js reads no network setting. */
    async runHere(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
      return checked(await runHere(args, { cwd: dir, env: variablesOf(more) }));
    },
    /** @param onStart called with the process. */
    run(
      args: readonly string[],
      more: Readonly<Record<string, string>> = {},
      onStart: (child: ChildProcess) => void = () => undefined,
    ): Promise<Ran> {
      const child = spawn(process.execPath, [path.join(PACKAGE, "dist/hostform.js"), ...args], {
        cwd: dir,
        env: variablesOf(more),
      });
      onStart(child);
      let [out, err] = ["", ""];
      child.stdout.on("data", (chunk) => {
        out += chunk;
      });
      child.stderr.on("data", (chunk) => {
        err += chunk;
      });
      return new Promise<Omit<Ran, "text">>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", (code) => resolve({ code, out, err }));
      }).then(checked);
    },
  };
}

/** Loads the built client library, without waits between attempts. */
export async function builtClient(options: Partial<Client.ClientOptions>): Promise<Client.HostingClient> {
  const library: typeof Client = await import(pathToFileURL(path.join(PACKAGE, "dist/client.js")).href);
  const client = new library.HostingClient({
    baseUrl: `https://${API_HOST}`,
    token: TOKEN,
    random: () => 0,
    env: {},
    timeoutMs: 2_000,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** Returns the failure of a call: summary, detail and remedies in one text, and whether the request may have arrived. */
export async function failureOf(call: Promise<unknown>): Promise<{ text: string; reached: string; code: string }> {
  const error: unknown = await call.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  // The built library has its own class with the same name.
  if (!(error instanceof Error) || error.name !== "ApiError") throw error;
  const { diagnostics, reached } = error as ApiError;
  const [first] = diagnostics;
  const text = [first?.summary, first?.detail, ...(first?.remedies ?? [])].map(String).join("\n");
  expect(text).not.toContain(TOKEN);
  return { text, reached, code: first?.code ?? "" };
}

/** A project that declares a service and a webhook, and its folder. */
export function project(token: string, variables: Readonly<Record<string, string>>) {
  const place = workplace({ HOSTING_TOKEN: token, ...variables });
  const declaration = {
    project: "networks",
    services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } },
    webhooks: { hook: { url: "https://hooks.acme.example", events: ["invoice.paid"] } },
  };
  writeFileSync(path.join(place.dir, "hosting.yaml"), JSON.stringify(declaration));
  return place;
}

/** Starts a sandbox whose responses have additional headers. @returns its URL. */
export async function headersFront(
  { url }: Sandbox,
  more: Readonly<Record<string, string | string[]>>,
): Promise<string> {
  const server = createServer((request, response) => forward(request, response, url, more));
  return `http://127.0.0.1:${await listen(server)}`;
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  more: Readonly<Record<string, string | string[]>>,
): void {
  const { host: _, ...headers } = request.headers;
  const target = new URL(request.url ?? "/", origin);
  const onward = httpRequest(target, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...more });
    answer.pipe(response);
  });
  request.pipe(onward);
}

/** Returns the paths of the creates that a sandbox received, in alphabetical order. */
export const creates = ({ control }: Sandbox): string[] =>
  control
    .requests()
    .filter(({ method }) => method === "POST")
    .map(({ path: url }) => url.replace(/^\/api\/v1/, ""))
    .sort();

/** Starts a sandbox behind https with a new connection for each request. Its certificate may expire. */
export async function closingFront({ url }: Sandbox) {
  const contexts = [certificates.valid, certificates.expired].map((one) => createSecureContext(one));
  let [count, allowed] = [0, Number.POSITIVE_INFINITY];
  const server = createHttpsServer({
    SNICallback(_, answer) {
      count += 1;
      answer(null, contexts[count > allowed ? 1 : 0]);
    },
  });
  server.on("request", (request, response) => forward(request, response, url, { connection: "close" }));
  return {
    port: await listen(server),
    handshakes: () => count,
    /** Limits the validity of the certificate to this number of further handshakes. */
    expireAfter(handshakes: number) {
      [count, allowed] = [0, handshakes];
    },
  };
}
