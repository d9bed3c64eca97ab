/** `hostform contract` as it is typed: against the sandbox, and against what is no API at all. */
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { listening } from "../support/listening.ts";
import { type Project, startProject } from "../support/project.ts";

/** The switches of a profile that is written as a text. */
const partsOf = (text: string) => Object.fromEntries(text.split(",").map((part) => part.split("=")));

async function furnished(options: Parameters<typeof startProject>[0] = {}): Promise<Project> {
  const project = await startProject(options);
  const { control } = project;
  const [service] = control.seedServices({ count: 3, domain_prefix: "canary-site" });
  if (service === undefined) throw new Error("nothing was seeded");
  control.create("grants", { service_id: service.id, email: "canary@acme.example", permission: "view" });
  control.create("migration_requests", { domain: "canary-old.example", source: "cpanel" });
  project.sent();
  return project;
}

describe("hostform contract", () => {
  it("reads, and says how the server is and which profile is like it", async () => {
    const project = await furnished({
      sandbox: { rateLimit: 60, profile: { envelope: "flat", status: "capitalised" } },
    });
    const { code, out, err } = await project.run("contract");
    expect(err).toBe("This takes up to 24 of the 60 requests that the token has each minute. It only reads.\n");
    expect(out).toContain("A sandbox is like it with: hostform sandbox --profile envelope=flat,status=capitalised\n");
    expect(out).toMatch(/^ {2}envelope +flat$/m);
    expect(out).toContain("hostform can work with this server.");
    expect(code).toBe(0);
    const sent = project.sent();
    expect(sent.filter((line) => !line.startsWith("GET "))).toEqual([]);
    expect(sent.length).toBeLessThanOrEqual(23);
    expect(out).toContain(`${sent.length} requests. Nothing was changed.`);
  });

  it("shows nobody's data and no token", async () => {
    const project = await furnished();
    for (const flags of [[], ["--json"], ["--write"], ["--verbose"]]) {
      const { text } = await project.run("contract", ...flags);
      expect(text).not.toContain("canary");
      expect(text).not.toContain(project.sandbox.tokens.agency);
    }
  });

  it("works in a folder without a declaration, and with one that is broken", async () => {
    const project = await furnished();
    await project.declare("this: [is not");
    expect((await project.run("contract")).code).toBe(0);
  });

  it("takes address and token from elsewhere", async () => {
    const project = await furnished({ token: "customer" });
    const { url, tokens } = project.sandbox;
    Object.assign(project.env, {
      HOSTING_BASE_URL: "https://nowhere.invalid",
      HOSTING_TOKEN: "none",
      OTHER: tokens.viewer,
    });
    const { code, out } = await project.run(
      "contract",
      "--base-url",
      `${url}/api/v1/`,
      "--token-env",
      "OTHER",
      "--json",
    );
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ base_url: url, wrote: false });
    // Nothing is limited here. Everything else that it reports is true.
    const { rate_headers, ...reported } = partsOf(report.profile);
    expect(rate_headers).toBe("none");
    expect(project.profile).toMatchObject(reported);
    expect(new Set(project.control.requests().map(({ token }) => token))).toEqual(new Set(["viewer", null]));
  });

  it("--write registers a webhook and removes it", async () => {
    const project = await furnished();
    const { code, out, err } = await project.run("contract", "--write");
    expect(code).toBe(0);
    expect(err).toMatch(/Registered webhook [\da-f-]+ \(https:\/\/hostform-contract-check-[\da-f]{8}\.invalid\/\)/);
    expect(out).toMatch(new RegExp(`^ {2}webhook +${project.profile.webhook}$`, "m"));
    expect(project.control.list("webhooks")).toEqual([]);
    expect(project.changesSent()).toEqual([
      "POST /domains/check",
      "POST /webhooks",
      "POST /webhooks",
      expect.stringMatching(/^DELETE \/webhooks\/\d+$/),
    ]);
  });

  it("--write removes it also when Ctrl-C comes while it is being registered", async () => {
    const project = await furnished();
    project.control.addFault({ method: "POST", path: "/webhooks", nth: 2, phase: "after", delayMs: 5 });
    project.onDelay = () => project.interrupt();
    const { code, err } = await project.run("contract", "--write");
    expect(code).toBe(1);
    expect(err).toContain("Interrupted.");
    expect(project.control.list("webhooks")).toEqual([]);
  });

  it("--write says what it could not remove, interrupted or not", async () => {
    const project = await furnished();
    const refusal = {
      method: "DELETE",
      path: "/webhooks/:id",
      phase: "before",
      status: 403,
      times: 99,
      body: { message: "No." },
    } as const;
    project.control.addFault(refusal);
    const first = await project.run("contract", "--write");
    expect(first.code).toBe(1);
    const [left] = project.control.list("webhooks");
    expect(first.err).toContain(`The webhook ${project.idOf("webhooks", left?.id)} with the URL ${left?.url}`);
    expect(first.err).toContain("[contract.leftover]");
    project.control.addFault({ method: "POST", path: "/webhooks", nth: 2, phase: "after", delayMs: 5 });
    project.onDelay = () => project.interrupt();
    const second = await project.run("contract", "--write");
    expect(second.err).toContain("[contract.leftover]");
    expect(second.err).toContain("Interrupted.");
  });

  it("ends with 1 where hostform would stop, and says at what", async () => {
    const project = await furnished();
    project.control.addFault({
      method: "GET",
      path: "/invoices",
      phase: "before",
      status: 200,
      times: 99,
      body: { trace: {} },
    });
    const { code, out } = await project.run("contract");
    expect(code).toBe(1);
    expect(out).toContain("STOPS     hostform can read GET /invoices");
    expect(out).toContain("hostform cannot work with 1 thing that this server does");
  });

  it("ends with 1 where the token may look at nothing, and repeats none of the server's sentences", async () => {
    const project = await furnished();
    const body = { message: "User Giorgi Beridze (Kunde GmbH) may not." };
    project.control.addFault({ path: "/*", phase: "before", status: 403, times: 99, body });
    const { code, out } = await project.run("contract");
    expect(code).toBe(1);
    expect(out).toContain("Nothing could be checked: the token may read nothing.");
    expect(out).not.toMatch(/Giorgi|Kunde|can work with/);
  });

  it("keeps within the budget of a token that others use too", async () => {
    const project = await furnished({
      sandbox: { rateLimit: 12, profile: { rate_headers: "none", retry_after: "date", too_many: "text" } },
    });
    const { code, out } = await project.run("contract");
    expect(code).toBe(0);
    expect(out).toContain("too_many=text,rate_headers=none,retry_after=date");
    expect(out).toMatch(/\d+ requests, of which \d+ repetition/);
  });

  it("explains what is missing or wrong on the command line", async () => {
    const project = await startProject();
    const errorOf = async (...args: string[]) => (await project.run("contract", ...args)).err;
    expect(await errorOf("--webhook-url", "https://x.example")).toContain("--webhook-url needs --write");
    expect(await errorOf("--write", "--webhook-url", "x")).toContain("not a web address");
    expect(await errorOf("--token-env", "7|abcdefghijklmnopqrstu")).not.toContain("abcdefghij");
    for (const secret of ["abc-secret-value", `whsec_${"0a".repeat(20)}`, "sandbox_agency_token_58911c"]) {
      const { text } = await project.run("contract", "--token-env", secret);
      expect(text).toContain("is not the name of an environment variable");
      expect(text).not.toContain(secret);
    }
    expect(await errorOf("--base-url", "http://api.example.com")).toContain("Plain http");
    project.env.HOSTING_TOKEN = "";
    expect(await errorOf()).toContain("HOSTING_TOKEN is empty");
    project.env.HOSTING_BASE_URL = "";
    expect(await errorOf()).toContain("No base URL is given");
    expect(project.sent()).toEqual([]);
  });
});

describe("hostform contract, against what is no API", () => {
  const page = "<!doctype html><title>Welcome to nginx!</title><h1>It works</h1>";
  it.each<[string, number, Record<string, string>, string, RegExp]>([
    ["a web server's own page", 200, { "content-type": "text/html" }, page, /HTML page titled "Welcome to nginx!"/],
    [
      "a login",
      302,
      { location: "https://login.example/?next=a" },
      "",
      /redirect \(302\) to https:\/\/login\.example,/,
    ],
    ["a captive portal", 511, {}, page, /A web page came in place of the API's answer \(511\)/],
    ["404 everywhere", 404, {}, "", /does not know GET \/api\/v1\/plans \(404\)/],
    ["another API", 200, { "content-type": "application/json" }, '{"ok":1}', /Expected a list/],
  ])("%s is reported in one sentence", async (_, status, headers, body, words) => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
    const origin = await listening(server);
    const project = await startProject();
    const url = origin;
    const { code, out, err } = await project.run("contract", "--base-url", url);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(words);
    expect(err).toMatch(/^Fix: /m);
    expect(err).not.toMatch(/^\s+at /m);
    const json = await project.run("contract", "--base-url", url, "--json");
    expect(JSON.parse(json.out)).toMatchObject({ errored: true });
  });
});
