/** Actions, by the calls of a modelled Terraform. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import { UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { type Connection, newConnection } from "../../../../../src/fronts/terraform/calls/call.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { openSession } from "../../../../../src/fronts/terraform/provider/session.ts";
import { Enforcement } from "../../../../../src/fronts/terraform/resource/enforcement.ts";
import { scopeOf } from "../../../../../src/fronts/terraform/resource/provider-scope.ts";
import type { Sandbox, SandboxOptions } from "../../../../../src/sandbox/index.ts";
import { testClock } from "../../../../support/clock.ts";
import { quickFolder } from "../../../../support/folder.ts";
import { rewritingHost, withStatusWords } from "../../../../support/rewriting-host.ts";
import { startSandbox } from "../../../../support/sandbox.ts";
import { ActionCore, type Invoked } from "../../../../support/terraform-core-actions.ts";
import { complete } from "../account.ts";

const SHARED = 11;
const SERVER = 31;

let folder: string;
let sandbox: Sandbox;
let connection: Connection;
let stop: AbortController;
/** URLs that the browser received. */
let opened: string[];

beforeEach(() => {
  folder = mkdtempSync(quickFolder("actions"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Opens a session for an account with one service. @param words the host's own status words. @returns the id of the service. */
async function start(
  plan_id = SHARED,
  options: SandboxOptions = {},
  config: ValueObject = {},
  words: Readonly<Record<string, string>> = {},
): Promise<string> {
  const clock = testClock();
  const fast = { sleep: async () => {}, rateLimit: 0, provisioningSeconds: 0, jobSeconds: 0 };
  sandbox = await startSandbox({ clock, ...fast, ...options });
  const own = sandbox;
  onTestFinished(() => own.close());
  const HOSTING_BASE_URL = await rewritingHost(sandbox.url, (answer) => withStatusWords(answer, words));
  stop = new AbortController();
  opened = [];
  const session = await openSession(complete(catalogue.provider.attributes, config), {
    stop: stop.signal,
    env: { HOSTING_BASE_URL, HOSTING_TOKEN: sandbox.tokens.agency, HOSTFORM_STATE_HOME: path.join(folder, "home") },
    terraformVersion: "1.17.0",
    clock,
    folder,
    onWarning: () => {},
  });
  onTestFinished(() => session.close());
  if (session.isOpen) session.browse = async (url) => void opened.push(url);
  connection = { ...newConnection({ env: {}, log: () => {}, clock }), session };
  const [service] = sandbox.control.seedServices({ account: "agency", plan_id });
  return String(service?.id);
}

const suspend = () => new ActionCore(connection, "hosting_suspend");
const unsuspend = () => new ActionCore(connection, "hosting_unsuspend");
const reset = () => new ActionCore(connection, "hosting_reset_password");
const panel = () => new ActionCore(connection, "hosting_open_panel");

const statusOf = (id: string) => sandbox.control.list("services").find((one) => String(one.id) === id)?.status;
const texts = (said: Invoked["said"]) => said.map(({ severity, summary }) => `${severity}: ${summary}`);

/** Returns the requests since the last call, without the GETs. */
function changesSent(): string[] {
  const entries = sandbox.control.requests();
  sandbox.control.clearRequests();
  return entries.filter(({ method }) => method !== "GET").map(({ method, path: url }) => `${method} ${url.slice(7)}`);
}

/** Returns every file of the folder with its text. */
const fileAt = (name: string) => readFileSync(path.join(folder, name), "utf8");

describe("hosting_suspend", () => {
  it("warns in the plan that the service goes offline, suspends it once, and reports the progress", async () => {
    const service_id = await start();
    const { said } = await suspend().plan({ service_id });
    expect(texts(said)).toEqual([
      `warning: The action suspends service ${service_id} (site-00001.example), and the service goes offline`,
    ]);
    expect(said[0]?.detail).toContain("`suspended = false`");
    expect(changesSent()).toEqual([]);
    const { progress, said: ended } = await suspend().invoke({ service_id });
    expect(ended).toEqual([]);
    expect(progress).toEqual([
      `Suspending service ${service_id} (site-00001.example)`,
      `The host has queued the job of service ${service_id} (site-00001.example); waiting until it is complete`,
      `service ${service_id} (site-00001.example) is suspended`,
    ]);
    expect(changesSent()).toEqual([`POST /services/${service_id}/suspend`]);
    expect(statusOf(service_id)).toBe("suspended");
  });

  it("sends no request for a service that is already suspended", async () => {
    const service_id = await start();
    await suspend().run({ service_id });
    changesSent();
    expect(texts((await suspend().plan({ service_id })).said)).toEqual([
      expect.stringContaining("is already suspended"),
    ]);
    const { progress, said } = await suspend().invoke({ service_id });
    expect([progress, said]).toEqual([[expect.stringContaining("is already suspended: no request was sent")], []]);
    expect(changesSent()).toEqual([]);
  });

  it("suspends a service once when two actions are invoked at the same time", async () => {
    const service_id = await start();
    await Promise.all([suspend().invoke({ service_id }), suspend().invoke({ service_id })]);
    expect(changesSent()).toEqual([`POST /services/${service_id}/suspend`]);
  });

  it("reads the status after a lost response, and sends no second request", async () => {
    const service_id = await start();
    sandbox.control.addFault({ path: "/services/:id/suspend", phase: "after", drop: true });
    const { progress, said } = await suspend().run({ service_id });
    expect(said).toEqual([]);
    expect(progress.at(-1)).toContain("is suspended");
    expect(changesSent()).toEqual([`POST /services/${service_id}/suspend`]);
  });

  it("fails if the status does not show that a request with a lost response has arrived", async () => {
    const service_id = await start();
    sandbox.control.addFault({ path: "/services/:id/suspend", phase: "before", drop: true });
    const { said } = await suspend().run({ service_id });
    expect(texts(said)).toEqual([expect.stringMatching(/^error: The API could not be reached/)]);
    expect(changesSent()).toEqual([`POST /services/${service_id}/suspend`]);
    expect(connection.activity.hasFailed).toBe(true);
  });

  it("warns if the job does not end, because the host accepted the request", async () => {
    const service_id = await start(SHARED, { jobSeconds: 100_000 });
    const { said } = await suspend().run({ service_id });
    expect(texts(said)).toEqual([expect.stringMatching(/^warning: The host accepted the request/)]);
    expect(changesSent()).toHaveLength(1);
  });

  it("may send a second request while the job of an earlier invocation is queued", async () => {
    const service_id = await start(SHARED, { jobSeconds: 100_000 });
    await suspend().run({ service_id });
    await suspend().run({ service_id });
    expect(changesSent()).toHaveLength(2);
  });

  it("completes the running request after Ctrl-C, and reports it", async () => {
    const service_id = await start(SHARED, { jobSeconds: 100_000 });
    const { said } = await suspend().invoke(
      { service_id },
      { onProgress: (text) => (text.includes("queued") ? stop.abort() : undefined) },
    );
    expect(texts(said)).toEqual([expect.stringMatching(/^warning: The host accepted the request/)]);
    expect(changesSent()).toHaveLength(1);
  });

  it("sends no request after the call is cancelled", async () => {
    const service_id = await start();
    const { said } = await suspend().invoke({ service_id }, { cancelled: AbortSignal.abort() });
    expect(texts(said)).toEqual([expect.stringMatching(/^error: /)]);
    expect(changesSent()).toEqual([]);
    expect(statusOf(service_id)).toBe("active");
  });

  it("describes its effect if the id is known only after apply", async () => {
    await start();
    const { said } = await suspend().plan({ service_id: UNKNOWN });
    expect(texts(said)).toEqual([
      "warning: The action suspends a service whose id is known only after apply, and the service goes offline",
      "warning: The plan cannot check the action, because the service has no id yet",
    ]);
  });

  it("fails in the plan for an id that the account does not have, and for an ended service", async () => {
    const service_id = await start();
    expect(texts((await suspend().plan({ service_id: "99" })).said)).toEqual(["error: There is no service 99"]);
    expect(texts((await suspend().plan({ service_id: "" })).said)).toEqual([
      'error: service_id: expected a value, found ""',
    ]);
    sandbox.control.change("services", Number(service_id), { status: "terminated" });
    expect(texts((await suspend().plan({ service_id })).said)).toEqual([expect.stringMatching(/^error: .* has ended/)]);
    expect(texts((await suspend().invoke({ service_id })).said)).toEqual([
      expect.stringMatching(/^error: .* has ended/),
    ]);
    expect(changesSent()).toEqual([]);
  });

  it("warns in the plan and fails in the invocation if the service is not live yet", async () => {
    const service_id = await start();
    sandbox.control.change("services", Number(service_id), { status: "pending" });
    const { said } = await suspend().plan({ service_id });
    expect(texts(said)[0]).toMatch(/^warning: .* is not live yet/);
    expect(said[0]?.detail, "the condition names the invoice").not.toContain("Pay the invoice");
    expect(texts((await suspend().invoke({ service_id })).said)[0]).toMatch(/^error: .* is not live yet/);
    expect(changesSent()).toEqual([]);
  });

  it("never changes a service with an unknown status word", async () => {
    const service_id = await start(SHARED, {}, {}, { active: "limbo" });
    for (const action of [suspend(), unsuspend()])
      expect((await action.run({ service_id })).said).toMatchObject([
        {
          severity: "error",
          summary: expect.stringContaining("The action cannot change"),
          detail: expect.stringContaining("limbo"),
        },
      ]);
    expect(changesSent()).toEqual([]);
  });

  it("is judged by the policy in the plan and in the invocation", async () => {
    const service_id = await start();
    writeFileSync(path.join(folder, "policy.yaml"), "never_offline: ['site-00001.example']");
    connection.enforcement = await Enforcement.open({ HOSTFORM_POLICY: "policy.yaml" }, folder, testClock());
    const { said } = await suspend().plan({ service_id });
    expect(texts(said).at(-1)).toBe("error: The policy rejects this plan: site-00001.example would go offline");
    expect(texts((await suspend().invoke({ service_id })).said)).toEqual([
      "error: The policy rejects this plan: site-00001.example would go offline",
    ]);
    expect(changesSent()).toEqual([]);
  });

  it("is deferred while the provider's configuration is unknown, if Terraform allows it", async () => {
    await start(SHARED, {}, { base_url: UNKNOWN });
    expect(await suspend().plan({ service_id: "7" }, true)).toEqual({ said: [], isDeferred: true });
    const { said, isDeferred } = await suspend().plan({ service_id: "7" });
    expect([texts(said), isDeferred]).toEqual([[expect.stringContaining("known only after apply")], false]);
  });
});

describe("the service of an action", () => {
  const names: [string, () => ActionCore][] = [
    ["hosting_suspend", suspend],
    ["hosting_open_panel", panel],
  ];

  it.each(names)("of %s is the planned one, not the service with its id at another host", async (_, action) => {
    const service_id = await start();
    await action().plan({ service_id });
    expect(await start()).toBe(service_id);
    const { said } = await action().invoke({ service_id }, { plans: false });
    expect(texts(said)).toEqual([
      `error: No plan on this store contains the action on service ${service_id} (site-00001.example)`,
    ]);
    expect([changesSent(), opened]).toEqual([[], []]);
  });

  it("is not a service with another domain or creation time than in the plan", async () => {
    const service_id = await start();
    for (const change of [{ domain: "other.example" }, { created_at: "2020-01-01T00:00:00.000Z" }]) {
      await suspend().plan({ service_id });
      sandbox.control.change("services", Number(service_id), change);
      const { said } = await suspend().invoke({ service_id }, { plans: false });
      expect(texts(said)).toEqual([
        expect.stringMatching(/^error: The plan contains service .* and the account contains/),
      ]);
    }
    expect(changesSent()).toEqual([]);
  });

  it("is not a service with another domain than in the state, which Terraform sends without a refresh", async () => {
    const service_id = await start();
    const kind = kinds.get("hosting_service");
    if (kind === undefined || connection.session === undefined) throw new Error("no kind or session");
    scopeOf(connection.session, connection.activity).addRecorded(kind, { id: service_id, domain: "www.acme.example" });
    for (const { said } of [await suspend().plan({ service_id }), await suspend().invoke({ service_id })])
      expect(texts(said)).toEqual([
        `error: The state contains service ${service_id} (www.acme.example), and the account contains service ${service_id} (site-00001.example)`,
      ]);
    expect(changesSent()).toEqual([]);
  });

  it("may be any service with the declared domain, without a plan in this store", async () => {
    const service_id = await start();
    const wrong = { service_id, domain: "www.acme.example" };
    for (const { said } of [await suspend().plan(wrong), await suspend().invoke(wrong, { plans: false })])
      expect(texts(said)).toEqual([expect.stringMatching(/^error: The action expects the domain www\.acme\.example/)]);
    expect(changesSent()).toEqual([]);
    const { said } = await suspend().invoke({ service_id, domain: "SITE-00001.example" }, { plans: false });
    expect([said, changesSent()]).toEqual([[], [`POST /services/${service_id}/suspend`]]);
  });

  it("may be a service that this run has created", async () => {
    const service_id = await start();
    const kind = kinds.get("hosting_service");
    if (kind === undefined || connection.session === undefined) throw new Error("no kind or session");
    scopeOf(connection.session, connection.activity).add({ label: "www" }, kind, { id: service_id });
    expect((await suspend().invoke({ service_id }, { plans: false })).said).toEqual([]);
  });
});

describe("hosting_unsuspend", () => {
  it("ends a suspension", async () => {
    const service_id = await start();
    await suspend().run({ service_id });
    changesSent();
    expect((await unsuspend().plan({ service_id })).said[0]?.summary).toContain("ends the suspension");
    expect((await unsuspend().invoke({ service_id })).said).toEqual([]);
    expect(changesSent()).toEqual([`POST /services/${service_id}/unsuspend`]);
    expect(statusOf(service_id)).toBe("active");
  });
});

describe("hosting_unsuspend with an overdue invoice", () => {
  it("fails in the plan and in the invocation, because the host would suspend the service again", async () => {
    const service_id = await start();
    const id = Number(service_id);
    sandbox.control.advanceClock({ days: 60 });
    const unpaid = sandbox.control.list("invoices").filter((one) => one.order_id === id && one.status === "unpaid");
    expect([unpaid.length > 0, statusOf(service_id)]).toEqual([true, "suspended"]);
    for (const { said } of [await unsuspend().plan({ service_id }), await unsuspend().invoke({ service_id })])
      expect(said).toMatchObject([{ severity: "error", summary: expect.stringContaining("The action cannot change") }]);
    expect(changesSent()).toEqual([]);
  });
});

describe("hosting_reset_password", () => {
  const password = "correct horse battery";
  const output = (file: string) => ({ file, env_file: null, command: null, outside_project: null });

  it("sets a given password, which no message contains", async () => {
    const service_id = await start();
    expect(await reset().validate({ service_id, password })).toEqual([]);
    const planned = await reset().plan({ service_id, password });
    const invoked = await reset().invoke({ service_id, password });
    expect(invoked.said).toEqual([]);
    expect(JSON.stringify([planned, invoked])).not.toContain(password);
    expect(changesSent()).toEqual([`POST /services/${service_id}/password`]);
  });

  it.each<[string, number, ValueObject, string]>([
    [
      "both secrets",
      SHARED,
      { password, secret_output: output("x") },
      "Only one of `password` or `secret_output` can be set",
    ],
    ["no secret", SERVER, {}, "`password` or `secret_output` is required, and neither has a value"],
    ["a short password", SHARED, { password: "short" }, "password: at least 8 characters"],
    ["a password for a server", SERVER, { password }, 'A service of type "vps" needs `secret_output`, not `password`'],
    [
      "no password for a site",
      SHARED,
      { secret_output: output("x") },
      'A service of type "shared" needs `password`, not `secret_output`',
    ],
    ["a place outside of the folder", SERVER, { secret_output: output("../x") }, "cannot be written to the file ../x"],
  ])("rejects %s before any request", async (_, plan, config, summary) => {
    const service_id = await start(plan);
    const { said } = await reset().run({ service_id, ...config });
    expect(said.find(({ severity }) => severity === "error")?.summary).toContain(summary);
    expect(changesSent()).toEqual([]);
  });

  it("writes a generated password to its destination, and nowhere else", async () => {
    const service_id = await start(SERVER);
    const config = { service_id, secret_output: output("vps.password") };
    const planned = await reset().plan(config);
    expect(planned.said[0]?.detail).toContain("the file vps.password");
    const invoked = await reset().invoke(config);
    expect(invoked.said).toEqual([]);
    const written = fileAt("vps.password").trim();
    expect(written.length).toBeGreaterThan(7);
    expect(statSync(path.join(folder, "vps.password")).mode & 0o777).toBe(0o600);
    expect(JSON.stringify([planned, invoked])).not.toContain(written);
  });

  it("checks the destination before the request", async () => {
    const service_id = await start(SERVER);
    const config = { service_id, secret_output: output("missing/vps.password") };
    expect(texts((await reset().plan(config)).said)).toContainEqual(
      expect.stringMatching(/^warning: The folder .*missing for the generated_password of .* does not exist/),
    );
    const { said } = await reset().invoke(config);
    expect(said[0]?.severity).toBe("error");
    expect(changesSent()).toEqual([]);
  });

  it("warns in the next plan until a repeat succeeds, after the response was lost", async () => {
    const service_id = await start(SERVER);
    const config = { service_id, secret_output: output("vps.password") };
    sandbox.control.addFault({ path: "/services/:id/password", phase: "after", drop: true });
    const { said } = await reset().run(config);
    expect(texts(said)).toEqual([expect.stringMatching(/^error: The response about the new password of .* was lost/)]);
    expect(said[0]?.detail).toContain("The old password may still be in the file vps.password.");
    const isWarned = async () =>
      texts((await reset().plan(config)).said).some((text) => text.includes("no known result"));
    expect(await isWarned()).toBe(true);
    sandbox.control.addFault({ path: "/services/:id/password", phase: "before", status: 422, times: 1 });
    expect((await reset().run(config)).said[0]?.severity).toBe("error");
    expect(await isWarned(), "a rejected repeat").toBe(true);
    await reset().run(config);
    expect(await isWarned()).toBe(false);
  });

  it("warns in the next plan after a kill during the request", async () => {
    const service_id = await start(SERVER);
    const config = { service_id, secret_output: output("vps.password") };
    const { session } = connection;
    if (session === undefined) throw new Error("no session");
    const isOpen: boolean[] = [];
    const { write } = session.secretOutputs;
    session.secretOutputs.write = async (...given) => {
      isOpen.push(texts((await reset().plan(config)).said).some((text) => text.includes("no known result")));
      await write.apply(session.secretOutputs, given);
    };
    await reset().run(config);
    expect(isOpen).toEqual([true]);
  });

  it("writes the password to a file beside Terraform if the destination fails after the request", async () => {
    const service_id = await start(SERVER);
    const command = ["sh", "-c", 'test "$HOSTFORM_SECRET_OUTPUT" = test'];
    const secret_output = { file: null, env_file: null, command, outside_project: null };
    const { said } = await reset().run({ service_id, secret_output });
    expect(texts(said)).toEqual([expect.stringMatching(/^error: The new password of .* could not be written to/)]);
    expect(said[0]?.detail).toContain(`service-${service_id}.password`);
    expect(said[0]?.detail).not.toContain(fileAt(`service-${service_id}.password`).trim());
    expect(changesSent()).toEqual([`POST /services/${service_id}/password`]);
  });
});

describe("hosting_open_panel", () => {
  it("opens the one-time URL in the browser, and no message contains it", async () => {
    const service_id = await start();
    const invoked = await panel().run({ service_id });
    expect(invoked.said).toEqual([]);
    expect(opened).toEqual([expect.stringMatching(/^https?:\/\//)]);
    expect(JSON.stringify(invoked)).not.toContain("http");
  });

  it("writes the URL to secret_output", async () => {
    const service_id = await start();
    const secret_output = { file: "panel.url", env_file: null, command: null, outside_project: null };
    const invoked = await panel().run({ service_id, secret_output });
    expect(invoked.said).toEqual([]);
    expect(fileAt("panel.url")).toMatch(/^https?:\/\/\S+\n$/);
    expect([opened, JSON.stringify(invoked).includes("http")]).toEqual([[], false]);
  });

  it("fails without the URL if no browser can be opened", async () => {
    const service_id = await start();
    if (connection.session !== undefined) connection.session.browse = async () => "xdg-open: ENOENT";
    const { said } = await panel().run({ service_id });
    expect(texts(said)).toEqual(["error: The browser could not be opened: xdg-open: ENOENT"]);
    expect(JSON.stringify(said)).not.toContain("http");
    expect(texts((await panel().run({ service_id: "99" })).said)).toEqual(["error: There is no service 99"]);
  });
});
