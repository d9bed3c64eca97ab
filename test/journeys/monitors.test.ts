/** Monitors of watch and of scheduled jobs: heartbeats, health, metrics, systemd, rejected tokens, outages. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FakeIo } from "../support/io.ts";
import { type Watched, watched } from "../support/watching.ts";

const MINUTES = 60_000;
const DECLARED = {
  project: "acme",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", suspended: false, deletion_policy: "forget" },
  },
};

async function applied(): Promise<Watched> {
  const made = await watched(DECLARED);
  const { code, text } = await made.run("apply", "--auto-approve");
  expect(code, text).toBe(0);
  return made;
}

/** Starts a monitor that responds with a status. */
async function monitor(status = () => 200) {
  const beats: string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    expect(headers).not.toHaveProperty("authorization");
    expect(headers).not.toHaveProperty("x-service-signature");
    beats.push(`${method} ${url}`);
    response.writeHead(status()).end();
  });
  let closed = 0;
  server.on("connection", (socket) => socket.once("close", () => server.emit("done", ++closed)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  /** Waits until the sender has read this number of responses. An earlier clock advance would end its wait. */
  const done = async (count: number) => {
    while (closed < count) await once(server, "done");
  };
  return { beats, done, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/uuid` };
}

/** Lets each API request fail without a response. */
const cutOff = ({ sandbox }: Watched) =>
  sandbox.control.addFault({ path: "/*", phase: "before", drop: true, times: 1_000 });

describe("a heartbeat", () => {
  it.each([
    ["a plan without changes", ["plan"], 0, "/uuid"],
    ["a plan with changes", ["plan", "--destroy", "--detailed-exitcode"], 2, "/uuid"],
    ["a condition of --fail-on", ["plan", "--destroy", "--fail-on", "drift"], 4, "/uuid/fail"],
    ["an apply", ["apply", "--auto-approve"], 0, "/uuid"],
    ["an error before the first request", ["plan", "--target", "hosting_service.none"], 1, "/uuid/fail"],
  ] as const)("is sent once after %s", async (_, args, code, path) => {
    const made = await applied();
    const { beats, url } = await monitor();
    const ran = await made.run(...args, "--heartbeat", url);
    expect(ran.code, ran.text).toBe(code);
    expect(beats).toEqual([`POST ${path}`]);
  });

  it("keeps the query of its URL", async () => {
    const made = await applied();
    const { beats, url } = await monitor();
    await made.run("plan", "--target", "hosting_service.none", "--heartbeat", `${url}/?create=1`);
    expect(beats).toEqual(["POST /uuid/fail?create=1"]);
  });

  it.each([
    ["responds with 404", async () => (await monitor(() => 404)).url, "the response has the status 404"],
    ["does not listen", async () => "http://127.0.0.1:9/uuid", "connection refused"],
  ])("is a warning and changes no exit code if the monitor %s", async (_, start, reason) => {
    const made = await applied();
    const { code, text } = await made.run("plan", "--quiet", "--heartbeat", await start());
    expect(code).toBe(0);
    expect(text).toContain(reason);
    expect(text).toContain("monitor.heartbeat");
    expect(text).not.toContain("/uuid");
  });

  it("rejects a value that is not an http URL", async () => {
    const made = await watched(DECLARED);
    const { code, text } = await made.run("plan", "--heartbeat", "ftp://monitor.example/uuid");
    expect(code).toBe(1);
    expect(text).toContain("Expected a URL such as https://hc-ping.com/UUID.");
    const plain = await made.run("plan", "--heartbeat", "http://monitor.example/uuid");
    expect([plain.code, plain.text]).toEqual([1, expect.stringContaining("needs an https URL")]);
  });

  it("reports each check of watch, and warns once about a monitor that fails twice", async () => {
    const made = await applied();
    let status = 200;
    const { beats, done, url } = await monitor(() => status);
    const watching = made.watch("--interval", "5m", "--heartbeat", url);
    await watching.look(1);
    await done(1);
    cutOff(made);
    status = 500;
    made.clock.advance(5 * MINUTES);
    await watching.look(2);
    await done(2);
    made.sandbox.control.clearFaults();
    made.clock.advance(5 * MINUTES);
    expect(await watching.look(3)).toMatchObject({ result: "as_declared" });
    expect(await watching.stop()).toBe(0);
    expect(beats).toEqual(["POST /uuid", "POST /uuid/fail", "POST /uuid"]);
    expect(watching.text.split("The heartbeat to").length - 1).toBe(1);
  });

  it("reports a watch that cannot start", async () => {
    const made = await applied();
    const { beats, url } = await monitor();
    made.env.HOSTING_TOKEN = "wrong-token-0123456789";
    const { code, text } = await made.run("watch", "--heartbeat", url);
    expect([code, text]).toEqual([5, expect.stringContaining("The API did not accept the token")]);
    expect(beats).toEqual(["POST /uuid/fail"]);
  });
});

describe("the server of --metrics", () => {
  it("reports health and metrics, and becomes unhealthy after a missed check", async () => {
    const made = await applied();
    const watching = made.watch("--interval", "5m", "--metrics", "0");
    await watching.look(1);
    const base = watching.of("watch_start")[0]?.hostform.metrics;
    const page = async (path: string) => {
      const response = await fetch(base + path);
      return [response.status, await response.text()] as const;
    };
    expect(await page("/healthz")).toEqual([200, "last successful check: 0 s ago\n"]);
    expect((await page("/"))[0]).toBe(404);
    const [, text] = await page("/metrics");
    expect(text).toContain(`\nhostform_watch_checks_total{result="as_declared"} 1\n`);
    expect(text).toContain(`hostform_watch_last_success_timestamp_seconds ${made.clock.now() / 1000}\n`);
    expect(text).toContain(`\nhostform_conditions{condition="offline"} 0\n`);
    expect(text).toMatch(/\nhostform_request_budget_left \d+\n$/);
    expect(text).toContain(`\nhostform_watch_checks_total{result="failed"} 0\n`);
    expect((await fetch(`${base}/metrics`, { method: "POST" })).status).toBe(405);
    // The output consists of HELP and TYPE lines, each followed by samples of that metric.
    expect(text).toMatch(/^(# HELP \w+ .+\n# TYPE (\w+) (gauge|counter)\n(\2(\{[a-z]+="[a-z_]+"\})? [\d.]+\n)*)+$/);
    cutOff(made);
    made.clock.advance(5 * MINUTES);
    expect(await watching.look(2)).toMatchObject({ result: "failed" });
    expect(await page("/healthz")).toEqual([200, expect.stringMatching(/^last successful check: 30\d s ago\n$/)]);
    made.clock.advance(5 * MINUTES);
    await watching.look(3);
    made.clock.advance(2 * MINUTES);
    expect((await page("/healthz"))[0]).toBe(503);
    expect((await page("/metrics"))[1]).toContain(`hostform_watch_checks_total{result="failed"} 2\n`);
    await watching.stop();
    await expect(fetch(`${base}/healthz`)).rejects.toThrow();
  });

  it("counts the conditions of the account", async () => {
    const made = await applied();
    await made.declare({ ...DECLARED, services: { www: { ...DECLARED.services.www, suspended: undefined } } });
    for (const { id } of made.sandbox.control.list("services")) made.sandbox.control.suspendService(id);
    const watching = made.watch("--metrics", "0");
    await watching.look(1);
    const text = await (await fetch(`${watching.of("watch_start")[0]?.hostform.metrics}/metrics`)).text();
    expect(text).toContain(`hostform_conditions{condition="offline"} 1\n`);
  });

  it("sums the orders of the month from the history", async () => {
    const made = await applied();
    const watching = made.watch("--metrics", "0");
    await watching.look(1);
    const url = `${watching.of("watch_start")[0]?.hostform.metrics}/metrics`;
    const [invoice] = made.sandbox.control.list("invoices").slice(-1);
    const read = async () => /^hostform_spend_month.*$/m.exec(await (await fetch(url)).text())?.[0];
    while ((await read()) === undefined);
    expect(await read()).toBe(`hostform_spend_month{currency="USD"} ${invoice?.total}`);
    made.clock.advance(32 * 24 * 60 * MINUTES);
    await watching.look(2);
    while ((await read()) !== 'hostform_spend_month{currency="USD"} 0');
    await watching.stop();
  });

  it("rejects a port that is in use, and sends no request", async () => {
    const made = await applied();
    const { url } = await monitor();
    made.sent();
    const { code, text } = await made.run("watch", "--metrics", new URL(url).port);
    expect(code).toBe(1);
    expect(text).toContain("Cannot serve metrics at");
    expect(text).toContain("--metrics [HOST:]PORT");
    expect(made.sent()).toEqual([]);
  });
});

describe("systemd", () => {
  const underSystemd = async (failure?: string) => {
    const made = await applied();
    const sent: string[] = [];
    const capture: FakeIo["capture"] = async ([program, text = ""], { env }) => {
      expect({ program, env }).toEqual({ program: "systemd-notify", env: { NOTIFY_SOCKET: "/run/notify" } });
      sent.push(text.replace(/\d{4}-\S+Z/, "AT"));
      return { ...(failure !== undefined && { failure }), stdout: "", stderr: "" };
    };
    Object.assign(made.own, { capture });
    Object.assign(made.env, { NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: String(120 * 1_000_000) });
    return { made, sent };
  };

  it("receives the start, the result of each check, the watchdog and the end", async () => {
    const { made, sent } = await underSystemd();
    const watching = made.watch("--interval", "5m");
    await watching.look(1);
    made.clock.advance(MINUTES);
    expect(await watching.stop()).toBe(0);
    expect(sent).toEqual(["READY=1", "STATUS=AT 1 resource as declared.", "WATCHDOG=1", "STOPPING=1"]);
  });

  it("is reported as missing once, and the watch continues", async () => {
    const { made, sent } = await underSystemd("could not be found");
    const watching = made.watch("--max-runs", "1");
    expect(await watching.code).toBe(0);
    expect(sent.length).toBeLessThan(3);
    expect(watching.text.split("systemd-notify could not be found").length - 1).toBe(1);
    expect(watching.text).toContain("NotifyAccess=all");
  });
});

describe("a token that is revoked during a watch", () => {
  it("ends the watch with exit code 5 at the third check, without a growing pause", async () => {
    const made = await applied();
    const { url, beats, done } = await monitor();
    const watching = made.watch("--auto-approve", "--interval", "5m", "--heartbeat", url);
    await watching.look(1);
    await done(1);
    const token = made.sandbox.control.list("tokens").find(({ value }) => value === made.env.HOSTING_TOKEN);
    made.sandbox.control.remove("tokens", token?.id ?? 0);
    for (const look of [2, 3]) {
      made.clock.advance(5 * MINUTES);
      expect(await watching.look(look)).toMatchObject({ result: "failed", next_seconds: 300 });
      await done(look);
    }
    made.clock.advance(5 * MINUTES);
    expect(await watching.code).toBe(5);
    expect(watching.of("watch_end")[0]?.hostform).toEqual({ looks: 4, reason: "unauthenticated" });
    expect(watching.of("watch_end")[0]?.["@message"]).toContain("The API rejected the token at the last 3 checks.");
    expect(beats).toEqual(["POST /uuid", "POST /uuid/fail", "POST /uuid/fail", "POST /uuid/fail"]);
  });

  it("does not end the watch if the token is accepted again at the third check", async () => {
    const made = await applied();
    const watching = made.watch("--interval", "5m");
    await watching.look(1);
    made.sandbox.control.addFault({ path: "/*", phase: "before", status: 401, body: { message: "No." }, times: 2 });
    for (const look of [2, 3, 4]) {
      made.clock.advance(5 * MINUTES);
      await watching.look(look);
    }
    expect(watching.of("watch_found").map(({ hostform }) => hostform.result)).toEqual([
      "as_declared",
      "failed",
      "failed",
      "as_declared",
    ]);
    expect(await watching.stop()).toBe(0);
  });
});

describe("an account without a response", () => {
  it("is reported once after --unreachable-after, and again when it responds", async () => {
    const made = await applied();
    const watching = made.watch("--interval", "5m", "--unreachable-after", "12m");
    await watching.look(1);
    cutOff(made);
    made.clock.advance(5 * MINUTES);
    await watching.look(2);
    made.clock.advance(5 * MINUTES);
    await watching.look(3);
    expect(watching.of("watch_unreachable")).toEqual([]);
    // The report is due before the next check.
    for (let minute = 0; minute < 8; minute++) {
      made.clock.advance(MINUTES);
      await new Promise(setImmediate);
    }
    await watching.until(() => watching.of("watch_unreachable").length === 1);
    expect(watching.of("watch_found")).toHaveLength(3);
    made.sandbox.control.clearFaults();
    made.clock.advance(2 * MINUTES);
    expect(await watching.look(4)).toMatchObject({ result: "as_declared" });
    expect(watching.of("watch_unreachable").map(({ hostform, "@level": level }) => [hostform.over, level])).toEqual([
      [false, "warn"],
      [true, "info"],
    ]);
    expect(watching.of("watch_unreachable")[0]?.["@message"]).toMatch(
      /has not responded for 12 min.* The API could not be reached: .* at http:.*(127\.0\.0\.1|localhost)/,
    );
  });

  it("is not reported after a shorter time", async () => {
    const made = await applied();
    const watching = made.watch("--interval", "5m");
    await watching.look(1);
    cutOff(made);
    made.clock.advance(5 * MINUTES);
    expect(await watching.look(2)).toMatchObject({ result: "failed" });
    made.sandbox.control.clearFaults();
    made.clock.advance(5 * MINUTES);
    expect(await watching.look(3)).toMatchObject({ result: "as_declared" });
    expect(watching.of("watch_unreachable")).toEqual([]);
  });
});

it("rejects --unreachable-after without a unit", async () => {
  const made = await watched(DECLARED);
  const { code, text } = await made.run("watch", "--unreachable-after", "1");
  expect([code, text]).toEqual([1, expect.stringContaining("a time with its unit")]);
});

it("continues without the packages of OpenTelemetry", async () => {
  const made = await applied();
  made.env.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9";
  const { code, text } = await made.run("plan", "--detailed-exitcode", "--quiet");
  expect(code).toBe(0);
  expect(text).toContain("monitor.telemetry");
  expect(text).toContain("npm install @opentelemetry/api @opentelemetry/sdk-node");
});
