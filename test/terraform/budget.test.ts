/**
 * The 60 requests a minute of a token, with the real Terraform against a sandbox that refuses the 61st (§8): shared by all
 * processes that one command starts, by the command after it, and by a second Terraform beside it. Time passes twelve
 * times as fast, so that a minute is five seconds.
 */
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { noTerraform, startTerraform, type Terraform, titled } from "../support/terraform.ts";
import { Workplace } from "../support/terraform-process.ts";

const RATE = 12;

/** A service each for so many clients. */
const clients = (prefix: string, count: number) => `
resource "hosting_service" "client" {
  count    = ${count}
  plan_id  = 11
  currency = "USD"
  domain   = "${prefix}-\${count.index}.example"
}
`;

/** A Terraform whose provider counts requests in the user's state folder, as it does for users. */
function strict(): Promise<Terraform> {
  return startTerraform({ rate: RATE, sandbox: { rateLimit: 60 }, env: { HOSTFORM_LEDGER: undefined } });
}

/** The requests so far, and how many of them were refused for coming too soon. */
function traffic({ control }: Terraform): { all: number; refused: number } {
  const entries = control.requests();
  return { all: entries.length, refused: entries.filter(({ status }) => status === 429).length };
}

describe.skipIf(noTerraform !== undefined)(titled("the request budget of a token"), { timeout: 120_000 }, () => {
  it("holds for an apply that needs more than a minute, and for the commands after it", async () => {
    const terraform = await strict();
    await terraform.write(clients("one", 62));
    await terraform.applied();
    const applied = traffic(terraform);
    expect(applied.all).toBeGreaterThan(62);
    terraform.control.seedServices({ count: 900 });
    await terraform.expectNoChanges();
    const { refused, all } = traffic(terraform);
    expect(refused).toBe(0);
    // 962 services are ten pages; a read of 62 of them need not read each.
    expect(all - applied.all).toBeLessThanOrEqual(11);
    expect(terraform.control.list("services").filter(({ domain }) => domain?.startsWith("one-"))).toHaveLength(62);
  });

  it("holds for two Terraforms side by side that share the token", async () => {
    const terraform = await strict();
    await terraform.write(clients("one", 40));
    const other = new Workplace(path.join(terraform.dir, "other"), terraform.env);
    await mkdir(other.dir);
    await writeFile(path.join(other.dir, "main.tf"), clients("two", 40));
    await copyFile(path.join(terraform.dir, "versions.tf"), path.join(other.dir, "versions.tf"));
    const apply = ["apply", "-auto-approve", "-input=false", "-no-color"];
    const [one, two] = await Promise.all([terraform.run(...apply), other.start("terraform", apply).ended]);
    expect(one.code, one.text).toBe(0);
    expect(two.code, two.text).toBe(0);
    const { refused, all } = traffic(terraform);
    expect(refused).toBe(0);
    expect(all).toBeGreaterThan(80);
    expect(await other.survivors()).toBe(0);
  });
});
