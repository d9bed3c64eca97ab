/** Notifications: each channel receives the news of a cause once, signed and without secrets, and no failure changes a run. */

import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CommandEnd, captureCommand } from "../../src/core/files/secret-command.ts";
import { verifySignature } from "../../src/webhooks/index.ts";
import { type Project, startProject } from "../support/project.ts";
import { watched } from "../support/watching.ts";

const SECRET = "whsec-of-the-notifications-0123456789";
const MINUTES = 60_000;

interface News {
  readonly event: string;
  readonly address?: string;
  readonly kind?: string;
  readonly text: string;
  readonly detail?: string;
  readonly fix?: string;
  readonly at?: string;
}

/** A receiver on this machine. It verifies each signature. */
async function receiver() {
  const bodies: string[] = [];
  const types: (string | undefined)[] = [];
  const answer = {
    status: 204,
    hangs: false,
    cuts: false,
    onRequest: () => {},
    onBody: (_: string): void => {},
    onHead: (_?: string): void => {},
  };
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    answer.onRequest();
    answer.onHead(request.headers["content-type"]);
    answer.onBody(body.toString());
    if (answer.hangs) return;
    if (answer.cuts) return void request.socket.destroy();
    if (!verifySignature(body, request.headers["x-service-signature"], SECRET))
      return void response.writeHead(401).end();
    if (answer.status < 300) {
      bodies.push(body.toString());
      types.push(request.headers["content-type"]);
    }
    response.writeHead(answer.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  /** Returns the messages since the last call. */
  const news = (): News[][] => bodies.splice(0).map((body) => JSON.parse(body).data.news);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return { url, bodies, types, answer, news, events: () => news().map((all) => all.map(({ event }) => event)) };
}

type Receiver = Awaited<ReturnType<typeof receiver>>;

const site = (name: string) => ({ plan_id: 11, currency: "USD", domain: `${name}.example` });
const declaring = (channels: readonly object[], services: object = { a: site("a"), b: site("b") }) => ({
  project: "news",
  notify: channels,
  services,
});
const signed = ({ url }: Receiver) => ({ url, secret_env: "HOOK_SECRET" });
const env = { HOOK_SECRET: SECRET };

async function opened(channels: (hook: Receiver) => readonly object[] = (hook) => [signed(hook)]) {
  const hook = await receiver();
  const project = await startProject({ declare: declaring(channels(hook)), env });
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
  return { hook, project };
}

const idOf = async (project: Project, name: string) =>
  Number((await project.recorded(`hosting_service.${name}`))?.attributes.id);

describe("a signed channel", () => {
  it("receives an invoice above its quote", async () => {
    const hook = await receiver();
    // Exact amounts, billed in cents: plan 11 costs this account 450.
    const pinned = { plan: ["plan_id", "id"], money: ["minor"] } as const;
    const project = await startProject({ declare: declaring([signed(hook)], { a: site("a") }), env, pinned });
    const service = { id: 9000, plan: "Shared Start", status: "pending", created_at: "2026-11-21T10:00:00Z" };
    const invoice = { id: 1, order_id: 9000, subtotal: 450, total: 451, currency: "USD", status: "unpaid" };
    const answer = { status: 201, body: { data: { service, invoice } } };
    project.control.addFault({ method: "POST", path: "/services", phase: "before", ...answer });
    await project.run("apply", "--auto-approve", "--no-wait");
    const above = hook.news().flatMap((all) => all.filter(({ event }) => event === "invoice_above_quote"));
    expect(above).toMatchObject([{ address: "hosting_service.a", text: expect.stringMatching(/451 .*quote: 450 /) }]);
  });

  it("receives an apply with its orders, and the begin and the end of a condition, once each", async () => {
    const { hook, project } = await opened();
    await project.apply();
    const { type, specversion, source, data } = JSON.parse(hook.bodies[0] ?? "");
    expect([type, specversion, source]).toEqual(["hostform.news", "1.0", "/hostform/news"]);
    expect(hook.types).toEqual(["application/cloudevents+json"]);
    expect(data.text).toContain(
      "Apply complete! 2 added, 0 changed, 0 destroyed. Orders: 2 services, list price 1000 (USD, API's unit), billed 900",
    );
    expect(hook.events()).toEqual([["applied"]]);
    await project.apply();
    expect(hook.events()).toEqual([]);
    const id = await idOf(project, "a");
    project.control.suspendService(id);
    for (let run = 0; run < 3; run++) await project.apply();
    const [began, ...more] = hook.news();
    expect(more).toEqual([]);
    expect(began).toMatchObject([{ event: "condition_began", address: "hosting_service.a" }]);
    expect(began?.[0]?.text).toContain("is suspended, but not declared as suspended");
    project.control.unsuspendService(id);
    // A run ends the condition of an object only if it checks the object.
    await project.apply("--target", "hosting_service.b");
    expect(hook.events()).toEqual([]);
    for (let run = 0; run < 2; run++) await project.apply();
    expect(hook.events()).toEqual([["condition_ended"]]);
  });

  it("receives a plan in CI once, until the plan changes, and no plan of a terminal", async () => {
    const { hook, project } = await opened();
    expect((await project.run("plan")).code).toBe(0);
    expect(hook.events()).toEqual([]);
    project.env.CI = "true";
    for (let run = 0; run < 2; run++) expect((await project.run("plan")).code).toBe(0);
    const [[plan] = [], ...more] = hook.news();
    expect(more).toEqual([]);
    expect(plan).toMatchObject({ event: "plan_waits", text: "Plan: 2 to add, 0 to change, 0 to destroy." });
    expect(plan?.detail).toContain("billed");
    await project.declare(declaring([signed(hook)], { a: site("a") }));
    await project.run("plan");
    expect(hook.events()).toEqual([["plan_waits"]]);
    // A plan with errors keeps the pending plan.
    for (const plan_id of [9999, 11]) {
      await project.declare(declaring([signed(hook)], { a: { ...site("a"), plan_id } }));
      await project.run("plan");
    }
    expect(hook.events()).toEqual([]);
  });

  it("receives one failure for each cause, and its end", async () => {
    const { hook, project } = await opened();
    await project.apply();
    hook.news();
    const token = project.env.HOSTING_TOKEN;
    project.env.HOSTING_TOKEN = "12|revoked0123456789revoked";
    for (let run = 0; run < 3; run++) expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    const [failed, ...more] = hook.news();
    expect(more).toEqual([]);
    expect(failed).toMatchObject([{ event: "failed", text: "The API did not accept the token (401)" }]);
    project.env.HOSTING_TOKEN = token;
    await project.apply();
    await project.apply();
    expect(hook.events()).toEqual([["works_again"]]);
    // The user at the terminal sees a mistake in the declaration, so hostform notifies nobody.
    await project.declare({ ...declaring([signed(hook)]), services: { a: { plan: 1 } } });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect(hook.events()).toEqual([]);
  });

  it("receives the errors of a plan with their place, and their end at each repair", async () => {
    const { hook, project } = await opened();
    const declareB = (plan_id: number) =>
      project.declare(declaring([signed(hook)], { a: site("a"), b: { ...site("b"), plan_id } }));
    const received: News[][] = [];
    for (const plan_id of [9999, 9999, 11, 9999, 9999, 11]) {
      await declareB(plan_id);
      await project.run("apply", "--auto-approve");
      received.push(hook.news().flat());
    }
    expect(received.map((news) => news.map(({ event }) => event).join(" "))).toEqual([
      "failed",
      "",
      "works_again applied",
      "failed",
      "",
      "works_again",
    ]);
    expect(received[0]?.[0]).toMatchObject({
      address: "hosting_service.b",
      kind: "plan.catalogue",
      place: expect.stringMatching(/^hosting\.yaml:\d+$/),
      text: expect.stringContaining("plan_id 9999 is not"),
      fix: "Use a plan_id from `hostform plans`.",
      at: expect.stringMatching(/^2026-/),
    });
    expect(received[2]?.[0]?.text).toContain("no longer fails with: plan_id 9999");
  });

  it("receives no secret, not even one that the host repeats in an error", async () => {
    const { hook, project } = await opened();
    const secret = "correct-horse-battery-staple-42";
    project.env.SITE_PASSWORD = secret;
    const a = { ...site("a"), password: { env: "SITE_PASSWORD" }, password_version: 1 };
    await project.declare(declaring([signed(hook)], { a }));
    const message = `Rejected: ${secret}, ${project.env.HOSTING_TOKEN}`;
    project.control.addFault({ method: "POST", path: "/services", phase: "before", status: 422, body: { message } });
    const ran = await project.run("apply", "--auto-approve");
    const text = hook.bodies.join("");
    expect([ran.code, text]).toEqual([1, expect.stringContaining("Rejected: ")]);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(project.env.HOSTING_TOKEN);
  });
});

describe("a channel that fails", () => {
  it.each([300, 503])("is a warning, changes no exit code, and receives the news later: status %d", async (status) => {
    const { hook, project } = await opened();
    hook.answer.status = status;
    const ran = await project.run("apply", "--auto-approve");
    expect([ran.code, hook.bodies]).toEqual([0, []]);
    expect(ran.err).toMatch(/Warning: The notification to 127\.0\.0\.1:\d+ failed: the server returned (300|503)/);
    project.clock.advance(MINUTES);
    project.control.suspendService(await idOf(project, "a"));
    expect((await project.run("apply", "--auto-approve")).code).toBe(0);
    hook.answer.status = 204;
    await project.apply();
    expect(hook.events()).toEqual([["condition_began"]]);
  });

  it("receives a message without a response again, once and with the same id", async () => {
    const { hook, project } = await opened();
    const ids: string[] = [];
    hook.answer.cuts = true;
    hook.answer.onBody = (body) => ids.push(JSON.parse(body).id);
    const ran = await project.run("apply", "--auto-approve");
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining("The notification to 127.0.0.1")]);
    hook.answer.cuts = false;
    for (let run = 0; run < 2; run++) await project.apply();
    expect(hook.events()).toEqual([["applied"]]);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  it("does not keep a run after Ctrl-C", async () => {
    const { hook, project } = await opened();
    hook.answer.hangs = true;
    hook.answer.onRequest = () => project.interrupt();
    const ran = await project.run("apply", "--auto-approve");
    expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining("notify.failed")]);
    expect(project.control.list("services").filter(({ domain }) => domain === "a.example")).toHaveLength(1);
  });

  it("ends its program at Ctrl-C", async () => {
    const { project } = await opened(() => [{ command: ["sleep", "60"] }]);
    let end: CommandEnd | undefined;
    project.onCapture = async (command, options) => {
      const running = captureCommand(command, { ...options, env: process.env });
      project.interrupt();
      end = await running;
      return end;
    };
    expect((await project.run("apply", "--auto-approve")).code).toBe(0);
    expect(end?.failure).toContain("ABORT_ERR");
  });

  it.each([
    ["an unset secret", { url: "https://hooks.example/a", secret_env: "NO_SECRET" }, "NO_SECRET is not set"],
    ["an unset URL", { url_env: "NO_URL" }, "NO_URL is not set"],
    ["a URL without TLS", { url_env: "PLAIN_URL" }, "its URL is not an https URL"],
  ])("has %s", async (_, channel, failure) => {
    const { project } = await opened(() => [channel]);
    project.env.PLAIN_URL = "http://hooks.example/a";
    const ran = await project.run("notify", "test", "--json");
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out).deliveries).toEqual([
      { channel: expect.any(String), sent: false, error: failure, fix: expect.any(String) },
    ]);
    const { err } = await project.run("apply", "--auto-approve", "--quiet");
    expect(err).toContain(failure);
    expect(err).toContain("Then send a test notification.");
  });
});

it.each([
  ["an https URL of another host", "https://hooks.example/a", []],
  ["a URL without TLS of another host with --insecure-http", "http://hooks.example/a", ["--insecure-http"]],
])("sends to %s, through the proxy", async (_, url, args) => {
  const { project } = await opened(() => [{ url_env: "HOOK_URL" }]);
  // Nothing listens on port 9.
  const proxy = "http://127.0.0.1:9";
  Object.assign(project.env, { HOOK_URL: url, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: "127.0.0.1" });
  const ran = await project.run("notify", "test", ...args);
  expect([ran.code, ran.text]).toEqual([1, expect.stringContaining("Check the URL and the network.")]);
});

it("sends the declared format, and the news of each environment", async () => {
  const { hook, project } = await opened();
  await project.declare({ ...declaring([{ ...signed(hook), format: "slack" }]) });
  const [texts, types]: [string[], (string | undefined)[]] = [[], []];
  hook.answer.onHead = (type) => types.push(type);
  hook.answer.onBody = (body) => texts.push(JSON.parse(body).text);
  await mkdir(path.join(project.dir, "environments"));
  for (const name of ["production", "staging"]) await project.declare({}, `environments/${name}.yaml`);
  project.env.CI = "true";
  for (const name of ["production", "staging", "staging"]) await project.run("plan", "-e", name);
  expect(texts).toEqual(
    ["production", "staging"].map((name) => expect.stringMatching(`^hostform, news, ${name}\nA plan waits: `)),
  );
  expect(types[0]).toBe("application/json");
});

it("tests each channel, and a command reads the text", async () => {
  const { hook, project } = await opened((hook) => [signed(hook), { command: ["mailer", "ops@news.example"] }]);
  const providers = { default: {}, other: { token_env: "OTHER_TOKEN" } };
  await project.declare({ ...declaring([signed(hook), { command: ["mailer", "ops@news.example"] }]), providers });
  Object.assign(project.env, { OTHER_TOKEN: "12|other0123456789other", HOSTFORM_NOTIFY_SECRET: SECRET });
  const mails: string[] = [];
  project.onCapture = async (command, { input, env: given }) => {
    expect([command, given.HOSTING_TOKEN]).toEqual([["mailer", "ops@news.example"], undefined]);
    for (const name of ["HOOK_SECRET", "OTHER_TOKEN", "HOSTFORM_NOTIFY_SECRET"]) expect(given).not.toHaveProperty(name);
    mails.push(input);
    return mails.length === 1
      ? { stdout: "", stderr: "" }
      : { failure: "ended with exit code 3", stdout: "", stderr: "no route" };
  };
  const first = await project.run("notify", "test");
  expect([first.code, first.out.replace(/:\d+:/, ":")]).toEqual([0, "127.0.0.1: sent\nmailer: sent\n"]);
  expect(mails).toEqual(["hostform, news\nTest: this channel receives notifications\n"]);
  const second = await project.run("notify", "test");
  expect([second.code, second.out]).toEqual([
    1,
    expect.stringContaining("mailer: it ended with exit code 3. Last lines of standard error:\nno route"),
  ]);
  expect(hook.events()).toEqual([["test"], ["test"]]);
  const none = await startProject({ declare: declaring([]) });
  expect(await none.run("notify", "test")).toMatchObject({ code: 1, err: expect.stringContaining("no channel") });
});

describe("an untrusted declaration", () => {
  it("sends nothing and runs no command, not even to the channels of the runner", async () => {
    const { hook, project } = await opened((hook) => [signed(hook), { command: ["mailer"] }]);
    Object.assign(project.env, { CI: "true", HOSTFORM_NOTIFY: hook.url, HOSTFORM_NOTIFY_SECRET: SECRET });
    const programs: string[] = [];
    project.onCapture = async ([program]) => {
      programs.push(program);
      return { stdout: "", stderr: "" };
    };
    const plan = await project.run("plan", "--untrusted");
    expect([plan.code, hook.bodies, programs]).toEqual([0, [], []]);
    expect(plan.text).toContain("sends no notifications");
    const test = await project.run("notify", "test", "--untrusted");
    expect([test.code, hook.bodies]).toEqual([1, []]);
  });
});

it("sends to the URLs and programs of the runner", async () => {
  const { hook, project } = await opened(() => []);
  Object.assign(project.env, { HOSTFORM_NOTIFY: `${hook.url} /opt/mailer`, HOSTFORM_NOTIFY_SECRET: SECRET });
  const programs: string[] = [];
  project.onCapture = async ([program]) => {
    programs.push(program);
    return { stdout: "", stderr: "" };
  };
  await project.apply();
  expect([hook.events(), programs]).toEqual([[["applied"]], ["/opt/mailer"]]);
  project.env.HOSTFORM_NOTIFY = `${hook.url} ${hook.url}/b htp://x`;
  const { out } = await project.run("notify", "test");
  expect(out.replaceAll(/:\d+ /g, " ")).toBe(
    "127.0.0.1 (1): sent\n127.0.0.1 (2): sent\nx: its URL is not an https URL\n  Fix: Use an https URL.\n",
  );
});

it("sends nothing to the URLs of the runner if their secret is empty", async () => {
  const { hook, project } = await opened(() => []);
  Object.assign(project.env, { HOSTFORM_NOTIFY: hook.url, HOSTFORM_NOTIFY_SECRET: "" });
  const { code, out } = await project.run("notify", "test");
  expect([code, hook.bodies]).toEqual([1, []]);
  expect(out).toContain("HOSTFORM_NOTIFY_SECRET is not set");
});

it.each([
  ["a literal URL of Slack", [{ url: "https://hooks.slack.com/services/T0/B0/x" }], "use `url_env`"],
  ["a public URL without TLS", [{ url: "http://hooks.example/a" }], "expected an https URL"],
  ["no receiver", [{ format: "slack" }], "expected one of `url`, `url_env` and `command`"],
  ["two receivers", [{ url: "https://a.example", command: ["x"] }], "expected one of"],
  ["an unknown key", [{ link: "https://a.example" }], "link"],
  ["no list", { url: "https://a.example" }, "expected a list of channels"],
  [
    "a secret in place of a variable",
    [{ url: "https://a.example", secret_env: "whsec-1" }],
    "expected the name of an environment variable",
  ],
])("rejects %s", async (_, channels, text) => {
  const { project } = await opened(() => channels as readonly object[]);
  const ran = await project.run("validate");
  expect(ran.code).toBe(1);
  expect(ran.text).toContain(text);
  const test = await project.run("notify", "test");
  expect([test.code, test.text]).toEqual([1, expect.stringContaining(text)]);
});

describe("watch", () => {
  it("sends one message for each cause over 40 checks", async () => {
    const hook = await receiver();
    const made = await watched(declaring([signed(hook)], { a: site("a"), b: site("b") }));
    Object.assign(made.env, env, { HOSTFORM_STATE_HOME: path.join(made.dir, "home") });
    expect((await made.run("apply", "--auto-approve")).code).toBe(0);
    made.clock.advance(MINUTES);
    hook.news();
    const { control } = made.sandbox;
    const service = control.list("services").find(({ domain }) => domain === "a.example")?.id ?? 0;
    const watching = made.watch("--interval", "5m");
    await watching.look(1);
    const sent: (readonly [check: number, events: readonly string[]])[] = [];
    for (let check = 2; check <= 40; check++) {
      if (check === 5) control.suspendService(service);
      if (check === 20) control.unsuspendService(service);
      made.clock.advance(5 * MINUTES);
      await watching.look(check);
      for (const events of hook.events()) sent.push([check, events]);
    }
    await watching.stop();
    expect(sent.map(([, events]) => events)).toEqual([["condition_began"], ["condition_ended"]]);
  });

  it("sends a failure without a response after --unreachable-after, and its end", async () => {
    const hook = await receiver();
    const made = await watched(declaring([signed(hook)], { a: site("a") }));
    Object.assign(made.env, env, { HOSTFORM_STATE_HOME: path.join(made.dir, "home") });
    await made.run("apply", "--auto-approve");
    hook.news();
    const watching = made.watch("--interval", "5m", "--unreachable-after", "12m");
    await watching.look(1);
    made.sandbox.control.addFault({ path: "/*", phase: "before", drop: true, times: 1_000 });
    const events: string[][][] = [];
    for (const check of [2, 3]) {
      made.clock.advance(5 * MINUTES);
      await watching.look(check);
      events.push(hook.events());
    }
    for (let minute = 0; minute < 8; minute++) {
      made.clock.advance(MINUTES);
      await new Promise(setImmediate);
    }
    await watching.until(() => watching.of("watch_unreachable").length === 1);
    made.sandbox.control.clearFaults();
    for (const check of [4, 5, 6]) {
      made.clock.advance(5 * MINUTES);
      await watching.look(check);
    }
    await watching.stop();
    // An advance of the clock may end the wait for a response. The message then arrives twice, with one id.
    const byId = new Map(hook.bodies.map((body) => [JSON.parse(body).id, JSON.parse(body).data.news[0].event]));
    expect([events, ...byId.values()]).toEqual([[[], []], "failed", "works_again"]);
  });

  it("groups the news within a minute into one message", async () => {
    const hook = await receiver();
    const made = await watched(declaring([signed(hook)], { a: site("a"), b: site("b") }));
    Object.assign(made.env, env, { HOSTFORM_STATE_HOME: path.join(made.dir, "home") });
    expect((await made.run("apply", "--auto-approve")).code).toBe(0);
    made.clock.advance(MINUTES);
    hook.news();
    const { control } = made.sandbox;
    const [a = 0, b = 0] = ["a", "b"].map(
      (name) => control.list("services").find(({ domain }) => domain === `${name}.example`)?.id,
    );
    const watching = made.watch("--interval", "20s");
    await watching.look(1);
    for (const [nth, id] of [a, b].entries()) {
      control.suspendService(id);
      made.clock.advance(20_000);
      await watching.look(nth + 2);
    }
    control.unsuspendService(a);
    made.clock.advance(20_000);
    await watching.look(4);
    for (const check of [5, 6, 7, 8, 9]) {
      made.clock.advance(20_000);
      await watching.look(check);
    }
    await watching.stop();
    expect(hook.events()).toEqual([["condition_began"], ["condition_began", "condition_ended"]]);
  });
});
