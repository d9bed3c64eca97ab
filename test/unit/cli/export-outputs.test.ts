import { describe, expect, it } from "vitest";
import { block, exported, SITE } from "./export-harness.ts";

const DECLARED = {
  services: { www: SITE },
  webhooks: { hook: { url: "https://h.example", events: ["invoice.paid"] } },
};
const OUTPUTS = {
  site: "${hosting_service.www.id}",
  note: { value: "id ${hosting_service.www.id} $${x}", description: "A %{note}" },
  all: { value: { path: ["${env.HOOK_PATH}", 1, null], "a.b": true } },
  secret: { value: "${hosting_webhook.hook.secret}", sensitive: true },
};

describe("export of outputs", () => {
  it("writes a block for each, at the end", async () => {
    const { code, stdout, stderr } = await exported(
      { ...DECLARED, outputs: OUTPUTS },
      { env: { HOOK_PATH: "hosting", HOSTFORM_ENV_ALLOW: "HOOK_PATH" } },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.slice(stdout.indexOf("output "))).toBe(`output "site" {
  value = hosting_service.www.id
}

output "note" {
  description = "A %%{note}"
  value       = "id \${hosting_service.www.id} $\${x}"
}

output "all" {
  value = {
    path  = [var.HOOK_PATH, 1, null]
    "a.b" = true
  }
}

output "secret" {
  value     = hosting_webhook.hook.secret
  sensitive = true
}
`);
    expect(block(stdout, 'variable "HOOK_PATH"')).toContain("type");
  });

  it("warns of outputs that differ in Terraform", async () => {
    const { code, stderr } = await exported({ ...DECLARED, outputs: { first: "${hosting_webhook.hook.events[0]}" } });
    expect(code).toBe(0);
    expect(stderr).toContain("The output first refers to an item of a set by its position");
  });
});
