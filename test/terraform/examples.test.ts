/** The examples in HCL, and the HCL of the pages: formatted, valid, and with the documented effect. */
import { globSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import type { Newer } from "../../scripts/generate/registry-docs.ts";
import { catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { isOfRegistry, type Page, pages, root } from "../docs/markdown.ts";
import { describeWith } from "../support/needing.ts";
import { IDENTITIES, TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const EXAMPLES = path.join(root, "examples");
const AGENCY = path.join(EXAMPLES, "terraform-agency");
const REQUIRED =
  'terraform {\n  required_providers {\n    hosting = {\n      source = "hostform/hosting"\n    }\n  }\n}\n';

/** True for pages whose HCL is generated from the examples. */
const isGenerated = ({ file }: Page) => isOfRegistry(file) && !file.startsWith("docs/guides/");

const isRoot = (text: string) => /^(?:import|removed) \{/m.test(text);

/** HCL of the hand-written pages, each with a name from its page and line. The first files of a folder on a page form one text. */
const blocks = pages()
  .filter((page) => !isGenerated(page))
  .flatMap(({ file, blocks: all }) => {
    const named = all
      .filter(({ lang }) => lang === "terraform")
      .map(({ line, text, directives }) => ({ name: `${file.replace(/\W+/g, "-")}-${line}`, text, directives }));
    const seen = new Set<string>();
    const folders = Map.groupBy(named, ({ name, text, directives }) => {
      const target = directives.get("file");
      if (target === undefined || isRoot(text) || seen.has(target)) return name;
      seen.add(target);
      return path.dirname(target);
    });
    return [...folders.values()].map(
      (group) => [group[0]?.name ?? "", group.map(({ text }) => text).join("\n")] as const,
    );
  });

const read = (file: string) => readFileSync(path.join(EXAMPLES, file), "utf8");

/** Returns a module call whose variables are null. */
function module(name: string, text: string): string {
  const variables = [...text.matchAll(/^variable "(\w+)"/gm)].map(([, variable]) => `  ${variable} = null\n`);
  return `module "${name}" {\n  source = "./${name}"\n${variables.join("")}}\n`;
}

/** Writes each text as its own module with its provider, and a root module that calls all of them. */
async function writeModules(
  terraform: Terraform,
  texts: readonly (readonly [name: string, text: string])[],
): Promise<void> {
  for (const [name, text] of texts) {
    await terraform.write(text, `${name}/main.tf`);
    if (!text.includes("required_providers")) await terraform.write(REQUIRED, `${name}/versions.tf`);
  }
  await terraform.write(texts.map(([name, text]) => module(name, text)).join("\n"));
}

describeWith(TERRAFORM)("HCL", { timeout: 90_000 }, () => {
  it("of the examples and the pages is formatted", async () => {
    const terraform = await startTerraform();
    for (const [name, text] of blocks) await terraform.write(text, `blocks/${name}.tf`);
    expect(await terraform.well("fmt", "-check", "-diff", "-recursive", "blocks")).toBe("");
    expect(await terraform.well("fmt", "-check", "-diff", "-recursive", EXAMPLES)).toBe("");
  });

  it("of the pages is valid", async () => {
    const terraform = await startTerraform({ install: "running" });
    const known = blocks.filter(([, text]) => IDENTITIES.path !== undefined || !/^ {2}identity = /m.test(text));
    const [roots, rest] = [known.filter(([, text]) => isRoot(text)), known.filter(([, text]) => !isRoot(text))];
    expect([roots.length > 1, rest.length > 3]).toEqual([true, true]);
    await writeModules(terraform, rest);
    await terraform.init();
    expect(await terraform.validate()).toEqual([]);
    // `import` and `removed` belong into a root module. Without a resource block, `import` names its provider.
    for (const [, text] of roots) {
      await terraform.write(text.includes("required_providers") ? "" : REQUIRED, "versions.tf");
      const isAlone = !/^resource |^ {2}provider /m.test(text);
      await terraform.write(isAlone ? text.replace(/^import \{$/gm, "$&\n  provider = hosting") : text);
      expect(await terraform.validate()).toEqual([]);
    }
  });
});

const TYPES = globSync("resources/*", { cwd: EXAMPLES }).map((folder) => path.basename(folder));

/** Returns the imports in the examples: address and id, by command and by block. */
function importsOf(type: string): { address: string; id: string; block: boolean }[] {
  const commands = [...read(`resources/${type}/import.sh`).matchAll(/^terraform import (?:'(.+?)'|(\S+)) (\S+)$/gm)];
  const block = /to = (\S+)\n\s*id = "(.+)"/.exec(read(`resources/${type}/import-by-string-id.tf`));
  return [
    ...commands.map(([, quoted, bare = "", id = ""]) => ({ address: quoted ?? bare, id, block: false })),
    { address: block?.[1] ?? "", id: block?.[2] ?? "", block: true },
  ];
}

/** Returns the id of an object in the form of an example: `1003`, `1003/301`, `1003/dev@acme.example`. */
function idHere(terraform: Terraform, address: string, shown: string): string {
  const { id, service_id } = terraform.attributes(address);
  if (/^\d+$/.test(shown)) return String(id);
  if (/^\d+\/\d+$/.test(shown)) return `${String(service_id)}/${String(id)}`;
  return shown.replace(/^\d+\//, `${String(service_id)}/`);
}

/** Returns the address of an import by identity, and its block with the values of the state. */
function identified(terraform: Terraform, type: string) {
  const text = read(`resources/${type}/import-by-identity.tf`);
  const [, address = ""] = /to = (\S+)/.exec(text) ?? [];
  const of = terraform.attributes(address);
  return { address, text: text.replace(/(\w+)( +)= ".*"/g, (_, name, pad) => `${name}${pad}= "${of[name]}"`) };
}

describeWith(TERRAFORM)("the examples of the provider's pages", { timeout: 120_000 }, () => {
  it("can be applied, imported in both ways, and looked up", async () => {
    const terraform = await startTerraform({
      install: "running",
      env: { TF_VAR_shop_password: "correct horse battery" },
    });
    for (const type of TYPES) await terraform.write(read(`resources/${type}/resource.tf`), `${type}.tf`);
    await terraform.init();
    await terraform.applied();
    await terraform.expectNoChanges();
    const shown = TYPES.flatMap(importsOf).map((one) => ({ ...one, id: idHere(terraform, one.address, one.id) }));
    expect(new Set(shown.map(({ address }) => address.split(".")[0]))).toEqual(new Set(TYPES));
    terraform.sent();

    const commands = shown.filter(({ block }) => !block);
    await terraform.well("state", "rm", ...commands.map(({ address }) => address));
    // A plan proves to the provider that no other address has the object.
    await terraform.plan();
    for (const { address, id } of commands) await terraform.well("import", "-input=false", address, id);
    await terraform.applied();
    await terraform.expectNoChanges();

    const adopted = shown.filter(({ block }) => block);
    await terraform.well("state", "rm", ...adopted.map(({ address }) => address));
    await terraform.plan();
    const texts = adopted.map(({ address, id }) => `import {\n  to = ${address}\n  id = "${id}"\n}\n`);
    await terraform.write(texts.join("\n"), "imports.tf");
    await terraform.applied();
    await terraform.expectNoChanges();
    expect(terraform.changesSent()).toEqual([]);

    const minor = Number(/v1\.(\d+)/.exec(await terraform.well("version"))?.[1]);
    if (minor >= 12 && (catalogue as Newer).identities !== undefined) {
      const own = TYPES.map((type) => identified(terraform, type));
      await terraform.well("state", "rm", ...own.map(({ address }) => address));
      await terraform.plan();
      await terraform.write(own.map(({ text }) => text).join("\n"), "imports.tf");
      await terraform.applied();
      await terraform.expectNoChanges();
      expect(terraform.changesSent()).toEqual([]);
    }

    await looksUp(terraform, minor >= 14 ? ["actions"] : []);
    const queries = minor >= 14 ? globSync("list-resources/*/*.tfquery.hcl", { cwd: EXAMPLES }) : [];
    for (const file of queries) await terraform.write(read(file), `${file.split("/")[1]}.tfquery.hcl`);
    if (queries.length > 0) expect(await terraform.well("query", "-no-color")).toContain("hosting_");
  });
});

/**
 * Applies the other examples, each as a module, in an account with the objects of the resource examples.
 * @param newer Folders of examples that only newer versions of Terraform read.
 */
async function looksUp(terraform: Terraform, newer: readonly string[]): Promise<void> {
  const folders = ["data-sources", "ephemeral-resources", "functions", ...newer];
  const files = globSync(`{${folders.join(",")}}/*/*.tf`, { cwd: EXAMPLES });
  expect(files.length).toBeGreaterThan(12);
  await writeModules(
    terraform,
    files.map((file) => [file.split("/")[1] ?? "", read(file)] as const),
  );
  const names = files.map((file) => file.split("/")[1] ?? "");
  const outputs = names.map((name) => `output "${name}" {\n  value     = module.${name}\n  sensitive = true\n}\n`);
  await terraform.write(outputs.join("\n"), "outputs.tf");
  await terraform.init();
  await terraform.planned();
  const { planned_values: planned } = (await terraform.shownPlan()) as { planned_values: { outputs: object } };
  expect(planned.outputs).toMatchObject({
    hosting_client_accounts: { value: { clients: { 401: "Old Town Bakery" } } },
    hosting_domain_availability: { value: { free: ["acme-shop.example"] } },
    hosting_grants: { value: { managers: [] } },
    hosting_invoice: { value: { first_invoice: expect.stringMatching(/^INV-\d+-000003: paid$/) } },
    hosting_invoices: { value: { owed: 0 } },
    hosting_migration_request: { value: { migration: expect.any(String) } },
    hosting_migration_requests: { value: { migrations: { "moving.acme.example": [expect.any(String)] } } },
    hosting_plans: { value: { wordpress_prices: { "WordPress One": 800, "WordPress Business": 1950 } } },
    hosting_service: { value: { www: "Shared Start, live" } },
    hosting_services: { value: { suspended: [] } },
    domain_ascii: { value: { domains: ["xn--bcher-kva.example", "www.acme.example"] } },
    money: { value: { price: "5.00 USD" } },
    hosting_webhooks: { value: { hooks: ["https://hooks.acme.example/billing"] } },
  });
}

describeWith(TERRAFORM)("the example of an agency", { timeout: 120_000 }, () => {
  const start = async () => {
    const terraform = await startTerraform({ install: "running", tokens: { OWN_HOSTING_TOKEN: "customer" } });
    await cp(AGENCY, terraform.dir, { recursive: true });
    await terraform.init();
    return terraform;
  };
  const of = ({ control }: Terraform, customer: number) =>
    control
      .list("services")
      .filter(({ customer_id }) => customer_id === customer)
      .map(({ domain }) => domain);

  it("is applied in its two accounts, and there is nothing left to do", async () => {
    const terraform = await start();
    expect(await terraform.validate()).toEqual([]);
    const { outputs } = await terraform.applied();
    expect(outputs.billed).toMatchObject({ GEL: expect.any(Number), USD: expect.any(Number) });
    expect(of(terraform, 1).toSorted()).toEqual([
      "menu.harbor-cafe.example",
      "www.bakery.example",
      "www.harbor-cafe.example",
    ]);
    expect(of(terraform, 2)).toContain("www.agency.example");
    expect(terraform.filesHolding("sandbox-agency-token")).toEqual([]);
    await terraform.expectNoChanges();
  });

  it("adopts what is there already instead of ordering it again", async () => {
    const terraform = await start();
    const [{ id } = { id: 0 }] = terraform.control.seedServices({ account: "agency", plan_id: 21 });
    terraform.control.change("services", id, { domain: "www.bakery.example", currency: "GEL", price: 2100 });
    const adopted = await terraform.applied("-var", `adopt={"${id}"={client="bakery",site="www"}}`);
    expect(adopted.done).not.toHaveProperty('module.client["bakery"].hosting_service.site["www"]', "create");
    expect(of(terraform, 1).filter((domain) => domain === "www.bakery.example")).toHaveLength(1);
  });

  it("keeps what its tests say", async () => {
    const terraform = await start();
    terraform.sent();
    const out = await terraform.well("test", "-no-color");
    expect(out).toMatch(/Success! \d passed, 0 failed\./);
    expect(terraform.sent()).toEqual([]);
  });
});
