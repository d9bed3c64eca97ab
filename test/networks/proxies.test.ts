/** Tests the built command line and client library with HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
import { describe, expect, it } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import {
  API_HOST,
  answering,
  builtClient,
  certificates,
  closedPort,
  closingFront,
  creates,
  failureOf,
  jsonAnswer,
  PLANS,
  project,
  startProxy,
  tlsBefore,
  workplace,
} from "./support.ts";

const BASE = { HOSTING_BASE_URL: `https://${API_HOST}` };
const plansAnswer = jsonAnswer(PLANS);

/** Runs `hostform plans` behind a proxy against an https API. Only the proxy can resolve the name of the API. */
async function behind(options: Omit<Parameters<typeof startProxy>[0], "names"> = {}) {
  const { port: target, asked } = await answering(plansAnswer);
  const proxy = await startProxy({ ...options, names: { [API_HOST]: await tlsBefore(target) } });
  const plans = (variables: Record<string, string>) => workplace({ ...BASE, ...variables }).run(["plans"]);
  return { proxy, asked, plans };
}

describe("a proxy that opens tunnels", () => {
  const pair = "me:p@ss:word";
  it.each([
    ["in upper case", "HTTPS_PROXY", "http://", undefined],
    ["in lower case, without a scheme", "https_proxy", "", undefined],
    ["with a user name and a password", "HTTPS_PROXY", "http://me:p%40ss%3Aword@", pair],
  ])("is used: %s", async (_, variable, start, wanted) => {
    const { proxy, plans, asked } = await behind(wanted === undefined ? {} : { pair: wanted });
    const { code, text } = await plans({ [variable]: `${start}127.0.0.1:${proxy.port}` });
    expect(code, text).toBe(0);
    expect(text).toContain("Shared S");
    expect(proxy.asked).toEqual([`CONNECT ${API_HOST}:443`]);
    expect(asked[0]).toContain(`host: ${API_HOST}`);
    // The API receives no password of the proxy.
    expect(asked[0]).not.toContain("proxy-authorization");
  });

  it("is used over TLS, and must have a valid certificate", async () => {
    const { proxy, plans } = await behind({ tls: certificates.valid });
    const good = await plans({ HTTPS_PROXY: `https://localhost:${proxy.port}` });
    expect(good.code, good.text).toBe(0);
    const other = await behind({ tls: certificates.expired });
    const bad = await other.plans({ HTTPS_PROXY: `https://localhost:${other.proxy.port}` });
    expect(bad.text).toContain(
      `TLS handshake with the proxy localhost:${other.proxy.port}: its certificate is not accepted: certificate has expired`,
    );
    expect(bad.text).toContain("Otherwise the administrator of the proxy must correct the certificate");
  });

  it("reaches a server with an expired certificate: the message names the server", async () => {
    const { port: target } = await answering(plansAnswer);
    const names = { [API_HOST]: await tlsBefore(target, certificates.expired) };
    const { port } = await startProxy({ names });
    const { text } = await workplace({ ...BASE, HTTPS_PROXY: `http://127.0.0.1:${port}` }).run(["plans"]);
    expect(text).toContain(
      `TLS handshake with ${API_HOST}:443 through the proxy 127.0.0.1:${port}: its certificate is not accepted: certificate has expired`,
    );
  });
});

describe("a proxy that requires a password", () => {
  it.each([
    ["none", "", "asks for a user name and a password (407)", "Write them into"],
    ["a wrong one", "me:canary-wrong@", "rejects the user name or the password (407)", "Correct them in"],
  ])("rejects %s at once, and no message contains the password", async (_, given, says, fix) => {
    const { proxy, plans, asked } = await behind({ pair: "me:right" });
    const { code, text } = await plans({ HTTPS_PROXY: `http://${given}127.0.0.1:${proxy.port}` });
    expect(code).toBe(1);
    expect(text).toContain(`the proxy 127.0.0.1:${proxy.port} ${says}`);
    expect(text.replace(/\s+/g, " ")).toContain(`${fix} HTTPS_PROXY: http://USER:PASSWORD@127.0.0.1:${proxy.port}`);
    expect(text).not.toMatch(/canary-wrong|attempt/);
    expect(proxy.asked.length).toBe(1);
    expect(asked).toEqual([]);
  });
});

describe("NO_PROXY", () => {
  it("exempts a host: the command line connects to it directly", async () => {
    const { proxy, plans } = await behind();
    const url = `http://127.0.0.1:${proxy.port}`;
    const { code, text } = await plans({ HTTPS_PROXY: url, NO_PROXY: ".example, hosting.test" });
    expect(code).toBe(1);
    expect(text).toMatch(/resolving api\.hosting\.test: (host not found|name lookup failed)/);
    expect(text).toContain(
      "NO_PROXY exempts api.hosting.test, so hostform does not use the proxy of HTTPS_PROXY. If only your proxy resolves the name, remove the entry from NO_PROXY.",
    );
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    ["http://api.no.invalid", {}, "set HTTP_PROXY"],
    ["https://api.no.invalid", {}, "set HTTPS_PROXY"],
    ["http://api.no.invalid", { HTTP_PROXY: "127.0.0.1:1", NO_PROXY: "*" }, "does not use the proxy of HTTP_PROXY"],
  ])("and a base URL %s with %j: the fix is to %s", async (baseUrl, env, says) => {
    const client = await builtClient({ baseUrl, env, insecureHttp: true, maxAttempts: 1 });
    expect((await failureOf(client.services.list().all())).text).toContain(says);
  });

  it("is not needed for loopback addresses, which are never proxied", async () => {
    const proxy = await startProxy({});
    const { port } = await answering(plansAnswer);
    const url = `http://127.0.0.1:${proxy.port}`;
    const variables = { HOSTING_BASE_URL: `http://127.0.0.1:${port}`, HTTP_PROXY: url, HTTPS_PROXY: url };
    const { code, text } = await workplace(variables).run(["plans"]);
    expect(code, text).toBe(0);
    expect(proxy.asked).toEqual([]);
  });
});

describe("plain http, if the user allows it", () => {
  it("is forwarded by HTTP_PROXY, with its password", async () => {
    const proxy = await startProxy({ pair: "me:right" });
    const client = await builtClient({
      baseUrl: "http://api.no.invalid",
      insecureHttp: true,
      env: { HTTP_PROXY: `http://me:right@127.0.0.1:${proxy.port}`, HTTPS_PROXY: "http://127.0.0.1:1" },
    });
    expect((await client.plans.list().all())[0]?.id).toBe("11");
    expect(proxy.asked).toEqual(["GET http://api.no.invalid/api/v1/plans?page=1&per_page=100"]);
  });
});

describe("a proxy that opens no tunnel", () => {
  const through = async (port: number, more = {}) =>
    builtClient({ env: { HTTPS_PROXY: `http://me:canary-pass@127.0.0.1:${port}` }, ...more });

  it.each([
    [403, "Ask the administrator of the proxy to allow api.hosting.test:443", 1],
    [502, "the proxy resolves api.hosting.test", 4],
    [503, "the proxy resolves api.hosting.test", 4],
  ])("but returns %i: no request was sent", async (status, fix, attempts) => {
    const proxy = await startProxy({ connect: (_, socket) => void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`) });
    const client = await through(proxy.port);
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toContain(`the proxy 127.0.0.1:${proxy.port} rejected CONNECT api.hosting.test:443 (${status})`);
    expect(text).toContain(fix);
    expect(text).not.toContain("canary-pass");
    expect([proxy.asked.length, reached]).toEqual([attempts, "no"]);
  });

  it("because nobody listens at its address: no request is sent", async () => {
    const port = await closedPort();
    const { text, reached } = await failureOf((await through(port)).services.suspend("7"));
    expect(text).toContain(`connecting to the proxy 127.0.0.1:${port}: connection refused (ECONNREFUSED)`);
    expect(text).toContain("Check HTTPS_PROXY, and that the proxy runs.");
    expect([reached, text.includes("attempt 4")]).toEqual(["no", true]);
  });

  it("because its name is unknown: no request is sent", async () => {
    const client = await builtClient({ env: { HTTPS_PROXY: "http://proxy.invalid:3128" }, maxAttempts: 1 });
    const { text, reached } = await failureOf(client.services.suspend("7"));
    expect(text).toMatch(/resolving the proxy proxy\.invalid: (host not found|name lookup failed)/);
    expect(reached).toBe("no");
  });

  it("and closes the connection: no request is sent", async () => {
    const proxy = await startProxy({ connect: (_, socket) => void socket.destroy() });
    const { text, reached } = await failureOf((await through(proxy.port)).services.suspend("7"));
    expect(text).toContain(`CONNECT api.hosting.test:443 through the proxy 127.0.0.1:${proxy.port}: the proxy closed`);
    expect([proxy.asked.length, reached]).toEqual([4, "no"]);
  });

  it("and never responds: no request is sent", async () => {
    const proxy = await startProxy({ connect: () => undefined });
    const client = await through(proxy.port, { timeoutMs: 200, maxAttempts: 1 });
    const { text, reached, code } = await failureOf(client.services.suspend("7"));
    expect(text).toContain(
      `CONNECT api.hosting.test:443 through the proxy 127.0.0.1:${proxy.port}: no response within 0.1 s`,
    );
    expect([code, reached]).toEqual(["api.unreachable", "no"]);
  });

  it.each(["http://me:canary-pass@:::", "socks5://me:canary-pass@127.0.0.1:1080", "http://me:canary%pass@127.0.0.1:1"])(
    "because its URL is invalid: %s is in no message",
    async (value) => {
      const { code, text } = await workplace({ ...BASE, HTTPS_PROXY: value }).runHere(["plans"]);
      expect(code).toBe(1);
      expect(text).toContain("HTTPS_PROXY is not the URL of an HTTP proxy");
      expect(text).not.toMatch(/canary/);
    },
  );
});

describe("creates behind a proxy", () => {
  it("are never pending while the proxy rejects connections, and the next apply sends each create once", async () => {
    await using sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
    const names = { [API_HOST]: (await closingFront(sandbox)).port };
    const [good, bad] = [await startProxy({ names }), await startProxy({ names, pair: "me:right" })];
    const { run } = project(sandbox.tokens.agency, BASE);
    const failed = await run(["apply", "--auto-approve"], { HTTPS_PROXY: `http://127.0.0.1:${bad.port}` });
    expect(failed.code, failed.text).toBe(1);
    expect(failed.text).toContain("(407)");
    const applied = await run(["apply", "--auto-approve"], { HTTPS_PROXY: `http://127.0.0.1:${good.port}` });
    expect(applied.code, applied.text).toBe(0);
    expect(creates(sandbox)).toEqual(["/services", "/webhooks"]);
  });
});
