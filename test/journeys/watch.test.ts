import { createHmac } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { createFileStore } from "../../src/core/record/index.ts";
import { ordersIn, watchSockets } from "../support/sockets.ts";
import type { Watched, Watching } from "../support/watching.ts";
import { watched } from "../support/watching.ts";

const SECRET = "whsec-for-the-watch-0123456789abcdef";
const MINUTES = 60_000;

const DECLARED = {
  project: "acme",
  services: {
    www: {
      plan_id: 11,
      currency: "USD",
      domain: "www.acme.example",
      suspended: false,
      deletion_policy: "forget",
      grants: { "dev@acme.example": "manage", "ops@acme.example": "view" },
    },
  },
};

/** The applied project, before any request of its watch. */
async function applied(): Promise<Watched & { readonly service: number }> {
  const made = await watched(DECLARED);
  const { code, text } = await made.run("apply", "--auto-approve");
  expect(code, text).toBe(0);
  const service = made.sandbox.control.list("services").find(({ domain }) => domain === "www.acme.example");
  expect(service?.status).toBe("active");
  made.sent();
  return { ...made, service: service?.id ?? 0 };
}

/** Changes declared settings as another client would. */
function disturb({ sandbox, service }: { sandbox: Watched["sandbox"]; service: number }): void {
  sandbox.control.suspendService(service);
  for (const { id, service_id } of sandbox.control.list("grants"))
    if (service_id === service) sandbox.control.remove("grants", id);
}

function standing({ sandbox, service }: { sandbox: Watched["sandbox"]; service: number }) {
  const grants = sandbox.control.list("grants").filter(({ service_id }) => service_id === service);
  return { status: sandbox.control.get("services", service).status, grants: grants.length };
}

const AS_DECLARED = { status: "active", grants: 2 };

/** Starts a watch with a file of secrets, and adds the secret of the sandbox's subscription. */
async function listening(made: Watched, ...args: string[]): Promise<Watching> {
  const file = path.join(made.dir, "secret");
  await writeFile(file, `${SECRET}\n`, { mode: 0o600 });
  const watching = made.watch("--listen", "0", "--secret-file", "secret", ...args);
  await watching.look(1);
  const { control } = made.sandbox;
  const events = ["service.suspended", "service.terminated", "invoice.created", "invoice.paid", "service.provisioned"];
  const webhook = control.create("webhooks", { url: watching.url, events } as never);
  await writeFile(file, `${SECRET}\n${webhook.secret}\n`);
  made.sent();
  return watching;
}

/**
 * Delivers an event of the test itself.
 * @returns the status of the response.
 */
async function deliver(url: string, body: string, signature = sign(body)): Promise<number> {
  const headers = { "content-type": "application/json", "x-service-signature": signature };
  return (await fetch(url, { method: "POST", body, headers })).status;
}

const sign = (body: string, secret = SECRET) => createHmac("sha256", secret).update(body).digest("hex");

const event = (name: string, data: object, second = 0) =>
  JSON.stringify({ event: name, data, timestamp: `2026-11-21T10:00:${String(second).padStart(2, "0")}+00:00` });

it("converges by the interval alone, with every event lost", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "5m");
  expect(await watching.look(1)).toMatchObject({ result: "as_declared", next_seconds: 300 });
  disturb(made);
  made.clock.advance(5 * MINUTES - 1);
  expect(standing(made)).toEqual({ status: "suspended", grants: 0 });
  made.clock.advance(1);
  expect(await watching.look(2)).toMatchObject({ result: "applied" });
  expect(standing(made)).toEqual(AS_DECLARED);
  made.clock.advance(5 * MINUTES);
  expect(await watching.look(3)).toMatchObject({ result: "as_declared" });
  expect(made.sent().filter((line) => line.startsWith("POST"))).toHaveLength(3);
  expect(await watching.stop()).toBe(0);
});

it("keeps its interval when the clock is set back, looks at once when it is set ahead, and says both", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "10m");
  await watching.look(1);
  disturb(made);
  made.clock.set(-60 * MINUTES);
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(2)).toMatchObject({ result: "applied" });
  expect(standing(made)).toEqual(AS_DECLARED);
  expect(watching.of("watch_clock").map(({ hostform }) => hostform)).toEqual([{ step_seconds: -3600 }]);
  made.clock.set(60 * MINUTES);
  made.clock.advance(MINUTES);
  expect(await watching.look(3)).toMatchObject({ result: "as_declared" });
  expect(watching.of("watch_clock").at(-1)).toMatchObject({ hostform: { step_seconds: 3600 } });
});

it("looks at once, with the declaration as it is now, when it gets SIGHUP", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "1h");
  await watching.look(1);
  const { grants: _, ...www } = DECLARED.services.www;
  await made.declare({
    ...DECLARED,
    services: { www: { ...www, grants: { ...DECLARED.services.www.grants, "new@acme.example": "view" } } },
  });
  watching.reload();
  expect(await watching.look(2)).toMatchObject({ result: "applied" });
  expect(standing(made)).toMatchObject({ grants: 3 });
  expect(watching.of("watch_reload")).toHaveLength(1);
  // A reload during a check triggers another check.
  watching.onMessage = ({ type }) => {
    if (type !== "watch_look") return;
    watching.onMessage = () => undefined;
    watching.reload();
  };
  watching.reload();
  expect(await watching.look(4)).toMatchObject({ result: "as_declared" });
});

it("looks at the files that the declaration includes as they are now, new ones as well", async () => {
  const made = await applied();
  await mkdir(path.join(made.dir, "clients"));
  const site = (domain: string) =>
    `services: { ${domain.split(".")[0]}: { plan_id: 11, currency: USD, domain: ${domain}, deletion_policy: forget } }\n`;
  await writeFile(path.join(made.dir, "clients/a.yaml"), "services: {}\n");
  await made.declare({ ...DECLARED, include: "clients/*.yaml", guards: { max_orders: 2 } });
  const watching = made.watch("--auto-approve", "--interval", "1h");
  expect(await watching.look(1)).toMatchObject({ result: "as_declared" });
  await writeFile(path.join(made.dir, "clients/a.yaml"), site("shop.acme.example"));
  await writeFile(path.join(made.dir, "clients/b.yaml"), site("blog.acme.example"));
  watching.reload();
  expect(await watching.look(2)).toMatchObject({ result: "applied" });
  const domains = made.sandbox.control.list("services").map(({ domain }) => domain);
  for (const domain of ["shop.acme.example", "blog.acme.example"])
    expect(domains.filter((one) => one === domain)).toHaveLength(1);
  // An incomplete file fails. hostform does not treat its sites as undeclared.
  await writeFile(path.join(made.dir, "clients/b.yaml"), "services: {");
  watching.reload();
  await watching.look(3);
  expect(made.sandbox.control.list("services")).toHaveLength(domains.length);
  expect(watching.text).toContain("clients/b.yaml");
});

it("converges sooner with events, and reads only what they name", async () => {
  const made = await applied();
  const watching = await listening(made, "--auto-approve", "--interval", "1h");
  const before = made.clock.now();
  made.clock.advance(10_000);
  made.sandbox.control.suspendService(made.service);
  await made.sandbox.control.settled();
  expect(await watching.look(2)).toMatchObject({ result: "applied" });
  expect(standing(made)).toEqual(AS_DECLARED);
  expect(made.clock.now() - before).toBeLessThan(MINUTES);
  expect(watching.of("watch_look")[1]?.hostform).toMatchObject({
    events: ["service.suspended"],
    targets: expect.arrayContaining(["hosting_service.www"]),
  });
  const sent = made.sent();
  expect(sent.filter((line) => line.startsWith("POST"))).toEqual([`POST /services/${made.service}/unsuspend`]);
  expect(sent.length).toBeLessThan(8);
});

it("looks at everything when what an event names cannot be corrected in place", async () => {
  const made = await applied();
  const watching = await listening(made, "--auto-approve", "--interval", "1h");
  // After a minute, hostform trusts a list that lacks a created object.
  made.clock.advance(2 * MINUTES);
  disturb(made);
  await made.sandbox.control.settled();
  expect(await watching.look(2)).toMatchObject({ result: "widened" });
  expect(await watching.look(3)).toMatchObject({ result: "applied" });
  expect(standing(made)).toEqual(AS_DECLARED);
});

it("does not fight somebody who changes it back", async () => {
  const made = await applied();
  const watching = await listening(made, "--auto-approve", "--interval", "1h");
  for (const look of [2, 3, 4]) {
    made.clock.advance(10_000);
    made.sandbox.control.suspendService(made.service);
    await made.sandbox.control.settled();
    expect(await watching.look(look)).toMatchObject({ result: "applied" });
    await watching.until(() => watching.of("watch_found").length === look);
  }
  expect(watching.of("watch_contended").map(({ hostform }) => hostform)).toEqual([
    { addresses: ["hosting_service.www"], times: 3, held_seconds: 240 },
  ]);
  expect(watching.of("watch_contended")[0]?.["@message"]).toContain("so somebody changes it back");
  made.sandbox.control.suspendService(made.service);
  await made.sandbox.control.settled();
  await watching.until(() => watching.of("watch_event").length === 4);
  made.clock.advance(3 * MINUTES);
  expect(standing(made).status).toBe("suspended");
  made.clock.advance(MINUTES);
  expect(await watching.look(5)).toMatchObject({ result: "applied" });
});

it("lets no flood of events change anything, or use up the requests", { timeout: 20_000 }, async () => {
  const made = await applied();
  const watching = await listening(made, "--auto-approve", "--interval", "1h");
  made.clock.advance(10_000);
  const { service } = made;
  // Every event is false: the service did not change.
  const bodies = [
    "service.suspended",
    "service.terminated",
    "invoice.paid",
    "service.expiring",
    "service.melted",
  ].flatMap((name) =>
    [1, 2, 3, 4].map((second) =>
      event(
        name,
        name.startsWith("invoice") ? { id: 9, order_id: service } : { id: service, status: "terminated" },
        second,
      ),
    ),
  );
  const many = [...bodies, ...bodies.toReversed(), ...bodies];
  const genuine = await Promise.all(many.map((body) => deliver(watching.url, body)));
  // 503: another request delivers the same event at that moment. The event counts once.
  expect(genuine.filter((status) => status !== 204 && status !== 503)).toEqual([]);
  const forged = await Promise.all(many.map((body) => deliver(watching.url, body, sign(body, `${SECRET}x`))));
  expect(new Set(forged)).toEqual(new Set([401]));
  await watching.look(2);
  for (let second = 0; second < 60; second++) made.clock.advance(1_000);
  await watching.until(() => watching.of("watch_found").length === watching.of("watch_look").length);
  const sent = made.sent();
  expect(sent.filter((line) => !line.startsWith("GET"))).toEqual([]);
  expect(sent.length).toBeLessThan(15);
  expect(watching.of("watch_found").length).toBeLessThan(7);
  expect(watching.of("watch_event")).toHaveLength(bodies.length);
  expect(watching.of("watch_refused").length).toBeLessThan(4);
  await watching.stop();
  const refused = watching.of("watch_refused").map(({ hostform }) => hostform.count as number);
  expect(
    refused.reduce((sum, count) => sum + count, 0),
    "all are reported at the end",
  ).toBe(many.length);
  expect(standing(made)).toEqual(AS_DECLARED);
  expect(watching.text).not.toContain(SECRET);
});

it("only reports, each thing once, and changes nothing without --auto-approve", async () => {
  const made = await applied();
  const watching = made.watch("--interval", "1m");
  expect(await watching.look(1)).toMatchObject({ result: "as_declared" });
  disturb(made);
  made.clock.advance(MINUTES);
  expect(await watching.look(2)).toMatchObject({ result: "differs", news: true });
  expect(watching.of("planned_change").map(({ change }) => change.resource.addr)).toEqual([
    'hosting_grant.www["dev@acme.example"]',
    'hosting_grant.www["ops@acme.example"]',
    "hosting_service.www",
  ]);
  made.clock.advance(MINUTES);
  expect(await watching.look(3)).toMatchObject({ result: "differs", news: false });
  expect(watching.of("planned_change")).toHaveLength(3);
  expect(made.sent().filter((line) => !line.startsWith("GET"))).toEqual([]);
  expect(await watching.stop()).toBe(0);
  expect((await made.run("force-unlock")).text).toContain("The state is not locked.");
});

it("does not act upon half of a declaration that is being written", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "1m", "--allow-removals");
  await watching.look(1);
  const { grants: _, ...half } = DECLARED.services.www;
  await made.declare({ ...DECLARED, services: { www: half } });
  const rest: Promise<void>[] = [];
  watching.onMessage = ({ type }) => {
    // The editor writes the rest of the file after the watch has read the first half.
    if (type === "watch_settling") rest.push(made.declare(DECLARED));
  };
  made.clock.advance(MINUTES);
  expect(await watching.look(2)).toMatchObject({ result: "as_declared" });
  await Promise.all(rest);
  expect(rest).toHaveLength(1);
  expect(made.sent().filter((line) => !line.startsWith("GET"))).toEqual([]);
  // A removal that stays in the file is intended, and allowed within max_removals.
  watching.onMessage = () => undefined;
  await made.declare({ ...DECLARED, services: { www: { ...half, grants: { "dev@acme.example": "manage" } } } });
  made.clock.advance(MINUTES);
  expect(await watching.look(3)).toMatchObject({ result: "applied" });
  expect(standing(made).grants).toBe(1);
});

it.each([
  ["no limit", undefined, "refused", { status: "active", grants: 2 }],
  ["a limit under guards", { max_removals: 1 }, "applied", { status: "active", grants: 1 }],
])("removes what is no longer declared only where that is allowed: %s", async (_, guards, result, expected) => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "1m");
  await watching.look(1);
  const { www } = DECLARED.services;
  const services = { www: { ...www, grants: { "dev@acme.example": "manage" } } };
  await made.declare({ ...DECLARED, services, ...(guards && { guards }) });
  made.clock.advance(MINUTES);
  expect(await watching.look(2)).toMatchObject({ result });
  expect(standing(made)).toEqual(expected);
  await watching.stop();
});

it("goes on after a broken declaration, a locked state and an API that is down, and says each once", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "10m");
  await watching.look(1);
  await made.declare("project: acme\nservices: [\n");
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(2)).toMatchObject({ result: "failed", news: true, next_seconds: 600 });
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(3)).toMatchObject({ result: "failed", news: false, next_seconds: 600 });
  expect(watching.of("watch_found")[2]?.["@message"]).toMatch(
    /^The check failed again with the same error \(2 times since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\): /,
  );
  expect(watching.of("diagnostic").map(({ diagnostic }) => diagnostic.summary)).toHaveLength(1);
  await made.declare(DECLARED);
  const store = createFileStore({ path: path.join(made.dir, "hosting.tfstate"), clock: made.clock });
  const held = await store.open({ write: true, command: "apply", timeoutMs: 0 });
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(4)).toMatchObject({ result: "failed", news: true, next_seconds: 600 });
  await held.close();
  made.sandbox.control.addFault({ path: "/*", times: 1000, phase: "before", status: 503 } as never);
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(5)).toMatchObject({ result: "failed", news: true, next_seconds: 600 });
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(6)).toMatchObject({ result: "failed", next_seconds: 1200 });
  made.sandbox.control.clearFaults();
  disturb(made);
  made.clock.advance(20 * MINUTES);
  expect(await watching.look(7)).toMatchObject({ result: "applied", next_seconds: 600 });
  expect(watching.of("diagnostic").map(({ diagnostic }) => diagnostic.summary)).toEqual([
    expect.stringContaining("flow"),
    expect.stringContaining("holds the state"),
    expect.stringContaining("503"),
  ]);
  expect(standing(made)).toEqual(AS_DECLARED);
});

it("never forces a plan that the guards refuse", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "1m", "--max-orders", "0");
  await watching.look(1);
  const more = { shop: { plan_id: 11, currency: "USD", domain: "shop.acme.example" } };
  await made.declare({ ...DECLARED, services: { ...DECLARED.services, ...more } });
  made.sandbox.control.suspendService(made.service);
  for (const look of [2, 3]) {
    made.clock.advance(MINUTES);
    expect(await watching.look(look)).toMatchObject({ result: "refused", news: look === 2 });
  }
  expect(watching.of("diagnostic").map(({ diagnostic }) => diagnostic.hostform?.code ?? diagnostic.code)).toHaveLength(
    1,
  );
  expect(made.sent().filter((line) => !line.startsWith("GET"))).toEqual([]);
  await made.declare(DECLARED);
  made.clock.advance(MINUTES);
  expect(await watching.look(4)).toMatchObject({ result: "applied" });
});

it("tries again what fails, later and later, and says so once", async () => {
  const made = await applied();
  const watching = made.watch("--auto-approve", "--interval", "10m");
  await watching.look(1);
  const body = { message: "No.", errors: { email: ["No."] } };
  made.sandbox.control.addFault({
    method: "POST",
    path: "/services/:id/grants",
    times: 100,
    phase: "before",
    status: 422,
    body,
  });
  disturb(made);
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(2)).toMatchObject({ result: "incomplete", news: true, next_seconds: 600 });
  expect(standing(made)).toEqual({ status: "active", grants: 0 });
  expect(watching.of("change_summary")).toHaveLength(2);
  made.sent();
  made.clock.advance(10 * MINUTES);
  expect(await watching.look(3)).toMatchObject({ result: "incomplete", next_seconds: 1200 });
  made.clock.advance(20 * MINUTES);
  expect(await watching.look(4)).toMatchObject({ result: "incomplete", news: false, next_seconds: 2400 });
  expect(made.sent().filter((line) => line.startsWith("POST"))).toHaveLength(4);
  expect(watching.of("diagnostic").length).toBeLessThan(3);
  made.sandbox.control.clearFaults();
  made.clock.advance(40 * MINUTES);
  expect(await watching.look(5)).toMatchObject({ result: "applied", next_seconds: 600 });
  expect(standing(made)).toEqual(AS_DECLARED);
});

it("takes the secret of a declared webhook from the state", async () => {
  const url = "https://hooks.acme.example/watch";
  const webhooks = { watch: { url, events: ["service.suspended"] } };
  const made = await watched({ ...DECLARED, webhooks });
  expect((await made.run("apply", "--auto-approve")).code).toBe(0);
  const [webhook] = made.sandbox.control.list("webhooks");
  const watching = made.watch("--listen", "0", "--webhook", "hosting_webhook.watch", "--interval", "1h");
  await watching.look(1);
  const [service] = made.sandbox.control.list("services").filter(({ domain }) => domain === "www.acme.example");
  made.sandbox.control.suspendService(service?.id ?? 0);
  made.clock.advance(10_000);
  const body = event("service.suspended", { service: { id: service?.id } });
  expect(await deliver(watching.url, body, sign(body, webhook?.secret))).toBe(204);
  expect(await watching.look(2)).toMatchObject({ result: "differs", news: true });
  expect(watching.text).not.toContain(webhook?.secret);
});

it("reads a stack again at each look", async () => {
  const made = await watched("unused: true");
  const stack = (domains: Record<string, string>) => ({
    provider: { hosting: { project: "acme-stack" } },
    resource: {
      hosting_service: Object.fromEntries(
        Object.entries(domains).map(([name, domain]) => [name, { plan_id: 11, currency: "USD", domain }]),
      ),
    },
  });
  const write = (domains: Record<string, string>) =>
    writeFile(path.join(made.dir, "main.tf.json"), JSON.stringify(stack(domains)));
  await write({ a: "a.acme.example" });
  const once = made.watch("--stack", ".", "--auto-approve", "--max-orders", "1", "--max-runs", "1");
  expect(await once.code, once.text).toBe(0);
  expect(once.of("watch_settling")).toHaveLength(1);
  const watching = made.watch("--stack", ".", "--interval", "1m");
  expect(await watching.look(1)).toMatchObject({ result: "as_declared" });
  await write({ a: "a.acme.example", b: "b.acme.example" });
  made.clock.advance(MINUTES);
  expect(await watching.look(2)).toMatchObject({ result: "differs", news: true });
  expect(watching.of("planned_change").at(-1)?.change.resource.addr).toBe("hosting_service.b");
});

it("writes the secret of a stack where an apply may write it: anywhere in the project", async () => {
  const made = await watched("unused: true");
  await mkdir(path.join(made.dir, "infra"));
  const webhook = {
    url: "https://hooks.acme.example",
    events: ["invoice.paid"],
    secret_output: { file: "../hook.secret" },
  };
  const stack = {
    provider: { hosting: { project: "acme-stack" } },
    resource: { hosting_webhook: { billing: webhook } },
  };
  await writeFile(path.join(made.dir, "infra", "main.tf.json"), JSON.stringify(stack));
  const watching = made.watch("--stack", "infra", "--auto-approve", "--max-runs", "1");
  expect(await watching.code, watching.text).toBe(0);
  const [registered] = made.sandbox.control.list("webhooks");
  expect(await readFile(path.join(made.dir, "hook.secret"), "utf8")).toContain(registered?.secret);
});

it("Ctrl-C during an apply sends nothing more, sums up, and ends with exit code 1", async () => {
  const services = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`s${at}`, { plan_id: 11, currency: "USD", domain: `s${at}.acme.example` }]),
  );
  const providers = { default: { token_env: "HOSTING_TOKEN", requests_per_minute: 6 } };
  const made = await watched({ project: "acme", providers, services });
  let code: Promise<number> | undefined;
  const sent = watchSockets(
    made.sandbox,
    () => ordersIn(sent).length === 2,
    () => {
      code = watching.stop();
    },
  );
  const watching = made.watch("--auto-approve");
  await watching.until(() => watching.of("watch_end").length > 0, "its end");
  expect(await code, watching.text).toBe(1);
  expect(ordersIn(sent)).toHaveLength(2);
  expect(watching.of("change_summary").at(-1)?.hostform).toMatchObject({ complete: false, interrupted: true });
  expect(watching.of("change_summary").at(-1)?.hostform.not_started).toHaveLength(4);
});

it("Ctrl-C as a look begins lets nothing of it leave", async () => {
  const made = await watched(DECLARED);
  const sent = watchSockets(made.sandbox);
  const watching = made.watch("--auto-approve");
  watching.onMessage = ({ type }) => {
    if (type === "watch_look") void watching.stop();
  };
  expect(await watching.code, watching.text).toBe(0);
  expect(sent).toEqual([]);
});
