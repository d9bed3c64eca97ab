/**
 * Pending creates of a list that shifts, with the real Terraform: the provider revokes undeclared access and keeps the
 * rest. `npm test` takes some of the cases, `npm run test:long pending` all of them.
 */
import { expect, it } from "vitest";
import type { OpenCollection } from "../../src/sandbox/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

interface Sample {
  readonly type: string;
  readonly collection: OpenCollection;
  readonly path: string;
  readonly key: string;
  readonly body: string;
  readonly value: (name: string) => string;
}

const GRANT: Sample = {
  type: "hosting_grant",
  collection: "grants",
  path: "/services/:id/grants",
  key: "email",
  body: 'service_id = "1003"\n  permission = "manage"',
  value: (name) => `${name}@shift.example`,
};
const WEBHOOK: Sample = {
  type: "hosting_webhook",
  collection: "webhooks",
  path: "/webhooks",
  key: "url",
  body: 'events = ["invoice.paid"]',
  value: (name) => `https://${name}.shift.example/hook`,
};
const ACCOUNT: Sample = {
  type: "hosting_client_account",
  collection: "accounts",
  path: "/accounts",
  key: "name",
  body: 'currency = "USD"',
  value: (name) => `Shift ${name}`,
};

type Form = "count" | "for_each";

/** A list by `count`, or by `for_each` with the index as the key. */
const list = ({ type, key, body, value }: Sample, form: Form, names: readonly string[]) => {
  const values = JSON.stringify(names.map(value));
  const [over, each] =
    form === "count"
      ? [`count = length(local.all)`, "local.all[count.index]"]
      : ["for_each = { for at, one in local.all : tostring(at) => one }", "each.value"];
  return `locals {\n  all = ${values}\n}\nresource "${type}" "p" {\n  ${over}\n  ${key} = ${each}\n  ${body}\n}\n`;
};

const held = ({ control }: Terraform, { collection, key }: Sample) =>
  control
    .list(collection)
    .map((one) => String(one[key as keyof typeof one]))
    .filter((text) => /shift/i.test(text))
    .sort();

/** Number of objects in each list at the end. */
const ALL = 3;

/** Applies: the host carries out the creates, but no response arrives, and the lists fail. */
async function loseAnswers(terraform: Terraform, { path }: Sample): Promise<void> {
  terraform.control.addFault({ method: "POST", path, phase: "after", status: 503, delayMs: 1, times: 99 });
  const failed = await terraform.apply();
  expect(failed.code, failed.text).toBe(1);
  terraform.control.clearFaults();
  terraform.believeLists();
  terraform.control.advanceClock({ minutes: 15 });
}

/** @param rate speed of the clock, for tests that depend on the order of Terraform's calls. */
async function start(sample: Sample, text: string, rate?: number): Promise<Terraform> {
  const carriedOut = Promise.withResolvers<void>();
  const terraform: Terraform = await startTerraform({
    install: "running",
    ...(rate !== undefined && { rate }),
    // Each lost response is delayed until the last create is carried out. From then on, every list fails.
    sandbox: {
      sleep: async () => {
        if (held(terraform, sample).length === ALL) {
          terraform.control.addFault({ method: "GET", path: "/*", phase: "before", status: 503, times: 999 });
          carriedOut.resolve();
        }
        await carriedOut.promise;
      },
    },
  });
  terraform.control.seedServices({ count: 1 });
  await terraform.write(text);
  return terraform;
}

const CASES = [GRANT, WEBHOOK].flatMap((sample) =>
  (["count", "for_each"] as const).flatMap((form) =>
    [false, true].map((fresh) => ({ sample, form, fresh, type: sample.type })),
  ),
);

const freshen = async (terraform: Terraform, fresh: boolean) => {
  if (fresh) await terraform.remove("home/hostform");
};

describeWith(TERRAFORM)("pending creates of a list that shifts", { timeout: 120_000 }, () => {
  it.each(sampled(CASES, 8, 2))(
    "$type, $form, fresh: $fresh: what leaves the list is deleted, the rest stays",
    async (one) => {
      const { sample, form, fresh } = one;
      const terraform = await start(sample, list(sample, form, ["r0", "r1", "r2"]));
      await loseAnswers(terraform, sample);
      expect(held(terraform, sample)).toHaveLength(ALL);
      await freshen(terraform, fresh);
      terraform.sent();
      await terraform.write(list(sample, form, ["r1", "r2"]));
      const applied = await terraform.applied();
      expect(held(terraform, sample), applied.text).toEqual(["r1", "r2"].map(sample.value));
      if (sample === GRANT) expect(terraform.changesSent().map((sent) => sent.split(" ")[0])).toEqual(["DELETE"]);
      await terraform.expectNoChanges();
    },
  );

  it.each(sampled(CASES, 4, 1))(
    "$type, $form, fresh: $fresh: a known neighbour moves up and nobody loses access",
    async (one) => {
      const { sample, form, fresh } = one;
      const terraform = await start(sample, list(sample, form, ["l1"]));
      await terraform.applied();
      const at = (index: number) => `${sample.type}.p[${form === "count" ? index : `"${index}"`}]`;
      await terraform.well("state", "mv", at(0), at(1));
      await terraform.write(list(sample, form, ["l0", "l1", "l2"]));
      await loseAnswers(terraform, sample);
      expect(held(terraform, sample)).toHaveLength(ALL);
      await freshen(terraform, fresh);
      terraform.sent();
      await terraform.write(list(sample, form, ["l1", "l2"]));
      const applied = await terraform.applied();
      expect(held(terraform, sample), applied.text).toEqual(["l1", "l2"].map(sample.value));
      if (sample === GRANT) expect(terraform.changesSent().map((sent) => sent.split(" ")[0])).toEqual(["DELETE"]);
      await terraform.expectNoChanges();
    },
  );

  it.each(sampled([false, true], 2, 0))(
    "a client account without a DELETE stays, and the apply says it (fresh: %s)",
    async (fresh) => {
      const terraform = await start(ACCOUNT, list(ACCOUNT, "count", ["r0", "r1", "r2"]), 5);
      await loseAnswers(terraform, ACCOUNT);
      await freshen(terraform, fresh);
      terraform.sent();
      await terraform.write(list(ACCOUNT, "count", ["r1", "r2"]));
      const applied = await terraform.applied();
      expect(applied.text).toMatch(/client account \S+.* stays in the account/);
      expect(held(terraform, ACCOUNT)).toHaveLength(ALL);
      expect(terraform.changesSent()).toEqual([]);
      await terraform.expectNoChanges();
    },
  );
});
