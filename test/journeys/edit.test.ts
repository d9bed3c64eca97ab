import { mkdir } from "node:fs/promises";
import path from "node:path";
/** The work of a month: each command edits the YAML, and the next plan has exactly the effect of the edit. */
import { describe, expect, it } from "vitest";
import { applied, SITES, text } from "../support/edited-sites.ts";
import { type Project, startProject } from "../support/project.ts";

/** Runs an edit and checks that it sends no change. Returns its output. */
async function edit(project: Project, ...args: string[]): Promise<string> {
  const { code, text: output } = await project.run("edit", ...args);
  expect(code, output).toBe(0);
  expect(project.changesSent()).toEqual([]);
  return output;
}

/** Returns the planned changes as `action address`. */
const planned = async (project: Project) =>
  (await project.plan()).changes
    .filter(({ actions, importing }) => actions[0] !== "no-op" || importing)
    .map(({ actions, address, after, importing }) => {
      const what = importing ? "import" : after?.suspended === true ? "suspend" : actions.join("+");
      return `${what} ${address}`;
    });

/** Grants access to the bakery without hostform. */
async function grantAccess(project: Project, email: string): Promise<void> {
  const { control, sandbox, clock } = project;
  const [, bakery] = control.list("services").slice(-3);
  const headers = { authorization: `Bearer ${sandbox.tokens.agency}`, "content-type": "application/json" };
  const body = JSON.stringify({ email, permission: "manage" });
  await fetch(`${sandbox.url}/api/v1/services/${bakery?.id}/grants`, { method: "POST", headers, body });
  project.changesSent();
  clock.advance(60_000);
}

describe("services that are not paid", () => {
  it("are suspended after the given time, and restored after the payment", async () => {
    const project = await applied({ autoPay: false, provisioningSeconds: 0 }, { HOSTING_MONEY_SCALE: "2" });
    project.control.advanceClock({ months: 1, days: 12 });
    const [acme, bakery] = project.control.list("services").filter(({ customer_id }) => customer_id === 1);
    for (const { id, status, order_id } of project.control.list("invoices"))
      if (status === "unpaid" && order_id === acme?.id) project.control.payInvoice(id);
    // The host has suspended cafe, and has restored bakery.
    project.control.unsuspendService(bakery?.id ?? 0);
    project.clock.advance(60_000);
    const early = await edit(project, "suspend", "--unpaid-over", "30d");
    expect(early).toContain("Nothing to change");
    expect(early).toContain("none has an invoice that is overdue for so long");
    const output = await edit(project, "suspend", "--unpaid-over", "2d");
    const names = ["acme", "bakery", "cafe"].filter((name) => output.includes(`hosting_service.${name} `));
    expect(names).toEqual(["bakery", "cafe"]);
    expect(output).toContain(
      "suspended: true (unpaid invoice INV-2026-000009, 4.50 USD, due 2026-12-28, overdue for more than 2 days)",
    );
    expect(await planned(project)).toEqual(["suspend hosting_service.bakery"]);
    await project.apply();
    project.changesSent();
    expect(await edit(project, "unsuspend", "--paid")).toContain("Nothing to change");
    for (const { id, status } of project.control.list("invoices"))
      if (status === "unpaid") project.control.payInvoice(id);
    project.clock.advance(60_000);
    // Somebody suspended bakery for another reason.
    const marked = await text(project);
    await project.declare(marked.replace("# unpaid INV-2026-000009", "# set by hand"));
    expect(await edit(project, "unsuspend", "--paid", "--dry-run")).not.toContain("hosting_service.bakery is");
    await project.declare(marked.replace("# unpaid INV-2026-000009", "# unpaid INV-2026-000009; ask them"));
    const restored = await edit(project, "unsuspend", "--paid");
    expect(await text(project)).toContain("    suspended: false # ask them\n");
    expect(await text(project)).toContain("client: cafe, suspended: false }\n");
    for (const name of names)
      expect(restored).toContain(`hosting_service.${name} is declared with suspended: false (paid`);
    expect(await planned(project)).toContain("update hosting_service.bakery");
  });

  it("need the ability billing: without it, the command fails and writes nothing", async () => {
    const project = await applied();
    project.control.addFault({
      method: "GET",
      path: "/invoices",
      phase: "before",
      status: 403,
      body: { message: "no" },
      times: 9,
    });
    const { code, text: output } = await project.run("edit", "suspend", "--unpaid-over", "30d");
    expect(code).toBe(1);
    expect(output).toContain("403");
    expect(await text(project)).toBe(SITES);
  });
});

describe("an edit of blocks", () => {
  it("changes the named service only, keeps all other lines, and --dry-run writes nothing", async () => {
    const project = await applied();
    const shown = await edit(project, "suspend", "bakery.example", "--dry-run");
    expect(shown).toContain("+    suspended: true");
    expect(await text(project)).toBe(SITES);
    await edit(project, "suspend", "bakery.example");
    expect((await text(project)).replace("    suspended: true\n", "")).toBe(SITES);
    expect(await planned(project)).toEqual(["suspend hosting_service.bakery"]);
    expect(await edit(project, "suspend", "bakery.example")).toContain("Nothing to change");
  });

  it("removes, renames, adds and hands over", async () => {
    const project = await applied();
    await edit(project, "rename", "acme.example", "hosting_service.acme-www");
    expect(await text(project)).toContain("moved:\n  - from: hosting_service.acme\n    to: hosting_service.acme-www\n");
    await project.expectNoChanges();
    await edit(project, "add", "pub.example", "--template", "site", "--client", "cafe");
    expect(await text(project)).toContain(
      "  pub-example: { template: site, with: { domain: pub.example }, client: cafe }\n",
    );
    expect(await planned(project)).toContain("create hosting_service.pub-example");
    await edit(project, "remove", "pub.example");
    await edit(project, "remove", "hosting_webhook.billing");
    expect(await planned(project)).toEqual(["delete hosting_webhook.billing"]);
    await project.apply("--allow-removals");
    expect(project.changesSent()).toEqual(["DELETE /webhooks/201"]);
    await project.declare((await text(project)).replace("client: cafe", "client: bakery"));
    await edit(project, "hand-over", "bakery");
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(project.control.list("grants")).toHaveLength(3);
    expect([...(await project.state()).resources.keys()]).toEqual([
      'hosting_grant.acme-www["dev@agency.example"]',
      "hosting_service.acme-www",
    ]);
  });

  it.each([
    ["an unknown domain", ["remove", "www.bakery.example"], 'Did you mean "bakery.example"'],
    ["a grant of a template", ["remove", 'hosting_grant.acme["dev@agency.example"]'], "hosting.yaml:14:7"],
    ["a template that does not exist", ["add", "x.example", "--template", "sites"], 'Did you mean "site"?'],
    ["a domain that is declared", ["add", "acme.example", "--template", "site"], "declared as hosting_service.acme"],
    ["no service", ["suspend"], "No service is selected"],
    ["the same name", ["rename", "acme.example", "acme"], "not a new name"],
    ["an unknown client", ["hand-over", "acm"], "client:acm"],
    ["seconds", ["suspend", "--unpaid-over", "30"], "30d"],
    ["a grant instead of a service", ["suspend", 'hosting_grant.acme["dev@agency.example"]'], "is not a service"],
    ["a name that is no e-mail address", ["revoke", "smith"], "smith is not an e-mail address"],
    ["a name with a space", ["rename", "acme.example", "bad name"], "bad name is not a new name"],
    ["an address of another kind", ["rename", "acme.example", "hosting_webhook.acme"], "is not a new name"],
    ["an address with a key", ["rename", "acme.example", 'hosting_service.www["a"]'], "is not a new name"],
    ["a new name of a grant", ["rename", 'hosting_grant.acme["dev@agency.example"]', "www"], "is not a new name"],
    ["a name that is declared", ["rename", "acme.example", "cafe"], "hosting_service.cafe is already declared"],
    ["a wrong time", ["suspend", "--unpaid-over", "1m"], "30d"],
  ])("rejects %s, and writes nothing", async (_, args, words) => {
    const project = await startProject({ declare: SITES });
    const { code, text: output } = await project.run("edit", ...args);
    expect(code).toBe(1);
    expect(output).toContain(words);
    expect(await text(project)).toBe(SITES);
  });

  it("rejects a block that another service uses as an anchor, and an expression", async () => {
    const project = await startProject();
    const shared = `project: p
services:
  a: &a
    plan_id: 11
    currency: USD
    domain: a.example
  b:
    <<: *a
    domain: b.example
    suspended: \${var.down}
variables:
  down: { type: boolean, default: false }
`;
    await project.declare(shared.replace(/ {4}suspended[\s\S]*/, ""));
    const first = await project.run("edit", "suspend", "a.example");
    expect(first.text).toContain("the edit would also change hosting_service.b");
    await project.declare(shared);
    const second = await project.run("edit", "suspend", "b.example");
    expect(second.text).toContain("hosting.yaml:10:5");
    expect([first.code, second.code]).toEqual([1, 1]);
    const third = await project.run("edit", "remove", "a.example");
    expect([third.code, third.text]).toEqual([1, expect.stringContaining("b uses the anchor &a of hosting_service.a")]);
    expect(await text(project)).toBe(shared);
  });

  it("rejects values of one account for several environments", async () => {
    const project = await startProject({ declare: SITES });
    await mkdir(path.join(project.dir, "environments"));
    for (const name of ["production", "staging"]) await project.declare({}, `environments/${name}.yaml`);
    for (const args of [["suspend"], ["accept"]]) {
      const ran = await project.run("-e", "staging", "edit", ...args, "acme.example");
      expect([ran.code, ran.text]).toEqual([1, expect.stringContaining("production")]);
    }
  });

  it("removes a grant of a block, adopts another one beside it, and reports an object that does not exist", async () => {
    const project = await applied();
    const own = SITES.replace(
      "    client: bakery\n",
      "    client: bakery\n    grants:\n      own@agency.example: view\n",
    );
    await project.declare(own);
    expect(await edit(project, "remove", 'hosting_grant.bakery["own@agency.example"]')).toContain("no longer declared");
    expect(await text(project)).not.toContain("own@agency.example");
    await project.declare(own);
    const service_id = project.control.list("services").find(({ domain }) => domain === "bakery.example")?.id ?? 0;
    project.control.create("grants", { service_id, email: "other@agency.example", permission: "view" });
    project.clock.advance(60_000);
    await edit(project, "revoke", "other@agency.example");
    expect(await text(project)).toMatch(/grants:\n {6}own@agency\.example: view\n {6}other@agency\.example: ?\{?/);
    await edit(project, "add", "inn.example", "--template", "site", "--client", "acme");
    expect(await edit(project, "accept", "inn.example")).toContain("inn-example does not exist in the account");
  });
});

it("a person who leaves loses declared grants first, and undeclared grants after their adoption", async () => {
  const project = await applied();
  await project.declare(
    SITES.replace(
      "      dev@agency.example: manage\n",
      "      dev@agency.example: manage\n      gone@agency.example: view\n",
    ),
  );
  await project.apply();
  await grantAccess(project, "other@agency.example");
  await edit(project, "revoke", "gone@agency.example");
  expect(await text(project)).toBe(SITES);
  expect(await edit(project, "revoke", "gone@agency.example")).toContain(
    '["gone@agency.example"] is no longer declared.',
  );
  await project.apply("--allow-removals");
  project.changesSent();
  expect(await edit(project, "revoke", "other@agency.example")).toContain("was not declared");
  expect(await planned(project)).toEqual(['import hosting_grant.bakery["other@agency.example"]']);
  await project.apply();
  await edit(project, "revoke", "other@agency.example");
  await project.apply("--allow-removals");
  expect(project.changesSent()).toHaveLength(1);
  expect(await text(project)).toBe(SITES);
});

it("a mistyped e-mail address is an error with the similar address in the declaration, the state or the account", async () => {
  const project = await applied();
  const near = async (email: string) => {
    const before = await text(project);
    const { code, text: output } = await project.run("edit", "revoke", email);
    expect(code, output).toBe(1);
    expect(await text(project)).toBe(before);
    return /has no grant\.(?: Did you mean "(.*)"\?)?/.exec(output)?.[1];
  };
  expect(await near("dve@agency.example")).toBe("dev@agency.example");
  expect(await near("nobody@other.example")).toBeUndefined();
  await grantAccess(project, "other@agency.example");
  expect(await near("othr@agency.example")).toBe("other@agency.example");
  await project.declare(SITES.replace("      dev@agency.example: manage\n", "      new@agency.example: manage\n"));
  expect(await near("dve@agency.example")).toBe("dev@agency.example");
});

it("the live value is accepted after drift, and no change is planned", async () => {
  const project = await applied();
  await project.declare(SITES.replace("client: cafe }", "client: cafe, suspended: false }"));
  await project.apply();
  project.changesSent();
  const { id } = project.control.list("services").at(-1) ?? { id: 0 };
  project.control.suspendService(id);
  project.clock.advance(60_000);
  project.changesSent();
  expect(await planned(project)).toEqual(["update hosting_service.cafe"]);
  await edit(project, "accept", "cafe.example");
  expect(await text(project)).toBe(SITES.replace("client: cafe }", "client: cafe, suspended: true }"));
  expect(await planned(project)).toEqual([]);
});

describe("an edit names", () => {
  it("a mistake of the result at its line before the edit", async () => {
    const project = await startProject();
    const declared = `${SITES}removed:\n  - { from: hosting_service.pub-example, destroy: false }\n`;
    await project.declare(declared);
    const { text: output } = await project.run("edit", "add", "pub.example", "--template", "site", "--client", "cafe");
    expect(output).toContain(`hosting.yaml:${declared.split("\n").length - 1}:`);
    expect(output).not.toContain("No file was written: the edited");
  });

  it("a domain that the template changes, and adds a new client to hosting.yaml", async () => {
    const project = await startProject();
    await project.declare(SITES.replace("domain: ${domain}", "domain: www.${domain}"));
    await project.declare("services:\n  z: { plan_id: 11, domain: z.example, client: z }\n", "z.hosting.yaml");
    const add = ["edit", "add", "--template", "site", "--client", "newcomer"];
    const doubled = await project.run(...add, "www.new.example");
    expect(doubled.code).toBe(1);
    expect(doubled.text).toContain("www.www.new.example from www.new.example");
    expect(doubled.text).toContain("Pass new.example.");
    const { text: known } = await project.run("edit", "add", "--template", "site", "--client", "acme", "inn.example");
    expect(known).not.toContain("new client");
    expect(await text(project)).toContain("client: cafe }\n  inn-example: { template: site");
    const { text: output } = await project.run(...add, "new.example");
    expect(output).toContain("with the domain www.new.example");
    expect(output).toContain("newcomer is a new client.");
    expect(await text(project)).toContain("new-example:");
  });
});

it("a name is restored after an apply, and a removed block takes its comments and moves along", async () => {
  const project = await applied();
  await edit(project, "rename", "bakery.example", "shop");
  await project.apply();
  await edit(project, "rename", "bakery.example", "store");
  await edit(project, "rename", "bakery.example", "shop");
  await project.expectNoChanges();
  await edit(project, "rename", "bakery.example", "bakery");
  await project.expectNoChanges();
  await project.declare(SITES.replace("    client: bakery\n", "    client: bakery\n    # Inside.\n"));
  await edit(project, "rename", "bakery.example", "shop");
  await edit(project, "remove", "bakery.example");
  expect((await text(project)).trimEnd()).toBe(SITES.replace(/ {2}# Pays[\s\S]*client: bakery\n/, "").trimEnd());
});

it("a suspension by somebody is accepted although no block declares it", async () => {
  const project = await applied();
  project.control.suspendService(project.control.list("services").at(-1)?.id ?? 0);
  project.clock.advance(60_000);
  await edit(project, "accept", "cafe.example");
  expect(await text(project)).toBe(SITES.replace("client: cafe }", "client: cafe, suspended: true }"));
  expect(await edit(project, "accept", "cafe.example")).toContain("is declared with its live values");
});

it("a client is handed over in spite of max_removals, because `removed` names each service", async () => {
  const project = await applied();
  await project.declare(`${SITES}guards: { max_removals: 0 }\n`);
  await edit(project, "hand-over", "bakery");
  await project.apply();
  expect(project.changesSent()).toEqual([]);
});
