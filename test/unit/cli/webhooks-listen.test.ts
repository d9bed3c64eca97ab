import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../../../src/cli/cli.ts";
import { systemClock } from "../../../src/core/model/index.ts";
import { signatureOf, verifySignature } from "../../../src/webhooks/index.ts";

import { temporaryFolder } from "../../support/folder.ts";
import type { FakeIoParts } from "../../support/io.ts";
import { listening } from "../../support/listening.ts";
import { type LiveIo, liveIo } from "../../support/live-io.ts";
import { project, runIn } from "./harness.ts";

const SECRET = "whsec_of-the-subscription-0123456789";
const APP_SECRET = "whsec_that-the-application-knows";
const EVENT = JSON.stringify({
  event: "invoice.paid",
  data: { id: 5003, invoice_number: "INV-2026-000003", order_id: 1003 },
  timestamp: "2026-11-22T08:00:00+00:00",
});

interface Listening {
  readonly io: LiveIo;
  readonly url: string;
  /** Posts a body with a signature. Returns the status. */
  post(body: string, signature?: string, headers?: Record<string, string>): Promise<number>;
  /** Presses Ctrl-C. Returns the exit code. */
  stop(): Promise<number>;
}

/** Runs `hostform webhooks listen`, at most until the end of the test. */
async function listen(args: readonly string[], parts: FakeIoParts = {}): Promise<Listening> {
  const io = liveIo({ cwd: parts.cwd ?? temporaryFolder(), env: { HOOK: SECRET, APP: APP_SECRET }, ...parts });
  let ended = false;
  const done = runCli(["webhooks", "listen", ...args], io).finally(() => {
    ended = true;
  });
  const stop = () => {
    if (!ended) io.interrupt();
    return done;
  };
  onTestFinished(async () => void (await stop()));
  const started = await Promise.race([io.line(/Receiving|"listening"/), done]);
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(started)) ?? [];
  expect(url, io.stderr() + io.stdout()).not.toBe("");
  const post = async (body: string, signature = signatureOf(body, SECRET), headers = {}) => {
    const answer = await fetch(`${url}/hooks`, {
      method: "POST",
      body,
      headers: { "x-service-signature": signature, ...headers },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { io, url, post, stop };
}

interface Received {
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

/** Starts an application whose responses the test decides. Records every request. */
async function application(answer: (body: string, response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    received.push({ body, headers: request.headers });
    answer(body, response);
  });
  const origin = await listening(server);
  return { received, url: `${origin}/app?key=hidden` };
}

const ok = (_: string, response: ServerResponse) => void response.writeHead(201).end("thanks");

describe("webhooks listen", () => {
  it("verifies, prints a line for each event, and ends with 0", async () => {
    const { io, post, stop } = await listen(["--secret-env", "HOOK"]);
    expect(await post(EVENT)).toBe(204);
    expect(await io.line(/invoice\.paid/)).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}invoice\.paid {2}invoice 5003 \(INV-2026-000003\), service 1003 {2}received$/,
    );
    expect(await stop()).toBe(0);
    expect(io.stderr()).toContain("1 delivery received.");
    expect(io.stdout() + io.stderr()).not.toContain(signatureOf(EVENT, SECRET));
  });

  it("rejects forged, altered or unsigned deliveries, and prints no part of them", async () => {
    const app = await application(ok);
    const { io, post, url, stop } = await listen(["--secret-env", "HOOK", "--forward-to", app.url]);
    const altered = EVENT.replace("5003", "5004");
    expect(await post(altered, signatureOf(EVENT, SECRET))).toBe(401);
    expect(await post(altered, signatureOf(altered, "another secret"))).toBe(401);
    expect((await fetch(url, { method: "POST", body: EVENT })).status).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect(await post("x".repeat(1_100_000))).toBe(413);
    expect(await post("[]")).toBe(400);
    await stop();
    expect(io.stdout()).toMatch(/rejected \(401\): The signature does not match the body\. .*secret/);
    expect(io.stdout()).not.toMatch(/invoice|5004/);
    expect(io.stderr()).toContain("0 deliveries received. 6 requests rejected.");
    expect(app.received).toEqual([]);
  });

  it("reports a flood of forged deliveries in one line a second", async () => {
    let now = 1_800_000_000_000;
    const sleep = (_: number, signal?: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    const { io, post } = await listen(["--secret-env", "HOOK"], {
      clock: { now: () => now, monotonic: () => now, sleep },
    });
    for (let i = 0; i < 50; i++) await post(EVENT, "0".repeat(64));
    now += 1_000;
    await post(EVENT, "0".repeat(64));
    expect(io.stdout().trimEnd().split("\n")).toHaveLength(2);
    expect(io.stdout()).toContain("(and 49 more before)");
  });

  it("forwards the same bytes with a new signature, and no header of the sender", async () => {
    const app = await application(ok);
    const args = ["--secret-env", "HOOK", "--forward-to", app.url, "--forward-secret-env", "APP"];
    const { io, post } = await listen(args);
    const body = `${EVENT.replace("{", "{ ")}\n\n`;
    expect(await post(body, undefined, { authorization: "Bearer of-the-sender", cookie: "a=b" })).toBe(204);
    expect(await io.line(/forwarded/)).toMatch(/forwarded: 201 in \d+ ms$/);
    const [{ body: came, headers } = { body: "", headers: {} }] = app.received;
    expect(came).toBe(body);
    expect(verifySignature(came, headers["x-service-signature"], APP_SECRET)).toBe(true);
    expect(verifySignature(came, headers["x-service-signature"], SECRET)).toBe(false);
    expect(Object.keys(headers).sort()).toEqual(
      ["connection", "content-length", "content-type", "host", "user-agent", "x-service-signature"].sort(),
    );
    expect(io.stderr(), "the query may hold something that is not for everybody").not.toContain("hidden");
  });

  it("signs for the application with the first secret if the application has no secret of its own", async () => {
    const app = await application(ok);
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hook.secret"), `${SECRET}\n`, { mode: 0o600 });
    const args = ["--secret-file", "hook.secret", "--secret-env", "APP", "--forward-to", app.url];
    const { post } = await listen(args, { cwd: dir });
    expect(await post(EVENT)).toBe(204);
    expect(app.received[0]?.headers["x-service-signature"]).toBe(signatureOf(EVENT, APP_SECRET));
  });

  it.each<[why: string, answer: (response: ServerResponse) => void, words: RegExp]>([
    ["refuses", (response) => void response.writeHead(500).end(), /the application responded with 500\. .* 502/],
    ["redirects", (response) => void response.writeHead(302, { location: "/x" }).end(), /302 \(redirects are not/],
    ["breaks off", (response) => void response.destroy(), /failed: .*\. hostform responded with 502/],
  ])("makes the sender retry if the application %s, and then forwards the delivery", async (_, answer, words) => {
    let first = true;
    const app = await application((body, response) => {
      if (first) answer(response);
      else ok(body, response);
      first = false;
    });
    const { io, post } = await listen(["--secret-env", "HOOK", "--forward-to", app.url]);
    expect(await post(EVENT)).toBe(502);
    expect(await io.line(/failed/)).toMatch(words);
    expect(await post(EVENT)).toBe(204);
    expect(await io.line(/forwarded/)).toContain("201");
    expect(await post(EVENT)).toBe(204);
    expect(await io.line(/duplicate/)).toContain("invoice 5003");
    expect(app.received).toHaveLength(2);
  });

  it("does not forward a delivery again that the sender stopped waiting for", async () => {
    const [arrived, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const app = await application(async (body, response) => {
      arrived.resolve();
      await go.promise;
      ok(body, response);
    });
    const { io, post, url } = await listen(["--secret-env", "HOOK", "--forward-to", app.url]);
    const impatient = new AbortController();
    const headers = { "x-service-signature": signatureOf(EVENT, SECRET) };
    const first = fetch(url, { method: "POST", body: EVENT, headers, signal: impatient.signal }).catch(() => "gone");
    await arrived.promise;
    impatient.abort();
    expect(await first).toBe("gone");
    go.resolve();
    await io.line(/forwarded: 201/);
    expect(await post(EVENT)).toBe(204);
    await io.line(/duplicate/);
    expect(app.received).toHaveLength(1);
  });

  it("--duplicates: forwards a repeated delivery again, for example a replay", async () => {
    const app = await application(ok);
    const { io, post } = await listen(["--secret-env", "HOOK", "--forward-to", app.url, "--duplicates"]);
    expect([await post(EVENT), await post(EVENT)]).toEqual([204, 204]);
    expect(await io.line(/forwarded again: 201/)).toContain("invoice 5003");
    expect(app.received).toHaveLength(2);
  });

  it("--remember: does not forward a delivery after a restart that it forwarded before", async () => {
    const app = await application((_, response) => void response.end());
    const cwd = temporaryFolder();
    const args = ["--secret-env", "HOOK", "--forward-to", app.url, "--remember", "deliveries"];
    const first = await listen(args, { cwd });
    expect(await first.post(EVENT)).toBe(204);
    expect(await first.stop()).toBe(0);
    const second = await listen(args, { cwd });
    expect(await second.post(EVENT)).toBe(204);
    await second.io.line(/duplicate/);
    expect(app.received).toHaveLength(1);
    await second.stop();
    await writeFile(path.join(cwd, "deliveries"), "not mine");
    const { code, stderr } = await runIn(cwd, ["webhooks", "listen", ...args], { env: { HOOK: SECRET } });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("webhooks.memory") });
  });

  it("stops waiting for an application at the second Ctrl-C, and makes the sender retry", async () => {
    const arrived = Promise.withResolvers<void>();
    const app = await application(() => arrived.resolve());
    const { io, post, stop } = await listen(["--secret-env", "HOOK", "--forward-to", app.url]);
    const first = post(EVENT).catch(() => "cut");
    await arrived.promise;
    io.interrupt();
    await io.line(/Waiting for 1 delivery in progress. Press Ctrl-C again to stop at once\./);
    io.interrupt();
    expect(await first).toBe(502);
    expect(await stop()).toBe(0);
    expect(io.stdout()).toContain("failed: interrupted. hostform responded with 502");
    expect(io.stderr()).toContain("1 delivery received.");
  });

  it("completes deliveries in progress after Ctrl-C", async () => {
    const [arrived, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const app = await application(async (body, response) => {
      arrived.resolve();
      await go.promise;
      ok(body, response);
    });
    const { io, post, stop } = await listen(["--secret-env", "HOOK", "--forward-to", app.url]);
    const first = post(EVENT);
    await arrived.promise;
    const stopped = stop();
    go.resolve();
    expect(await first).toBe(204);
    expect(await stopped).toBe(0);
    expect(io.stdout()).toContain("forwarded: 201");
  });

  it("--events: acknowledges other events without printing or forwarding them", async () => {
    const app = await application(ok);
    const args = ["--secret-env", "HOOK", "--forward-to", app.url, "--events", "service.suspended,service.expiring"];
    const { io, post } = await listen(args);
    const wanted = EVENT.replace("invoice.paid", "service.expiring");
    expect(await post(EVENT)).toBe(204);
    expect(await post(wanted)).toBe(204);
    await io.line(/service\.expiring/);
    expect(io.stdout()).not.toContain("invoice.paid");
    expect(app.received.map(({ body }) => body)).toEqual([wanted]);
  });

  it("accepts unknown events, and escapes control characters", async () => {
    const { io, post } = await listen(["--secret-env", "HOOK", "--verbose"]);
    const odd = {
      event: "service.\u001b[2Jmoved",
      data: { id: 7, domain: `a\u202e${"x".repeat(300)}` },
      timestamp: "now",
    };
    expect(await post(JSON.stringify(odd))).toBe(204);
    const line = await io.line(/service/);
    expect(line).toContain("service.\\u001b[2Jmoved  service 7 (a\\u20…");
    expect(line.length).toBeLessThan(250);
    expect(await io.line(/^ {4}\{"event"/)).toContain("xxx");
    for (const character of ["\u001b", "\u202e"]) expect(io.stdout()).not.toContain(character);
  });

  it("--json: prints one document for each event of the receiver", async () => {
    const { io, post, stop } = await listen(["--secret-env", "HOOK", "--json"]);
    await post(EVENT);
    await post(EVENT);
    await post(EVENT, "f".repeat(64));
    await stop();
    const documents = io
      .stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents).toMatchObject([
      { type: "listening", subscription: null, forward_to: null },
      {
        type: "delivery",
        outcome: "received",
        answered: 204,
        event: "invoice.paid",
        invoice_id: "5003",
        order_id: "1003",
      },
      { type: "delivery", outcome: "duplicate", answered: 204 },
      { type: "refused", answered: 401, code: "webhooks.bad_signature" },
      { type: "stopped", taken: 2, refused: 1 },
    ]);
    expect(io.stderr()).toBe("");
  });

  it("uses a rotated secret without a restart, and keeps the old secrets while the file is empty", async () => {
    const dir = temporaryFolder();
    const file = path.join(dir, "hook.secret");
    const store = (...secrets: string[]) => writeFile(file, secrets.map((one) => `${one}\n`).join(""), { mode: 0o600 });
    await store(SECRET);
    const { io, post } = await listen(["--secret-file", "hook.secret"], { cwd: dir });
    const signed = (n: number, secret: string) => {
      const body = EVENT.replace("5003", String(n));
      return post(body, signatureOf(body, secret));
    };
    expect(await signed(1, "the-new-secret")).toBe(401);
    await store(SECRET, "the-new-secret");
    expect([await signed(2, SECRET), await signed(3, "the-new-secret")]).toEqual([204, 204]);
    await store();
    expect(await signed(4, "the-new-secret")).toBe(204);
    expect(io.stderr()).toContain("are still accepted");
    await store("the-new-secret");
    expect([await signed(5, SECRET), await signed(6, "the-new-secret")]).toEqual([401, 204]);
  });

  it.each([
    ["the state", ""],
    ["a secret_output", ", secret_output: {file: hook.secret}"],
  ])(
    "--webhook: takes both secrets while apply replaces a webhook, and the old one no longer (%s)",
    async (_, more) => {
      const declared = (event: string) => `project: test
webhooks:
  billing: {url: "https://hooks.acme.example/x", events: [${event}]${more}}
`;
      const made = await project(declared("invoice.paid"));
      const secrets = () => made.sandbox.control.list("webhooks").map(({ secret }) => secret);
      expect((await made.run(["apply", "--auto-approve"])).code).toBe(0);
      const [old = ""] = secrets();
      let now = 1_800_000_000_000;
      const clock = { now: () => now, monotonic: () => now, sleep: systemClock.sleep };
      const { post } = await listen(["--webhook", "hosting_webhook.billing"], { cwd: made.dir, clock });
      let count = 0;
      const signed = (secret: string) => {
        count += 1;
        const body = EVENT.replace("5003", String(count));
        now += 2_000;
        return post(body, signatureOf(body, secret));
      };
      expect(await signed(old)).toBe(204);

      await made.write("hosting.yaml", declared("invoice.created"));
      made.sandbox.control.addFault({
        method: "DELETE",
        path: "/webhooks/:id",
        phase: "before",
        status: 403,
        times: 9,
      });
      expect((await made.run(["apply", "--auto-approve"])).code, "the old one cannot be deleted yet").toBe(1);
      const renewed = secrets().find((one) => one !== old) ?? "";
      expect([await signed(old), await signed(renewed)]).toEqual([204, 204]);

      made.sandbox.control.clearFaults();
      expect((await made.run(["apply", "--auto-approve"])).code).toBe(0);
      expect(secrets()).toEqual([renewed]);
      expect([await signed(old), await signed(renewed)]).toEqual([401, 204]);
    },
  );

  it("accepts an event that is nested too deeply to print", async () => {
    const { io, post, stop } = await listen(["--secret-env", "HOOK", "--json", "--verbose"]);
    const deep = EVENT.replace("5003", `${'{"id":'.repeat(50_000)}1${"}".repeat(50_000)}`);
    expect(await post(deep)).toBe(204);
    expect(await post(EVENT)).toBe(204);
    expect(await stop()).toBe(0);
    const printed = io
      .stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(printed.map(({ outcome, data }) => [outcome, data?.id]).slice(1, 3)).toEqual([
      ["received", undefined],
      ["received", 5003],
    ]);
  });

  it.each<[why: string, args: string[], words: string]>([
    ["with a secret in place of a variable's name", ["--secret-env", "whsec-abc-def"], "is not the name of"],
    ["without any secret", [], "--register"],
    ["with a variable that is not set", ["--secret-env", "NONE"], "It is not set"],
    ["with a file that is not there", ["--secret-file", "none"], "there is no such file or folder"],
    ["with an unknown event", ["--secret-env", "HOOK", "--events", "invoice.payed"], "invoice.paid"],
    ["with another machine over plain http", ["--secret-env", "HOOK", "--forward-to", "http://app.example/"], "https"],
    [
      "with an address that is none",
      ["--secret-env", "HOOK", "--forward-to", "localhost:3000"],
      "not an http or https",
    ],
    ["with a password in the address", ["--secret-env", "HOOK", "--forward-to", "http://u:p@localhost/"], "password"],
    ["with a host that is not this machine's", ["--secret-env", "HOOK", "--host", "203.0.113.1"], "no such address"],
    ["with a secret for nobody", ["--secret-env", "HOOK", "--forward-secret-env", "APP"], "--forward-to"],
    ["with an unknown address in the state", ["--webhook", "hosting_webhook.x"], "no resource hosting_webhook.x"],
  ])("does not start %s", async (_, args, words) => {
    const { code, stdout, stderr } = await runIn(temporaryFolder(), ["webhooks", "listen", ...args], {
      env: { HOOK: SECRET, APP: APP_SECRET },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("Internal error");
  });

  it("does not start on a port that is in use, or with itself as the application", async () => {
    const { url } = await listen(["--secret-env", "HOOK"]);
    const port = new URL(url).port;
    const start = (...args: string[]) =>
      runIn("/", ["webhooks", "listen", "--secret-env", "HOOK", ...args], { env: { HOOK: SECRET } });
    expect((await start("--port", port)).stderr).toContain("it is in use");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const free = (server.address() as AddressInfo).port;
    await new Promise((resolve) => server.close(resolve));
    const looped = await start("--port", String(free), "--forward-to", `http://localhost:${free}/`);
    expect(looped).toMatchObject({ code: 1 });
    expect(looped.stderr).toContain("is the URL of this receiver");
  });
});

describe("webhooks listen --register", () => {
  const own = (made: Awaited<ReturnType<typeof project>>) => made.sandbox.control.list("webhooks");
  const environment = (made: Awaited<ReturnType<typeof project>>) => ({
    cwd: made.dir,
    env: { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.agency, APP: APP_SECRET },
  });

  it("subscribes its own URL until it ends, and prints no secret", async () => {
    const made = await project();
    const { io, url, post, stop } = await listen(["--register", "--events", "invoice.paid"], environment(made));
    const [webhook, ...others] = own(made);
    expect(others).toEqual([]);
    expect(webhook).toMatchObject({ url: `${url}/`, events: ["invoice.paid"] });
    expect(await post(EVENT, signatureOf(EVENT, webhook?.secret ?? ""))).toBe(204);
    expect(await post(EVENT, signatureOf(EVENT, SECRET))).toBe(401);
    expect(await stop()).toBe(0);
    expect(own(made)).toEqual([]);
    expect(io.stdout() + io.stderr()).not.toContain(webhook?.secret);
  });

  it("subscribes a public URL for all events", async () => {
    const made = await project();
    const { stop } = await listen(
      ["--register", "https://hooks.acme.example/x", "--secret-env", "APP"],
      environment(made),
    );
    expect(own(made)).toMatchObject([{ url: "https://hooks.acme.example/x", events: { length: 7 } }]);
    await stop();
    expect(own(made)).toEqual([]);
  });

  it("removes a subscription that was created while Ctrl-C was pressed", async () => {
    let interrupt = () => {};
    const made = await project(undefined, { sleep: async () => interrupt() });
    made.sandbox.control.addFault({ method: "POST", path: "/webhooks", phase: "before", delayMs: 1 });
    const io = liveIo(environment(made));
    interrupt = io.interrupt;
    await runCli(["webhooks", "listen", "--register"], io);
    const sent = made.sandbox.control.requests().map(({ method }) => method);
    expect(sent).toEqual(["GET", "POST", "DELETE"]);
    expect(own(made)).toEqual([]);
  });

  it("warns of another subscription with this URL, because hostform rejects its deliveries", async () => {
    const made = await project();
    const there = "https://hooks.acme.example/x";
    made.sandbox.control.create("webhooks", { url: there, events: ["invoice.paid"] });
    const { io, stop } = await listen(["--register", there], environment(made));
    expect(io.stderr()).toContain(`another subscription delivers to ${there} (201)`);
    await stop();
    expect(own(made), "it is somebody's").toHaveLength(1);
  });

  it("removes the subscription of a create whose response was lost", async () => {
    const made = await project();
    made.sandbox.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true });
    const ran = await made.run(["webhooks", "listen", "--register"]);
    expect(ran.code).toBe(1);
    expect(own(made)).toEqual([]);
    expect(made.sandbox.control.requests().map(({ method }) => method)).toContain("DELETE");
  });

  it("removes neither of two subscriptions that appeared after a lost response, because one belongs to somebody else", async () => {
    let other = () => {};
    const made = await project(undefined, { sleep: async () => other() });
    made.sandbox.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true, delayMs: 1 });
    const there = "https://hooks.acme.example";
    other = () => void made.sandbox.control.create("webhooks", { url: `${there}/`, events: ["invoice.paid"] });
    const ran = await made.run(["webhooks", "listen", "--register", there]);
    expect(ran.code).toBe(1);
    expect(own(made)).toHaveLength(2);
    expect(made.sandbox.control.requests().map(({ method }) => method)).not.toContain("DELETE");
    for (const { id } of own(made)) expect(ran.stderr).toMatch(new RegExp(`subscriptions.*${id}`));
  });

  it("removes a subscription whose secret is missing in the response", async () => {
    const made = await project();
    made.sandbox.control.addFault({
      method: "POST",
      path: "/webhooks",
      phase: "after",
      status: 201,
      body: { data: { id: 201, url: "x", events: [] } },
    });
    const ran = await made.run(["webhooks", "listen", "--register"]);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toContain("no signing secret");
    expect(own(made)).toEqual([]);
  });

  it("reports the subscription that it cannot remove, and ends with 1", async () => {
    const made = await project();
    const { io, stop } = await listen(["--register"], environment(made));
    made.sandbox.control.addFault({
      method: "DELETE",
      path: "/webhooks/:id",
      phase: "before",
      status: 403,
      body: { message: "No." },
    });
    expect(await stop()).toBe(1);
    expect(io.stderr()).toMatch(/subscription 201 may still exist/);
  });

  it("requires a URL that the API can reach, and a secret that the application knows", async () => {
    const made = await project();
    const far = await made.run(["webhooks", "listen", "--register"], {
      env: { HOSTING_BASE_URL: "https://api.acme.example", HOSTING_TOKEN: "token-of-somebody" },
    });
    expect(far.stderr).toContain("--register https://");
    const app = await made.run(["webhooks", "listen", "--register", "--forward-to", "http://127.0.0.1:9/"]);
    expect(app.stderr).toContain("--forward-secret-env");
    expect([far.code, app.code]).toEqual([1, 1]);
    expect(own(made)).toEqual([]);
  });
});
