/**
 * `kill -9` of the real Terraform, with its provider or without, before each operation by which the provider leaves traces:
 * what it sends to the API and reads from it, what it writes into its journal, what it answers Terraform. Then the same
 * command again: one order, no secret lost, nothing tainted, no provider left behind. Whether the one server is what a cut
 * order made is asked, as only its owner knows.
 *
 * `npm test` takes some of the points; `npm run test:long terraform` all of them.
 */
import { expect, it } from "vitest";
import { announce, LONG } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { type DoomPoint, killedApply, noted, operationsOf, untilQuiet, type Whom } from "../support/terraform-chaos.ts";

/** The points that `npm test` takes: what comes first, and the operation after it before which it ends. */
const SAMPLE: Readonly<Record<Whom, readonly (readonly [RegExp, RegExp])[]>> = {
  both: [
    [/sends POST .*services/, /reads/], // the order is made, its answer is not read
    [/sends POST .*webhooks/, /COMMIT/], // the secret that was shown once
  ],
  terraform: [[/sends POST .*password/, /answers Apply/]],
};

/** The operations of a run that match the sample of it. */
function sampled(operations: readonly DoomPoint[], whom: keyof typeof SAMPLE): DoomPoint[] {
  return SAMPLE[whom].map(([first, then]) => {
    const from = operations.findIndex(({ label }) => first.test(label));
    // Service and webhook are made side by side: what usually comes later may have come earlier.
    const matches = ({ label }: DoomPoint) => then.test(label);
    const found = operations.slice(from + 1).find(matches) ?? operations.find(matches);
    if (found === undefined) throw new Error(`no ${then} in ${operations.map(({ label }) => label).join(", ")}`);
    return found;
  });
}

/** A lost webhook is waited for as long as lists may lag, a minute: time passes twelve times as fast. */
const RATE = 12;

const BOX = "hosting_service.box";
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
  expect(terraform.attributes(BOX)).toMatchObject({
    id: String(orders[0]?.id),
    password_version: 1,
    generated_password: expect.any(String),
  });
  expect(terraform.attributes("hosting_webhook.billing")).toMatchObject({ id: String(hook?.id), secret: hook?.secret });
  await terraform.expectNoChanges();
}

/** What Terraform has recorded is not kept beside it once the provider has ended. */
function expectForgotten(terraform: Terraform): void {
  const [hook] = terraform.control.list("webhooks");
  expect(noted(terraform, hook?.secret ?? "none")).toBe(false);
}

describeWith(TERRAFORM)("an apply that is killed", { timeout: 3_600_000 }, () => {
  /** Those of an apply that nothing happens to: the same in each. */
  let whole: DoomPoint[] | undefined;

  it.each(["both", "terraform"] as const)("(%s) at any point orders once, and loses nothing", async (whom) => {
    const terraform = await startTerraform({ rate: RATE });
    await terraform.write(CONFIG);
    if (whole === undefined) {
      whole = await operationsOf(terraform);
      await expectSettled(terraform);
      expectForgotten(terraform);
    }
    const operations = whole;
    // In full, each command has processes of its own; the sample has one for those that recover, and one for the check.
    const after = (work: () => Promise<unknown>) => (LONG ? work() : terraform.served(work));
    const points = LONG ? operations : sampled(operations, whom);
    const failures: string[] = [];
    let killed = 0;
    for (const point of points) {
      try {
        const ended = await killedApply(terraform, point, whom);
        if (ended.code === "SIGKILL") killed += 1;
        // In full, a lost webhook is waited for.
        if (!LONG) terraform.believeLists();
        await after(() => untilQuiet(terraform, BOX));
        await after(() => expectSettled(terraform));
        expectForgotten(terraform);
      } catch (error) {
        failures.push(
          `${point.process}.${point.nth} ${point.label}: ${error instanceof Error ? error.message : error}`,
        );
      }
    }
    announce(`Terraform (${whom}): killed at ${killed} of ${operations.length} points; ${failures.length} failures`);
    expect(failures).toEqual([]);
    expect(killed).toBe(points.length);
  });
});
