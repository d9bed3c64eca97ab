/** One object at two addresses of one state, or in two states, as the real Terraform presents them to the provider. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { registration } from "../support/registration.ts";
import { startTerraform, type Terraform, type TerraformOptions } from "../support/terraform.ts";

const service = (name: string, domain: string, more = "") => `
resource "hosting_service" "${name}" {
  plan_id         = 11
  currency        = "USD"
  domain          = "${domain}"
  deletion_policy = "suspend"
${more}
}
`;

const webhook = (name: string, url: string, more = "") => `
resource "hosting_webhook" "${name}" {
  url    = "https://${url}.example/hook"
  events = ["invoice.paid"]
${more}
}
`;

/** Runs the provider's clock at half speed, because the provider waits for calls that Terraform makes in real time. */
const SLOW: TerraformOptions = { rate: 0.5 };

async function start(text: string, options: TerraformOptions = {}): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running", ...options });
  await terraform.write(text);
  await terraform.applied();
  terraform.believeLists();
  terraform.sent();
  return terraform;
}

const FRESH = [false, true];

/** Lets the next command run on a fresh CI runner. */
async function freshen(terraform: Terraform, isFresh: boolean): Promise<void> {
  if (isFresh) await terraform.remove("home/hostform");
}

describeWith(TERRAFORM)("one object and several addresses in Terraform", { timeout: 120_000 }, () => {
  it("a renamed service is refused with its holder and a moved block that works, also on a fresh machine", async () => {
    const terraform = await start(service("old", "one.example"));
    const { id } = terraform.attributes("hosting_service.old");
    await terraform.write(service("new", "one.example"));
    let block = "";
    for (const fresh of FRESH) {
      await freshen(terraform, fresh);
      const { errors, text } = await terraform.refused();
      expect(errors, text).toMatchObject([
        {
          address: "hosting_service.new",
          summary: `service one.example already exists as service ${id}, which an address of this state manages`,
        },
      ]);
      expect(text).not.toMatch(/not in the state|terraform import/);
      expect(errors[0]?.detail).toMatch(/If Terraform has marked the resource as tainted, .*: complete this block/);
      expect(errors[0]?.detail).toMatch(/\n\}`\n\nTo get a second service/);
      [, block = ""] = /`(moved \{[^}]*\})`/.exec(errors[0]?.detail ?? "") ?? [];
    }
    const complete = block
      .replace("hosting_service.OLD", "hosting_service.old")
      .replace("hosting_service.NEW", "hosting_service.new");
    await terraform.write(complete, "moved.tf");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.attributes("hosting_service.new").id).toBe(id);
    await terraform.expectNoChanges();
  });

  it("an import of an id that another address has is refused, by command and by block, until the state no longer has it", async () => {
    const terraform = await start(service("one", "one.example"));
    const id = String(terraform.attributes("hosting_service.one").id);
    const what = `service ${id} (one.example)`;
    const command = ["import", "-no-color", "-input=false", "hosting_service.two", id];
    // During an import, the provider cannot see addresses that left the configuration.
    await terraform.write(service("two", "one.example", '  reference = "two"'));
    for (const _ of FRESH)
      expect((await terraform.run(...command)).text).toContain(
        `${what} already belongs to another address of this state`,
      );
    await terraform.write(service("one", "one.example") + service("two", "one.example", '  reference = "two"'));
    const refused = await terraform.run(...command);
    expect(refused.code, refused.text).toBe(1);
    expect(refused.text).toContain(`${what} already belongs to another address of this state`);
    await terraform.write(`import {\n  to = hosting_service.two\n  id = "${id}"\n}\n`, "import.tf");
    expect((await terraform.refused()).errors[0]?.summary).toContain("belongs to another address of this state");
    await terraform.remove("import.tf");

    const narrow = await terraform.run(...command, "-parallelism=1");
    expect(narrow.code, narrow.text).toBe(1);

    await terraform.well("state", "rm", "hosting_service.one");
    await terraform.write(service("two", "one.example", '  reference = "two"'));
    const early = await terraform.run(...command);
    expect(early.code, early.text).toBe(1);
    expect(early.text).toMatch(/`terraform\s+state\s+rm`\s+with\s+the\s+other\s+address,\s+then\s+`terraform\s+plan`/);
    await terraform.plan();
    await terraform.well(...command);
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
  });

  it("a webhook renamed without a moved block keeps its id and its secret, also on a fresh machine", async () => {
    const terraform = await start(webhook("old", "a"));
    const { id, secret } = terraform.attributes("hosting_webhook.old");
    for (const fresh of FRESH) {
      await freshen(terraform, fresh);
      await terraform.write(webhook(`new_${fresh}`, "a"));
      await terraform.applied();
      expect(terraform.changesSent()).toEqual([]);
      expect(terraform.attributes(`hosting_webhook.new_${fresh}`)).toMatchObject({ id, secret });
    }
    await terraform.expectNoChanges();
  });

  it("two webhooks exchange their URLs in one apply, however it is made", async () => {
    const terraform = await start(webhook("a", "one") + webhook("b", "two"));
    const ways = [
      ["-parallelism=1", "apply"],
      ["", "saved"],
      ["", "fresh"],
    ] as const;
    for (const [at, [option, how]] of ways.entries()) {
      const way = `${option} ${how}`;
      const options = option === "" ? [] : [option];
      await freshen(terraform, how === "fresh");
      const [a, b] = at % 2 === 0 ? ["two", "one"] : ["one", "two"];
      await terraform.write(webhook("a", a) + webhook("b", b));
      if (how === "saved") {
        await terraform.planned(...options);
        await terraform.applied(...options, "tfplan");
      } else await terraform.applied(...options);
      expect(terraform.changesSent(), way).toEqual([]);
      for (const [name, url] of [
        ["a", a],
        ["b", b],
      ]) {
        const { id, secret } = terraform.attributes(`hosting_webhook.${name}`);
        const live = terraform.control.list("webhooks").find((one) => String(one.id) === id);
        expect(live, way).toMatchObject({ secret, url: `https://${url}.example/hook` });
      }
      terraform.believeLists();
      await terraform.expectNoChanges();
    }
  });

  it("a copy of a state with a pending create neither adopts nor deletes what the original made of it", async () => {
    const terraform = await startTerraform({ install: "running" });
    terraform.control.addFault({ method: "POST", path: "/webhooks", phase: "before", status: 503, times: 99 });
    await terraform.write(webhook("a", "one"));
    expect((await terraform.apply()).code).toBe(1);
    terraform.control.clearFaults();
    const state = path.join(terraform.dir, "terraform.tfstate");
    const copied = readFileSync(state, "utf8");
    await terraform.applied();
    const { id } = terraform.attributes("hosting_webhook.a");
    // This refresh proves to the provider that the state has the object.
    await terraform.expectNoChanges();

    writeFileSync(state, copied);
    terraform.env.HOSTFORM_PLACE = "copy";
    const refused = await terraform.refused();
    expect(refused.text).toMatch(/already exists as webhook .*the Terraform workspace default in/s);
    await terraform.write("");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.control.list("webhooks").map((one) => String(one.id))).toEqual([id]);
  });

  const account = `
resource "hosting_client_account" "c" {
  name = "Kim"
}
`;

  it("a webhook that an apply left without an address is named by plan and resolve until it is taken over", async () => {
    const terraform = await start(webhook("old", "a") + webhook("other", "b"));
    const { id, secret } = terraform.attributes("hosting_webhook.old");
    // The provider cannot see that another provider's resource fails.
    const fails = `
resource "terraform_data" "fails" {
  provisioner "local-exec" {
    command = "sleep 1; exit 1"
  }
}
`;
    await terraform.write(fails + webhook("new", "a", "  depends_on = [terraform_data.fails]") + webhook("other", "b"));
    expect((await terraform.apply()).code).toBe(1);
    await terraform.write(webhook("other", "b"));
    const { warnings, text } = await terraform.planned();
    const named = /^webhook \d+ \(https:\/\/a\.example\/hook\) exists, and belongs to no address of this state$/;
    expect(warnings, text).toMatchObject([{ summary: expect.stringMatching(named) }]);
    const resolved = await terraform.hostform("resolve");
    expect(resolved.code, resolved.err).toBe(1);
    expect(resolved.err).toContain(`webhook ${id} (https://a.example/hook) exists`);
    await terraform.write(webhook("new", "a") + webhook("other", "b"));
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.attributes("hosting_webhook.new")).toMatchObject({ id, secret });
    expect((await terraform.hostform("resolve")).code).toBe(0);
    await terraform.expectNoChanges();
  });

  it.each([
    ["count", "-parallelism=1"],
    ["for_each", "-parallelism=10"],
  ] as const)("grants of a list without its first person: one DELETE (%s, %s)", async (to, option) => {
    const people = Array.from({ length: 12 }, (_, nth) => `p${nth}@acme.example`);
    const team = (list: readonly string[], form: string) => `${service("site", "one.example")}
locals {
  people = ${JSON.stringify(list)}
}
resource "hosting_grant" "team" {
  ${form === "count" ? "count      = length(local.people)" : "for_each   = toset(local.people)"}
  service_id = hosting_service.site.id
  email      = ${form === "count" ? "local.people[count.index]" : "each.value"}
  permission = "view"
}
`;
    const terraform = await start(team(people, "count"));
    const ids = new Map(terraform.control.list("grants").map(({ id, email }) => [email, id]));
    await terraform.write(team(people.slice(1), to));
    await terraform.applied(option);
    expect(terraform.changesSent()).toEqual([expect.stringMatching(/^DELETE /)]);
    ids.delete("p0@acme.example");
    expect(new Map(terraform.control.list("grants").map(({ id, email }) => [email, id]))).toEqual(ids);
    await terraform.expectNoChanges();
  });

  it("a webhook and a grant are deleted and created again by taint and by -replace", async () => {
    const grant =
      '\nresource "hosting_grant" "a" {\n  service_id = hosting_service.s.id\n  email = "a@acme.example"\n  permission = "view"\n}\n';
    const terraform = await start(webhook("a", "one") + webhook("b", "two") + service("s", "one.example") + grant);
    const both = ["hosting_webhook.a", "hosting_grant.a"];
    for (const address of both) await terraform.well("taint", address);
    for (const options of [[], both.map((address) => `-replace=${address}`)]) {
      const [hook, access] = both.map((address) => terraform.attributes(address).id);
      expect((await terraform.planned(...options)).changes).toEqual(
        Object.fromEntries(both.map((address) => [address, "replace"])),
      );
      await terraform.applied("tfplan");
      const sent = terraform.changesSent();
      expect(sent.filter((line) => line.includes("webhooks"))).toEqual([`DELETE /webhooks/${hook}`, "POST /webhooks"]);
      expect(sent.filter((line) => line.includes("grants"))).toEqual([
        expect.stringMatching(`^DELETE .*/grants/${access}$`),
        expect.stringMatching(/^POST .*\/grants$/),
      ]);
      expect(terraform.control.list("grants")).toHaveLength(1);
      terraform.believeLists();
      await terraform.expectNoChanges();
    }
  });

  it("a client account is neither renamed without a moved block nor replaced: the API cannot delete one", async () => {
    const account = (name: string) => `
resource "hosting_client_account" "${name}" {
  name = "Kim"
}
`;
    const terraform = await start(account("a"), { token: "agency" });
    const { id } = terraform.attributes("hosting_client_account.a");
    const { text } = await terraform.refused("-replace=hosting_client_account.a");
    expect(text).toContain(`client account ${id} cannot be replaced`);
    await terraform.well("taint", "hosting_client_account.a");
    expect((await terraform.refused()).text).toContain("terraform untaint");
    await terraform.well("untaint", "hosting_client_account.a");
    await terraform.write(account("b"));
    const renamed = await terraform.refused();
    expect(renamed.text).toContain("which an address of this state manages");
    expect(renamed.text).toContain("moved {");
    expect(renamed.text).not.toContain("interrupted run");
  });

  it("of two addresses with one id neither is destroyed; after state rm and a plan that has it declared one is", async () => {
    const terraform = await start(webhook("a", "one"));
    const file = path.join(terraform.dir, "terraform.tfstate");
    const double = () => {
      const state = JSON.parse(readFileSync(file, "utf8"));
      state.resources.push({ ...state.resources[0], name: "b" });
      state.serial += 1;
      writeFileSync(file, JSON.stringify(state));
    };
    double();
    await terraform.write("");
    await terraform.refused();
    await terraform.well("state", "rm", "hosting_webhook.b");
    expect((await terraform.refused()).text).toContain("plan with the other address declared");

    await terraform.write(webhook("a", "one"));
    double();
    const { errors, text } = await terraform.refused();
    expect(errors[0]?.summary, text).toMatch(/^webhook \d+ \(https:.* belongs to two addresses of this state$/);
    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(1);
    expect(terraform.changesSent()).toEqual([]);
    await terraform.well("state", "rm", "hosting_webhook.b");
    await terraform.expectNoChanges();
    await terraform.write("");
    await terraform.applied();
    expect(terraform.changesSent()).toHaveLength(1);
  });

  it("what left the state and is declared is named in the first plan already, and in no plan of a rename", async () => {
    const terraform = await start(webhook("a", "one"));
    await terraform.write(webhook("b", "one"));
    expect((await terraform.planned()).text).not.toContain("exists already");
    await terraform.write(webhook("a", "one"));
    const id = String(terraform.attributes("hosting_webhook.a").id);
    await terraform.well("state", "rm", "hosting_webhook.a");
    const { warnings, text } = await terraform.planned();
    expect(warnings[0]?.summary, text).toMatch(/^webhook \d+ .* already exists: this state contained it at 2/);
    expect(warnings[0]?.detail).toContain("the apply fails and creates nothing");
    expect(warnings[0]?.detail).toContain(`terraform import`);
    expect(warnings[0]?.detail).toContain(id);
    const applied = await terraform.run("apply", "-no-color", "-input=false", "-auto-approve");
    expect(applied.code).toBe(1);
    expect(terraform.changesSent()).toEqual([]);
  });

  it("two addresses that declare one webhook are refused, whichever is planned first", async () => {
    const terraform = await start(webhook("a", "one"));
    await terraform.write(webhook("a", "one") + webhook("b", "one"));
    for (const option of ["-parallelism=10", "-parallelism=1"])
      expect((await terraform.refused(option)).text).toContain("belongs to another address of this state");
  });

  it("an object of two states is a warning that names both, also when it is destroyed or removed", async () => {
    const terraform = await start(webhook("a", "one"));
    await terraform.plan();
    const id = String(terraform.attributes("hosting_webhook.a").id);
    await terraform.well("workspace", "new", "other");
    const imported = await terraform.well("import", "-no-color", "-input=false", "hosting_webhook.a", id);
    expect(imported).toContain("is in two states");
    await terraform.plan();
    await terraform.well("workspace", "select", "default");
    expect((await terraform.plan()).warnings[0]?.detail).toMatch(/The other state: the Terraform workspace other in /);
    await terraform.well("workspace", "select", "other");
    const { warnings, text } = await terraform.plan();
    expect(warnings[0]?.summary, text).toMatch(/^webhook \d+ \(https:\/\/one\.example\/hook\) is in two states$/);
    expect(warnings[0]?.detail).toMatch(
      /This state: the Terraform workspace other in .*\. The other state: the Terraform workspace default in /,
    );
    for (const how of ["destroy", "remove"]) {
      if (how === "remove") await terraform.write("");
      const ended = await terraform.plan(...(how === "destroy" ? ["-destroy"] : []));
      expect(ended.warnings, `${how}: ${ended.text}`).toMatchObject([
        { summary: expect.stringMatching(/ is in two states$/) },
      ]);
    }
  });

  it("objects with import blocks are planned, and planned again, before an apply imports them", async () => {
    const terraform = await start(service("one", "one.example") + service("two", "two.example"));
    const ids = ["one", "two"].map((name) => terraform.attributes(`hosting_service.${name}`).id);
    await terraform.remove("terraform.tfstate");
    await freshen(terraform, true);
    const grants = ids.map(
      (id) =>
        terraform.control.create("grants", { service_id: Number(id), email: "a@acme.example", permission: "view" }).id,
    );
    await terraform.write(`
locals {
  sites = { one = ["${ids[0]}", "${grants[0]}"], two = ["${ids[1]}", "${grants[1]}"] }
}
import {
  for_each = local.sites
  to       = hosting_service.site[each.key]
  id       = each.value[0]
}
import {
  for_each = local.sites
  to       = hosting_grant.a[each.key]
  id       = "\${each.value[0]}/\${each.value[1]}"
}
resource "hosting_service" "site" {
  for_each = local.sites
  plan_id  = 11
  currency = "USD"
  domain   = "\${each.key}.example"
}
resource "hosting_grant" "a" {
  for_each   = local.sites
  service_id = hosting_service.site[each.key].id
  email      = "a@acme.example"
  permission = "view"
}
`);
    await terraform.planned();
    await terraform.planned("-refresh=false");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
  });

  it("of two addresses with one service none is suspended, also with -target, which shows one of them", async () => {
    const other = service("other", "other.example");
    const terraform = await start(service("one", "one.example") + other);
    const { id } = terraform.attributes("hosting_service.one");
    await freshen(terraform, true);
    await terraform.write(service("one", "one.example") + other + service("dup", "one.example", '  reference = "dup"'));
    await terraform.write(`import {\n  to = hosting_service.dup\n  id = "${id}"\n}\n`, "import.tf");
    await terraform.applied("-target=hosting_service.dup");
    await terraform.remove("import.tf");
    await terraform.write(service("one", "one.example") + other);
    expect((await terraform.refused()).text).toContain("belongs to two addresses of this state");
    for (const command of ["apply", "apply", "destroy"] as const) {
      const { code, text } = await terraform[command]("-target=hosting_service.dup");
      expect(code, text).toBe(1);
      expect(text).toContain("belongs to two addresses of this state");
    }
    expect(terraform.changesSent()).toEqual([]);
    await terraform.well("state", "rm", "hosting_service.dup");
    await terraform.expectNoChanges();
    await terraform.write(other);
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([`POST /services/${id}/suspend`]);
  });

  it("a domain that the state has by its id is not imported by its name", async () => {
    const domain = (name: string) => `
resource "hosting_domain" "${name}" {
  domain = "acme1.example"
  years  = 1
  currency        = "USD"
  nameserver_mode = "default"
  registrant_contact = ${JSON.stringify(registration("acme1.example").registrant_contact)}
}
`;
    const terraform = await start(domain("d"));
    expect(terraform.attributes("hosting_domain.d").id).not.toBe("acme1.example");
    for (const text of [domain("d") + domain("dup"), domain("dup")]) {
      await terraform.write(text);
      const { code, text: said } = await terraform.run(
        "import",
        "-no-color",
        "-input=false",
        "hosting_domain.dup",
        "acme1.example",
      );
      expect(code, said).toBe(1);
      expect(said).toContain("already belongs to another address of this state");
    }
  });

  it.each([
    ["-parallelism=1", "", 0],
    ["", '  secret_output = { file = "b.secret" }', 1],
  ])("imported webhooks, whose secrets nobody knows, exchange their URLs (%s%s)", async (option, output, recreated) => {
    const terraform = await start(webhook("a", "one") + webhook("b", "two"));
    const imports = ["a", "b"].map((name) => {
      const { id } = terraform.attributes(`hosting_webhook.${name}`);
      return `import {\n  to = hosting_webhook.${name}\n  id = "${id}"\n}\n`;
    });
    await terraform.remove("terraform.tfstate");
    await freshen(terraform, true);
    await terraform.write(imports.join(""), "import.tf");
    await terraform.applied();
    await terraform.remove("import.tf");
    await terraform.expectNoChanges();
    await terraform.write(webhook("a", "two") + webhook("b", "one", output));
    const options = option === "" ? [] : [option];
    const { warnings, text } = await terraform.planned(...options);
    // The ids follow the order in which Terraform created the two.
    const moves = warnings.map(
      ({ summary }) => /moves .*(sends no request|deletes the object and creates it again)/.exec(summary)?.[1],
    );
    expect(moves.sort(), text).toEqual([
      ...(recreated ? ["deletes the object and creates it again"] : ["sends no request"]),
      "sends no request",
    ]);
    const applied = await terraform.apply(...options, "tfplan");
    expect(applied.code, applied.text).toBe(0);
    const results = applied.warnings.map(
      ({ summary }) => /^webhook .* moved from .* (the apply \w+)/.exec(summary)?.[1],
    );
    expect(results.sort(), applied.text).toEqual([
      recreated ? "the apply deleted" : "the apply sent",
      "the apply sent",
    ]);
    expect(terraform.changesSent()).toHaveLength(2 * recreated);
    terraform.believeLists();
    await terraform.expectNoChanges();
  });

  it("the removal of what is renamed names a moved block first, and none if nothing has its values", async () => {
    const prevented = (name: string) =>
      service(name, "one.example").replace(/.*deletion_policy.*\n/, "") +
      account.replace('"c"', `"${name}"`) +
      `resource "hosting_migration_request" "${name}" {\n  domain = "one.example"\n}\n`;
    const terraform = await start(prevented("old"), SLOW);
    await terraform.write(prevented("new"));
    const { errors, text } = await terraform.refused();
    for (const what of ["service", "client account", "migration request"]) {
      const removal = errors.find(({ summary }) => summary.startsWith(what) && summary.includes("cannot be removed"));
      expect(removal?.detail.indexOf("moved {"), `${what}: ${text}`).toBeGreaterThan(0);
      expect(removal?.detail.indexOf("moved {")).toBeLessThan(removal?.detail.indexOf("deletion_policy =") ?? 0);
    }
    await terraform.write("");
    const removed = await terraform.refused();
    expect(removed.errors, removed.text).toHaveLength(3);
    expect(removed.text).not.toContain("moved {");
  });

  it("what exists in another workspace is refused with that workspace, also before its next plan", async () => {
    const terraform = await start(service("s", "one.example") + webhook("a", "one"));
    await terraform.well("workspace", "new", "other");
    for (const isPlanned of [false, true]) {
      const { errors } = await terraform.refused();
      expect(errors).toHaveLength(2);
      for (const { detail } of errors) {
        expect(detail).toMatch(/The object belongs to the Terraform workspace default in \S+, seen at \d{4}-/);
        expect(detail).not.toContain("moved {");
      }
      if (isPlanned) break;
      await terraform.well("workspace", "select", "default");
      await terraform.expectNoChanges();
      await terraform.well("workspace", "select", "other");
    }
  });

  it("an object that no state has is offered for import, and nothing says that the state lacks it", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(webhook("a", "one"));
    terraform.control.create("webhooks", { url: "https://one.example/hook", events: ["invoice.paid"] });
    const { errors } = await terraform.refused();
    expect(errors[0]?.detail).toContain("Another address of the state may manage this webhook");
    expect(errors[0]?.detail).toMatch(/moved \{[\s\S]*terraform import hosting_webhook/);
  });
});
