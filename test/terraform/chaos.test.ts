/**
 * `kill -9` of the real Terraform, with or without its provider, before each operation of the provider: each API
 * request and read, each write to its journal, and each response to Terraform. After the same command again, the
 * account has one order, no secret is lost, no instance is tainted, and no provider is left running. If a killed order
 * may have created the only server, the user decides.
 * `npm test` takes some of the points, `npm run test:long terraform` all of them.
 */
import { expect, it } from "vitest";
import { announce, LONG } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { IDENTITIES, TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { type DoomPoint, killedApply, noted, operationsOf, untilQuiet, type Whom } from "../support/terraform-chaos.ts";

/** The points of `npm test`: an operation, and the later operation before which the run is killed. */
const SAMPLE: Readonly<Record<Whom, readonly (readonly [RegExp, RegExp])[]>> = {
  both: [
    [/sends POST .*services/, /reads/], // the order is made, its answer is not read
    [/sends POST .*webhooks/, /COMMIT/], // the secret that was shown once
  ],
  terraform: [[/sends POST .*password/, /answers Apply/]],
};

/** Returns the operations of a run that match its sample. */
function sampled(operations: readonly DoomPoint[], whom: keyof typeof SAMPLE): DoomPoint[] {
  return SAMPLE[whom].map(([first, then]) => {
    const from = operations.findIndex(({ label }) => first.test(label));
    // Terraform creates the service and the webhook in parallel, so the later operation may also come first.
    const matches = ({ label }: DoomPoint) => then.test(label);
    const found = operations.slice(from + 1).find(matches) ?? operations.find(matches);
    if (found === undefined) throw new Error(`no ${then} in ${operations.map(({ label }) => label).join(", ")}`);
    return found;
  });
}

/** The next run waits for a lost webhook as long as lists may lag: one minute. Time passes 12 times as fast. */
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

/** Fails unless the account and the state equal the result of one undisturbed apply. */
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
  const identity = { id: String(orders[0]?.id), origin: "http://localhost" };
  expect(terraform.state().get(BOX)?.identity).toEqual(IDENTITIES.path === undefined ? undefined : identity);
  expect(terraform.attributes("hosting_webhook.billing")).toMatchObject({ id: String(hook?.id), secret: hook?.secret });
  await terraform.expectNoChanges();
}

/** Fails if the provider still stores a secret that Terraform has recorded. */
function expectForgotten(terraform: Terraform): void {
  const [hook] = terraform.control.list("webhooks");
  expect(noted(terraform, hook?.secret ?? "none")).toBe(false);
}

describeWith(TERRAFORM)("an apply that is killed", { timeout: 3_600_000 }, () => {
  /** The operations of an undisturbed apply. Every undisturbed apply has the same operations. */
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
    // In the long form, each command has its own processes. The sample shares one process between the recoveries, and
    // one between the checks.
    const after = (work: () => Promise<unknown>) => (LONG ? work() : terraform.served(work));
    const points = LONG ? operations : sampled(operations, whom);
    const failures: string[] = [];
    let killed = 0;
    for (const point of points) {
      try {
        const ended = await killedApply(terraform, point, whom);
        if (ended.code === "SIGKILL") killed += 1;
        // In the long form, the recovery waits for the list lag.
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
