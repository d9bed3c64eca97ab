/**
 * One stack, as cdktf synthesizes it, for both: what `hostform apply --stack` has made is no change to the real Terraform, and
 * the other way round. What one began the other finishes, and nothing is ordered twice.
 */
import { copyFile, rm } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";
import { noTerraform, titled } from "../support/terraform.ts";
import { ADDRESSES, YAML } from "../support/terraform-all-kinds.ts";
import {
  actionsOf,
  type Both,
  HEAD,
  resources,
  SAME_AS_YAML,
  STACK,
  STACK_ADDRESSES,
  type StackDocument,
  startBoth,
} from "../support/terraform-stack.ts";

const STATE = "terraform.acme.tfstate";

/** The values of all outputs, by name, as each of the two tells them. */
async function outputsOf({ terraform, ended }: Both) {
  const values = (text: string) =>
    Object.fromEntries(
      Object.entries(JSON.parse(text) as Record<string, { value: unknown; type: unknown; sensitive: boolean }>).map(
        ([name, { value, type, sensitive }]) => [name, { value, type, sensitive }],
      ),
    );
  const theirs = values(await terraform.well("output", "-json"));
  return { ours: values(await ended(0, "output", "--json")), theirs };
}

describe.skipIf(noTerraform !== undefined)(titled("one stack for hostform and Terraform"), { timeout: 60_000 }, () => {
  it("applied by hostform, it is no change to Terraform, outputs included", async () => {
    const both = await startBoth(STACK);
    const { terraform, ended } = both;
    await ended(0, "apply", "--auto-approve");
    expect([...terraform.state(STATE).keys()].sort()).toEqual(STACK_ADDRESSES);
    terraform.sent();
    await terraform.init();
    await terraform.expectNoChanges();
    const { ours, theirs } = await outputsOf(both);
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({
      id: { value: expect.stringMatching(/^\d+$/) },
      ids: { value: [expect.any(String), expect.any(String)] },
      by_site: { value: { a: "A.EXAMPLE", b: "B.EXAMPLE" } },
      hooks: { value: ["https://hooks.acme.example/0", "https://hooks.acme.example/1"] },
      plans: { value: true },
      both: { value: 11 },
      signing: { sensitive: true },
    });

    // Terraform writes the state anew; it stays what it was to hostform.
    await terraform.applied();
    await ended(0, "plan", "--detailed-exitcode");
    expect(terraform.changesSent()).toEqual([]);
  });
});
