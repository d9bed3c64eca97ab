/** `price_text` of a service, through the real Terraform: the text follows the price, and is never a change. */
import { readFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { SITE, site } from "../support/terraform-site.ts";

const provider = (scale: number | "null") => `provider "hosting" {\n  money_scale = ${scale}\n}\n`;

async function startPriced(scale: number | "null" = 2): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  await terraform.write(provider(scale), "provider.tf");
  await terraform.write(site('deletion_policy = "suspend"'));
  await terraform.applied();
  return terraform;
}

const textIn = (terraform: Terraform) => terraform.attributes(SITE).price_text;
const reprice = (terraform: Terraform, price: number) =>
  terraform.control.change("services", Number(terraform.attributes(SITE).id), { price });

/** Plans with a refresh and without one. Neither plan may change a resource. */
async function expectNothingPlanned(terraform: Terraform): Promise<void> {
  for (const flags of [[], ["-refresh=false"]]) {
    const { code, changes, errors, text } = await terraform.plan(...flags);
    expect({ code, changes, errors }, text).toEqual({ code: 0, changes: {}, errors: [] });
  }
}

describeWith(TERRAFORM)("price_text", { timeout: 60_000 }, () => {
  it("is set by the order, and follows a price that changes outside of Terraform", async () => {
    const terraform = await startPriced();
    expect(textIn(terraform)).toBe("5.00 USD");
    await terraform.expectNoChanges();
    reprice(terraform, 700);
    await expectNothingPlanned(terraform);
    const { code, drift } = await terraform.plan("-refresh-only");
    expect({ code, drift }).toEqual({ code: 2, drift: { [SITE]: "update" } });
    await terraform.applied();
    expect(textIn(terraform)).toBe("7.00 USD");
    await terraform.expectNoChanges();
  });

  it("does not make an apply inconsistent if the price changes between plan and apply", async () => {
    const terraform = await startPriced();
    await terraform.write(site('deletion_policy = "suspend"\nsuspended = true'));
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "update" });
    expect(await terraform.changed(SITE)).not.toContain("price_text");
    reprice(terraform, 700);
    expect((await terraform.applied("tfplan")).errors).toEqual([]);
    await terraform.applied();
    expect(textIn(terraform)).toBe("7.00 USD");
    await terraform.expectNoChanges();
  });

  it("is no change if money_scale is set, changed or removed", async () => {
    const terraform = await startPriced("null");
    expect(textIn(terraform)).toBeNull();
    for (const [scale, text] of [
      [2, "5.00 USD"],
      [0, "500 USD"],
      ["null", null],
    ] as const) {
      await terraform.write(provider(scale), "provider.tf");
      await expectNothingPlanned(terraform);
      await terraform.applied();
      expect(textIn(terraform)).toBe(text);
      await terraform.expectNoChanges();
    }
  });

  it("is no change for a state without the attribute, and for an imported service", async () => {
    const terraform = await startPriced();
    const state = JSON.parse(readFileSync(`${terraform.dir}/terraform.tfstate`, "utf8"));
    delete state.resources[0].instances[0].attributes.price_text;
    await terraform.write(JSON.stringify({ ...state, serial: state.serial + 1 }), "terraform.tfstate");
    await expectNothingPlanned(terraform);
    const { id } = terraform.attributes(SITE);
    await terraform.well("state", "rm", SITE);
    await terraform.plan();
    await terraform.well("import", "-input=false", SITE, String(id));
    expect(textIn(terraform)).toBe("5.00 USD");
    await terraform.applied();
    await terraform.expectNoChanges();
  });

  it("is computed again for a service that is ordered again", async () => {
    const terraform = await startPriced();
    const again = site('deletion_policy = "suspend"\nreplace_on_change = true\nreference = "site-2"');
    await terraform.write(again.replace("= 11", "= 12"));
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "replace" });
    expect(await terraform.changed(SITE)).toContain("price_text");
    await terraform.applied();
    expect(textIn(terraform)).toBe("9.00 USD");
    await terraform.expectNoChanges();
  });

  it("stays out of the way of hostform, which continues from the state", async () => {
    const terraform = await startPriced();
    const declared = { plan_id: 11, currency: "USD", domain: "site.example", deletion_policy: "suspend" };
    const yaml = { project: "journey", services: { site: declared } };
    await terraform.write(JSON.stringify(yaml), "hosting.yaml");
    await copyFile(`${terraform.dir}/terraform.tfstate`, `${terraform.dir}/hosting.tfstate`);
    const text = textIn(terraform);
    expect(text).toMatch(/USD/);
    const planned = await terraform.hostform("plan");
    expect(planned.code, planned.text).toBe(0);
    expect(planned.text).not.toContain("price_text");
    expect(planned.text).not.toContain("tainted");
    expect((await terraform.hostform("apply", "--auto-approve")).code).toBe(0);
    await copyFile(`${terraform.dir}/hosting.tfstate`, `${terraform.dir}/terraform.tfstate`);
    expect(textIn(terraform)).toBe(text);
    await terraform.change("hosting.tfstate", (state) =>
      state.replace('"schema_version"', '"status": "tainted", "schema_version"'),
    );
    expect((await terraform.hostform("plan")).text).toContain("Terraform has marked hosting_service.site as tainted");
    await expectNothingPlanned(terraform);
  });
});
