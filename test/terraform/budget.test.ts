/**
 * The request limit of a token, with the real Terraform against a sandbox that refuses further requests (§8). All
 * processes of one command share the limit, and so do the next command and a second Terraform beside it (in `npm run
 * test:long budget`). The limit is 20 requests, which needs fewer resources than 60. Time passes 12 times as fast, so
 * a minute takes 5 seconds.
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

/** Returns a configuration with one service for each of this number of clients. */
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

/** A Terraform whose provider counts requests in the user's state folder, as in a real installation. */
function strict(): Promise<Terraform> {
  return startTerraform({
    rate: RATE,
    sandbox: { rateLimit: LIMIT, profile: { rate_headers: "none" } },
    env: { HOSTFORM_LEDGER: undefined },
  });
}

/**
 * Maximum number of refused requests. A busy machine delays requests, and the fast clock multiplies the delay by 12:
 * the host may refuse a request that arrives too early, and the provider sends it again. Without rate headers, two
 * processes that do not share the limit would cause at least four refusals.
 */
const DELAYED = 2;

/** Returns the number of requests, and how many of them the host refused. */
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
    // 922 services fill ten pages, but a read of 22 services needs fewer. A slow run reads one or two pages again, when
    // a list becomes stale.
    expect(all - applied.all).toBeLessThan(LIMIT);
    expect(terraform.control.list("services").filter(({ domain }) => domain?.startsWith("one-"))).toHaveLength(
      LIMIT + 2,
    );
  });

  // Processes of two commands share the token like processes of one command. The test takes two of their minutes.
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
