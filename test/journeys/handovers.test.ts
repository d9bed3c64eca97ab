/** Objects that move between addresses of one state: shifted lists, swaps and renames, in YAML and in stacks. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { rewritingHost, withStatusWords } from "../support/rewriting-host.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "forget" };
const SHOP = { ...SITE, domain: "shop.acme.example" };
const [A, B, C] = ["a@acme.example", "b@acme.example", "c@acme.example"];

/** A stack with a service and these resources, for `--stack .`. */
async function stack(project: Project, resource: object): Promise<void> {
  const head = {
    provider: { hosting: [{ project: "keys" }] },
    terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
  };
  const text = JSON.stringify({ ...head, resource: { hosting_service: { www: SITE }, ...resource } }, null, 2);
  await writeFile(path.join(project.dir, "cdk.tf.json"), text);
}

const STACK = ["--stack", "."] as const;
const SERVICE = "${hosting_service.www.id}";

const team = (people: readonly string[]) => ({
  hosting_grant: {
    team: {
      count: people.length,
      service_id: SERVICE,
      email: `\${${JSON.stringify(people)}[count.index]}`,
      permission: "view",
    },
  },
});

const byRole = (people: Readonly<Record<string, string>>) => ({
  hosting_grant: {
    role: {
      for_each: people,
      service_id: SERVICE,
      email: "${each.value}",
      permission: "manage",
    },
  },
});

/** Returns the ids of the grants in the account, by e-mail address. */
const grantsOf = ({ control }: Project) =>
  Object.fromEntries(control.list("grants").map(({ email, id }) => [String(email), id]));

async function applied(resource: object): Promise<Project> {
  const project = await startProject();
  await stack(project, resource);
  await project.apply(...STACK);
  project.sent();
  return project;
}

/** Fails unless the plan is empty. */
async function converged(project: Project, ...args: string[]): Promise<void> {
  const ran = await project.run("plan", "--detailed-exitcode", ...args);
  expect(ran.code, ran.text).toBe(0);
}

describe("a stack whose list or map of people changes", () => {
  it("exchanges the e-mails of two grants without a request", async () => {
    const project = await applied(byRole({ lead: A, dev: B }));
    const before = grantsOf(project);
    await stack(project, byRole({ lead: B, dev: A }));
    const planned = await project.run("plan", ...STACK);
    expect(planned.out).toContain('hosting_grant.role["dev"] -> hosting_grant.role["lead"]');
    expect(planned.out).toContain('hosting_grant.role["lead"] -> hosting_grant.role["dev"]');
    await project.apply(...STACK);
    expect(project.changesSent()).toEqual([]);
    expect(grantsOf(project)).toEqual(before);
    await converged(project, ...STACK);
  });

  it("revokes one grant when the first person leaves a list", async () => {
    const project = await applied(team([A, B, C]));
    const { [A]: gone, ...rest } = grantsOf(project);
    await stack(project, team([B, C]));
    const { out } = await project.apply(...STACK);
    expect(out).toContain("0 added, 0 changed, 1 destroyed");
    expect(project.changesSent()).toEqual([`DELETE /services/1003/grants/${gone}`]);
    expect(grantsOf(project)).toEqual(rest);
    await converged(project, ...STACK);
  });

  it("orders one service and lets the policy of the list decide about another, where it loses its first and gets a last", async () => {
    const sites = (names: readonly string[]) => ({
      hosting_service: {
        s: {
          count: names.length,
          plan_id: 11,
          currency: "USD",
          domain: `\${${JSON.stringify(names)}[count.index]}.acme.example`,
          deletion_policy: "forget",
        },
      },
    });
    const project = await startProject();
    await stack(project, sites(["a", "b", "c"]));
    await project.apply(...STACK);
    project.sent();
    await stack(project, sites(["b", "c", "e"]));
    const planned = await project.run("plan", ...STACK);
    expect(planned.code, planned.text).toBe(0);
    expect(planned.out).toContain("hosting_service.s[0] -> hosting_service.s[3]");
    await project.apply("--allow-removals", ...STACK);
    expect(project.changesSent()).toEqual(["POST /services"]);
    const listed = await project.run("state", "list", ...STACK);
    expect(listed.out.match(/hosting_service\.s\S*/g)).toEqual([0, 1, 2].map((at) => `hosting_service.s[${at}]`));
    await converged(project, ...STACK);
  });

  it("is refused before a request where a target leaves out the other half", async () => {
    const project = await applied(byRole({ lead: A, dev: B }));
    await stack(project, byRole({ lead: B, dev: A }));
    const one = await project.run("apply", "--auto-approve", ...STACK, "--target", 'hosting_grant.role["lead"]');
    expect(one.code).toBe(1);
    expect(one.text.replaceAll(/\s+/g, " ")).toContain('This run does not include hosting_grant.role["dev"]');
    expect(one.text).not.toContain("state mv");
    expect(one.text.match(/^Error:/gm)).toHaveLength(1);
    expect(project.changesSent()).toEqual([]);
    await project.apply(...STACK, "--target", "hosting_grant.role");
    expect(project.changesSent()).toEqual([]);
    await converged(project, ...STACK);
  });
});

describe("what is not a pure exchange", () => {
  it("replaces each grant after it has moved, where the exchange changes the permissions", async () => {
    const roles = (people: Readonly<Record<string, string>>) => ({
      hosting_grant: Object.fromEntries(
        Object.entries(people).map(([email, permission], at) => [`g${at}`, { service_id: SERVICE, email, permission }]),
      ),
    });
    const project = await applied(roles({ [A]: "view", [B]: "manage" }));
    const { [A]: a, [B]: b } = grantsOf(project);
    await stack(project, roles({ [B]: "view", [A]: "manage" }));
    const { out } = await project.apply(...STACK, "--parallelism", "1");
    expect(out).toContain("2 added, 0 changed, 2 destroyed");
    expect(project.changesSent()).toEqual([
      `DELETE /services/1003/grants/${b}`,
      "POST /services/1003/grants",
      `DELETE /services/1003/grants/${a}`,
      "POST /services/1003/grants",
    ]);
    await converged(project, ...STACK);
  });

  it.each([
    [7, 1],
    [1, undefined],
  ])("replaces grants one after the other within %s requests a minute: parallelism %s", async (limit, most) => {
    const people = [A, B, C, "d@acme.example", "e@acme.example"];
    const declare = (permission: string) => ({
      project: "keys",
      providers: { default: { token_env: "HOSTING_TOKEN", requests_per_minute: limit } },
      services: { www: { ...SITE, grants: Object.fromEntries(people.map((email) => [email, permission])) } },
    });
    const project = await startProject({ declare: declare("view") });
    await project.apply();
    project.sent();
    await project.declare(declare("manage"));
    await project.apply(...(most === undefined ? [] : ["--parallelism", String(most)]));
    const sent = project.control.requests().filter(({ method }) => method !== "GET");
    expect(sent.map(({ method }) => method)).toEqual(people.flatMap(() => ["DELETE", "POST"]));
    for (const [at, { at: time }] of sent.entries()) {
      const gap = Date.parse(sent[at + 1]?.at ?? time) - Date.parse(time);
      if (at % 2 === 0 && limit > 1) expect(gap, "between a DELETE and its POST").toBeLessThan(5_000);
    }
    await project.expectNoChanges();
  });

  it("refuses a replacement, before it deletes anything, by a grant that someone else has made", async () => {
    const project = await applied(team([A]));
    project.control.create("grants", { service_id: 1003, email: B, permission: "view" });
    await stack(project, team([B]));
    const ran = await project.run("apply", "--auto-approve", ...STACK);
    expect(ran.code).toBe(1);
    expect(ran.text.replaceAll(/\s+/g, " ")).toContain("would replace grant");
    expect(project.changesSent()).toEqual([]);
  });

  it("deletes nothing where the grant to come was made by someone else after the plan", async () => {
    const project = await applied(team([A]));
    await stack(project, team([B]));
    project.answer = () => {
      project.control.create("grants", { service_id: 1003, email: B, permission: "view" });
      return "yes";
    };
    const ran = await project.run("apply", ...STACK);
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toEqual([]);
    expect(Object.keys(grantsOf(project)).sort()).toEqual([A, B]);
  });

  it("deletes what a removed block names before the same is created under another address", async () => {
    const hook = { url: "https://x.acme.example", events: ["invoice.paid"] };
    const project = await startProject({ declare: { project: "keys", webhooks: { old: hook } } });
    await project.apply();
    project.sent();
    const removed = [{ from: "hosting_webhook.old", destroy: true }];
    await project.declare({ project: "keys", webhooks: { new: hook }, removed });
    await project.apply("--allow-removals");
    expect(project.changesSent()).toEqual(["DELETE /webhooks/201", "POST /webhooks"]);
    await project.expectNoChanges();
  });

  it("names who lost access where the second half of a replacement fails, and counts what was sent", async () => {
    const project = await applied(team([A, B]));
    await stack(project, team([C, B]));
    project.control.addFault({ method: "POST", path: "/services/:id/grants", phase: "before", status: 403 });
    const ran = await project.run("apply", "--auto-approve", ...STACK);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("1 failed. 0 added, 0 changed, 1 destroyed.");
    expect(ran.out).toContain("Deleted, and not created again:");
    expect(ran.out).toContain(`hosting_grant.team[0]: ${A}, www.acme.example`);
  });

  it("keeps the grants of a service whose status is not understood, and carries out the rest", async () => {
    const project = await startProject({ pinned: { status: ["lower"] } });
    const declare = (www: object, shop: object, more: object = {}) =>
      project.declare({
        project: "keys",
        services: { www: { ...SITE, grants: www, ...more }, shop: { ...SHOP, grants: shop } },
      });
    await declare({ [A]: "view", [B]: "view" }, { [A]: "view" });
    await project.apply();
    project.sent();
    project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) =>
      withStatusWords(answer, { active: "PARKED_BY_OWNER" }),
    );
    await declare({ [A]: "manage" }, { [C]: "view" }, { suspended: true });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    const text = ran.text.replaceAll(/\s+/g, " ");
    for (const email of [A, B])
      expect(text).toContain(
        `hosting_grant.www["${email}"] is not changed: hosting_service.www must change first, and the status of hosting_service.www is unknown`,
      );
    expect(text).toContain("status_words");
    expect(project.changesSent().map((line) => line.replaceAll(/\d+/g, "ID"))).toEqual([
      "DELETE /services/ID/grants/ID",
      "POST /services/ID/grants",
    ]);
    expect(
      project.control
        .list("grants")
        .map(({ email, permission }) => `${email} ${permission}`)
        .sort(),
    ).toEqual([A, B, C].map((email) => `${email} view`));
    // A targeted apply can revoke the access of B alone.
    await project.run("apply", "--auto-approve", "--target", `hosting_grant.www["${B}"]`, "--allow-removals");
    expect(project.changesSent()).toHaveLength(1);
  });

  it("is refused where the block that the object loses has prevent_destroy", async () => {
    const grant = (email: string, more: object = {}) => ({ service_id: SERVICE, email, permission: "view", ...more });
    const kept = { lifecycle: { prevent_destroy: true } };
    const project = await applied({ hosting_grant: { kept: grant(A, kept), other: grant(B) } });
    await stack(project, { hosting_grant: { kept: grant(B, kept), other: grant(C) } });
    const ran = await project.run("apply", "--auto-approve", ...STACK);
    expect(ran.code).toBe(1);
    expect(ran.text.replaceAll(/\s+/g, " ")).toContain(
      "hosting_grant.other cannot be replaced: hosting_grant.kept, its former address, has prevent_destroy",
    );
    expect(project.changesSent()).toEqual([]);
    await stack(project, { hosting_grant: { kept: grant(B, kept), other: grant(A) } });
    await project.apply(...STACK);
    expect(project.changesSent()).toEqual([]);
  });

  it("goes on where it stopped: the moves are recorded before the first request", async () => {
    const project = await applied(team([A, B, C]));
    await stack(project, team([B, C]));
    project.control.addFault({ method: "DELETE", path: "/services/:id/grants/*", phase: "before", status: 403 });
    expect((await project.run("apply", "--auto-approve", ...STACK)).code).toBe(1);
    project.sent();
    project.control.clearFaults();
    await project.apply(...STACK);
    expect(project.changesSent()).toHaveLength(1);
    expect(Object.keys(grantsOf(project)).sort()).toEqual([B, C]);
    await converged(project, ...STACK);
  });

  it("is part of a saved plan, and applied from it", async () => {
    const project = await applied(team([A, B, C]));
    const { [A]: gone } = grantsOf(project);
    await stack(project, team([B, C]));
    expect((await project.run("plan", "--out", "acme.plan", ...STACK)).code).toBe(0);
    const ran = await project.run("apply", "acme.plan", ...STACK);
    expect(ran.code, ran.text).toBe(0);
    expect(project.changesSent()).toEqual([`DELETE /services/1003/grants/${gone}`]);
    await converged(project, ...STACK);
  });
});

describe("blocks of a declaration", () => {
  const hook = (url: string) => ({ url: `https://${url}.acme.example`, events: ["invoice.paid"] });
  const hooks = (one: string, two: string) => ({
    project: "keys",
    webhooks: { one: hook(one), two: hook(two) },
  });

  it("exchange the URLs of two webhooks: ids and secrets go along, and nothing is sent", async () => {
    const project = await startProject({ declare: hooks("x", "y") });
    await project.apply();
    project.sent();
    const [one, two] = [await project.recorded("hosting_webhook.one"), await project.recorded("hosting_webhook.two")];
    await project.declare(hooks("y", "x"));
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect((await project.recorded("hosting_webhook.one"))?.attributes).toEqual(two?.attributes);
    expect((await project.recorded("hosting_webhook.two"))?.attributes).toEqual(one?.attributes);
    await project.expectNoChanges();
  });

  it("exchange the places of their secrets with their URLs, or the plan is an error", async () => {
    const withPlaces = (one: string, two: string, places: readonly [string?, string?]) => ({
      project: "keys",
      webhooks: {
        one: { ...hook(one), ...(places[0] && { secret_output: { file: places[0] } }) },
        two: { ...hook(two), ...(places[1] && { secret_output: { file: places[1] } }) },
      },
    });
    const project = await startProject({ declare: withPlaces("x", "y", ["x.secret"]) });
    await project.apply();
    project.sent();
    const secretOf = (name: string) => readFile(path.join(project.dir, name), "utf8");
    const x = await secretOf("x.secret");
    const y = (await project.recorded("hosting_webhook.two"))?.attributes.secret;

    await project.declare(withPlaces("y", "x", ["x.secret"]));
    const refused = await project.run("apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text.replaceAll(/\s+/g, " ")).toContain("but its secret was written to the file x.secret");
    expect(await secretOf("x.secret")).toBe(x);
    expect((await project.recorded("hosting_webhook.two"))?.attributes.secret).toBe(y);

    // The file follows the URL. hostform writes the recorded secret to the file that the new address declares.
    await project.declare(withPlaces("y", "x", ["y.secret", "x.secret"]));
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect([await secretOf("x.secret"), (await secretOf("y.secret")).trim()]).toEqual([x, y]);
    await project.expectNoChanges();
  });

  it("say how the records move where the secrets stay in their places, and that works", async () => {
    const placed = (one: string, two: string) => ({
      project: "keys",
      webhooks: {
        one: { ...hook(one), secret_output: { file: "one.secret" } },
        two: { ...hook(two), secret_output: { file: "two.secret" } },
      },
    });
    const project = await startProject({ declare: placed("x", "y") });
    await project.apply();
    project.sent();
    await project.declare(placed("y", "x"));
    let ran = await project.run("plan");
    expect(ran.text).not.toContain("applies to the next secret");
    expect(ran.text).not.toContain("to change");
    for (let round = 0; ran.code !== 0 && round < 3; round++) {
      const text = ran.text.replaceAll(/\s+/g, " ");
      for (const [, command = ""] of [...text.matchAll(/`hostform (state mv [^`]*)`/g)].slice(0, 2)) {
        const moved = await project.run(...command.replace(".NAME", ".aside").replaceAll("'", "").split(" "));
        expect(moved.code, moved.text).toBe(0);
      }
      // A moved block gives the recorded object to an address without a record.
      const [, from, to] = /`moved: \[\{from: (\S+), to: ([^}]+)\}\]`/.exec(text) ?? [];
      if (from !== undefined) await project.declare({ ...placed("y", "x"), moved: [{ from, to }] });
      ran = await project.run("plan");
    }
    expect(ran.code, ran.text).toBe(0);
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
  });

  it("exchange two services with their grants", async () => {
    const both = (www: object, shop: object) => ({ project: "keys", services: { www, shop } });
    const site = { ...SITE, grants: { [A]: "view", [B]: "manage" } };
    const shop = { ...SHOP, grants: { [A]: "manage", [C]: "view" } };
    const project = await startProject({ declare: both(site, shop) });
    await project.apply();
    project.sent();
    await project.declare(both(shop, site));
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
    expect((await project.recorded(`hosting_grant.shop["${B}"]`))?.dependencies).toEqual(["hosting_service.shop"]);
  });

  const renamed = {
    services: [{ old: SITE }, { new: SITE }],
    webhooks: [{ old: hook("x") }, { new: hook("x") }],
    client_accounts: [{ old: { name: "Acme" } }, { new: { name: "Acme" } }],
    migration_requests: [
      { old: { domain: "www.acme.example", questions: { source: "cpanel" } } },
      { new: { domain: "www.acme.example", questions: { source: "cpanel" } } },
    ],
  } as const;

  it.each(Object.entries(renamed))("are renamed without a moved block: %s", async (section, [before, after]) => {
    const project = await startProject({ declare: { project: "keys", [section]: before } });
    await project.apply();
    project.sent();
    await project.declare({ project: "keys", [section]: after });
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
  });

  it("are renamed with the id of their import, which no longer matters", async () => {
    const project = await startProject({ declare: { project: "keys", services: { old: SITE } } });
    await project.apply();
    project.sent();
    const id = (await project.recorded("hosting_service.old"))?.attributes.id;
    await project.declare({ project: "keys", services: { new: { ...SITE, import: id } } });
    const { out } = await project.run("plan", "--format", "markdown");
    expect(out).toContain("records the moves");
    expect(out).not.toContain("Nothing to apply");
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
    expect((await project.recorded("hosting_service.new"))?.attributes.id).toBe(id);
  });

  it("name the removed item that keeps a renamed service where it is", async () => {
    const project = await startProject({ declare: { project: "keys", services: { old: SITE } } });
    await project.apply();
    const removed = [{ from: "hosting_service.old", destroy: false }];
    await project.declare({ project: "keys", services: { new: SITE }, removed });
    const ran = await project.run("plan");
    expect(ran.code).toBe(1);
    expect(ran.text.replaceAll(/\s+/g, " ")).toContain(
      "remove the `removed` entry of hosting_service.old. The state entry of hosting_service.old then moves to",
    );
    expect(ran.text).not.toContain("state mv");
    await project.declare({ project: "keys", services: { new: SITE } });
    await project.apply();
    await project.expectNoChanges();
  });

  it("take a service along where another one is ordered under its former name", async () => {
    const project = await startProject({ declare: { project: "keys", services: { www: SITE } } });
    await project.apply();
    project.sent();
    await project.declare({ project: "keys", services: { www: SHOP, site: SITE } });
    await project.apply();
    expect(project.changesSent()).toEqual(["POST /services"]);
    await project.expectNoChanges();
    expect((await project.recorded("hosting_service.www"))?.attributes.domain).toBe(SHOP.domain);
  });

  it("shift client accounts, and the one that left follows its policy", async () => {
    const accounts = (...names: string[]) => ({
      project: "keys",
      client_accounts: Object.fromEntries(
        names.map((name, at) => [`c${at}`, { name, company_name: `${name} LLC`, deletion_policy: "forget" }]),
      ),
    });
    const project = await startProject({ declare: accounts("Acme", "Bolt", "Cobo") });
    await project.apply();
    project.sent();
    await project.declare(accounts("Bolt", "Cobo"));
    await project.apply("--allow-removals");
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
    expect((await project.recorded("hosting_client_account.c0"))?.attributes.name).toBe("Bolt");
  });
});
