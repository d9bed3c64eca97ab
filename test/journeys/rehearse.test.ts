/** `hostform rehearse`: a plan in a sandbox with a copy of the account. The host is a sandbox of its own. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { temporaryFolder } from "../support/folder.ts";
import { runHere } from "../support/program.ts";
import { startSandbox } from "../support/sandbox.ts";

const SITES = `project: acme
services:
  www: { plan_id: 11, currency: USD, domain: www.acme.example, deletion_policy: forget }
webhooks:
  paid: { url: "https://hooks.example/in", events: [invoice.paid], secret_output: { file: secret } }
`;
const MORE = SITES.replace(
  "deletion_policy: forget }",
  `deletion_policy: forget, grants: { dev@acme.example: { permission: view, expires_at: "2027-03-05T00:00:00Z" } } }
  shop: { plan_id: 12, currency: USD, domain: shop.acme.example, deletion_policy: forget }`,
).replace(
  "webhooks:",
  `webhooks:
  kept: { url: "https://hooks.example/kept", events: [invoice.created] }
  written: { url: "https://hooks.example/written", events: [invoice.created], secret_output: { file: other } }`,
);

/** A project whose first site is applied. Its declaration then has more sites. */
async function projectWith(text = MORE, profile: SandboxOptions["profile"] = {}) {
  const host = await startSandbox({ clock: "2026-12-01T09:00:00Z", rateLimit: 0, autoPay: true, profile });
  const { url, tokens, control } = host;
  const cwd = temporaryFolder();
  const declare = (changed: string) => writeFileSync(path.join(cwd, "hosting.yaml"), changed);
  const env = { HOSTING_TOKEN: tokens.agency, HOSTING_BASE_URL: url, HOSTING_MONEY_SCALE: "2", HOME: cwd };
  const run = (...args: string[]) => runHere(args, { cwd, env });
  declare(SITES);
  expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  control.advanceClock({ days: 1 });
  declare(text);
  control.clearRequests();
  const rehearse = async (...args: string[]) => {
    const { code, out, err } = await run("rehearse", "--json", ...args);
    return { code, err, report: JSON.parse(out === "" ? "null" : out) };
  };
  /** Returns all files, and the tables of the account's store. Its table `events` counts the requests. */
  const files = () => {
    const names = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    return names
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ parentPath, name }) => {
        const file = path.join(parentPath, name);
        if (!name.endsWith(".store")) return /\.store-\w+$/.test(name) ? [] : [[name, readFileSync(file, "utf8")]];
        const store = new DatabaseSync(file, { readOnly: true });
        const rows = ["notes", "holdings", "places", "intents", "turns"].map((table) => [
          table,
          JSON.stringify(store.prepare(`SELECT * FROM ${table}`).all()),
        ]);
        store.close();
        return rows;
      });
  };
  return { ...host, cwd, env, declare, run, rehearse, files };
}

describe("hostform rehearse", () => {
  it("sends only GET requests to the host, and changes neither the account nor a file", async () => {
    const { control, rehearse, files } = await projectWith();
    const before = { files: files(), account: control.snapshot() };
    const { code, report } = await rehearse();
    expect(report).toMatchObject({ passed: true, converges: true, differences: [], stops: [], faults: null });
    expect(code).toBe(0);
    expect(new Set(control.requests().map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect({ files: files(), account: control.snapshot() }).toEqual(before);
  });

  it("forecasts orders, invoices of each month, and the end of a grant", async () => {
    const { rehearse } = await projectWith();
    const { report } = await rehearse("--months", "3");
    expect(report.orders).toMatchObject([{ site: "shop.acme.example", currency: "USD", amount: 765, scale: 2 }]);
    expect(report.cash.map(({ month, amount }: { month: string; amount: number }) => [month, amount])).toEqual([
      ["2026-12", 765],
      ["2027-01", 1215],
      ["2027-02", 1215],
      ["2027-03", 450],
    ]);
    expect(report.outages).toEqual([]);
    expect(report.verdict).toBe(
      "The plan converges: 1 order. In 3 months, from 2026-12-02 to 2027-03-02, the host bills 36.45 USD, and no site goes offline.",
    );
  });

  it("bills a monthly service twelve times in a year, and a yearly one once", async () => {
    const { rehearse } = await projectWith(`project: acme
services:
  month: { plan_id: 11, currency: GEL, domain: month.example, deletion_policy: forget }
  year: { plan_id: 11, currency: EUR, term: 12, domain: year.example, deletion_policy: forget }
`);
    const { report } = await rehearse();
    const invoices = (currency: string) =>
      report.cash
        .filter((one: { currency: string }) => one.currency === currency)
        .reduce((sum: number, one: { invoices: number }) => sum + one.invoices, 0);
    expect(report.stops).toEqual([]);
    expect({ month: invoices("GEL"), year: invoices("EUR") }).toEqual({ month: 12, year: 1 });
    expect(report).toMatchObject({ start: "2026-12-02", end: "2027-12-02" });
  });

  it("counts the invoices that are open today, if they are paid", async () => {
    const { rehearse, control } = await projectWith();
    const site = control.list("services").find(({ domain }) => domain === "www.acme.example");
    const invoice = control.list("invoices").find(({ order_id }) => order_id === site?.id);
    control.change("invoices", invoice?.id ?? 0, { status: "unpaid", paid_at: null });
    const { report } = await rehearse("--months", "1");
    expect(report).toMatchObject({ open_invoices: 1, cash: [{ month: "2026-12", amount: 765 + 450 }, {}] });
    expect(report.verdict).toContain("with 1 invoice open today");
    expect((await rehearse("--months", "1", "--unpaid", "open")).report.open_invoices).toBe(0);
  });

  it("counts the sites that are suspended today and stay offline", async () => {
    const { rehearse, control } = await projectWith(SITES.replace("forget }", "forget, suspended: true }"));
    const service = control.list("services").find(({ domain }) => domain === "www.acme.example");
    control.suspendService(service?.id ?? 0);
    const { report } = await rehearse("--months", "1");
    expect(report).toMatchObject({ offline: ["www.acme.example"], outages: [] });
    expect(report.verdict).toContain("1 site stays offline");
  });

  it.each(["strict", "minimal"])("knows no price that a %s host does not show", async (profile) => {
    const { rehearse } = await projectWith(MORE, profile);
    const { report } = await rehearse("--months", "2");
    const [order] = report.orders;
    expect(report.stops).toEqual([]);
    expect(order.amount).toBe(null);
    expect(report.unpriced).toContain("shop.acme.example");
    expect(report.verdict).toMatch(/an unknown amount for \d orders?/);
    expect(report.verdict).not.toMatch(/bills 0\.00/);
    expect(report.cash[0]).toMatchObject({ amount: null });
  });

  it("shows the price of a domain registration as unknown", async () => {
    const { rehearse } = await projectWith(`${SITES}domains:
  acme: { domain: acme.example, years: 1, currency: USD, nameserver_mode: default, registrant_contact: {
    first_name: A, last_name: B, email: a@b.example, phone: "+995.555123456", address: X 1, city: Tbilisi, country: GE } }
`);
    const { report } = await rehearse("--months", "1");
    expect(report.orders).toMatchObject([{ site: "acme.example", amount: null }]);
    expect(report.verdict).toContain("and an unknown amount for 1 order");
    expect(report.assumptions.join(" ")).toContain("an unknown amount: acme.example.");
  });

  it("evaluates the declared address and token of a provider with the environment of the account", async () => {
    const { rehearse } = await projectWith(
      `providers: { default: { base_url: "\${env.HOSTING_BASE_URL}", token_env: HOSTING_TOKEN } }\n${MORE}`,
    );
    const { report } = await rehearse("--months", "1");
    expect(report).toMatchObject({ passed: true, stops: [] });
  });

  it("forecasts the sites that go offline if no invoice is paid", async () => {
    const { rehearse } = await projectWith();
    const { report } = await rehearse("--months", "3", "--unpaid", "all");
    expect(report.outages).toMatchObject([
      { site: "www.acme.example", address: "hosting_service.www", until: null, why: "An invoice is unpaid." },
    ]);
    expect(report.ends[0].text).toMatch(/^shop\.acme\.example ends/);
    expect(report.later.map(({ text }: { text: string }) => text).join("\n")).toContain("www.acme.example");
    expect(report.cash[0]).toMatchObject({ amount: 765, unpaid: 765 });
  });

  it("names a site that the plan itself takes offline", async () => {
    const { rehearse } = await projectWith(SITES.replace("forget }", "forget, suspended: true }"));
    const { code, report } = await rehearse("--months", "1");
    expect(report.outages).toMatchObject([{ site: "www.acme.example", address: "hosting_service.www", until: null }]);
    expect(report.verdict).toContain("1 site goes offline");
    expect(code).toBe(0);
  });

  it("leaves only the invoices of today unpaid with --unpaid open", async () => {
    const { rehearse, control } = await projectWith();
    const [service] = control.list("services");
    const [invoice] = control.list("invoices").filter(({ order_id }) => order_id === service?.id);
    control.change("invoices", invoice?.id ?? 0, { status: "unpaid", paid_at: null });
    const { report } = await rehearse("--months", "3", "--unpaid", "open");
    expect(report.cash.map(({ unpaid }: { unpaid: number }) => unpaid)).toEqual([0, 0, 0, 0]);
    expect(report.passed).toBe(true);
  });

  it("repeats the apply with a fault at each request, loses no secret and orders nothing twice", async () => {
    const { rehearse } = await projectWith();
    const { code, report } = await rehearse("--faults", "--months", "1");
    expect(report.faults).toEqual({ cases: expect.any(Number), is_finished: true, problems: [] });
    expect(report.faults.cases).toBeGreaterThan(20);
    expect(code).toBe(0);
  });

  it("reports a domain order with an unknown result as a decision of a person", async () => {
    const { rehearse } = await projectWith(`${MORE}domains:
  acme: { domain: acme.example, years: 1, currency: USD, nameserver_mode: default, registrant_contact: {
    first_name: A, last_name: B, email: a@b.example, phone: "+995.555123456", address: X 1, city: Tbilisi, country: GE } }
`);
    const { code, report } = await rehearse("--faults", "--months", "1");
    const lost = { request: "POST /api/v1/domains", fault: "lost_answer", result: "person" };
    expect(report.faults.problems).toEqual(expect.arrayContaining([expect.objectContaining(lost)]));
    expect(report.faults.problems.map(({ result }: { result: string }) => result)).not.toContain("failed");
    expect(code).toBe(0);
  });

  it("counts the waits for the request limit without waiting", async () => {
    const { rehearse } = await projectWith(
      `project: acme\nservices:\n${Array.from({ length: 70 }, (_, at) => `  s${at}: { plan_id: 11, currency: USD, domain: s${at}.example }\n`).join("")}`,
    );
    const { report } = await rehearse("--months", "1");
    expect(report.requests).toBeGreaterThan(70);
    expect(report.seconds).toBeGreaterThan(30);
  });

  it.each([
    ["a guard", "guards: { max_orders: 0 }\n", undefined, "guard.orders"],
    ["a policy", "", "max_orders: 0\n", "policy.denied"],
    [
      "a window of a policy",
      "",
      "windows: [{ since: 2020-01-01, until: 2090-01-01, reason: holidays }]\n",
      "policy.denied",
    ],
  ])("names %s that would stop the apply", async (_, guards, policy, code) => {
    const { rehearse, cwd } = await projectWith(`${MORE}${guards}`);
    if (policy !== undefined) writeFileSync(path.join(cwd, "policy.yaml"), policy);
    const { code: exit, report } = await rehearse(...(policy === undefined ? [] : ["--policy", "policy.yaml"]));
    expect(exit).toBe(1);
    expect(report.warnings.length).toBe(policy?.startsWith("windows") ? 1 : 0);
    expect(report.stops[0].code).toContain(code);
    expect(report.verdict).toContain(report.stops[0].summary);
  });

  it("rehearses a saved plan, and refuses it after a change of the account", async () => {
    const { run, rehearse, control } = await projectWith();
    expect(await run("plan", "--out", "acme.plan")).toMatchObject({ code: 0 });
    expect((await rehearse("acme.plan", "--months", "1")).report).toMatchObject({ passed: true, differences: [] });
    const [plan] = control.list("plans").filter(({ id }) => id === 12);
    control.change("plans", 12, { prices: { ...plan?.prices, USD: 1 } });
    const { code, report } = await rehearse("acme.plan");
    expect(code).toBe(1);
    expect(report.diagnostics[0]).toMatchObject({ code: "plan.saved", summary: expect.stringContaining("no longer") });
  });

  it("writes reports as Markdown, HTML, JSON and text, without the token", async () => {
    const { run, cwd, env } = await projectWith();
    const files = ["r.md", "r.html", "r.json", "r.txt"];
    const { code, text } = await run("rehearse", "--months", "2", ...files.flatMap((file) => ["--report", file]));
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining("The plan converges: 1 order.") });
    const texts = files.map((file) => readFileSync(path.join(cwd, file), "utf8"));
    for (const one of texts) expect(one).toContain("The plan converges: 1 order.");
    expect(texts[1]).toContain("<svg role=");
    expect(texts.join("")).not.toContain(env.HOSTING_TOKEN);
  });

  it.each([
    [["--months", "0"], "Expected a whole number from 1 to 36."],
    [["--months", "37"], "Expected a whole number from 1 to 36."],
    [["missing.plan"], "missing.plan"],
  ])("refuses %j", async (args, message) => {
    const { run } = await projectWith();
    const { code, err } = await run("rehearse", ...args);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(message);
  });
});
