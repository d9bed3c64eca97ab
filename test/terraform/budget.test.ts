/**
 * The requests a minute of a token, with the real Terraform against a sandbox that refuses the one after them (§8): shared by
 * all processes that one command starts, by the command after it, and by a second Terraform beside it (in `npm run test:long budget`).
 * Twenty, which need fewer resources than sixty do; time passes twelve times as fast, so that a minute is five seconds.
 */
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { LONG } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { Workplace } from "../support/terraform-process.ts";

const RATE = 12;
const LIMIT = 20;

/** A service each for so many clients. */
const clients = (prefix: string, count: number) => `
provider "hosting" {
  requests_per_minute = ${LIMIT}
}
resource "hosting_service" "client" {
  count    = ${count}
  plan_id  = 11
  currency = "USD"
  domain   = "${prefix}-\${count.index}.example"
}
`;

/** A Terraform whose provider counts requests in the user's state folder, as it does for users. */
function strict(): Promise<Terraform> {
  return startTerraform({
    rate: RATE,
    sandbox: { rateLimit: LIMIT, profile: { rate_headers: "none" } },
    env: { HOSTFORM_LEDGER: undefined },
  });
}

/**
 * A busy machine delays a request on its way, twelve times as much in this time: one may come too close behind another for the
 * host, and is sent again. The host says nothing of what is left: of two that do not count together four or more are refused.
 */
const DELAYED = 2;

/** The requests so far, and how many of them were refused for coming too soon. */
function traffic({ control }: Terraform): { all: number; refused: number } {
  const entries = control.requests();
  return { all: entries.length, refused: entries.filter(({ status }) => status === 429).length };
}

describeWith(TERRAFORM)("the request budget of a token", { timeout: 120_000 }, () => {
  it("holds for an apply that needs more than a minute, and for the commands after it", async () => {
    const terraform = await strict();
    await terraform.write(clients("one", LIMIT + 2));
    await terraform.applied();
    const applied = traffic(terraform);
    expect(applied.all).toBeGreaterThan(LIMIT + 2);
    terraform.control.seedServices({ count: 900 });
    await terraform.expectNoChanges();
    const { refused, all } = traffic(terraform);
    expect(refused).toBeLessThanOrEqual(DELAYED);
    // 922 services are ten pages; a read of 22 of them need not read each. One or two pages more if it takes so long that a
    // list is out of date by then.
    expect(all - applied.all).toBeLessThan(LIMIT);
    expect(terraform.control.list("services").filter(({ domain }) => domain?.startsWith("one-"))).toHaveLength(
      LIMIT + 2,
    );
  });

  // Processes of two commands share the token as those of one do. It takes two of their minutes.
  it.runIf(LONG)("holds for two Terraforms side by side that share the token", async () => {
    const terraform = await strict();
    await terraform.write(clients("one", 14));
    const other = new Workplace(path.join(terraform.dir, "other"), terraform.env);
    await mkdir(other.dir);
    await writeFile(path.join(other.dir, "main.tf"), clients("two", 14));
    await copyFile(path.join(terraform.dir, "versions.tf"), path.join(other.dir, "versions.tf"));
    const apply = ["apply", "-auto-approve", "-input=false", "-no-color"];
    const [one, two] = await Promise.all([terraform.run(...apply), other.start("terraform", apply).ended]);
    expect(one.code, one.text).toBe(0);
    expect(two.code, two.text).toBe(0);
    const { refused, all } = traffic(terraform);
    expect(refused).toBeLessThanOrEqual(DELAYED);
    expect(all).toBeGreaterThan(28);
    expect(await other.survivors()).toBe(0);
  });
});
