/**
 * `plan --json` and `terraform show -json` for the same stack: equal keys, forms, expressions, variables and checks.
 */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { perEngine, TERRAFORM } from "../support/programs.ts";
import { HEAD, resources, type StackDocument, startBoth } from "../support/terraform-stack.ts";

const hook = (url: string, more: object = {}) => ({ url, events: ["invoice.paid"], ...more });
const STACK = {
  ...HEAD,
  variable: {
    plan: {
      type: "number",
      default: 11,
      validation: [{ condition: "${var.plan > 0}", error_message: "No plan." }],
    },
    key: { type: "string", default: "hush-hush", sensitive: true },
  },
  output: { site: { value: "${hosting_service.www.id}" } },
  resource: resources({
    hosting_service: { www: { plan_id: "${var.plan}", currency: "USD", domain: "www.acme.example" } },
    hosting_grant: {
      dev: {
        for_each: { "dev@acme.example": "view", "ops@acme.example": "view" },
        service_id: "${hosting_service.www.id}",
        email: "${each.key}",
        permission: "${each.value}",
      },
    },
    hosting_webhook: {
      a: hook("https://hooks.acme.example/a"),
      keyed: hook("https://hooks.acme.example/k?token=${var.key}"),
      b: hook('https://hooks.acme.example/${upper("not.a.name")}-${var.plan}'),
      many: hook("https://hooks.acme.example/${count.index}", { count: 2 }),
    },
  }),
} as StackDocument;

type Document = Readonly<Record<string, unknown>>;

/** Returns the form of a value: its keys and types, without its content. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, formOf(item)]));
}

const keysOf = (value: unknown) => Object.keys(value as Document).sort();

/** Returns the keys of Terraform's plan that hostform has. OpenTofu's plans have two keys less. */
const keysOfTheirs = (plan: Document) =>
  keysOf({ ...plan, ...perEngine({}, { tofu: { applyable: true, complete: true } }) }).filter(
    // Only Terraform has this key.
    (key) => key !== "relevant_attributes",
  );

/** Changes by address, without values that only the provider has or only the host decides. */
const changesOf = (plan: Document) =>
  Object.fromEntries(
    (plan.resource_changes as { address: string; action_reason?: string; change: Record<string, Document> }[]).map(
      ({ address, change, ...rest }) => [
        address,
        {
          ...rest,
          // hostform writes Terraform's address of the provider.
          ...perEngine({}, { tofu: { provider_name: "" } }),
          change: {
            actions: (change.actions as unknown as string[]).toSorted(),
            // Only newer engines write identities.
            keys: keysOf(change).filter((key) => !key.endsWith("_identity")),
            after: keysOf(change.after ?? {}).filter(
              (key) => !["timeouts", "replace_on_change", "price_text"].includes(key),
            ),
          },
        },
      ],
    ),
  );

type Blocks = readonly { address: string; expressions: Document }[];
const blocksOf = (plan: Document) => {
  const { root_module } = plan.configuration as { root_module: { resources: Blocks } };
  const all = root_module.resources.map((block) => [
    block.address,
    // hostform evaluates variables and keys, and omits the expression of a repetition. References to resources are
    // equal.
    Object.fromEntries(
      Object.entries(block).map(([key, value]) => {
        if (key === "expressions")
          return [
            key,
            Object.fromEntries(
              Object.entries(block.expressions).map(([name, one]) => [
                name,
                toResource(one as Document) ? one : "value",
              ]),
            ),
          ];
        return [key, key.endsWith("_expression") ? {} : value];
      }),
    ),
  ]);
  return Object.fromEntries(all);
};

const toResource = ({ references = [] }: Document) =>
  (references as string[]).some((name) => name.startsWith("hosting_"));

describeWith(TERRAFORM)("the plan of a stack as JSON", { timeout: 60_000 }, () => {
  it("has what Terraform's has: configuration, variables, checks and reasons", async () => {
    const { terraform, ended, declare } = await startBoth(STACK);
    const both = async () => {
      const ours = JSON.parse(await ended(0, "plan", "--json", "--allow-removals")) as Document;
      await terraform.planned();
      return { ours, theirs: (await terraform.shownPlan()) as Document };
    };
    const first = await both();
    const { hostform: _, prior_state: __, ...known } = first.ours;
    // Terraform omits the prior state in a first plan. `relevant_attributes` exists only in Terraform's plans.
    expect(keysOf(known)).toEqual(keysOfTheirs(first.theirs));
    expect(first.ours.checks).toEqual(first.theirs.checks);
    expect(JSON.stringify(first.ours)).not.toContain("hush-hush");
    // Terraform prints the value of a sensitive variable.
    expect(first.theirs.variables).toEqual({ plan: { value: 11 }, key: { value: "hush-hush" } });
    expect(first.ours.variables).toEqual({ plan: { value: 11 }, key: { value: null } });
    expect(blocksOf(first.ours)).toEqual(blocksOf(first.theirs));
    for (const key of ["planned_values", "output_changes"] as const)
      expect(keysOf(first.ours[key]), key).toEqual(keysOf(first.theirs[key]));
    expect(formOf(first.ours.checks)).toEqual(formOf(first.theirs.checks));
    await ended(0, "apply", "--auto-approve");
    await declare({
      ...STACK,
      resource: {
        ...STACK.resource,
        hosting_grant: { dev: { ...STACK.resource?.hosting_grant?.dev, for_each: { "dev@acme.example": "manage" } } },
        hosting_webhook: {
          b: hook("https://hooks.acme.example/b"),
          many: { ...STACK.resource?.hosting_webhook?.many, count: 1 },
        },
      },
    } as StackDocument);
    const second = await both();
    const reasons = (plan: Document) =>
      (plan.resource_changes as { address: string; action_reason?: string }[]).map(({ address, action_reason }) => [
        address,
        action_reason,
      ]);
    expect(reasons(second.ours)).toEqual(reasons(second.theirs));
    expect(Object.fromEntries(reasons(second.ours))).toMatchObject({
      'hosting_grant.dev["dev@acme.example"]': "replace_because_cannot_update",
      'hosting_grant.dev["ops@acme.example"]': "delete_because_each_key",
      "hosting_webhook.a": "delete_because_no_resource_config",
      "hosting_webhook.many[1]": "delete_because_count_index",
    });
    expect(keysOf(second.ours).filter((key) => key !== "hostform")).toEqual(keysOfTheirs(second.theirs));
    expect(changesOf(second.ours)).toEqual(changesOf(second.theirs));
  });
});
