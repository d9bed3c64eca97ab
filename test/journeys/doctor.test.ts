/** `hostform doctor` as a user runs it: with profiles, tokens, dead hosts, locked states and several accounts. */
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { takeFileLock } from "../../src/core/local/index.ts";
import type { AccountReport, DoctorReport } from "../../src/core/model/index.ts";
import { filesOfState } from "../../src/core/record/index.ts";
import { PROFILE_SETS, PROFILE_SWITCHES, type Profile, parseProfile } from "../../src/sandbox/index.ts";
import { listening } from "../support/listening.ts";
import { type Project, startProject } from "../support/project.ts";

type Options = NonNullable<Parameters<typeof startProject>[0]>;

/** An account with objects of every kind. */
async function furnished(options: Options = {}): Promise<Project> {
  const project = await startProject({ ...options, sandbox: { profile: {}, rateLimit: 60, ...options.sandbox } });
  const { control } = project;
  const services = [11, 21, 31, 41, 12].flatMap((plan_id) => control.seedServices({ plan_id }));
  for (const { id } of services.slice(0, 3)) {
    const expires_at = "2027-06-30T00:00:00.000Z";
    control.create("grants", { service_id: id, email: "nino@acme.example", permission: "view", expires_at });
    control.create("grants", { service_id: id, email: "dev@acme.example", permission: "view", expires_at });
  }
  control.create("webhooks", { url: "https://hooks.acme.example/hosting", events: ["invoice.paid"] });
  control.create("accounts", { name: "Acme LLC" });
  control.create("migration_requests", { domain: "old.acme.example", source: "cpanel", mailboxes: 3 });
  project.sent();
  return project;
}

async function examined(project: Project, ...args: string[]) {
  const { code, out, err } = await project.run("doctor", "--json", ...args);
  const report = JSON.parse(out) as DoctorReport;
  return { code, err, report, account: report.accounts[0] as AccountReport };
}

const accessOf = ({ endpoints }: AccountReport) =>
  Object.fromEntries(endpoints.map(({ endpoint, access }) => [endpoint, access]));

const codesOf = ({ problems }: { readonly problems: readonly { readonly code: string }[] }) =>
  problems.map(({ code }) => code);

describe("a healthy account", () => {
  it("fits on a screen of 80 columns, and costs GETs alone", async () => {
    const project = await furnished();
    const { code, out, err } = await project.run("doctor");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n").length).toBeLessThan(25);
    expect(out).toContain("Healthy.");
    const sent = project.sent();
    expect(sent.filter((line) => !line.startsWith("GET "))).toEqual([]);
    expect(sent.length).toBeLessThanOrEqual(20);
    expect(out).toContain(`after ${sent.length} requests of this check`);
  });

  it("has a report in JSON, which names every endpoint and no token", async () => {
    const project = await furnished();
    const { report, account } = await examined(project);
    expect(report).toMatchObject({ format_version: "1.0", healthy: true, state: { resources: null, lock: null } });
    expect(account.abilities).toEqual({ view: "yes", technical: "yes", billing: "yes" });
    expect(account.endpoints).toHaveLength(24);
    expect(accessOf(account)).toMatchObject({ "POST /services": "yes", "POST /accounts": "unknown" });
    expect(account).toMatchObject({ client_accounts: "yes", discount: "yes", restricted: "unknown", proxy: null });
    expect(JSON.stringify(report)).not.toContain(project.sandbox.tokens.agency);
  });

  it("is the account of the state, until the provider leads to another one", async () => {
    const services = { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } };
    const mail = { plan_id: 11, currency: "USD", domain: "mail.acme.example" };
    const project = await startProject({ declare: { project: "p", services: { ...services, mail } } });
    await project.apply();
    expect(await examined(project)).toMatchObject({
      code: 0,
      account: { identity: "same" },
      report: { state: { place: "hosting.tfstate", resources: 2, encrypted: false } },
    });
    project.env.HOSTING_TOKEN = project.sandbox.tokens.customer;
    const other = await examined(project);
    expect(other).toMatchObject({ code: 1, account: { identity: "other" } });
    expect(codesOf(other.account)).toEqual(["account.foreign"]);
  });
});

describe("a token", () => {
  it("that only views lacks two abilities, which is no problem", async () => {
    const project = await furnished({ token: "viewer" });
    const { code, account } = await examined(project);
    expect(code).toBe(0);
    expect(account.abilities).toEqual({ view: "yes", technical: "no", billing: "no" });
    expect(accessOf(account)).toMatchObject({
      "GET /services": "yes",
      "GET /invoices": "no",
      "POST /services": "no",
      "POST /accounts": "no",
    });
    expect((await project.run("doctor")).out).toMatch(
      /technical +no: .*This token does not have the "technical" ability/,
    );
  });

  it("of an account outside the Manage track cannot use client accounts", async () => {
    const project = await furnished({ token: "customer" });
    const { account } = await examined(project);
    expect(account).toMatchObject({
      client_accounts: "no",
      discount: "no",
      abilities: { view: "yes", billing: "yes" },
    });
    expect(accessOf(account)).toMatchObject({ "GET /accounts": "no", "POST /accounts": "no", "GET /plans": "yes" });
  });

  it("that is restricted to services is recognized by an invoice of another service", async () => {
    const project = await furnished();
    const own = project.control.list("services").flatMap(({ id, domain }) => (/^site-/.test(domain ?? "") ? [id] : []));
    const token = project.control.create("tokens", {
      name: "part",
      abilities: ["view", "technical", "billing"],
      service_ids: own.slice(0, 1),
    });
    project.env.HOSTING_TOKEN = token.value;
    // A host may show the invoices of the whole account.
    const invoices = own.map((order_id) => ({ id: order_id + 5_000, order_id, status: "paid" }));
    project.control.addFault({
      method: "GET",
      path: "/invoices",
      phase: "before",
      status: 200,
      body: { data: invoices },
    });
    const { account } = await examined(project);
    expect(account).toMatchObject({ restricted: "yes", services: { count: 1 } });
    expect(accessOf(account)).toMatchObject({ "POST /services": "unknown" });
  });

  it.each([
    ["wrong", { HOSTING_TOKEN: "not-a-token-of-this-host" }, "api.unauthenticated", 1],
    ["missing", { HOSTING_TOKEN: "" }, "provider.token", 0],
  ])("that is %s is a problem, and the state is examined all the same", async (_, env, problem, requests) => {
    const project = await furnished();
    Object.assign(project.env, env);
    const { code, report, account } = await examined(project);
    expect({ code, problems: codesOf(account) }).toEqual({ code: 1, problems: [problem] });
    expect(project.sent()).toHaveLength(requests);
    expect(report.state).toMatchObject({ place: "hosting.tfstate", lock: null });
    expect((await project.run("doctor")).out).not.toMatch(/sandbox --profile|technical {2}/);
  });

  it("whose value is on the command line is refused without repeating it", async () => {
    const project = await startProject();
    for (const secret of ["7|abcdefghijklmnopqrstu", "sandbox_agency_token_58911c"]) {
      const { code, text } = await project.run("doctor", "--token-env", secret);
      expect(code).toBe(1);
      expect(text).not.toContain(secret);
    }
    expect(project.sent()).toEqual([]);
  });
});

describe("a host", () => {
  const page = "<!doctype html><title>Welcome to nginx!</title><h1>It works</h1>";

  it("that is dead costs one request's attempts, and is named", async () => {
    const project = await furnished();
    const { code, account } = await examined(project, "--base-url", "http://127.0.0.1:1");
    expect({ code, problems: codesOf(account) }).toEqual({ code: 1, problems: ["api.unreachable"] });
    expect(account).toMatchObject({ base_url: "http://127.0.0.1:1", profile: "", gaps: [] });
  });

  it.each<[string, number, Record<string, string>, string, string]>([
    ["is a web server", 200, { "content-type": "text/html" }, page, "api.malformed"],
    ["redirects to a login", 302, { location: "https://login.example/" }, "", "api.redirect"],
    ["knows no path of the API", 404, {}, "", "api.not_found"],
    ["is another API", 200, { "content-type": "application/json" }, '{"ok":1}', "api.malformed"],
  ])("that %s is a problem, and no error of hostform", async (_, status, headers, body, problem) => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
    const project = await startProject();
    const url = await listening(server);
    const { code, account } = await examined(project, "--base-url", url);
    expect(code).toBe(1);
    expect(new Set(codesOf(account))).toEqual(new Set([problem]));
    expect((await project.run("doctor", "--base-url", url)).out).toMatch(/^Not healthy\.$/m);
  });

  it("with one endpoint that fails is examined at all others", async () => {
    const project = await furnished();
    const body = { trace: {} };
    project.control.addFault({ method: "GET", path: "/invoices", phase: "before", status: 200, times: 99, body });
    const { code, account } = await examined(project);
    expect({ code, problems: codesOf(account) }).toEqual({ code: 1, problems: ["api.malformed"] });
    expect(accessOf(account)).toMatchObject({ "GET /invoices": "unknown", "GET /webhooks": "yes" });
  });

  it("behind a proxy is reached through it, and its password is hidden", async () => {
    const project = await startProject();
    Object.assign(project.env, {
      HOSTING_BASE_URL: "https://api.acme.example",
      HTTPS_PROXY: "http://user:hunter2-secret@127.0.0.1:1",
    });
    const { code, account } = await examined(project);
    expect({ code, proxy: account.proxy }).toEqual({
      code: 1,
      proxy: { address: "127.0.0.1:1", variable: "HTTPS_PROXY" },
    });
    expect((await project.run("doctor")).text).not.toContain("hunter2");
  });

  it("with another clock is ahead by the difference", async () => {
    const project = await furnished();
    project.control.advanceClock({ hours: 2 });
    expect((await examined(project)).account.clock_offset_ms).toBeGreaterThan(7_100_000);
    expect((await project.run("doctor")).out).toMatch(/clock +(?:2 h|1 h 59 min) ahead of this machine/);
  });

  it("with unknown words has gaps, each with its effect and the setting that helps", async () => {
    const project = await furnished({ declare: { project: "p", providers: { default: {} } } });
    const [service] = project.control.list("services");
    const odd = { id: service?.id, status: "frobnicated", product_type: "quantum", billing_cycle: "lunar" };
    const body = { data: [odd] };
    project.control.addFault({ method: "GET", path: "/services", phase: "before", status: 200, times: 99, body });
    const { code, account } = await examined(project);
    expect(code).toBe(0);
    expect(account.gaps.map(({ gap, seen, setting }) => [gap, seen, setting])).toEqual([
      ["status of services", '"frobnicated"', "status_words"],
      ["billing cycle of services", '"lunar"', undefined],
      ["unit of money", expect.any(String), "money_scale"],
    ]);
    const providers = { default: { status_words: { frobnicated: "live" }, money_scale: 2, list_lag: "5s" } };
    await project.declare({ project: "p", providers });
    const settled = await examined(project);
    expect(settled.account.gaps.map(({ gap }) => gap)).toEqual(["billing cycle of services"]);
    expect(settled.account.undetermined).toEqual(["idempotency_key_retention"]);
  });
});

describe("a project", () => {
  it("without a declaration, and with a broken one, is examined by the environment", async () => {
    const project = await furnished();
    expect((await examined(project)).code).toBe(0);
    await project.declare("this: [is not");
    const { code, report, account } = await examined(project);
    expect({ code, problems: report.state?.problems }).toEqual({ code: 1, problems: [expect.anything()] });
    expect(account.abilities.view).toBe("yes");
  });

  it("with several accounts has a block for each, or for the named one", async () => {
    const project = await furnished();
    const { tokens } = project.sandbox;
    Object.assign(project.env, { ALPHA: tokens.agency, BETA: "wrong" });
    const providers = { alpha: { token_env: "ALPHA" }, beta: { token_env: "BETA" } };
    await project.declare({ project: "p", providers });
    const both = await examined(project);
    expect(both.code).toBe(1);
    expect(both.report.accounts.map(({ provider, problems }) => [provider, problems.length])).toEqual([
      ["alpha", 0],
      ["beta", 1],
    ]);
    const one = await examined(project, "--provider", "alpha");
    expect({ code: one.code, names: one.report.accounts.map(({ provider }) => provider) }).toEqual({
      code: 0,
      names: ["alpha"],
    });
    expect(codesOf((await examined(project, "--provider", "gamma")).account)).toEqual(["provider.unknown"]);
    expect((await project.run("doctor", "--provider", "alpha", "--base-url", "http://x")).err).toContain("--provider");
  });

  it("whose state is locked names the holder, and takes nothing", async () => {
    const project = await furnished();
    const { lock } = filesOfState(path.join(project.dir, "hosting.tfstate"));
    const held = takeFileLock(lock);
    onTestFinished(() => held?.free());
    const { code, report } = await examined(project);
    expect(code).toBe(1);
    expect(report.state).toMatchObject({
      lock: expect.stringContaining("process"),
      problems: [{ code: "state.locked" }],
    });
  });

  it("whose state is encrypted with another key is a problem of the state alone", async () => {
    const key = (byte: string) => Buffer.alloc(32, byte).toString("base64");
    const services = { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } };
    const project = await startProject({
      declare: { project: "p", services },
      env: { HOSTFORM_STATE_KEY: key("a") },
    });
    await project.apply();
    expect((await examined(project)).report.state).toMatchObject({ encrypted: true, resources: 1 });
    project.env.HOSTFORM_STATE_KEY = key("b");
    const { code, report, account } = await examined(project);
    expect({ code, problems: report.state && codesOf(report.state) }).toEqual({ code: 1, problems: ["state.key"] });
    expect(account.problems).toEqual([]);
  });
});

/** Switches that no GET reveals. `empty_list` needs an empty list. */
const HIDDEN = new Set([
  ...[
    "list_lag",
    "too_many",
    "retry_after",
    "rate",
    "queued",
    "bodies",
    "password",
    "creation",
    "webhook",
    "registrant",
  ],
  ...["money", "replay", "refused_key", "key_retention", "event_data", "backoff", "deliveries", "weather"],
]);
const shown = (set: Partial<Profile>) =>
  Object.fromEntries(Object.entries(set).filter(([name]) => !HIDDEN.has(name) && name !== "empty_list"));

describe("the profile of a host", () => {
  const single = Object.entries(PROFILE_SWITCHES)
    .filter(([name]) => !HIDDEN.has(name))
    .flatMap(([name, values]) => values.slice(1).map((value) => `${name}=${value}`));

  it.each(single)("has its one switch: %s", async (profile) => {
    const { account } = await examined(await furnished({ sandbox: { profile: parseProfile(profile) } }));
    expect(account.profile).toBe(profile);
  });

  it.each(Object.entries(PROFILE_SETS).filter(([name]) => name !== "flaky"))(
    "makes a sandbox with the same report: %s",
    async (_, set: Partial<Profile>) => {
      const host = await examined(await furnished({ sandbox: { profile: set } }));
      expect(parseProfile(host.account.profile)).toEqual({ ...parseProfile(""), ...shown(set) });
      const imitation = await examined(await furnished({ sandbox: { profile: parseProfile(host.account.profile) } }));
      const apart = { base_url: "", store: "", requests: null, gaps: [] };
      expect({ ...imitation.account, ...apart }).toEqual({ ...host.account, ...apart });
      const gaps = ({ account }: typeof host) => account.gaps.filter(({ gap }) => gap !== "unit of money");
      expect(gaps(imitation)).toEqual(gaps(host));
    },
  );
});

describe("a plan with a token that lacks an ability", () => {
  const www = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
  const hook = { url: "https://hooks.acme.example/a", events: ["invoice.paid"] };
  const withToken = (project: Project, abilities: readonly ("view" | "technical" | "billing")[]) => {
    project.env.HOSTING_TOKEN = project.control.create("tokens", { name: "part", abilities: [...abilities] }).value;
  };

  it("names the change and the ability before an apply sends anything", async () => {
    const declared = { project: "p", services: { www } };
    const project = await startProject({ declare: declared, sandbox: { autoPay: false } });
    await project.apply("--no-wait");
    project.sent();
    withToken(project, ["view", "technical"]);
    await project.declare({ ...declared, client_accounts: { acme: { name: "Acme" } }, webhooks: { hook } });
    const lacking = { code: "plan.ability", address: "hosting_client_account.acme" };
    expect((await project.plan()).diagnostics).toMatchObject([{ ...lacking, severity: "warning" }]);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran).toMatchObject({ code: 1, text: expect.stringContaining('needs the ability "billing"') });
    expect(project.changesSent()).toEqual([]);
    await project.run("apply", "--auto-approve", "--partial", "--no-wait");
    expect(project.changesSent()).toEqual(["POST /webhooks"]);
  });

  it("names the resources that it cannot read for an apply", async () => {
    const webhooks = { a: hook, b: { ...hook, url: "https://hooks.acme.example/b" } };
    const project = await startProject({ declare: { project: "p", webhooks }, token: "viewer" });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.err).toMatch(/2 resources need the ability "technical".*hosting_webhook\.a, hosting_webhook\.b/s);
    expect(project.changesSent()).toEqual([]);
  });

  it("of an account outside the Manage track names the track, and no ability", async () => {
    const declare = { project: "p", client_accounts: { acme: { name: "Acme" } } };
    const project = await startProject({ declare, token: "customer" });
    const ran = await project.run("plan");
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/hosting_client_account\.acme.*Manage track/s) });
    expect(ran.err).not.toContain("ability");
  });
});
