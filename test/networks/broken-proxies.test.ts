/** Proxies that neither open nor reject a tunnel. The message names the proxy, and no request reaches the API. */
import { writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  API_HOST,
  answering,
  builtClient,
  certificates,
  failureOf,
  jsonAnswer,
  listen,
  PLANS,
  startProxy,
  tlsBefore,
  workplace,
} from "./support.ts";

const BASE = { HOSTING_BASE_URL: `https://${API_HOST}` };
const PAGE = "<!doctype html><html><head><title>Acme Gateway</title></head><body>Sign on</body></html>";
const TUNNEL = "HTTP/1.1 200 Connection established\r\n\r\n";

/** Returns the failure of a create request through a proxy. */
async function through(port: number, scheme = "http", more = {}) {
  const env = { HTTPS_PROXY: `${scheme}://127.0.0.1:${port}` };
  const client = await builtClient({ env, maxAttempts: 1, ...more });
  const failure = await failureOf(client.services.suspend("7"));
  expect(failure.reached).toBe("no");
  return failure.text;
}

describe("the tunnel of a proxy", () => {
  const html = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${PAGE.length}\r\n\r\n${PAGE}`;
  it.each<[what: string, connect: (socket: Socket) => void, reason: RegExp]>([
    ["that holds a web page", (socket) => void socket.end(html), /does not support TLS|connection was closed/],
    ["that stays silent", (socket) => void socket.write(TUNNEL), /no response within 0\.1 s/],
    ["that is cut", (socket) => void socket.write(TUNNEL, () => socket.destroy()), /connection was closed/],
  ])("%s: the message names the proxy", async (_, connect, reason) => {
    const { port } = await startProxy({ connect: (__, socket) => connect(socket) });
    const text = await through(port, "http", { timeoutMs: 200 });
    expect(text).toContain(`TLS handshake with ${API_HOST}:443 through the proxy 127.0.0.1:${port}: `);
    expect(text).toMatch(reason);
    expect(text).toContain(`Check that the proxy 127.0.0.1:${port} supports CONNECT to ${API_HOST}:443`);
  });
});

describe("the server at the address of a proxy", () => {
  it("uses TLS: the message demands an https address", async () => {
    const { port } = await startProxy({ tls: certificates.valid });
    expect(await through(port)).toContain(`https://`);
  });

  it("sends a TLS alert: the message demands an https address", async () => {
    const server = createServer((socket) =>
      socket.once("data", () => socket.end("\x15\x03\x01\0\x02\x02\x46", "latin1")),
    );
    const port = await listen(server);
    const text = await through(port);
    expect(text).toContain("the proxy expects TLS");
    expect(text).toContain(`Write https://127.0.0.1:${port} into HTTPS_PROXY.`);
  });

  it("is not an HTTP server", async () => {
    const server = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    const text = await through(await listen(server));
    expect(text).toContain("the proxy's response is not HTTP");
    expect(text).toContain("Check the host and the port in HTTPS_PROXY");
  });

  it("uses no TLS although the address begins with https", async () => {
    const { port } = await startProxy({});
    expect(await through(port, "https")).toContain(
      `TLS handshake with the proxy 127.0.0.1:${port}: the server does not`,
    );
  });
});

describe("a proxy that requires authentication", () => {
  const refusing = (...lines: readonly string[]) =>
    startProxy({
      connect: (_, socket) =>
        void socket.end(["HTTP/1.1 407 Proxy Authentication Required", ...lines, "", ""].join("\r\n")),
    });

  it.each([
    ["NTLM, Negotiate", ["Proxy-Authenticate: NTLM", "Proxy-Authenticate: Negotiate"]],
    ["Kerberos", ["Proxy-Authenticate: Kerberos abc="]],
    ["Digest", ['Proxy-Authenticate: Digest realm="a, Basic b", nonce="x"']],
  ])("by %s: hostform supports Basic only", async (names, lines) => {
    const { port } = await refusing(...lines);
    expect(await through(port)).toContain(
      `requires the authentication ${names}, and hostform supports only Basic (407)`,
    );
  });

  it("by Basic among other methods, and rejects the password: each command tries the password once", async () => {
    const { port, asked } = await refusing('Proxy-Authenticate: Negotiate, Basic realm="acme"');
    const client = await builtClient({ env: { HTTPS_PROXY: `http://me:wrong@127.0.0.1:${port}` } });
    const failures = await Promise.all([client.plans.list().all(), client.services.list().all()].map(failureOf));
    for (const { text } of failures) expect(text).toContain("Correct them in HTTPS_PROXY: http://USER:PASSWORD@");
    expect(asked.length).toBe(1);
  });

  it("receives the password on each of many connections", async () => {
    const { port: target } = await answering(jsonAnswer(PLANS));
    const names = { [API_HOST]: await tlsBefore(target, certificates.valid) };
    const { port } = await startProxy({ pair: "me:right", names });
    const place = workplace({ ...BASE, HTTPS_PROXY: `http://me:right@127.0.0.1:${port}` });
    expect((await place.run(["plans"])).code).toBe(0);
  });
});

describe("Ctrl-C while a connection opens", () => {
  const state = { address: "https://state.acme.test/s", lock_address: "https://state.acme.test/l" };
  it.each<[step: string, connect: (socket: Socket) => void, command: string, backend?: typeof state]>([
    ["CONNECT", () => undefined, "plans"],
    ["the TLS handshake", (socket) => void socket.write(TUNNEL), "plans"],
    ["CONNECT to the server of the state", () => undefined, "plan", state],
  ])("ends the command at once: %s", async (_, connect, command, backend) => {
    const arrived = Promise.withResolvers<void>();
    const { port } = await startProxy({
      connect: (__, socket) => {
        connect(socket);
        arrived.resolve();
      },
    });
    const { run, dir } = workplace({ ...BASE, HTTPS_PROXY: `http://127.0.0.1:${port}` });
    if (backend !== undefined)
      writeFileSync(path.join(dir, "hosting.yaml"), JSON.stringify({ project: "acme", backend: { http: backend } }));
    let pressedAt = 0;
    const { code, text } = await run([command], {}, (child) => {
      void arrived.promise.then(() => {
        pressedAt = Date.now();
        child.kill("SIGINT");
      });
    });
    // The time limit of a connection is 30 s.
    expect(Date.now() - pressedAt, text).toBeLessThan(15_000);
    expect(code, text).not.toBe(0);
  });
});
