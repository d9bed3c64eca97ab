/**
 * `kill -9` of the real Terraform, with its provider or without, before each operation by which the provider leaves traces:
 * what it sends to the API and reads from it, what it writes into its journal, what it answers Terraform. Then the same
 * command again: one order, no secret lost, nothing tainted, no provider left behind.
 *
 * `npm test` takes some of the points; `npm run test:long terraform` all of them.
 */
import { describe, expect, it } from "vitest";
import { announce, LONG } from "../reliability/support/long.ts";
import { noTerraform, startTerraform, type Terraform, titled } from "../support/terraform.ts";
import { killedApply, noted, operationsOf, untilQuiet } from "../support/terraform-chaos.ts";

/** How many points `npm test` takes. */
const SAMPLE = 5;

const CONFIG = `
resource "hosting_service" "box" {
  plan_id          = 31
  currency         = "USD"
  reference        = "box"
  password_version = 1
}

resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/hosting"
  events = ["invoice.paid"]
}
`;

/** The account and the state are as one apply would have left them. */
async function expectSettled(terraform: Terraform): Promise<void> {
  const { control } = terraform;
  const orders = control.list("services").filter(({ plan_id, customer_id }) => plan_id === 31 && customer_id === 1);
  expect(orders).toHaveLength(1);
  expect(control.list("invoices").filter(({ order_id }) => order_id === orders[0]?.id)).toHaveLength(1);
  const [hook, ...more] = control.list("webhooks");
  expect(more).toEqual([]);
  expect(terraform.attributes("hosting_service.box")).toMatchObject({
    id: String(orders[0]?.id),
    password_version: 1,
    generated_password: expect.any(String),
  });
  expect(terraform.attributes("hosting_webhook.billing")).toMatchObject({ id: String(hook?.id), secret: hook?.secret });
  await terraform.expectNoChanges();
  // What Terraform has recorded is not kept beside it.
  expect(noted(terraform, hook?.secret ?? "none")).toBe(false);
}

describe.skipIf(noTerraform !== undefined)(titled("an apply that is killed"), { timeout: 3_600_000 }, () => {
  it.each(["both", "terraform"] as const)("(%s) at any point orders once, and loses nothing", async (whom) => {
    const terraform = await startTerraform();
    await terraform.write(CONFIG);
    const operations = await operationsOf(terraform);
    await expectSettled(terraform);
    const last = Math.max(...operations.map(({ process }) => process));
    // Before the last process nothing is changed: a few of its operations stand for those of the others.
    const points = LONG
      ? operations
      : operations.filter(({ process, label }) => process === last && !/GET/.test(label));
    const [from, step] = whom === "both" ? [0, points.length / SAMPLE] : [1, points.length / SAMPLE];
    const chosen = LONG ? points : Array.from({ length: SAMPLE }, (_, i) => points[Math.floor(from + i * step)]);
    const failures: string[] = [];
    let killed = 0;
    for (const point of chosen) {
      if (point === undefined) continue;
      try {
        const ended = await killedApply(terraform, point, whom);
        if (ended.code === "SIGKILL") killed += 1;
        await untilQuiet(terraform);
        await expectSettled(terraform);
      } catch (error) {
        failures.push(
          `${point.process}.${point.nth} ${point.label}: ${error instanceof Error ? error.message : error}`,
        );
      }
    }
    announce(`Terraform (${whom}): killed at ${killed} of ${operations.length} points; ${failures.length} failures`);
    expect(failures).toEqual([]);
    expect(killed).toBe(chosen.length);
  });
});
