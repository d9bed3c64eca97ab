import path from "node:path";
import { describe, expect, it } from "vitest";
import { createFileStore } from "../../../src/core/record/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { block, exported, exportIn, record, SITE } from "./export-harness.ts";
import { runIn } from "./harness.ts";

describe("an export of a construct that Terraform lacks", () => {
  it("rejects references between instances of one name", async () => {
    const grants = {
      "a@acme.example": { permission: '${hosting_grant.www["b@acme.example"].permission}' },
      "b@acme.example": "view",
    };
    const { code, stderr } = await exported({ services: { www: { ...SITE, grants } } });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "permission refers to another instance of the same resource, which Terraform does not allow",
    );
    expect(stderr).toMatch(/on hosting\.yaml:\d+:\d+ \(hosting_grant\.www\["a@acme\.example"\]\)/);
  });

  it("rejects blocks that refer to each other although their instances form no cycle", async () => {
    const other = (name: string, key: string) => `\${hosting_grant.${name}["${key}@acme.example"].permission}`;
    const { code, stderr } = await exported({
      services: {
        a: { ...SITE, domain: "a.example", grants: { "x@acme.example": other("b", "y") } },
        b: { ...SITE, domain: "b.example", grants: { "y@acme.example": "view", "z@acme.example": other("a", "x") } },
      },
    });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "References form a cycle in Terraform: hosting_grant.a -> hosting_grant.b -> hosting_grant.a",
    );
  });

  it("warns of a value that changes its meaning", async () => {
    const { code, stdout, stderr } = await exported({
      guards: { max_orders: 3, max_spend: { USD: 2000 }, max_removals: 1, max_removals_percent: 5 },
      notify: [{ command: ["mail", "ops@acme.example"] }],
      services: {
        www: {
          ...SITE,
          depends_on: ["hosting_service.box"],
          grants: {
            "a@acme.example": "view",
            "b@acme.example": { permission: "view", depends_on: ['hosting_grant.www["a@acme.example"]'] },
          },
        },
        box: { plan_id: 31, currency: "USD", password_version: 1 },
      },
      webhooks: {
        a: { url: "https://h.example/${hosting_service.box.generated_password}", events: ["invoice.paid"] },
        b: { url: "https://h.example/b", events: ["${hosting_webhook.a.events[0]}"] },
      },
    });
    expect(code).toBe(0);
    expect(stderr).toContain("The guards have no counterpart in Terraform and are left out");
    expect(stderr).toContain("max_orders: 3; max_spend: USD 2000; max_removals: 1; max_removals_percent: 5.");
    expect(stderr).toContain("The channels of `notify` have no counterpart in Terraform and are left out");
    expect(stderr).toContain("`depends_on` between instances of hosting_grant.www is left out");
    expect(stderr).toContain("url contains a secret, so Terraform hides the whole value");
    expect(stderr).toContain("events[0] refers to an item of a set by its position");
    expect(stderr).toContain("5 warnings.");
    expect(stdout).toContain("  events = [tolist(hosting_webhook.a.events)[0]]\n");
    expect(block(stdout, 'resource "hosting_service" "www"')).toContain("depends_on = [hosting_service.box]");
    expect(block(stdout, 'resource "hosting_grant" "www"')).not.toContain("depends_on");
    expect(block(stdout, 'resource "hosting_webhook" "a"')).toContain("create_before_destroy = true");
    for (const what of ["guards", "channels of `notify`"])
      expect(stdout).toContain(`# The ${what} have no counterpart in Terraform`);
  });

  it("warns of a state that Terraform cannot read", async () => {
    const env = { HOSTFORM_STATE_PASSPHRASE: "correct horse battery staple" };
    const dir = temporaryFolder();
    await record(dir, { address: "hosting_service.www", attributes: { id: "1" } });
    expect((await exportIn(dir, {}, {})).stderr).toBe("");
    expect((await runIn(dir, ["state", "encrypt"], { env })).code).toBe(0);
    expect((await exportIn(dir, {}, { env })).stderr).toContain("The state is encrypted, and Terraform cannot read it");
    expect((await exportIn(dir, {}, {})).stderr).toContain("state.key");
  });

  it("warns of resources that only the journal contains", async () => {
    const dir = temporaryFolder();
    const store = createFileStore({ path: path.join(dir, "hosting.tfstate") });
    const open = await store.open({ write: true, command: "test", timeoutMs: 0 });
    const rest = { provider: "default", schemaVersion: 0, sensitive: [], private: {}, dependencies: [] };
    await open.put({ ...rest, address: "hosting_service.www", attributes: { id: "1001" } });
    // The state is not closed, as after a kill.
    const { stderr, stdout } = await exportIn(dir, { services: { www: SITE } });
    await open.close();
    expect(stderr).toContain("1 resource is still in its journal");
    expect(stdout).not.toContain("reference");
  });
});
