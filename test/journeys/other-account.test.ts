/**
 * A state meets another account, by address, by token, or in part. hostform refuses before every other step, and
 * changes nothing.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Anchor } from "../../src/core/model/index.ts";
import { START, testClock } from "../support/clock.ts";
import { type Project, startProject } from "../support/project.ts";

const site = (name: string) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.acme.example`,
  deletion_policy: "forget",
  grants: { "dev@acme.example": "view" },
});
const hook = (name: string) => ({ url: `https://${name}.example/`, events: ["invoice.paid"] });
const SITES = ["blog", "docs", "shop", "www"];
const DECLARED = {
  project: "acme",
  services: Object.fromEntries(SITES.map((name) => [name, site(name)])),
  webhooks: { billing: hook("billing"), chat: hook("chat") },
};

async function applied(declare: object = DECLARED): Promise<Project> {
  const project = await startProject({ declare });
  await project.apply();
  project.sent();
  return project;
}

/** The state and the declaration of a project, at a host that has none of its objects. */
async function elsewhere(project: Project): Promise<Project> {
  const other = await startProject({ declare: await readFile(path.join(project.dir, "hosting.yaml"), "utf8") });
  await other.restoreState(await project.stateText());
  other.clock.advance(3_600_000);
  return other;
}

/** Fails unless each command ends with this error alone, and changes neither the account nor the state. */
async function expectRefused(project: Project, commands: readonly string[][], says: RegExp): Promise<void> {
  const state = await project.stateText();
  for (const command of commands) {
    const ran = await project.run(...command);
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text.match(/\[[a-z]+\.[a-z_]+\]/g), ran.text).toEqual(["[account.foreign]"]);
    expect(ran.text).toMatch(says);
    expect(await project.stateText()).toBe(state);
  }
  expect(project.changesSent()).toEqual([]);
}

/** Changes the private marks of a state file. */
async function edited(project: Project, edit: (mark: { account?: { origin: string; anchors: Anchor[] } }) => void) {
  const state = JSON.parse((await project.stateText()) ?? "");
  for (const { instances } of state.resources)
    for (const instance of instances) {
      const mark = JSON.parse(Buffer.from(instance.private, "base64").toString("utf8"));
      edit(mark);
      instance.private = Buffer.from(JSON.stringify(mark)).toString("base64");
    }
  await writeFile(project.statePath, JSON.stringify(state));
}

const COMMANDS = [
  ["plan"],
  ["plan", "--target", "hosting_webhook.chat"],
  ["plan", "--refresh=changed"],
  ["plan", "--destroy"],
  ["apply", "--auto-approve", "--allow-missing"],
  ["destroy", "--auto-approve", "--allow-removals"],
  ["adopt", "--auto-approve"],
];

describe("a state at another account", () => {
  it("is refused by every command at a host that has none of its objects", async () => {
    const other = await elsewhere(await applied());
    const commands = COMMANDS.filter(([, flag]) => flag !== "--refresh=changed");
    await expectRefused(other, commands, /service 10\d\d \(blog\.acme\.example\) and \d+ more.*none of them/s);
    const watched = await other.run("watch", "--auto-approve", "--interval", "1m", "--max-runs", "1");
    expect(watched.text).toContain("[account.foreign]");
    expect(other.changesSent()).toEqual([]);
  });

  it("is refused at a host whose objects have the same ids", async () => {
    const other = await startProject({ declare: DECLARED });
    other.clock.advance(7_200_000);
    await other.apply();
    await other.restoreState(await (await applied()).stateText());
    other.sent();
    await expectRefused(other, [["plan"], ["apply", "--auto-approve"]], /leads to another account/);
  });

  it("is refused with such a token after services alone were recorded, and orders nothing there", async () => {
    const sites = (...names: string[]) => ({
      project: "acme",
      services: Object.fromEntries(names.map((name) => [name, { ...site(name), grants: {} }])),
    });
    const project = await applied(sites("blog", "docs"));
    await project.declare({ ...sites("blog", "docs", "shop", "www"), webhooks: { billing: hook("billing") } });
    project.clock.advance(120_000);
    project.env.HOSTING_TOKEN = project.sandbox.tokens.customer;
    const partial = ["apply", "--auto-approve", "--partial"];
    await expectRefused(project, [["plan"], ["apply", "--auto-approve"], partial], /leads to another account/);
  });

  describe("after a first apply of one service", () => {
    const first = { project: "acme", services: { www: { ...site("www"), grants: {} } } };
    const more = { project: "acme", services: { ...first.services, shop: { ...site("shop"), grants: {} } } };
    const commands = [["plan"], ["apply", "--auto-approve"], ["apply", "--auto-approve", "--partial"]];

    it.each([0, 120_000])(
      "is refused with another token %d ms later, because that account has older objects",
      async (later) => {
        const project = await applied(first);
        project.clock.advance(later);
        await project.declare(more);
        project.env.HOSTING_TOKEN = project.sandbox.tokens.customer;
        await expectRefused(
          project,
          commands,
          /service 1003 \(www\.acme\.example\)\. The account at a loopback address has only other objects\./,
        );
      },
    );

    it.each([0, 120_000])("orders nothing in an empty account %d ms later, unless --allow-missing", async (later) => {
      const project = await applied(first);
      const other = await startProject({ declare: more });
      await other.restoreState(await project.stateText());
      other.clock.advance(later);
      for (const command of commands) {
        const ran = await other.run(...command);
        expect(ran.code, ran.text).toBe(1);
        expect(ran.text).toContain("Is this the wrong account? [guard.missing]");
        expect(other.changesSent()).toEqual([]);
      }
      const allowed = await other.run("plan", "--allow-missing");
      expect(allowed.text).toContain("hosting_service.shop will be ordered");
    });

    it("is not suspected when the lists are late", async () => {
      const project = await startProject({ declare: first, pinned: { list_lag: ["thirty_seconds"] } });
      await project.apply();
      await project.declare(more);
      await project.apply();
    });
  });

  it("is not suspected if lists lack the new objects, and the clock of this machine is ahead", async () => {
    const project = await startProject({
      clock: testClock(START + 3_600_000),
      declare: { project: "acme", webhooks: DECLARED.webhooks },
      pinned: { list_lag: ["thirty_seconds"] },
      sandbox: { clock: { now: () => START } },
    });
    await project.apply();
    expect((await project.run("plan")).text).toContain("and no list shows it yet: the plan uses the state");
  });

  it("is refused by what a command does with one service, if the id is that of another one there", async () => {
    const project = await applied();
    const other = await startProject({ declare: DECLARED });
    other.clock.advance(7_200_000);
    other.control.seedServices({ plan_id: 31, count: 8 });
    await other.restoreState(await project.stateText());
    other.env.PW = "a long enough password";
    const before = other.control.requests().length;
    for (const command of [["sso"], ["grants"], ["password", "--generate"], ["password", "--password-env", "PW"]]) {
      const [name = "", ...flags] = command;
      for (const target of ["hosting_service.www", "www.acme.example"]) {
        const ran = await other.run(name, target, ...flags);
        expect(ran.code, ran.text).toBe(1);
        expect(ran.text).toContain("[state.stranger]");
      }
    }
    await edited(other, ({ account }) => {
      if (account) account.origin = "https://api.host.example";
    });
    expect((await other.run("sso", "hosting_service.www")).text).toContain("[account.foreign]");
    const sent = other.control.requests().slice(before);
    expect(new Set(sent.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(sent.filter(({ path: at }) => /sso|grants/.test(at))).toEqual([]);
  });

  it("is refused at another address before the first request, and both are named", async () => {
    const project = await applied();
    await edited(project, ({ account }) => {
      if (account) account.origin = "https://api.host.example";
    });
    await project.declare({ ...DECLARED, webhooks: { ...DECLARED.webhooks, more: hook("more") } });
    const importing = ["import", "hosting_webhook.more", "203"];
    await expectRefused(
      project,
      [...COMMANDS, ["plan", "--refresh=false"], importing],
      /In the state: https:\/\/api\.host\.example\. Now: a loopback address\./,
    );
    expect(project.sent()).toEqual([]);
  });

  it("is accepted after a look, and the new address is recorded", async () => {
    const project = await applied();
    await edited(project, ({ account }) => {
      if (account) account.origin = "https://api.host.example";
    });
    const looked = await project.run("plan", "--account-moved");
    expect(looked.text).toContain("No changes.");
    await project.apply("--account-moved");
    await project.expectNoChanges();
    expect(await project.stateText()).not.toContain("api.host.example");
  });

  it("is accepted in a saved plan, for the plan alone", async () => {
    const project = await applied();
    await edited(project, ({ account }) => {
      if (account) account.origin = "https://api.host.example";
    });
    await project.declare({ ...DECLARED, webhooks: { ...DECLARED.webhooks, more: hook("more") } });
    expect((await project.run("plan", "--account-moved", "--out", "moved.plan")).code).toBe(0);
    const { HOSTING_TOKEN } = project.env;
    project.env.HOSTING_TOKEN = project.sandbox.tokens.customer;
    project.sent();
    await expectRefused(project, [["apply", "moved.plan"]], /leads to another account/);
    project.env.HOSTING_TOKEN = HOSTING_TOKEN;
    expect((await project.run("apply", "moved.plan")).code).toBe(0);
    expect((await project.run("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("is refused when a saved plan is applied with another token", async () => {
    const project = await applied();
    await project.declare({ ...DECLARED, webhooks: { ...DECLARED.webhooks, more: hook("more") } });
    expect((await project.run("plan", "--out", "more.plan")).code).toBe(0);
    project.sent();
    project.env.HOSTING_TOKEN = project.sandbox.tokens.customer;
    await expectRefused(project, [["apply", "more.plan"]], /leads to another account/);
  });

  it("is refused for the provider that leads there, and names it", async () => {
    const beta = { provider: "beta" };
    const project = await startProject({
      declare: {
        ...DECLARED,
        providers: { default: {}, beta: { token_env: "BETA_TOKEN" } },
        webhooks: { ...DECLARED.webhooks, one: { ...hook("one"), ...beta }, two: { ...hook("two"), ...beta } },
      },
    });
    project.env.BETA_TOKEN = project.sandbox.tokens.customer;
    await project.apply();
    project.sent();
    const other = await startProject();
    other.clock.advance(3_600_000);
    await project.declare(
      JSON.parse(
        (await readFile(path.join(project.dir, "hosting.yaml"), "utf8")).replace(
          '"token_env": "BETA_TOKEN"',
          `"token_env": "OTHER_TOKEN", "base_url": "${other.sandbox.url}"`,
        ),
      ),
    );
    project.env.OTHER_TOKEN = other.sandbox.tokens.agency;
    const ran = await project.run("plan");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("Provider beta leads to another account");
    expect(ran.text).not.toContain("Provider default");
    expect([...project.changesSent(), ...other.changesSent()]).toEqual([]);
  });

  it("is refused for a stack", async () => {
    const config = {
      terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
      provider: { hosting: { project: "acme" } },
      resource: {
        hosting_webhook: { billing: hook("billing"), chat: hook("chat") },
        hosting_service: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } },
      },
    };
    const project = await startProject();
    await writeFile(path.join(project.dir, "cdk.tf.json"), JSON.stringify(config));
    await project.apply("--stack", ".");
    const other = await startProject();
    await writeFile(path.join(other.dir, "cdk.tf.json"), JSON.stringify(config));
    const name = "terraform.tfstate";
    await writeFile(path.join(other.dir, name), await readFile(path.join(project.dir, name)));
    other.clock.advance(3_600_000);
    const ran = await other.run("apply", "--auto-approve", "--stack", ".");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[account.foreign]");
    expect(ran.text).toContain("--account-moved");
    expect(other.changesSent()).toEqual([]);
  });
});

describe("the same account", () => {
  it("is known by one object that is left, managed or not", async () => {
    const project = await startProject({ declare: DECLARED });
    project.control.create("webhooks", { url: "https://theirs.example/", events: ["invoice.paid"] });
    await project.apply();
    for (const { id } of project.control.list("services").filter(({ customer_id }) => customer_id === 1))
      project.control.remove("services", id);
    for (const { id } of project.control.list("webhooks").slice(1)) project.control.remove("webhooks", id);
    const ran = await project.run("plan");
    expect(ran.text.match(/^Error: .*$/gm)).toEqual([
      "Error: The account lacks 6 of 6 resources in the state (100%). Is this the wrong account? [guard.missing]",
    ]);
    for (const { private: mark } of (await project.state()).resources.values()) expect(mark.account).toBeDefined();
  });

  it("may lack one recorded object without any question", async () => {
    const project = await applied();
    project.control.remove("webhooks", 201);
    const ran = await project.run("plan", "--detailed-exitcode");
    expect(ran.code, ran.text).toBe(2);
    expect(ran.text).not.toContain("Error");
  });

  it("is known by what an apply created a moment ago in place of all that was there", async () => {
    const webhooks = (path: string) => ({
      project: "acme",
      webhooks: { billing: hook(`billing${path}`), chat: hook(`chat${path}`) },
    });
    const project = await startProject({ declare: webhooks("") });
    await project.apply();
    project.clock.advance(300_000);
    // Each webhook becomes an anchor in the record of the other webhook.
    await project.apply();
    await project.declare(webhooks("-2"));
    expect((await project.run("apply", "--auto-approve")).code).toBe(0);
    expect(project.control.list("webhooks").map(({ id }) => id)).toEqual([203, 204]);
    const ran = await project.run("plan", "--detailed-exitcode");
    expect(ran.code, ran.text).toBe(0);
  });

  it("is known by a token that sees one of its services alone", async () => {
    const project = await applied();
    const [www, ...others] = project.control.list("services").filter(({ customer_id }) => customer_id === 1);
    const { services } = DECLARED;
    const [name = ""] = Object.entries(services).flatMap(([key, { domain }]) => (domain === www?.domain ? [key] : []));
    await project.declare({ project: "acme", services: { [name]: services[name] } });
    for (const { domain } of others) {
      const gone = SITES.find((each) => `${each}.acme.example` === domain);
      await project.run("state", "rm", `hosting_service.${gone}`);
    }
    for (const each of ["billing", "chat"]) await project.run("state", "rm", `hosting_webhook.${each}`);
    const wanted = { name: "only-one", abilities: ["view", "technical"] as const, service_ids: [www?.id ?? 0] };
    const token = project.control.create("tokens", { ...wanted, abilities: [...wanted.abilities] });
    project.env.HOSTING_TOKEN = token.value;
    const ran = await project.run("plan", "--detailed-exitcode");
    expect(ran.code, ran.text).toBe(0);
  });
});

describe("resources that are missing in the account", () => {
  const missing = async (count: number) => {
    const project = await applied();
    const own = project.control.list("services").filter(({ customer_id }) => customer_id === 1);
    for (const { id } of own.slice(0, count)) project.control.remove("services", id);
    return project;
  };

  it("are no error as long as two of many are missing, with their grants", async () => {
    const project = await missing(2);
    expect((await project.run("plan")).text).not.toContain("[guard.missing]");
  });

  it("are refused when more than 30 % are missing, also by destroy, and are accepted on purpose", async () => {
    const project = await missing(3);
    for (const command of [["plan"], ["apply", "--auto-approve"], ["destroy", "--auto-approve", "--allow-removals"]]) {
      const ran = await project.run(...command);
      expect(ran.code).toBe(1);
      expect(ran.text).toMatch(/lacks 3 of 7 resources in the state \(42\.9%\).*\[guard\.missing\]/);
      expect(ran.text).toContain("Missing: hosting_service.");
    }
    expect(project.changesSent()).toEqual([]);
    expect((await project.run("plan", "--allow-missing")).text).not.toContain("guard.missing");
    expect((await project.run("apply", "--auto-approve", "--allow-missing")).text).not.toContain("guard.missing");
  });
});

describe("what identifies an account", () => {
  it("is recorded with its address: at most four anchors in a record, never its own object, each object once", async () => {
    const project = await applied();
    await project.declare({ ...DECLARED, webhooks: { ...DECLARED.webhooks, more: hook("more") } });
    await project.apply();
    const marks = [...(await project.state()).resources.values()].map((one) => ({ ...one.private.account, of: one }));
    for (const { origin, anchors = [], of } of marks) {
      expect(origin).toBe("http://localhost");
      expect(anchors.length).toBeGreaterThan(0);
      expect(anchors.length).toBeLessThanOrEqual(4);
      expect(anchors.map(({ type, id }) => `${type} ${id}`)).not.toContain(
        `${of.address.slice(0, of.address.indexOf("."))} ${of.attributes.id}`,
      );
    }
    await project.expectNoChanges();
  });

  it("costs no request", async () => {
    const project = await applied();
    await project.run("plan");
    const grants = [1003, 1004, 1005, 1006].map((id) => `GET /services/${id}/grants`);
    expect(project.sent().sort()).toEqual(["GET /services", ...grants, "GET /webhooks"]);
  });
});

describe("the first line", () => {
  it("names the account in a plan, a page, a comment and an apply", async () => {
    const project = await applied();
    const host = new URL(project.sandbox.url).host;
    const line = `acme · ${host} · 4 services, blog.acme.example and others`;
    const planned = await project.run("plan", "--report", "plan.html", "--report", "plan.md");
    expect(planned.out.split("\n")[0]).toBe(line);
    expect((await project.run("apply", "--auto-approve")).out.split("\n")[0]).toBe(line);
    const [page, comment] = await Promise.all(
      ["plan.html", "plan.md"].map((file) => readFile(path.join(project.dir, file), "utf8")),
    );
    expect(page).toContain(`<h1>hostform plan: ${line}</h1>`);
    expect(comment?.split("\n")[1]).toBe(
      `### hostform plan: acme · \`${host}\` · 4 services, \`blog.acme.example\` and others`,
    );
    expect(JSON.parse((await project.run("plan", "--json")).out).hostform.places).toEqual([
      { provider: "default", name: "acme", host, services: 4, domain: "blog.acme.example" },
    ]);
  });

  it("says SANDBOX in the shell of a sandbox, and not for another address", async () => {
    const project = await applied();
    project.env.HOSTING_SANDBOX_CONTROL_URL = project.sandbox.controlUrl;
    expect((await project.run("plan")).out).toMatch(/^SANDBOX · /);
    await project.declare({ ...DECLARED, providers: { default: { base_url: `${project.sandbox.url}/` } } });
    expect((await project.run("plan")).out).toMatch(/^acme · /);
  });
});
