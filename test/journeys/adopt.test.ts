/** `hostform adopt`: one command puts an account under management that somebody else has filled. */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Profile } from "../../src/sandbox/index.ts";
import { COUNTABLE, fillAgency } from "../support/agency.ts";
import { type Project, type ProjectOptions, startProject } from "../support/project.ts";

/** An account with this number of services, on a host whose lists declare their end. */
async function agency(
  services: number,
  { webhooks = 12, accounts = 41, ...options }: ProjectOptions & { webhooks?: number; accounts?: number } = {},
): Promise<Project> {
  const project = await startProject({ pinned: COUNTABLE, ...options });
  for (const { id } of project.control.list("services")) project.control.remove("services", id);
  fillAgency(project.control, { services, webhooks, accounts });
  return project;
}

/** The files of the declaration, by name. */
async function declared({ dir }: Project): Promise<Record<string, string>> {
  const names = (await readdir(dir)).filter((name) => name.endsWith("hosting.yaml")).toSorted();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(dir, name), "utf8")])),
  );
}

describe("an account of 120 services, 180 grants, 12 webhooks and 41 client accounts", () => {
  it("is adopted with at most 129 requests; then a plan has no changes, and a second run adds nothing", async () => {
    const project = await agency(120);
    const asked: string[] = [];
    project.answer = (question) => {
      asked.push(question);
      return "yes";
    };
    const ran = await project.run("adopt");
    expect(ran.code, ran.text).toBe(0);
    const sent = project.sent();
    expect(sent.length).toBeLessThanOrEqual(129);
    expect(sent.filter((line) => !line.startsWith("GET "))).toEqual([]);
    expect(asked).toHaveLength(1);
    expect(ran.err).toContain("120 services");
    expect(ran.out).toContain("Adopted 120 services, 180 grants, 12 webhooks, 41 client accounts");
    expect(ran.out).toContain("Plan: no changes");
    expect((await project.state()).resources.size).toBe(120 + 180 + 12 + 41);
    await project.expectNoChanges();
    // Requests of a later plan: with a full refresh, with the grants of 50 services, and with changed services only.
    const read: number[] = [];
    for (const flags of [[], ["--refresh-budget", "50"], ["--refresh=changed"]]) {
      project.sent();
      expect((await project.run("plan", ...flags)).code).toBe(0);
      read.push(project.sent().length);
    }
    expect(read).toEqual([124, 54, 0]);

    // Adopt writes the common settings of sites once, as templates.
    const files = await declared(project);
    expect(files["hosting.yaml"]).toMatch(/^templates:$/m);
    const lines = Object.values(files).join("").split("\n");
    expect(lines.filter((line) => line !== "").length).toBeLessThan(900);

    const [before, state] = [await declared(project), await project.stateText()];
    const again = await project.run("adopt", "--auto-approve");
    expect(again.out).toContain("Nothing new to adopt");
    expect([await declared(project), await project.stateText()]).toEqual([before, state]);
  });
});

describe("adopt", () => {
  it("gives the same names whatever the order of the lists, and numbers collisions by id", async () => {
    const filled = async (order: Profile["order"]) => {
      const project = await agency(12, {
        webhooks: 3,
        accounts: 0,
        pinned: { ...COUNTABLE, order: [order] },
      });
      const twins = project.control.seedServices({ count: 2, plan_id: 31 });
      await project.run("adopt", "--auto-approve", "--project", "agency");
      await project.expectNoChanges();
      return { files: await declared(project), twins };
    };
    const [newest, scattered] = [await filled("newest"), await filled("scattered")];
    expect(scattered.files).toEqual(newest.files);
    const names = newest.twins.map(({ id }) => `  vps-1-${id}:`);
    for (const name of names) expect(newest.files["unassigned.hosting.yaml"]).toContain(name);
    expect(newest.files["webhooks.hosting.yaml"]).toMatch(/hooks-agency-example:[\s\S]*-example-2:[\s\S]*-example-3:/);
  });

  it("goes on after an interruption with what was read, and removes that at the end", async () => {
    for (const key of [undefined, Buffer.alloc(32, 7).toString("base64")]) {
      const project = await agency(30, {
        accounts: 0,
        webhooks: 1,
        env: key === undefined ? {} : { HOSTFORM_STATE_KEY: key },
      });
      let seen = 0;
      project.control.addFault({
        method: "GET",
        path: "/services/:id/grants",
        phase: "before",
        delayMs: 1,
        times: 100,
      });
      project.onDelay = () => {
        seen += 1;
        if (seen === 20) project.interrupt();
      };
      const first = await project.run("adopt", "--auto-approve");
      expect(first.code).toBe(1);
      expect(await project.stateText()).toBeUndefined();
      expect(await declared(project)).toEqual({});
      const kept = path.join(project.dir, "hosting.tfstate.adopt");
      expect((await stat(kept)).mode & 0o777).toBe(0o600);
      expect((await readFile(kept, "utf8")).includes("dev@agency.example")).toBe(key === undefined);
      project.control.clearFaults();
      project.sent();

      project.clock.advance(10 * 60_000);
      const second = await project.run("adopt", "--auto-approve");
      expect(second.code, second.text).toBe(0);
      expect(second.err).toMatch(/Reusing \d+ lists that were read 10 min ago, from hosting\.tfstate\.adopt/);
      const again = project.sent();
      expect(again.length).toBeGreaterThan(0);
      expect(again.length).toBeLessThanOrEqual(20);
      await expect(stat(kept)).rejects.toThrow("ENOENT");
      await project.expectNoChanges();
    }
  });

  it("adds what is new, in a block too, and leaves every byte that was there", async () => {
    const project = await agency(3, { accounts: 0, webhooks: 0 });
    await project.run("adopt", "--auto-approve");
    const file = path.join(project.dir, "unassigned.hosting.yaml");
    const written = `# ours\n${(await readFile(file, "utf8")).replace("dev@agency.example: manage", "dev@agency.example: manage # Dev")}# end`;
    await writeFile(file, written);
    const [service] = project.control.list("services");
    project.control.create("grants", { service_id: service?.id ?? 0, email: "new@agency.example", permission: "view" });
    project.control.seedServices({ count: 1, domain_prefix: "late" });
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.out).toContain("Adopted 1 service, 1 grant");
    const after = await readFile(file, "utf8");
    const removed = after.split("\n").filter((line) => !written.split("\n").includes(line));
    expect(after.replace(/^ +new@agency\.example: view\n/m, "").startsWith(written)).toBe(true);
    expect(removed.join("\n")).toContain("late-00001-example:");
    await project.expectNoChanges();
  });

  it("finishes what was written and not recorded, as after a run that was killed", async () => {
    const project = await agency(3, { accounts: 2, webhooks: 1 });
    project.control.seedServices({ plan_id: 31, count: 2 });
    await project.run("adopt", "--auto-approve");
    const before = await declared(project);
    await project.loseState();
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(await declared(project)).toEqual(before);
    await project.expectNoChanges();
  });

  it("leaves what somebody has declared otherwise, and adopts the rest", async () => {
    const project = await agency(2, { accounts: 0, webhooks: 0 });
    const [first] = project.control.list("services");
    await project.declare({
      project: "agency",
      services: {
        ours: { plan_id: 12, currency: "USD", domain: first?.domain, grants: { "dev@agency.example": "view" } },
      },
    });
    const before = await declared(project);
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("Adopted 1 service, 1 grant.");
    expect(ran.out).toMatch(
      /Not adopted:\n {2}service 1003: hosting_service\.ours is declared\. The API cannot change "plan_id" of hosting_service\.ours/,
    );
    expect((await declared(project))["hosting.yaml"]).toBe(before["hosting.yaml"]);
  });

  it("takes what waits and what is suspended as it is, and leaves what is gone, what is double and what holds a secret", async () => {
    // If hostform does not know the host's status words, it treats every service as present.
    const pinned = { ...COUNTABLE, status: ["lower"] } as const;
    const project = await agency(1, { accounts: 0, webhooks: 0, pinned });
    const { control } = project;
    for (const status of ["pending", "suspended", "terminated", "cancelled"] as const) {
      control.seedServices({ status, domain_prefix: status });
    }
    const [twin] = control.seedServices({ domain_prefix: "twin" });
    control.change("services", twin?.id ?? 0, { domain: "suspended-00001.example" });
    const [first] = control.list("services");
    const [grant] = control.list("grants").filter(({ service_id }) => service_id === first?.id);
    control.change("grants", grant?.id ?? 0, { expires_at: "2020-01-31T00:00:00.000Z" });
    control.create("webhooks", {
      url: `https://hooks.agency.example/${project.env.HOSTING_TOKEN}`,
      events: ["invoice.paid"],
    });
    await project.declare("1,nobody\n", "services.csv");
    const ran = await project.run("adopt", "--auto-approve", "--clients", "services.csv");
    expect(ran.code, ran.text).toBe(0);
    const [text, state] = [Object.values(await declared(project)).join(""), await project.stateText()];
    for (const name of ["site", "pending", "suspended"]) expect(text).toContain(`  ${name}-00001-example:`);
    expect(text).not.toMatch(/terminated|cancelled|twin|suspended: /);
    expect(text).toContain(
      "  # Suspended in the account. Without `suspended`, the suspension stays.\n  suspended-00001-example:",
    );
    expect(ran.out).toContain("Who suspended 1 service");
    expect(`${text}${state}${ran.text}`).not.toContain(project.env.HOSTING_TOKEN);
    expect(ran.out).toMatch(/services \d+ and \d+ both use suspended-00001\.example\. Declare the domain once\./);
    expect(ran.out).toMatch(/webhook [^\n]+: it contains a secret of this machine/);
    expect(ran.out).toContain("service 1: services.csv names it");
    const { changes } = await project.plan();
    expect(changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);
  });

  it.each([
    [
      "hcl",
      "unassigned.tf",
      /^# Suspended in the account\. .*\nresource "hosting_service" "suspended-00001-example" \{$/m,
    ],
  ])("marks what is suspended in each format: %s", async (format, file, says) => {
    const project = await agency(1, { accounts: 0, webhooks: 0, pinned: { ...COUNTABLE, status: ["lower"] } });
    project.control.seedServices({ status: "suspended", domain_prefix: "suspended" });
    const ran = await project.run("adopt", "--auto-approve", "--format", format);
    expect(ran.code, ran.text).toBe(0);
    const text = await readFile(path.join(project.dir, file), "utf8");
    expect(text).toMatch(says);
    expect(text.match(/Suspended in the account/g)).toHaveLength(1);
  });

  it("guesses neither which of two a declared service is, nor whether a server is the declared one", async () => {
    const project = await agency(1, { accounts: 0, webhooks: 0 });
    const { control } = project;
    const [server] = control.seedServices({ plan_id: 31 });
    const [, , twin] = [...control.list("services"), ...control.seedServices({ domain_prefix: "twin" })];
    control.change("services", twin?.id ?? 0, { domain: "site-00001.example" });
    const www = { plan_id: 11, currency: "USD", domain: "site-00001.example" };
    await project.declare({ project: "agency", services: { www, box: { plan_id: 31, currency: "USD" } } });
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("Nothing new to adopt.");
    expect(ran.out.match(/service \d+: \d+ and \d+ all match the declaration of hosting_service\.www/g)).toHaveLength(
      2,
    );
    expect(ran.out).toContain(`service ${server?.id}: it may be hosting_service.box, which is declared`);
    expect((await project.state()).resources.size).toBe(0);
  });

  it("adopts nothing while an order has no known outcome: its service is in the account", async () => {
    const project = await agency(0, { accounts: 0, webhooks: 0 });
    const { control } = project;
    await project.declare({ project: "agency", services: { box: { plan_id: 31, currency: "USD" } } });
    // The response is lost, and the next listing of services fails.
    control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, delayMs: 1, times: 100 });
    project.onDelay = () => {
      control.addFault({ method: "GET", path: "/services", phase: "before", status: 503, times: 100 });
    };
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect(control.list("services")).toHaveLength(1);
    control.clearFaults();
    const before = await declared(project);
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("hosting_service.box may exist in the account");
    expect(await declared(project)).toEqual(before);
    const [made] = control.list("services");
    expect((await project.run("resolve", "hosting_service.box", "--adopt", String(made?.id))).code).toBe(0);
    expect((await project.run("adopt", "--auto-approve")).out).toContain("Nothing new to adopt");
    expect(control.list("services")).toHaveLength(1);
  });

  it("records declared resources that refer to services whose ids this adoption finds", async () => {
    const project = await agency(2, { accounts: 0, webhooks: 0 });
    const { control } = project;
    const [first, second] = control.list("services");
    control.create("migration_requests", { domain: "old.acme.example", order_id: first?.id ?? null });
    control.create("migration_requests", { domain: first?.domain ?? "", order_id: second?.id ?? null });
    const www = { plan_id: 11, currency: "USD", domain: first?.domain };
    const shop = { plan_id: 11, currency: "USD", domain: second?.domain };
    await project.declare({
      project: "agency",
      services: { www, shop },
      migration_requests: {
        moving: {
          domain: "old.acme.example",
          order_id: "${hosting_service.www.id}",
          questions: { source_type: "cpanel" },
        },
        other: { domain: "${hosting_service.www.domain}", order_id: "${hosting_service.shop.id}" },
      },
    });
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    const { resources } = await project.state();
    const idOf = (address: string) => resources.get(address)?.attributes.order_id;
    expect(idOf("hosting_migration_request.moving")).toBe(resources.get("hosting_service.www")?.attributes.id);
    expect(idOf("hosting_migration_request.other")).toBe(resources.get("hosting_service.shop")?.attributes.id);
    expect(ran.out).toContain("Adopted 2 services, 2 migration requests.");
    await project.expectNoChanges();
  });

  it("prints the name of a second client account as the API has it", async () => {
    const project = await agency(0, { accounts: 0, webhooks: 0 });
    for (const name of ["Müller & Söhne", "MÜLLER & Söhne"])
      project.control.create("accounts", { name, currency: "USD" });
    const { out } = await project.run("adopt", "--auto-approve");
    expect(out).toMatch(/client accounts \d+ and \d+ both use (?:Müller|MÜLLER) & Söhne\. Declare the name once\./);
  });

  it("adopts services whose status is not understood, and names the words", async () => {
    const project = await agency(1, { accounts: 0, webhooks: 0, pinned: { ...COUNTABLE, status: ["digits"] } });
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.out).toMatch(/Values that the API does not return[\s\S]*The meaning of the status "\d+" of 1 services?/);
    expect(ran.out).toContain("Adopted 1 service, 2 grants.");
  });

  it("writes nothing when it is not approved, and nothing but what was read when it is a dry run", async () => {
    const project = await agency(2, { accounts: 1, webhooks: 0 });
    project.answer = () => "no";
    expect((await project.run("adopt")).code).toBe(1);
    expect((await project.run("adopt", "--json")).code).toBe(1);
    const dry = await project.run("adopt", "--dry-run");
    expect(dry.out).toContain("# unassigned.hosting.yaml");
    expect(dry.out).toContain("Would adopt 2 services");
    expect([await declared(project), await project.stateText()]).toEqual([{}, undefined]);
    project.sent();
    expect((await project.run("adopt", "--auto-approve")).code).toBe(0);
    expect(project.sent()).toEqual([]);
  });

  it("takes names and clients from files, and only what is selected", async () => {
    const project = await agency(4, { accounts: 1, webhooks: 1 });
    const ids = project.control.list("services").map(({ id }) => id);
    await project.declare(`service,client\n${ids[0]},Client 0\nsite-00002.EXAMPLE,"Acme, Ltd"\n`, "services.csv");
    await project.declare(
      `id,name\n${ids[0]},www\nwebhook/${project.idOf("webhooks", project.control.list("webhooks")[0]?.id)},billing\n`,
      "map.csv",
    );
    const one = await project.run("adopt", "--auto-approve", "--clients", "services.csv", "--client", "acme-ltd");
    expect(one.out).toContain("Adopted 1 service, 1 grant.");
    expect(Object.keys(await declared(project))).toEqual(["acme-ltd.hosting.yaml", "hosting.yaml"]);
    const none = await project.run(
      "adopt",
      "--auto-approve",
      "--select",
      "*0004.example",
      "--select",
      "*.shop.example",
    );
    expect(none.code).toBe(1);
    expect(none.err).toContain('The pattern "*.shop.example" matches no domain of the account');
    const two = await project.run("adopt", "--auto-approve", "--select", "*0004.EXAMPLE");
    expect(two.out).toContain("Adopted 1 service, 1 grant.");
    const rest = await project.run("adopt", "--auto-approve", "--clients", "services.csv", "--names", "map.csv");
    expect(rest.code, rest.text).toBe(0);
    const files = await declared(project);
    expect(files["client-0.hosting.yaml"]).toMatch(
      /client_accounts:\n {2}client-0:[\s\S]*services:\n {2}www:\n[\s\S]*\n {4}client: client-0\n/,
    );
    expect(files["webhooks.hosting.yaml"]).toContain("  billing:");
    expect(await project.run("fmt", "--check")).toMatchObject({ code: 0, out: "" });
    await project.expectNoChanges();
  });

  it("leaves the plan of a service open where its name is not unique, and adopts it once that is chosen", async () => {
    const project = await agency(2, { accounts: 0, webhooks: 0 });
    for (const id of [11, 12]) project.control.change("plans", id, { name: "Twin", prices: { USD: 500 } });
    for (const { id } of project.control.list("services")) project.control.change("services", id, { plan: "Twin" });
    const ran = await project.run("adopt", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    const file = path.join(project.dir, "unassigned.hosting.yaml");
    const text = await readFile(file, "utf8");
    expect(text).toMatch(/# choose: plan_id 11 \(Twin.*\) or 12 \(Twin.*\) \(service \d+\)/);
    const again = await project.run("adopt", "--auto-approve");
    expect(again.out).toContain("Nothing new to adopt");
    expect(await readFile(file, "utf8")).toBe(text);
    await writeFile(
      file,
      text.replace(/^ {2}# (?!choose|The API)/gm, "  ").replace(/^( *)import: "?(\d+)"?$/gm, "$&\n$1plan_id: 11"),
    );
    await project.apply();
    await project.expectNoChanges();
  });
});
