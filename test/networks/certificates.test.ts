/** Certificates that the built command line rejects, each with its reason and fix, and TLS handshakes that fail. */
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import {
  answering,
  builtClient,
  certificates,
  closingFront,
  creates,
  failureOf,
  jsonAnswer,
  listen,
  PLANS,
  project,
  tlsBefore,
  workplace,
} from "./support.ts";

const plansAnswer = jsonAnswer(PLANS);

/** Runs `hostform plans` against https://localhost with this certificate. */
async function plansOver(options: Parameters<typeof tlsBefore>[1], more: Record<string, string> = {}) {
  const { port: target, asked } = await answering(plansAnswer);
  const port = await tlsBefore(target, options);
  const ran = await workplace({ HOSTING_BASE_URL: `https://localhost:${port}` }).run(["plans"], more);
  return { ...ran, port, asked };
}

describe("a certificate", () => {
  it("from a private authority is accepted with NODE_EXTRA_CA_CERTS", async () => {
    const { code, text } = await plansOver({});
    expect(code, text).toBe(0);
    expect(text).toContain("Shared S");
  });

  it("from an authority of the system is accepted with NODE_USE_SYSTEM_CA", async () => {
    // On Linux, SSL_CERT_FILE replaces the authorities of the system.
    const more = { NODE_EXTRA_CA_CERTS: "", NODE_USE_SYSTEM_CA: "1", SSL_CERT_FILE: "authority.pem" };
    const { code, text } = await plansOver({}, more);
    expect(code, text).toBe(0);
  });

  it("from an unknown authority is rejected, and the message contains a fix", async () => {
    const { code, text, port, asked } = await plansOver({}, { NODE_EXTRA_CA_CERTS: "" });
    expect(code).toBe(1);
    expect(text).toContain(
      `TLS handshake with localhost:${port}: its certificate is not accepted: unable to verify the first certificate`,
    );
    expect(text).toContain("set NODE_EXTRA_CA_CERTS to its PEM file");
    expect(asked).toEqual([]);
  });

  it("is checked with each value of NODE_TLS_REJECT_UNAUTHORIZED", async () => {
    const { code, text, asked } = await plansOver({}, { NODE_EXTRA_CA_CERTS: "", NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    expect(code).toBe(1);
    expect(text).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(asked).toEqual([]);
  });

  const refused: [why: string, options: object, says: readonly string[]][] = [
    [
      "that has expired",
      certificates.expired,
      ["certificate has expired (CERT_HAS_EXPIRED)", "the host must correct the certificate", "this machine's clock"],
    ],
    [
      "that is not valid yet",
      certificates.future,
      ["certificate is not yet valid (CERT_NOT_YET_VALID)", "this machine's clock"],
    ],
    [
      "for another name",
      certificates.stranger,
      ["Host: localhost. is not in the cert's altnames: DNS:other.hosting.test", "Check the base URL"],
    ],
    [
      "that is self-signed",
      certificates.selfSigned,
      ["self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)", "set NODE_EXTRA_CA_CERTS to its PEM file"],
    ],
  ];
  it.each(refused)("%s is rejected without a retry, with its own reason and fix", async (_, options, says) => {
    const { code, text, port, asked } = await plansOver(options);
    expect(code).toBe(1);
    for (const words of [`TLS handshake with localhost:${port}: `, ...says])
      expect(text.replace(/\s+/g, " ")).toContain(words);
    // hostform does not retry, because the certificate would be the same.
    expect(text).not.toContain("attempt");
    expect(asked).toEqual([]);
  });
});

describe("a handshake", () => {
  it("with a server that supports only TLS 1.1 fails", async () => {
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const { port: target } = await answering(plansAnswer);
    const client = await builtClient({ baseUrl: `https://localhost:${await tlsBefore(target, old)}` });
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toContain("no common version of TLS (1.2 or later)");
    expect(text).not.toContain("attempt");
    expect(reached).toBe("no");
  });

  it("with a server of plain http fails", async () => {
    // The server reads the first bytes of the handshake as an invalid HTTP request.
    const server = createServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"));
    const port = await listen(server);
    const client = await builtClient({ baseUrl: `https://localhost:${port}` });
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toContain(`TLS handshake with localhost:${port}: the server does not support TLS`);
    expect(text).toContain("Check the port of the base URL");
    expect(reached).toBe("no");
  });

  it("that the server resets is retried, and no request is sent", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      void once(socket, "data").then(() => socket.resetAndDestroy());
    });
    const client = await builtClient({ baseUrl: `https://127.0.0.1:${await listen(server)}` });
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toMatch(/TLS handshake with 127\.0\.0\.1:\d+: the connection was closed \(ECONNRESET\)/);
    expect(text).toContain("attempt 4");
    expect([connections, reached]).toEqual([4, "no"]);
  });

  it("without a response of the server times out, and no request is sent", async () => {
    const silent = createServer(() => undefined);
    const client = await builtClient({
      baseUrl: `https://127.0.0.1:${await listen(silent)}`,
      timeoutMs: 200,
      maxAttempts: 1,
    });
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toMatch(/TLS handshake with 127\.0\.0\.1:\d+: no response within 0.1 s/);
    expect(reached).toBe("no");
  });

  it("is required if the server responds to plain http with a TLS alert: the request did not arrive", async () => {
    const { port } = await answering(Buffer.from("15030100020246", "hex"));
    const client = await builtClient({ baseUrl: `http://127.0.0.1:${port}` });
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toContain("the server expects TLS, and the base URL is http");
    expect(text).toContain("Write https:// in the base URL.");
    expect(reached).toBe("no");
  });

  it("may be required if the server closes a plain http connection: the outcome is unknown", async () => {
    const { port: target } = await answering(plansAnswer);
    const client = await builtClient({ baseUrl: `http://localhost:${await tlsBefore(target)}`, maxAttempts: 1 });
    const { text, code, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toContain("the connection was lost before the response arrived");
    expect([code, reached]).toEqual(["api.unreachable", "maybe"]);
  });
});

describe("addresses", () => {
  it("with only IPv6 are reached, over https and http", async () => {
    const { port: target } = await answering(plansAnswer);
    const port = await tlsBefore(target, {}, "::1");
    const { code, text } = await workplace({ HOSTING_BASE_URL: `https://[::1]:${port}` }).run(["plans"]);
    expect(code, text).toBe(0);
  });
});

describe("creates behind a certificate that expires during an apply", () => {
  it("are never pending, and the next apply sends each create once", { timeout: 60_000 }, async () => {
    await using sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
    const front = await closingFront(sandbox);
    const { run } = project(sandbox.tokens.agency, { HOSTING_BASE_URL: `https://localhost:${front.port}` });
    const planned = await run(["plan"]);
    expect(planned.code, planned.text).toBe(0);
    const reads = front.handshakes();
    // The apply sends as many read requests as the plan. The next handshake is for a create, or for a read just before
    // the create.
    const failures: string[] = [];
    for (const more of [1, 2]) {
      front.expireAfter(reads + more);
      const { code, text } = await run(["apply", "--auto-approve"]);
      expect(code, text).toBe(1);
      expect(text).toContain("certificate has expired");
      expect(text).not.toMatch(/may have carried out|attempt 2/);
      failures.push(text);
      if (creates(sandbox).length > 0) break;
    }
    expect(failures.join("\n")).toMatch(/POST \/api\/v1\/(services|webhooks)/);
    front.expireAfter(Number.POSITIVE_INFINITY);
    const applied = await run(["apply", "--auto-approve"]);
    expect(applied.code, applied.text).toBe(0);
    expect(creates(sandbox)).toEqual(["/services", "/webhooks"]);
  });
});
