/**
 * `kill -9` of the provider alone (as when memory runs out), of Terraform, and of both, amid many creates of one `for_each`. The
 * next apply settles every create at once: what a sibling created is nobody else's candidate.
 */
import { expect, it } from "vitest";
import { announce, LONG } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";
import { killedApply, operationsOf, untilQuiet, type Whom } from "../support/terraform-chaos.ts";

const COUNT = LONG ? 20 : 8;

/** Lists may lag a minute: time passes twelve times as fast. */
const RATE = 12;

const CONFIG = `
resource "hosting_migration_request" "many" {
  for_each = toset([for i in range(${COUNT}) : "site-${"$"}{i}.many.example"])
  domain   = each.key
}
`;

const APPLY = ["apply", "-auto-approve", "-input=false", "-no-color"];

describeWith(TERRAFORM)("an apply of many creates that is killed", { timeout: 3_600_000 }, () => {
  it.each<Whom>(LONG ? ["provider", "both", "terraform"] : ["both"])(
    "(%s) is settled by the next apply",
    async (whom) => {
      const terraform = await startTerraform({ rate: RATE });
      await terraform.write(CONFIG);
      const operations = (await operationsOf(terraform, APPLY)).filter(({ process }) => process > 2);
      const sends = operations.filter(({ label }) => label.startsWith("sends POST"));
      const last = operations.at(-1)?.process;
      const points = sends.filter(({ process }) => process === last);
      const shares = LONG ? points.map((_, at) => at / points.length) : [0.5];
      const failures: string[] = [];
      for (const share of shares) {
        const point = points[Math.floor(share * points.length)];
        if (point === undefined) throw new Error("no request was sent");
        try {
          const ended = await killedApply(terraform, point, whom, APPLY);
          expect(ended.code).not.toBe(0);
          // In full, lost requests are waited for.
          if (!LONG) terraform.believeLists();
          await terraform.served(async () => {
            await untilQuiet(terraform);
            await terraform.expectNoChanges();
          });
          const made = terraform.control
            .list("migration_requests")
            .filter(({ domain }) => String(domain).endsWith(".many.example"));
          expect(made.map(({ id }) => String(id)).sort()).toEqual(
            [...terraform.state().values()].map(({ attributes }) => String(attributes.id)).sort(),
          );
          expect(made).toHaveLength(COUNT);
        } catch (error) {
          failures.push(
            `${point.process}.${point.nth} ${point.label}: ${error instanceof Error ? error.message : error}`,
          );
        }
      }
      announce(`Terraform (${whom}): killed amid ${COUNT} creates at ${shares.length} points`);
      expect(failures).toEqual([]);
    },
  );
});
