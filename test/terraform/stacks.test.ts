/**
 * One stack from cdktf for hostform and the real Terraform: resources that one of them applied are no change for the
 * other. Each finishes what the other began, and nothing is ordered twice.
 */
import { describe, expect, it } from "vitest";
import { LONG } from "../reliability/support/long.ts";
import { gate } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { builtProgram } from "../support/program.ts";
import { TERRAFORM } from "../support/programs.ts";
import { type Project, startProject } from "../support/project.ts";
import type { Terraform } from "../support/terraform.ts";
import { ADDRESSES, YAML } from "../support/terraform-all-kinds.ts";
import {
  type Both,
  HEAD,
  resources,
  SAME_AS_YAML,
  STACK,
  STACK_ADDRESSES,
  type StackDocument,
  startBoth,
} from "../support/terraform-stack.ts";
import { readExact, written } from "./expressions/plain.ts";

const MAIN = await builtProgram();
const STATE = "terraform.acme.tfstate";

/** The stack without a backend: its state is `terraform.tfstate`, so it needs no `init`. */
const HERE: StackDocument = { ...STACK, terraform: HEAD.terraform };

/** Returns a stack with other attributes of one resource. */
function changed(stack: StackDocument, type: string, name: string, attributes: object): StackDocument {
  const named = stack.resource?.[type];
  const block = { ...named?.[name], ...attributes };
  return { ...stack, resource: { ...stack.resource, [type]: { ...named, [name]: block } } };
}

/** Recorded attributes by address. Nulls are dropped, because each program has attributes that the other lacks. */
const contents = (terraform: Terraform) =>
  Object.fromEntries(
    [...terraform.state()].flatMap(([address, { attributes }]) =>
      address.startsWith("data.")
        ? []
        : [[address, Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null))]],
    ),
  );

/** Returns the values of all outputs by name, as each program prints them. */
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

describeWith(TERRAFORM)("one stack for hostform and Terraform", { timeout: 60_000 }, () => {
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

    // hostform accepts the state that Terraform writes again.
    await terraform.applied();
    await ended(0, "plan", "--detailed-exitcode");
    expect(terraform.changesSent()).toEqual([]);
  });

  it("applied by Terraform, it is no change to hostform, which goes on with it", async () => {
    const { terraform, ended, declare } = await startBoth(HERE);
    await terraform.applied();
    expect(Object.keys(contents(terraform)).sort()).toEqual(STACK_ADDRESSES);
    terraform.sent();
    expect(await ended(0, "plan", "--detailed-exitcode")).toContain("No changes.");
    const before = contents(terraform);
    await ended(0, "apply", "--auto-approve");
    expect(terraform.changesSent()).toEqual([]);
    expect(contents(terraform)).toEqual(before);

    await declare(changed(HERE, "hosting_service", "www", { suspended: false }));
    await ended(0, "apply", "--auto-approve");
    const { id } = terraform.attributes("hosting_service.www");
    expect(terraform.changesSent()).toEqual([`POST /services/${id}/unsuspend`]);
    await terraform.expectNoChanges();
  });
});

/** Results that a JavaScript number would round. */
const NUMBERS: StackDocument = {
  ...HEAD,
  variable: { rate: { default: 1.18 }, price: { default: 1999 } },
  resource: resources({ hosting_client_account: { acme: { name: "Acme at ${100 * var.rate}", currency: "USD" } } }),
  output: {
    gross: { value: "${100 * var.rate}" },
    sum: { value: "${1.1 + 2.2}" },
    third: { value: "${1 / 3}" },
    all: { value: "${[for n in [1, 2, 3]: n * var.price / 7]}" },
    large: { value: "${var.price * 90071992547409931}" },
    shown: { value: '${format("%.2f", var.price * var.rate / 100)}' },
  },
};

describeWith(TERRAFORM)("numbers with more digits than a JavaScript number has", { timeout: 60_000 }, () => {
  const digits = (text: string) => written(readExact(text));

  it("are what Terraform computes, through a saved plan, in the state and in each output", async () => {
    const { terraform, ended } = await startBoth(NUMBERS);
    const shown = await ended(0, "plan", "--out", "numbers.plan");
    expect(shown).toMatch(/gross = 118\.0{100,}1\n/);
    await ended(0, "apply", "numbers.plan");
    await terraform.expectNoChanges();
    const recorded = await terraform.well("output", "-json");
    expect(digits(await ended(0, "output", "--json"))).toBe(digits(recorded));
    for (const name of ["gross", "all"])
      expect(await ended(0, "output", name)).toBe(await terraform.well("output", name));
    expect(await ended(0, "output", "--raw", "third")).toBe(await terraform.well("output", "-raw", "third"));

    await terraform.applied();
    expect(digits(await terraform.well("output", "-json"))).toBe(digits(recorded));
    await ended(0, "plan", "--detailed-exitcode");
  });

  it("are refused in an attribute that is a whole number", async () => {
    const { ended } = await startBoth({
      ...HEAD,
      resource: resources({ hosting_domain: { acme: { domain: "acme.example", years: "${1.1 * 10}" } } }),
    });
    expect(await ended(1, "plan")).toBe("");
  });
});

/** Two orders identified by their domains, one identified by its reference, and the resources that depend on them. */
const ORDERS: StackDocument = {
  ...HEAD,
  resource: resources({
    hosting_service: {
      site: {
        for_each: { a: { domain: "a.example" }, b: { domain: "b.example" } },
        plan_id: 11,
        currency: "USD",
        domain: "${each.value.domain}",
      },
      box: { plan_id: 31, currency: "USD", reference: "box", password_version: 1 },
    },
    hosting_grant: {
      dev: {
        for_each: "${hosting_service.site}",
        service_id: "${each.value.id}",
        email: "dev@acme.example",
        permission: "view",
      },
    },
  }),
};

const BOX = "hosting_service.box";

/** Returns the services that one account has of these orders. */
const ordered = ({ terraform }: Both) =>
  terraform.control.list("services").filter(({ customer_id, plan_id }) => customer_id === 1 && plan_id !== 21);

/** Fails unless each service was ordered once and both programs plan no change. */
async function expectSettled(both: Both): Promise<void> {
  const { terraform, ended } = both;
  await terraform.expectNoChanges();
  expect(await ended(0, "plan", "--detailed-exitcode")).toContain("No changes.");
  expect(ordered(both).map(({ domain }) => domain)).toHaveLength(3);
  expect(
    terraform.control.list("invoices").filter(({ order_id }) => ordered(both).some(({ id }) => id === order_id)),
  ).toHaveLength(3);
  expect(terraform.attributes(BOX).generated_password).toEqual(expect.any(String));
}

describeWith(TERRAFORM)("what one began", { timeout: 60_000 }, () => {
  const losses = LONG ? [1, 2, 3] : [2];
  const lose = ({ terraform }: Both, nth: number) =>
    // The client sends an order four times, and the server answers none of them.
    terraform.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, nth, times: 4 });

  it.each(losses)("hostform, whose answer to order %i was lost, Terraform finishes", async (nth) => {
    const both = await startBoth(ORDERS);
    const { terraform, ended } = both;
    lose(both, nth);
    await ended(1, "apply", "--auto-approve", "--parallelism", "1");
    expect(ordered(both)).toHaveLength(3);
    terraform.sent();
    const next = await terraform.apply();
    if (!(await terraform.importAsAsked(BOX, next))) expect(next.code, next.text).toBe(0);
    await terraform.applied();
    await expectSettled(both);
  });

  it.each(losses)("Terraform, whose answer to order %i was lost, hostform finishes", async (nth) => {
    const both = await startBoth(ORDERS);
    const { terraform, ended, hostform } = both;
    lose(both, nth);
    const first = await terraform.apply("-parallelism=1");
    expect(
      [first.errors, first.warnings]
        .flat()
        .map(({ summary }) => summary)
        .join(),
    ).toMatch(/no known outcome|may be service/);
    // Only the user knows the owner of a server without a domain.
    if (!/^\d+$/.test(String(terraform.attributes(BOX).id))) {
      terraform.sent();
      const refused = await hostform("apply", "--auto-approve");
      expect({ code: refused.code, changes: terraform.changesSent() }, refused.text).toEqual({ code: 1, changes: [] });
      expect(refused.text).toContain("[plan.pending]");
      const [order] = ordered(both).filter(({ domain }) => domain === null);
      await ended(0, "resolve", BOX, "--adopt", String(order?.id));
    }
    await ended(0, "apply", "--auto-approve");
    await expectSettled(both);
  });

  it("hostform, which was killed, Terraform finishes", async () => {
    const { arrived, open, sleep } = gate();
    const both = await startBoth(ORDERS, { sandbox: { sleep } });
    const { terraform } = both;
    terraform.control.addFault({ method: "POST", path: "/services/:id/password", phase: "before", delayMs: 1 });
    const args = [MAIN, "apply", "--auto-approve", "--parallelism", "1", "--stack", "."];
    const run = terraform.start(process.execPath, args);
    await arrived;
    run.child.kill("SIGKILL");
    expect((await run.ended).code).toBe("SIGKILL");
    open();
    expect(ordered(both)).toHaveLength(1);
    await terraform.applied();
    await expectSettled(both);
  });

  it.runIf(LONG)("Terraform, which was killed, hostform leaves to Terraform", async () => {
    const { arrived, open, sleep } = gate();
    const both = await startBoth(ORDERS, { sandbox: { sleep }, install: "override" });
    const { terraform, ended, hostform } = both;
    terraform.control.addFault({ method: "POST", path: "/services/:id/password", phase: "before", delayMs: 1 });
    const run = terraform.start("terraform", ["apply", "-auto-approve", "-input=false", "-parallelism=1"]);
    await arrived;
    run.child.kill("SIGKILL");
    await run.ended;
    open();
    expect(await terraform.survivors()).toBe(0);
    terraform.sent();
    expect((await hostform("apply", "--auto-approve")).err).toContain("[state.locked]");
    await ended(0, "force-unlock", "--yes");
    // Terraform has recorded nothing yet (its state is an empty file), or lacks the order that it sent. hostform does
    // not guess.
    const { code, text } = await hostform("apply", "--auto-approve");
    const changes = terraform.changesSent();
    expect(code === 0 || changes.length === 0, text).toBe(true);
    // The provider's own journal settles the order.
    await terraform.applied();
    await expectSettled(both);
  });
});

describe("a stack and a declaration in YAML that say the same", () => {
  it("have the same plan, and need the same requests", async () => {
    const env = { TF_VAR_password: "correct horse battery" };
    const [yaml, stack] = [await startProject({ env, declare: YAML }), await startProject({ env })];
    await stack.declare(SAME_AS_YAML, "cdk.tf.json");
    const plan = async (project: Project, ...args: string[]) => {
      const ran = await project.run("plan", "--json", ...args);
      expect(ran.code, ran.text).toBe(0);
      const changes: Change[] = JSON.parse(ran.out).resource_changes;
      // A set has no order: Terraform sorts it, and YAML keeps the declared order.
      for (const { change } of changes) change.after?.events?.sort();
      return changes
        .toSorted((a, b) => (a.address < b.address ? -1 : 1))
        .map(({ address, change }) => [address, change]);
    };
    const planned = await plan(yaml);
    expect(planned).toHaveLength(ADDRESSES.length);
    expect(await plan(stack, "--stack", ".")).toEqual(planned);
    expect(stack.sent().sort()).toEqual(yaml.sent().sort());

    await yaml.apply();
    await stack.apply("--stack", ".");
    // Ids follow the arrival of creates, so the test compares requests by the domain of their site.
    const sentOf = (project: Project) => {
      const sites = new Map(project.control.list("services").map(({ id, domain }) => [String(id), domain]));
      const lines = project
        .sent()
        .map((line) => line.replace(/(?<=\/services\/)\d+/, (id) => sites.get(id) ?? "without-domain"));
      // Two waits for the same order may send one GET or two.
      const gets = new Set(lines.filter((line) => line.startsWith("GET")));
      return [...gets, ...lines.filter((line) => !line.startsWith("GET"))].sort();
    };
    const sent = sentOf(yaml);
    expect(sent).toContain("POST /services");
    expect(sentOf(stack)).toEqual(sent);

    expect((await plan(stack, "--stack", ".")).length).toBe((await plan(yaml)).length);
    expect(sentOf(stack)).toEqual(sentOf(yaml));
  });
});

interface Change {
  readonly address: string;
  readonly change: { readonly after?: { readonly events?: string[] } | null };
}
