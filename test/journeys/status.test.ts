/** `hostform status` and `hostform audit`: one report of the account and its declaration, from lists alone. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type AccountReport, SECTIONS } from "../../src/report/index.ts";
import { COUNTABLE, fillAgency } from "../support/agency.ts";
import { type Project, startProject } from "../support/project.ts";
import { registration } from "../support/registration.ts";

const site = (name: string, over: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.example`,
  ...over,
});
const HOOK = { url: "https://hooks.acme.example/x", events: ["invoice.paid"] };
const AGENCY = {
  project: "agency",
  services: {
    a: site("a", { client: "acme", grants: { "dev@acme.example": "manage" } }),
    b: site("b", { client: "borjomi" }),
    c: site("c", { client: "acme" }),
  },
  domains: { acme: registration("acme.example") },
  webhooks: { hook: HOOK },
};

/** Runs `status --json`. Fails if a request changes the account. */
async function statusOf(project: Project, ...args: string[]): Promise<AccountReport> {
  const before = await project.stateText();
  project.sent();
  const ran = await project.run("status", "--json", ...args);
  expect(ran.code, ran.text).toBe(0);
  const report = JSON.parse(ran.out);
  expect(await project.stateText()).toBe(before);
  return report;
}

const idOf = async (project: Project, name: string) =>
  Number((await project.recorded(`hosting_service.${name}`))?.attributes.id);

/** A project whose first invoices are paid, and whose later invoices stay unpaid. */
async function agency(options: Parameters<typeof startProject>[0] = {}): Promise<Project> {
  const declared = { declare: AGENCY, env: { HOSTING_MONEY_SCALE: "2" }, ...options };
  const project = await startProject({ ...declared, sandbox: { autoPay: false } });
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
  await project.apply("--allow-unknown-prices");
  for (const { id } of project.control.list("invoices")) project.control.payInvoice(id);
  project.clock.advance(60_000);
  await project.apply("--allow-unknown-prices");
  return project;
}

describe("a healthy account", () => {
  it("is one sentence, in every form", async () => {
    const project = await agency();
    const { overview, attention, drift, unread } = await statusOf(project);
    expect(overview).toMatchObject({
      declared: 6,
      synced: 6,
      services: 3,
      states: { live: 3, offline: 0, gone: 0, suspended_undeclared: 0 },
      unpaid: [],
      pending: 0,
    });
    expect({ attention, drift, unread }).toEqual({ attention: [], drift: [], unread: [] });
    for (const format of ["text", "markdown", "html"])
      expect((await project.run("status", "--format", format)).out).toContain("Synced 6 of 6 · live 3");
    expect((await project.run("status")).out).toContain("No entries\nNeeds a person, ");
    expect(project.changesSent()).toEqual([]);
  });
});

describe("an account with problems", () => {
  it("shows what is offline and since when, who owes, what nobody declared, and what drifted", async () => {
    const project = await agency();
    project.control.advanceClock({ months: 1, days: 1 });
    const due = (await project.run("status")).out.split("\n")[0];
    expect(due).toBe("Synced 6 of 6 · live 3 · 3 unpaid, 13.50 USD by Monday");
    project.control.advanceClock({ days: 7 });
    const open = project.control
      .list("invoices")
      .filter(({ status, customer_id }) => status === "unpaid" && customer_id === 1);
    // The host has suspended the three unpaid sites.
    project.control.seedServices({ count: 1, plan_id: 12, domain_prefix: "stray" });
    project.control.create("webhooks", { url: "https://else.example/y", events: ["invoice.paid"] });
    const report = await statusOf(project, "--fail-on", "gone");
    const total = open.reduce((sum, one) => sum + one.total, 0);
    const dues = open.map(({ due_date }) => due_date).toSorted();
    expect(report.overview.unpaid).toMatchObject([{ currency: "USD", total, count: open.length, due_date: dues[0] }]);
    expect(report.money.due.reduce((sum, one) => sum + one.total, 0)).toBe(total);
    expect(report.money.invoices.filter(({ is_overdue }) => is_overdue)).toHaveLength(open.length);
    expect(report.overview).toMatchObject({ services: 4, states: { live: 1, offline: 3 } });
    const undeclared = [...report.services, ...report.objects].filter(({ sync }) => sync === "undeclared");
    expect(undeclared.map(({ type }) => type)).toEqual(["hosting_service", "hosting_webhook"]);
    expect(report.objects.map(({ secret }) => secret)).toEqual([null, "known", "unknown"]);
    const since = report.overview.offline_since;
    project.clock.advance(3_600_000);
    const later = await statusOf(project);
    expect(since).not.toBe(null);
    expect(later.overview.offline_since).toBe(since);
    expect(later.timestamp > String(since)).toBe(true);
    const { out } = await project.run("status");
    expect(out.split("\n")[0]).toMatch(
      /^Synced 6 of 6 · live 1 · 3 unpaid, 13.50 USD, overdue since 2026-12-28 · 3 offline, the longest since \d\d:\d\d or earlier$/,
    );
    const audit = (await project.run("audit")).out;
    for (const text of [
      "stray-00001.example",
      "Billed and not declared: 1",
      "Overdue invoices: 3",
      "https://else.example/y",
    ])
      expect(audit).toContain(text);
    expect((await project.run("audit", "--fail-on", "offline")).code).toBe(4);
    expect((await project.run("status", "--fail-on", "gone,handed_over,pending")).code).toBe(0);
    const met = "undeclared,billed,overdue,webhooks";
    const failed = await project.run("audit", "--fail-on", `gone,${met}`);
    expect([failed.code, failed.text]).toEqual([4, expect.stringContaining(met.replaceAll(",", ", "))]);
    const rejected = await project.run("plan", "--fail-on", "overdue");
    expect([rejected.code, rejected.text]).toEqual([
      1,
      expect.stringContaining("overdue is a section of a status. Only status"),
    ]);
    expect(project.changesSent()).toEqual([]);
  });

  it("counts the money of each client at list prices, and the renewals of 90 days", async () => {
    const { money, objects } = await statusOf(await agency());
    expect(money.run_rate).toEqual([
      { client: "acme", provider: "default", is_suspended: false, currency: "USD", total: 1000, count: 2 },
      { client: "borjomi", provider: "default", is_suspended: false, currency: "USD", total: 500, count: 1 },
    ]);
    const renewal = {
      due_date: "2026-12-21",
      currency: "USD",
      next_30_days: 500,
      next_60_days: 500,
      next_90_days: 1000,
    };
    expect(money.renewals).toMatchObject([
      { client: "acme", site: "a.example", ...renewal },
      { client: "borjomi", site: "b.example", ...renewal },
      { client: "acme", site: "c.example", ...renewal },
    ]);
    expect(objects[0]?.registered_until).toBe("2027-11-21");
  });

  it("has suspended services apart, and renewals only of services without an overdue invoice", async () => {
    const project = await agency();
    project.control.advanceClock({ months: 1 });
    const isOf = async (name: string) => {
      const id = await idOf(project, name);
      return project.control.list("invoices").find((one) => one.order_id === id && one.status === "unpaid")?.id ?? 0;
    };
    // Today's term already has an invoice, so it is no renewal.
    const next = { due_date: "2027-01-21", next_30_days: 0, next_60_days: 500, next_90_days: 1500 };
    expect((await statusOf(project)).money.renewals).toMatchObject([next, next, next]);
    project.control.payInvoice(await isOf("a"));
    project.control.advanceClock({ days: 8 });
    const { money } = await statusOf(project);
    expect(money.renewals).toMatchObject([{ site: "a.example", due_date: "2027-01-21", next_30_days: 500 }]);
    expect(money.run_rate.map((one) => [one.client, one.is_suspended, one.total])).toEqual([
      ["acme", false, 500],
      ["borjomi", true, 500],
      ["acme", true, 500],
    ]);
    const csv = (await project.run("status", "--section", "renewals", "--format", "csv")).out;
    expect(csv).toMatch(/^provider,client,address,site,.*\ndefault,acme,hosting_service.a,a.example,.*,USD,5.00,/);
    const { out } = await project.run("status", "--section", "money");
    expect(out).toMatch(/^Total +1 +5.00 USD\nTotal +suspended +2 +10.00 USD$/m);
    for (const name of ["unpaid", "overdue", "invoices"])
      expect((await project.run("status", "--section", name)).out.match(/ overdue {2}/g), name).toHaveLength(2);
  });

  it("shows a service that does not match its declaration, an error, and drift", async () => {
    const project = await agency();
    await project.declare({
      ...AGENCY,
      services: { ...AGENCY.services, c: site("c", { plan_id: 12 }), b: site("b", { suspended: false }) },
    });
    project.control.suspendService(await idOf(project, "b"));
    const ran = await project.run("status", "--json");
    const report: AccountReport = JSON.parse(ran.out);
    expect(ran.code).toBe(1);
    expect(report.attention.map(({ condition, address }) => `${condition} ${address}`)).toContain(
      "error hosting_service.c",
    );
    expect(report.services.map(({ sync }) => sync)).toEqual(["synced", "differs", "differs"]);
    expect(report.drift).toMatchObject([
      { address: "hosting_service.b", attribute: "suspended", declared: false, live: true },
    ]);
  });

  it("shows the declared value of a domain that somebody changed at the host", async () => {
    const project = await agency();
    project.control.change("services", await idOf(project, "c"), { domain: "moved.example" });
    const report: AccountReport = JSON.parse((await project.run("status", "--json")).out);
    expect(report.drift).toMatchObject([
      { address: "hosting_service.c", attribute: "domain", declared: "c.example", live: "moved.example" },
    ]);
  });

  it("does not count a declared service that no longer exists as synced", async () => {
    const project = await agency();
    project.control.terminateService(await idOf(project, "c"));
    const { overview, attention, money } = await statusOf(project);
    expect(overview).toMatchObject({ declared: 6, synced: 5, services: 2, states: { live: 2, gone: 1 } });
    expect(attention).toMatchObject([{ condition: "gone", client: "acme", address: "hosting_service.c" }]);
    expect(money.run_rate.map(({ total }) => total)).toEqual([500, 500]);
  });

  it("counts each service that is not live in one state, and names it in every form", async () => {
    const project = await agency();
    await project.declare({
      ...AGENCY,
      services: {
        ...AGENCY.services,
        d: site("d"),
        e: site("e", { suspended: true }),
        b: site("b", { suspended: false }),
      },
    });
    await project.apply("--target", "hosting_service.d", "--target", "hosting_service.e", "--no-wait");
    project.control.terminateService(await idOf(project, "c"));
    project.control.suspendService(await idOf(project, "a"));
    project.control.suspendService(await idOf(project, "b"));
    const [stray, nameless] = [12, 31].map(
      (plan_id) => project.control.seedServices({ count: 1, plan_id })[0]?.id ?? 0,
    );
    project.control.suspendService(stray ?? 0);
    const report = await statusOf(project);
    expect(report.overview).toMatchObject({
      services: 6,
      // The next apply restores b.
      states: { live: 1, offline: 2, suspended: 0, suspended_undeclared: 1, waiting: 2, gone: 1 },
    });
    expect(report.services).toHaveLength(7);
    for (const format of ["text", "markdown", "html"]) {
      const { out } = await project.run("status", "--format", format);
      for (const words of ["2 offline, the longest since", "1 suspended and not declared · 1 gone · 2 waiting"])
        expect(out, format).toContain(words);
      expect(out, format).toContain("6 in the account: 1 live, 2 offline, 1 suspended and not declared");
      expect(out, format).toContain(`service ${nameless}`);
    }
    expect((await project.run("status", "--format", "html")).out).toContain("<dt>Gone</dt>");
  });

  it("counts an order with unreadable invoices as waiting, and not as offline", async () => {
    const project = await agency();
    await project.declare({ ...AGENCY, services: { ...AGENCY.services, d: site("d") } });
    await project.apply("--no-wait");
    project.control.addFault({ method: "GET", path: "/invoices", phase: "before", status: 403, times: 9 });
    const { overview, attention } = await statusOf(project, "--fail-on", "offline");
    expect((await project.run("status", "--fail-on", "unpaid")).code).toBe(4);
    expect(overview.states).toMatchObject({ live: 3, offline: 0, waiting: 1 });
    expect(attention.map(({ condition, site: of }) => `${condition} ${of}`)).toEqual(["unread d.example"]);
    expect(attention[0]?.summary).toContain("is not online yet, and its invoices were not read");
    expect((await project.run("status", "--fail-on", "unread")).code).toBe(4);
  });

  it("names no invoice as the reason of a suspension that is older, also if only a status has recorded it", async () => {
    const project = await agency();
    project.control.suspendService(await idOf(project, "a"));
    await statusOf(project);
    project.control.advanceClock({ months: 1, days: 8 });
    const { attention } = await statusOf(project);
    const of = (name: string) =>
      attention.flatMap((one) => (one.address === `hosting_service.${name}` ? `${one.condition}: ${one.summary}` : []));
    expect(of("a")[0]).toMatch(/^offline: .* is suspended, but not declared as suspended$/);
    expect(of("b")[0]).toMatch(/^offline: .* is suspended for unpaid invoice/);
    const { out } = await project.run("status", "--section", "attention");
    expect(out.match(/^acme +a\.example: .*/gm)).toHaveLength(2);
    expect(out.match(/^borjomi +b\.example: .*/gm)).toHaveLength(1);
    expect(out.replaceAll(/\s+/g, " ")).toContain(
      "Suspended since 2026-11-21 or earlier. Its unpaid invoice was not due",
    );
  });

  it("lists a service with a lost response once", async () => {
    const project = await agency();
    await project.declare({ ...AGENCY, services: { ...AGENCY.services, d: site("d") } });
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 9 });
    await project.run("apply", "--auto-approve", "--allow-unknown-prices");
    project.control.clearFaults();
    project.clock.advance(3_600_000);
    const { overview, services } = await statusOf(project);
    expect(overview).toMatchObject({ declared: 7, services: 4, states: { waiting: 1 } });
    expect(services.filter(({ site: of }) => of === "d.example")).toHaveLength(1);
  });

  it("names each pending create request with its command", async () => {
    const project = await startProject({ declare: { project: "p", domains: { acme: registration("acme.example") } } });
    project.control.addFault({ path: "/domains", method: "POST", phase: "after", drop: true });
    expect((await project.run("apply", "--auto-approve", "--allow-unknown-prices")).code).toBe(1);
    const { overview, attention } = await statusOf(project);
    expect(overview.pending).toBe(1);
    expect(attention[0]).toMatchObject({ condition: "pending", address: "hosting_domain.acme" });
    expect(attention[0]?.fix).toContain("`hostform resolve 'hosting_domain.acme'`");
    expect((await project.run("audit")).out).toContain("Pending orders: 1");
    expect((await project.run("audit", "--fail-on", "pending")).code).toBe(4);
  });
});

describe("the history", () => {
  it("shows the quote of an order beside its first invoice, also after a resolve, and the last changes", async () => {
    // Exact amounts, billed in cents: plan 11 costs this account 450.
    const project = await startProject({ pinned: { plan: ["plan_id", "id"], money: ["minor"] } });
    project.env.HOSTFORM_AUTHOR = "ann";
    await project.declare({ project: "p", services: { a: site("a", { client: "acme" }) } });
    await project.apply();
    await project.declare({ project: "p", services: { a: site("a", { client: "acme" }), b: site("b") } });
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    project.control.clearFaults();
    project.clock.advance(3_600_000);
    const lost = project.control.list("services").find(({ domain }) => domain === "b.example");
    expect((await project.run("resolve", "hosting_service.b", "--adopt", `${lost?.id}`)).code).toBe(0);
    project.control.advanceClock({ months: 1, days: 1 });
    const { money, changes } = await statusOf(project);
    const own = money.invoices.filter(({ site: of }) => of !== null);
    // Each service has the invoice of its order and a renewal.
    expect(own.map((one) => `${one.quoted} ${one.is_above_quote}`).toSorted()).toEqual([
      ...["450 false", "450 false", "null false", "null false"],
    ]);
    expect(changes.map(({ who, command }) => `${who} ${command}`)).toEqual(["ann resolve", "ann apply", "ann apply"]);
    expect((await project.run("status")).out).toMatch(/Last changes: 3\nWHEN .*\n.* ann .* resolve: Adopted/);
    expect((await statusOf(project, "--target", "client:acme")).changes).toEqual([]);
    const file = `${project.statePath}.history`;
    const text = await readFile(file, "utf8");
    // A recorded price of 449, in a history whose chain is intact.
    const [first] = text.split("\n");
    await writeFile(file, `${first?.replace('"quote":450', '"quote":449')}\n`);
    expect((await project.run("status", "--section", "invoices")).out).toContain("above its quote");
    await writeFile(file, text.replace('"before":""', '"before":"x"'));
    const broken = await project.run("status");
    expect([broken.code, broken.text]).toEqual([0, expect.stringMatching(/Warning: .*\[state\.history\]/s)]);
  });
});

describe("access", () => {
  it("comes from the state, and with --full from each service", async () => {
    const project = await agency();
    const policy = path.join(project.dir, "policy.yaml");
    await writeFile(policy, "grantee_domains: [acme.example]\n");
    project.control.create("grants", {
      service_id: await idOf(project, "b"),
      email: "x@else.example",
      permission: "view",
    });
    const emails = ({ access: { grants } }: AccountReport) =>
      grants.map((one) => `${one.email} ${one.site} ${one.is_declared}`);
    const first = await statusOf(project);
    expect(emails(first)).toEqual(["dev@acme.example a.example true"]);
    expect(first.access.is_complete).toBe(false);
    const full = await statusOf(project, "--full");
    expect(emails(full)).toEqual(["dev@acme.example a.example true", "x@else.example b.example false"]);
    expect(full.access).toMatchObject({ is_complete: true, as_of: null });
    const site = await statusOf(project, "--full", "--target", "hosting_service.b");
    expect(emails(site)).toEqual(["x@else.example b.example false"]);
    expect(site.access.is_complete).toBe(true);
    for (const more of [[], ["--full"]]) {
      const own = await statusOf(project, "--target", "hosting_service.a", ...more);
      expect(emails(own)).toEqual(["dev@acme.example a.example true"]);
      // The overview counts the target without its access.
      expect(own.overview).toMatchObject({ declared: 1, synced: 1 });
    }
    const none = await project.run("status", "--target", "hosting_service.c", "--section", "access");
    expect(none.out).toContain("Access\nThe state has no access. A full status reads the grants of each service.");
    expect((await project.run("audit", "--full", "--policy", policy)).out).toContain(
      "not declared, outside the allowed domains",
    );
  });
});

describe("requests", () => {
  it("for 300 services: three pages, the pages of invoices, and one for each other collection", async () => {
    const project = await startProject({ declare: { project: "p" }, pinned: COUNTABLE });
    fillAgency(project.control, { services: 300 });
    const report = await statusOf(project);
    const sent = project.sent().map((text) => text.replace(/\?.*/, ""));
    const count = (name: string) => sent.filter((text) => text === `GET /${name}`).length;
    expect(count("services")).toBe(3);
    expect(count("invoices")).toBeLessThanOrEqual(10);
    for (const name of ["webhooks", "accounts", "migration-requests"]) expect(count(name), name).toBe(1);
    expect(sent).toHaveLength(6 + count("invoices"));
    expect(report.requests).toMatchObject({ sent: sent.length, full: sent.length + 300 });
    const before = project.clock.now();
    const full = await statusOf(project, "--full");
    expect(full.requests.sent).toBe(report.requests.full);
    expect(Math.abs((project.clock.now() - before) / 1000 - report.requests.full_seconds)).toBeLessThan(3);
  });

  it("have a forecast of the wait for the rate limit: none within the limit", async () => {
    const project = await agency();
    project.control.seedServices({ count: 30, plan_id: 12 });
    project.clock.advance(60_000);
    expect((await statusOf(project)).requests.full_seconds).toBeLessThan(10);
  });

  it("needs no ability except view, and names the rest", async () => {
    const project = await agency();
    project.env.HOSTING_TOKEN = project.sandbox.tokens.viewer;
    const report = await statusOf(project);
    expect(report.money.unread).toContain("billing");
    expect(report.unread.map(({ what }) => what)).toEqual(["webhooks"]);
    expect(report.holds).toContain("unread");
    expect(report.overview).toMatchObject({ services: 3, states: { live: 3 } });
    const { out } = await project.run("status");
    expect(out).toContain("Not all invoices were read: account default: The token may not read invoices (403)");
    expect(out).toContain("Not read: webhooks of account default.");
  });
});

describe("options", () => {
  it("--target and --provider limit the report", async () => {
    const project = await agency();
    project.control.seedServices({ count: 1, plan_id: 12 });
    const acme = await statusOf(project, "--target", "client:acme");
    expect(acme.services.map(({ site }) => site)).toEqual(["a.example", "c.example"]);
    expect(acme.money.invoices).toHaveLength(2);
    const own = await statusOf(project, "--provider", "default");
    expect(own.services).toHaveLength(4);
    expect((await project.run("status", "--provider", "other")).text).toContain("provider.unknown");
    expect((await project.run("status", "--target", "client:nobody")).code).not.toBe(0);
  });

  it("CSV has one section, and no cell is a formula", async () => {
    const project = await agency();
    const { out } = await project.run("status", "--section", "services", "--format", "csv");
    const [head, first] = out.split("\n");
    expect(head).toContain("client,");
    expect(first).toContain("a.example");
    expect(first).toContain("5.00");
    const many = await project.run("status", "--format", "csv");
    expect([many.code, many.text]).toEqual([1, expect.stringContaining("CSV has one table")]);
    for (const name of SECTIONS) expect(many.text).toContain(name);
  });

  it.each([
    [["--section", "service"], "Did you mean"],
    [["--json", "--format", "html"], "--json and --format html"],
    [["--fail-on", "down"], "is no condition"],
  ])("rejects %s", async (args, text) => {
    const project = await startProject({ declare: { project: "p" } });
    const ran = await project.run("status", ...args);
    expect([ran.code, ran.text]).toEqual([1, expect.stringContaining(text)]);
  });
});

it("Ctrl-C ends the reads, and frees the lock", async () => {
  const project = await agency();
  project.control.addFault({ path: "/webhooks", method: "GET", phase: "before", delayMs: 1 });
  project.onDelay = () => project.interrupt();
  const ran = await project.run("status");
  expect(ran.code).not.toBe(0);
  expect(ran.text).toContain("Interrupted. Nothing was changed.");
  project.onDelay = () => undefined;
  await statusOf(project);
});
