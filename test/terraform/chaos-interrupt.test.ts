/**
 * Ctrl-C in the middle of an order, once and twice, as a terminal sends it: to Terraform and to its provider. After
 * one Ctrl-C, the provider waits for its sent requests. After two, the next apply sends none of them again. The next
 * apply also sends the remaining requests.
 */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LONG } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { expectNobodyLeft, untilQuiet } from "../support/terraform-chaos.ts";
import type { Ended } from "../support/terraform-outcome.ts";

const CONFIG = `
resource "hosting_service" "client" {
  count    = 3
  plan_id  = 11
  currency = "USD"
  domain   = "client-\${count.index}.example"
}
`;

/** A sandbox that withholds the response to an order until the test releases it. */
async function holding(): Promise<{ terraform: Terraform; held: Promise<void>; release: () => void }> {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sleep = () => {
    held.resolve();
    return released.promise;
  };
  const terraform = await startTerraform({ sandbox: { sleep } });
  await terraform.write(CONFIG);
  terraform.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 1 });
  return { terraform, held: held.promise, release: released.resolve };
}

const orders = ({ control }: Terraform) =>
  control.list("services").filter(({ domain }) => domain?.startsWith("client-"));

/** Sends Ctrl-C to all processes of the terminal. */
function interrupt(terraform: Terraform): void {
  for (const id of terraform.processes() ?? []) process.kill(id, "SIGINT");
}

/** Waits until Terraform reports the Ctrl-C. Terraform would merge an earlier second Ctrl-C with the first. */
async function shows(output: () => string, text: string): Promise<void> {
  while (!output().includes(text)) await delay(10);
}

function start(terraform: Terraform): { ended: Promise<Ended>; output: () => string } {
  const args = ["apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=1"];
  const { child, ended } = terraform.start("terraform", args);
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  return { ended, output: () => text };
}

async function expectThreeInTheEnd(terraform: Terraform): Promise<void> {
  await untilQuiet(terraform);
  expect(orders(terraform)).toHaveLength(3);
  const recorded = [...terraform.state().values()].map(({ attributes }) => attributes.id);
  expect(recorded.sort()).toEqual(orders(terraform).map(({ id }) => String(id)));
  await terraform.expectNoChanges();
}

// Only Linux lists processes by their folder.
const describeHere = process.platform === "linux" ? describeWith(TERRAFORM) : describe.skip;

describeHere("an apply that is interrupted", { timeout: 60_000 }, () => {
  it("once: the order that is under way is recorded, no other is sent", async () => {
    const { terraform, held, release } = await holding();
    const { ended, output } = start(terraform);
    await held;
    interrupt(terraform);
    await shows(output, "Interrupt received");
    release();
    const { code, text } = await ended;
    expect(code, text).toBe(1);
    expect(text).not.toMatch(/panic|did not respond/);
    expect(orders(terraform)).toHaveLength(1);
    expect([...terraform.state().values()].map(({ status, attributes }) => [status, attributes.id])).toEqual([
      ["", String(orders(terraform)[0]?.id)],
    ]);
    await expectNobodyLeft(terraform);
    await terraform.served(() => expectThreeInTheEnd(terraform));
  });

  it.runIf(LONG)("twice: Terraform leaves at once, and the next apply knows of the order", async () => {
    const { terraform, held, release } = await holding();
    const { ended, output } = start(terraform);
    await held;
    interrupt(terraform);
    await shows(output, "Interrupt received");
    interrupt(terraform);
    await ended;
    release();
    await expectNobodyLeft(terraform);
    expect(orders(terraform)).toHaveLength(1);
    await terraform.served(() => expectThreeInTheEnd(terraform));
  });
});
