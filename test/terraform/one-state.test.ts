/**
 * If hostform and the real Terraform use one state in turn, the store counts one state. A state that moved to
 * Terraform also counts once.
 */
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openStore } from "../../src/core/api/open-store.ts";
import { systemClock } from "../../src/core/model/index.ts";
import { type BackendUnderTest, httpBackend } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { HEAD, resources, type StackDocument, startBoth } from "../support/terraform-stack.ts";

const HOOK = { url: "https://one.example/hook", events: ["invoice.paid"] };
const stack = (backend?: object): StackDocument => ({
  ...HEAD,
  terraform: { ...Object(HEAD.terraform), ...(backend && { backend }) },
  resource: resources({
    hosting_webhook: { a: HOOK },
    hosting_service: { site: { plan_id: 11, currency: "USD", domain: "one.example" } },
  }),
});
const HCL = `resource "hosting_webhook" "a" {
  url    = "${HOOK.url}"
  events = ["invoice.paid"]
}
`;

/** Returns the number of objects in each state that the store knows. */
async function places({ env }: Terraform): Promise<number[]> {
  const reached = { baseUrl: env.HOSTING_BASE_URL ?? "", token: env.HOSTING_TOKEN ?? "" };
  const store = openStore({ ...reached, env, clock: systemClock });
  const held = await store.holdings({});
  await store.close();
  return [...Map.groupBy(held, ({ place }) => place.mark).values()].map((all) => all.length);
}

const at = async (make: () => Promise<BackendUnderTest>) => {
  const { type, settings, env, close } = await make();
  onTestFinished(close);
  return { backend: { [type]: settings }, env };
};
const local = async (backend?: object) => ({ backend, env: {} });

const STATES: [
  string,
  () => Promise<{ readonly backend?: object | undefined; readonly env: BackendUnderTest["env"] }>,
][] = [
  ["without a backend", () => local()],
  ["at a server", () => at(() => httpBackend("plain"))],
];

describeWith(TERRAFORM)("the state of a stack that hostform and Terraform use in turn", { timeout: 60_000 }, () => {
  it.each(STATES)("%s is one place, and no plan warns", async (_, make) => {
    const { backend, env } = await make();
    const { terraform, hostform, ended } = await startBoth(stack(backend), { env });
    await terraform.write("", "states/kept");
    await ended(0, "apply", "--auto-approve");
    await terraform.init();
    await terraform.expectNoChanges();
    await terraform.applied();
    for (let round = 0; round < 2; round++) {
      const { code, text } = await hostform("plan", "--detailed-exitcode");
      expect(code, text).toBe(0);
      expect(text).not.toContain("state.shared");
      await terraform.expectNoChanges();
    }
    expect(await places(terraform)).toEqual([2]);
  });
});

describeWith(TERRAFORM)("a YAML project and Terraform", { timeout: 60_000 }, () => {
  const YAML = { project: "both", webhooks: { a: HOOK } };

  async function start(): Promise<Terraform> {
    // hostform and the provider both use the real time, so the later use of a state wins.
    const terraform = await startTerraform({ install: "running", rate: 1 });
    await terraform.write(JSON.stringify(YAML), "hosting.yaml");
    await terraform.write(HCL);
    const { code, text } = await terraform.hostform("apply", "--auto-approve");
    expect(code, text).toBe(0);
    return terraform;
  }

  it("with a copied state warn only while both states are used", async () => {
    const terraform = await start();
    const file = (name: string) => path.join(terraform.dir, name);
    await copyFile(file("hosting.tfstate"), file("terraform.tfstate"));
    await terraform.expectNoChanges();
    await terraform.applied();
    await terraform.expectNoChanges();
    const yaml = await terraform.hostform("plan");
    expect(yaml.text).toContain("[state.shared]");
    const { warnings, text } = await terraform.plan();
    expect(
      warnings.map(({ summary }) => summary),
      text,
    ).toEqual([expect.stringContaining("is in two states")]);
  });

  it("that hold one service in two states warn in both, and each names the other", async () => {
    const terraform = await start();
    const { id } = terraform.control.list("webhooks")[0] ?? {};
    const imported = await terraform.run("import", "-no-color", "-input=false", "hosting_webhook.a", String(id));
    expect(imported.code, imported.text).toBe(0);
    expect(imported.text).toContain("is in two states");
    await terraform.applied();
    const yaml = await terraform.hostform("plan");
    expect(yaml.code, yaml.text).toBe(0);
    expect(yaml.text).toContain("[state.shared]");
    expect(yaml.text).toContain(`the Terraform workspace default in ${terraform.dir}`);
    expect(yaml.text).toContain(`This state: hosting.tfstate in ${terraform.dir}`);
    const { warnings, text } = await terraform.plan();
    expect(warnings[0]?.summary, text).toMatch(/^webhook \d+ \(https:\/\/one\.example\/hook\) is in two states$/);
    expect(warnings[0]?.detail).toContain(`The other state: hosting.tfstate in ${terraform.dir}, as hosting_webhook.a`);
  });
});
