/**
 * Changes of an applied stack: `moved`, `removed`, `import`, `lifecycle`, deleted objects. The plan of hostform and
 * the plan of the real Terraform have the same actions, and both refuse the same changes.
 */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { actionsOf, HEAD, resources, type StackDocument, startBoth } from "../support/terraform-stack.ts";

/** Attributes of a webhook: this kind supports every operation in both programs. */
const hook = (more: object = {}) => ({ url: "https://hooks.acme.example/a", events: ["invoice.paid"], ...more });
const HOOKS: StackDocument = {
  ...HEAD,
  resource: resources({
    hosting_service: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } },
    hosting_grant: {
      dev: { service_id: "${hosting_service.www.id}", email: "dev@acme.example", permission: "view" },
    },
    hosting_webhook: { a: hook(), many: { count: 2, ...hook({ url: "https://hooks.acme.example/${count.index}" }) } },
  }),
};
const GRANT = HOOKS.resource?.hosting_grant?.dev;
const { a: HOOK, many: MANY } = HOOKS.resource?.hosting_webhook ?? {};
const hooks = (webhooks: object, more: object = {}): StackDocument => ({
  ...HOOKS,
  resource: { ...HOOKS.resource, hosting_webhook: webhooks as Readonly<Record<string, object>> },
  ...more,
});
const elsewhere = { ...HOOK, url: "https://hooks.acme.example/elsewhere" };

/** Changes of the applied stack. */
const CHANGES: readonly (readonly [
  what: string,
  stack: StackDocument,
  planned: Readonly<Record<string, object>> | RegExp,
])[] = [
  [
    "moved: a new name, and a key in place of a number",
    hooks(
      {
        b: HOOK,
        many: {
          ...MANY,
          count: undefined,
          for_each: { "0": 1, x: 2 },
          url: 'https://hooks.acme.example/${each.key == "x" ? 1 : 0}',
        },
      },
      {
        moved: [
          { from: "hosting_webhook.a", to: "hosting_webhook.b" },
          { from: "hosting_webhook.many[0]", to: 'hosting_webhook.many["0"]' },
          { from: "hosting_webhook.many[1]", to: 'hosting_webhook.many["x"]' },
        ],
      },
    ),
    {
      "hosting_webhook.b": { actions: ["no-op"], from: "hosting_webhook.a" },
      'hosting_webhook.many["0"]': { actions: ["no-op"], from: "hosting_webhook.many[0]" },
      'hosting_webhook.many["x"]': { actions: ["no-op"], from: "hosting_webhook.many[1]" },
    },
  ],
  [
    "removed, and forgotten",
    hooks({ many: MANY }, { removed: [{ from: "hosting_webhook.a", lifecycle: { destroy: false } }] }),
    { "hosting_webhook.a": { actions: ["forget"] } },
  ],
  [
    "removed, and deleted",
    hooks({ many: MANY }, { removed: [{ from: "hosting_webhook.a", lifecycle: { destroy: true } }] }),
    { "hosting_webhook.a": { actions: ["delete"] } },
  ],
  [
    "no longer declared",
    hooks({ a: HOOK, many: { ...MANY, count: 1 } }),
    { "hosting_webhook.many[1]": { actions: ["delete"] } },
  ],
  [
    "imported, beside a new one",
    hooks(
      { a: HOOK, many: MANY, ops: { ...HOOK, url: "https://hooks.other.example" }, fresh: elsewhere },
      { import: [{ to: "hosting_webhook.ops", id: "OTHER" }] },
    ),
    {
      "hosting_webhook.ops": { actions: ["no-op"], id: expect.any(String) },
      "hosting_webhook.fresh": { actions: ["create"] },
    },
  ],
  [
    "replaced",
    { ...HOOKS, resource: { ...HOOKS.resource, hosting_grant: { dev: { ...GRANT, email: "lead@acme.example" } } } },
    { "hosting_grant.dev": { actions: ["delete", "create"] } },
  ],
  [
    "replaced, the new one first",
    hooks({ a: { ...elsewhere, lifecycle: { create_before_destroy: true } }, many: MANY }),
    { "hosting_webhook.a": { actions: ["create", "delete"] } },
  ],
  [
    "differing in what is ignored",
    hooks({ a: { ...elsewhere, lifecycle: { ignore_changes: ["url"] } }, many: MANY }),
    {},
  ],
  [
    "differing where all is ignored",
    hooks({ a: { ...elsewhere, lifecycle: { ignore_changes: "all" } }, many: MANY }),
    {},
  ],
  [
    "replaced, which it prevents",
    hooks({ a: { ...elsewhere, lifecycle: { prevent_destroy: true } }, many: MANY }),
    /prevent_destroy|cannot be destroyed|must not be destroyed/,
  ],
  [
    "a service with another plan",
    {
      ...HOOKS,
      resource: {
        ...HOOKS.resource,
        hosting_service: { www: { ...HOOKS.resource?.hosting_service?.www, plan_id: 21 } },
      },
    },
    /plan_id/,
  ],
  [
    "a service that is no longer declared",
    { ...HOOKS, resource: { hosting_webhook: { ...HOOKS.resource?.hosting_webhook } } },
    /deletion_policy/,
  ],
];

describeWith(TERRAFORM)("a stack that was changed", { timeout: 60_000 }, () => {
  it("has the same plan in both", async () => {
    const { terraform, ended, hostform, declare } = await startBoth(HOOKS);
    await ended(0, "apply", "--auto-approve");
    const other = terraform.control.create("webhooks", {
      url: "https://hooks.other.example",
      events: ["invoice.paid"],
    });
    for (const [what, stack, planned] of CHANGES) {
      await declare(JSON.parse(JSON.stringify(stack).replace("OTHER", String(other.id))));
      const ours = await hostform("plan", "--json");
      if (planned instanceof RegExp) {
        const theirs = await terraform.refused();
        expect(ours.code, what).toBe(1);
        for (const text of [ours.text, `${theirs.errors[0]?.summary} ${theirs.errors[0]?.detail}`])
          expect(text, what).toMatch(planned);
        continue;
      }
      expect(ours.code, `${what}: ${ours.text}`).toBe(0);
      expect(actionsOf(JSON.parse(ours.out)), what).toEqual(planned);
      const theirs = await terraform.plan();
      expect(theirs.errors, what).toEqual([]);
      expect(actionsOf(await terraform.shownPlan()), `${what}, in Terraform`).toEqual(planned);
    }
  });
});
