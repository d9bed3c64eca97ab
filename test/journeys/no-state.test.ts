/** A clone of a project without its state: the plan names the cause once, and one `adopt` recovers every resource. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const site = (domain: string, grants: object = {}) => ({ plan_id: 11, currency: "USD", domain, grants });

/** Sites with two grants each, webhooks and a client account. */
const agency = (sites: number) => ({
  project: "agency",
  services: Object.fromEntries(
    Array.from({ length: sites }, (_, at) => {
      const owner = { permission: "view", expires_at: "2030-01-31T00:00:00Z" };
      const grants = { "dev@agency.example": "manage", [`owner-${at}@client.example`]: owner };
      return [`site-${at}`, site(`site-${at}.example`, grants)];
    }),
  ),
  webhooks: {
    paid: { url: "https://hooks.agency.example/paid", events: ["invoice.paid"] },
    orders: { url: "https://hooks.agency.example/orders", events: ["invoice.created", "invoice.paid"] },
  },
  client_accounts: { acme: { name: "Acme", currency: "USD" } },
});

/** A project that was applied and has lost its state. */
async function cloned(declare: object, more: Partial<Parameters<typeof startProject>[0]> = {}): Promise<Project> {
  const project = await startProject({ ...more, declare });
  await project.apply();
  await project.loseState();
  project.sent();
  return project;
}

const codes = async (project: Project) => (await project.plan()).diagnostics.map(({ code }) => code);
const orders = ({ control }: Project) => control.list("services").length;

describe("15 sites with grants and webhooks, without their state", () => {
  it("are one error in text, comment and page; JSON keeps all; an adoption recovers them", async () => {
    const project = await cloned(agency(15));
    const files = ["--report", "plan.md", "--report", "plan.html"];
    const ran = await project.run("plan", ...files);
    expect(ran.code).toBe(1);
    expect(ran.text.match(/^Error: .*/gm)).toEqual([
      "Error: This project has no state here (hosting.tfstate), but the account has 18 of its objects [state.missing]",
    ]);
    expect(ran.text).not.toContain("Warning:");
    expect(ran.text.split("\n").length).toBeLessThan(20);
    const [comment, page] = await Promise.all(
      ["plan.md", "plan.html"].map((file) => readFile(path.join(project.dir, file), "utf8")),
    );
    for (const text of [ran.text, comment, page]) {
      const words = text?.replaceAll("&quot;", '"').replace(/\s+/g, " ");
      expect(words).toContain("This project has no state here (hosting.tfstate)");
      expect(words).toMatch(/This causes 18 errors \[plan\.exists\]: (?:hosting_[\w.-]+,? ){3}and 15 more\./);
      expect(words).toMatch(/This causes 30 skipped changes \[apply\.skipped\]: (?:[^ ]+ ){3}and 27 more\./);
      expect(words).toContain("hostform adopt --declared");
      expect(words).toContain("The plan has 1 error and cannot be applied.");
    }
    const { hostform } = JSON.parse((await project.run("plan", "--json")).out) as {
      hostform: { diagnostics: { code: string; because?: string }[] };
    };
    const { diagnostics } = hostform;
    const symptoms = diagnostics.filter(({ code }) => code === "plan.exists");
    expect(symptoms).toHaveLength(18);
    expect(symptoms.every(({ because }) => because === "state.missing")).toBe(true);
    expect(diagnostics.filter(({ code }) => code === "apply.skipped")).toHaveLength(30);

    const applied = await project.run("apply", "--auto-approve", "--partial");
    expect(applied.code).toBe(1);
    const adopted = await project.run("adopt", "--declared", "--auto-approve");
    expect(adopted.text).toContain("Adopted 15 services, 30 grants, 2 webhooks, 1 client account.");
    await project.expectNoChanges();
    expect(project.changesSent()).toEqual([]);
  }, 60_000);
});

describe("an adoption of what is declared", () => {
  it("leaves the objects of other projects alone, and does not read their grants", async () => {
    const project = await cloned(agency(3), { pinned: {} });
    project.control.seedServices({ count: 4 });
    const [own] = project.control.list("services");
    project.control.create("grants", { service_id: own?.id ?? 0, email: "other@x.example", permission: "view" });
    project.sent();
    const ran = await project.run("adopt", "--declared", "--auto-approve");
    expect(ran.text).toMatch(
      /^Adopted 3 services, 6 grants, 2 webhooks, 1 client account\. .* Only the state was written\.$/m,
    );
    expect(project.sent().filter((line) => line.endsWith("/grants"))).toHaveLength(3);
    await project.expectNoChanges();
    expect((await project.state()).resources.size).toBe(12);
  });

  it("names a registration that no list shows, before an apply could order it again", async () => {
    const contact = { first_name: "Ana", last_name: "Acme", email: "ana@acme.example", phone: "+995 555 000000" };
    const at = { address: "1 Rustaveli Ave", city: "Tbilisi", postcode: "0108", country: "GE" };
    const acme = { domain: "acme.example", years: 1, currency: "USD", nameserver_mode: "default" };
    const domains = { acme: { ...acme, registrant_contact: { ...contact, ...at } } };
    const project = await cloned({ ...agency(3), domains });
    const ran = await project.run("adopt", "--declared", "--auto-approve");
    const words = ran.text.replace(/\s+/g, " ");
    expect(words).toContain("hosting_domain.acme: no list of the API shows it.");
    const [, command = ""] = /`hostform (import [^`]*)`/.exec(words) ?? [];
    expect((await project.run(...command.replaceAll("'", "").split(" "))).code).toBe(0);
    await project.expectNoChanges();
  });
});

describe("the missing state", () => {
  it("is not named by the first plan of a new project, which finds few objects", async () => {
    const project = await startProject({ declare: agency(8) });
    for (const at of [0, 1, 2]) {
      const [made] = project.control.seedServices({ account: "agency", plan_id: 11 });
      project.control.change("services", made?.id ?? 0, { domain: `site-${at}.example` });
    }
    const found = await codes(project);
    expect(found.filter((code) => code === "plan.exists")).toHaveLength(3);
    expect(found).not.toContain("state.missing");
  });

  it.each([
    [2, false],
    [3, true],
  ])("of %i sites: %s", async (count, isNamed) => {
    const services = Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, site(`s${at}.example`)]));
    const project = await cloned({ project: "few", services });
    expect((await codes(project)).includes("state.missing")).toBe(isNamed);
    expect(orders(project)).toBeGreaterThanOrEqual(count);
  });

  it("stops what a partial apply would order", async () => {
    const project = await cloned(agency(3));
    const declared = agency(3);
    await project.declare({ ...declared, services: { ...declared.services, extra: site("extra.example") } });
    const before = orders(project);
    expect((await project.run("apply", "--auto-approve", "--partial")).code).toBe(1);
    expect(orders(project)).toBe(before);
  });

  it("is looked for beside it: another environment's state, another checkout", async () => {
    const project = await cloned(agency(3));
    writeFileSync(path.join(project.dir, "hosting.production.tfstate"), "{}");
    const ran = await project.run("plan");
    expect(ran.text.replace(/\s+/g, " ")).toContain("The same folder has hosting.production.tfstate.");
  });

  it("is held by another checkout on this machine, which the plan names", async () => {
    const project = await startProject({ declare: agency(3) });
    project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
    mkdirSync(path.join(project.dir, "home"), 0o700);
    await project.apply();
    const other = await project.beside(agency(3));
    const ran = await other.run("plan");
    const words = ran.text.replace(/\s+/g, " ");
    expect(words).toContain("[state.missing]");
    expect(words).toMatch(/hosting\.tfstate in \S+ contains these objects\./);
  });

  it("is put back from its backup by the command that is named, with its secrets", async () => {
    const project = await startProject({ declare: agency(3) });
    await project.apply();
    await project.declare(agency(4));
    await project.apply();
    rmSync(project.statePath);
    const ran = await project.run("plan");
    const words = ran.text.replace(/\s+/g, " ");
    expect(words).toContain("hosting.tfstate.backup is a backup from before the last change, with the secrets");
    expect(words).toContain("To continue with the last copy: `hostform state push hosting.tfstate.backup --force`.");
    await project.run("state", "push", "hosting.tfstate.backup", "--force");
    const [made] = project.control.list("webhooks");
    const hooks = [...(await project.state()).resources.values()].map(({ attributes }) => attributes.secret);
    expect(hooks).toContain(made?.secret);
  });

  it("of an empty state is said so", async () => {
    const project = await cloned(agency(3));
    await project.run("adopt", "--declared", "--auto-approve");
    const all = [...(await project.state()).resources.keys()];
    expect((await project.run("state", "rm", ...all)).code).toBe(0);
    const ran = await project.run("plan");
    expect(ran.text).toContain("The state of this project is empty (hosting.tfstate), but the account has 6");
  });
});

describe("an apply in which many changes are skipped", () => {
  it("names them once, under the failure that caused it", async () => {
    const grants = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}@x.example`, "view"]));
    const project = await startProject({ declare: { project: "one", services: { www: site("w.example", grants) } } });
    project.control.addFault({ method: "POST", path: "/services", phase: "before", status: 422, times: 1 });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    const words = ran.text.replace(/\s+/g, " ");
    expect(words).toMatch(/This causes 20 skipped changes \[apply\.skipped\]: (?:\S+ ){3}and 17 more\./);
    expect(words).not.toContain("Skipped:");
    expect(words).not.toContain("Skipped hosting_grant");
  });
});
